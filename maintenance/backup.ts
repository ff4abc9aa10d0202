import { createHash } from 'node:crypto';
import { CdrError } from '../openehr/base/errors.js';
import { isJsonObject, jsonOf, type JsonObject } from '../openehr/base/json.js';
import { createCollections } from '../database/indexes.js';
import { inTextSteps } from '../models/access/in-steps.js';
import { COLLECTION_LAYOUT, type CollectionName } from '../models/access/layout.js';
import {
  BACKED_UP,
  backedUp,
  beginFilling,
  endFilling,
  filledCollection,
  insertBackedUp,
  writtenSoFar,
} from '../models/cross-collection/backup.js';
import { inReadSession } from '../models/access/one-snapshot.js';
import { storageSettings, STORAGE_LAYOUT } from '../models/settings.js';

/** How a backup says what it is. docs/operations.md#back-up-and-restore */
const FORMAT = 'everchart-backup';
/** Documents that are inserted together. */
const AT_ONCE = 500;
/** Characters of a part of the file that is held in memory. */
const PART_LENGTH = 8 * 1024 * 1024;

/** Where a backup goes. */
interface BackupSink {
  write(text: string): Promise<void>;
  /** Called after each document. */
  readonly onDocument: () => void;
}

/** Writes every document of the database. @throws Error when something was written meanwhile, where one moment cannot be had */
export function writeBackup(sink: BackupSink): Promise<number> {
  return inReadSession(async (session) => {
    const stored = await storageSettings();
    if (stored === null) throw new Error('there is no store in this database');
    const before = await writtenSoFar(session);
    const hash = createHash('sha256');
    let lines = 0;
    const line = async (text: string): Promise<void> => {
      hash.update(`${text}\n`);
      lines += 1;
      await sink.write(`${text}\n`);
    };
    await line(JSON.stringify({ kind: 'header', format: FORMAT, version: 1, layout: stored.layout }));
    for (const collection of BACKED_UP)
      for await (const text of backedUp(session, collection)) {
        await line(`{"collection":"${collection}","document":${text}}`);
        sink.onDocument();
      }
    if ((await writtenSoFar(session)) !== before)
      throw new Error(
        'something was written while it was read, which is no moment of this engine: back up again',
      );
    await sink.write(`${JSON.stringify({ kind: 'end', lines, sha256: hash.digest('hex') })}\n`);
    return lines - 1;
  });
}

/** Reads a backup whole and compares it with its last line. @throws Error when it was cut or changed, or is none of this layout */
export async function checkBackup(lines: AsyncIterable<string>): Promise<void> {
  const hash = createHash('sha256');
  let count = 0;
  let last: string | null = null;
  for await (const line of lines) {
    if (last === null) requireHeader(line);
    // The last line is about those before it.
    else hash.update(`${last}\n`);
    last = line;
    count += 1;
  }
  const end = last?.startsWith('{"kind":"end"') === true ? objectOf(last) : null;
  if (end === null) throw new Error('the backup has no last line: it was cut, or its making did not end');
  if (end.lines !== count - 1 || end.sha256 !== hash.digest('hex'))
    throw new Error('the backup is not what was written: its lines do not have the checksum of the last one');
}

/** Fills the empty database. `lines`: those of a backup that was checked. @throws Error when it is not empty; the errors of the database */
export async function restoreBackup(lines: AsyncIterable<string>): Promise<number> {
  const filled = await filledCollection();
  if (filled !== null) throw new Error(`the database is not empty: ${filled} has documents`);
  await createCollections(COLLECTION_LAYOUT);
  await beginFilling();
  let documents = 0;
  let collection: CollectionName | null = null;
  let part: string[] = [];
  let length = 0;
  const flush = async (): Promise<void> => {
    if (collection === null || part.length === 0) return;
    if (collection === 'settings') await endFilling();
    for (const some of inTextSteps(part, (text) => text.length, AT_ONCE))
      await insertBackedUp(collection, some);
    documents += part.length;
    [part, length] = [[], 0];
  };
  for await (const line of lines) {
    const found = DOCUMENT.exec(line);
    if (found === null) continue;
    const [, name = '', text = ''] = found;
    if (name !== collection || length > PART_LENGTH) await flush();
    collection = collectionOf(name);
    part.push(text);
    length += text.length;
  }
  await flush();
  return documents;
}

const DOCUMENT = /^\{"collection":"(\w+)","document":(.*)\}$/s;

function collectionOf(name: string): CollectionName {
  const known = BACKED_UP.find((one) => one === name);
  if (known === undefined)
    throw new CdrError('invalid', `the backup has documents of ${name}, which is no collection`);
  return known;
}

function requireHeader(line: string): void {
  const { format, version, layout } = objectOf(line);
  if (format !== FORMAT || version !== 1)
    throw new Error('the file is no backup of everchart that this release can read');
  if (typeof layout !== 'number' || layout > STORAGE_LAYOUT)
    throw new Error(
      `the backup has layout ${JSON.stringify(layout ?? null)}, this release knows ${STORAGE_LAYOUT}: update it`,
    );
}

function objectOf(line: string): JsonObject {
  const value = jsonOf(line);
  return isJsonObject(value) ? value : {};
}

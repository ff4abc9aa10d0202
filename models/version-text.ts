import { deflateSync } from 'node:zlib';
import mongoose from 'mongoose';
import { inflated, unknownEncoding } from './inflated.js';
import { COLLECTIONS } from './access/layout.js';
import type { JsonObject } from '../openehr/base/json.js';
import type { AcceptedFinding } from '../openehr/rm/lenient.js';
import type { RootType } from '../openehr/rm/root-type.js';
import {
  date,
  listOf,
  mark,
  nullable,
  number,
  oneOf,
  opaque,
  optional,
  text,
  type DocumentOf,
} from './access/collection.js';
import { documents, type StoredDocument } from './access/documents.js';

const { Binary } = mongoose.mongo;

/** What an IMPORTED_VERSION keeps of its `item` beside what both have: the act by which another system made it. */
export interface OriginalItem {
  /** OBJECT_REF to a CONTRIBUTION of that system. */
  readonly contribution: JsonObject;
  /** AUDIT_DETAILS. */
  readonly commit_audit: JsonObject;
  readonly signature?: string;
}

const VERSION = {
  /** OBJECT_VERSION_ID. */
  _id: text,
  ehr_id: text,
  /** HIER_OBJECT_ID of the container. */
  object_id: text,
  type: oneOf<RootType>(),
  version: number,
  /** = `commit_audit.time_committed`. UTC, ms. */
  time_committed: date,
  contribution_uid: text,
  preceding_version_uid: optional(text),
  signature: optional(text),
  /** AUDIT_DETAILS. */
  commit_audit: opaque<JsonObject>(),
  /** DV_CODED_TEXT. */
  lifecycle_state: opaque<JsonObject>(),
  other_input_version_uids: optional(listOf(text)),
  /** ATTESTATIONs, oldest first. */
  attestations: optional(listOf(opaque<JsonObject>())),
  /** COMPOSITION; copied onto deletions. */
  template_id: optional(text),
  /** COMPOSITION, written while templates have revisions: SHA-256 of the OPT by which it was judged, in hexadecimal. */
  template_digest: optional(text),
  /** true: the container or one of its versions has had item tags. Absent: none ever, a reader need not look. */
  has_item_tags: optional(mark),
  /** What lenient validation accepted, with the text of what it left out. Absent: nothing. */
  validation_findings: optional(listOf(opaque<AcceptedFinding>())),
  /** Of an IMPORTED_VERSION; `commit_audit`, `contribution_uid` and `signature` are of its import then. Absent: ORIGINAL_VERSION. */
  item: optional(opaque<OriginalItem>()),
  /** Canonical JSON text with `uid`; null for a deletion. */
  data: nullable(text),
};

/**
 * One VERSION (fields: docs/spec/storage.md#versions); after its commit only `ehr_id` (merge), `attestations` and
 * `has_item_tags` change.
 */
export type VersionDoc = DocumentOf<typeof VERSION>;

/** The fields of a VERSION as its document has it; `encoding` says what `data` is (docs/spec/storage.md#text-of-versions). */
export const STORED_VERSION = {
  ...VERSION,
  /** Absent: `data` is text. */
  encoding: optional(oneOf<'deflate'>()),
  data: opaque<VersionDoc['data'] | mongoose.mongo.Binary>(),
};

/** A VERSION as its document has it. */
export type StoredVersion = DocumentOf<typeof STORED_VERSION>;

/** Characters below which a text stays as it is: compressing a short one takes as long and saves 100 bytes. */
const LEAST = 1_024;
/** Of zlib: higher ones take up to twice the time for 1 % of the text. */
const LEVEL = 3;

let compresses = true;

/** Whether new texts are compressed from now on: not before all servers of the database can read them. */
export function compressTexts(isWanted: boolean): void {
  compresses = isWanted;
}

/** The document of a VERSION: a text that is worth it is compressed. */
export function storedVersion(version: VersionDoc): StoredVersion {
  const { data } = version;
  return !compresses || data === null || data.length < LEAST ? version : { ...version, ...compressed(data) };
}

function compressed(text: string): Required<Pick<StoredVersion, 'encoding' | 'data'>> {
  return { encoding: 'deflate', data: new Binary(deflateSync(text, { level: LEVEL })) };
}

/** About how many bytes the content of a document takes. */
export function storedLength({ data }: StoredVersion): number {
  return data instanceof Binary ? data.position : (data?.length ?? 0);
}

/** The VERSION of a document. @throws Error when its content cannot be decoded */
export function versionOf({ encoding, ...stored }: StoredVersion): VersionDoc {
  const { data } = stored;
  if (!(data instanceof Binary)) return { ...stored, data };
  if (encoding !== 'deflate') throw unknownEncoding(stored._id, encoding);
  return { ...stored, data: decodedText(data) };
}

/** The VERSION of a document that may be damaged: content that cannot be decoded is an empty text, which is no JSON. */
export function versionAsFound(stored: StoredVersion): VersionDoc {
  try {
    return versionOf(stored);
  } catch {
    return versionOf({ ...stored, data: '' });
  }
}

/**
 * The text of a field `data` that a pipeline gives, as `decode` reads its bytes; what is no such field is given back.
 * @throws as `decode`
 */
export function decodedCell(value: unknown, decode: (bytes: Uint8Array) => string): unknown {
  if (value instanceof Binary) return decode(bytesOf(value));
  if (typeof value !== 'object' || value === null || !('data' in value)) return value;
  return value.data instanceof Binary ? { ...value, data: decode(bytesOf(value.data)) } : value;
}

function bytesOf({ buffer, position }: mongoose.mongo.Binary): Uint8Array {
  return buffer.subarray(0, position);
}

function decodedText(binary: mongoose.mongo.Binary): string {
  return inflated(bytesOf(binary));
}

/** VERSIONs whose text is stored as it is although it would be compressed now. */
const OLD_TEXTS = { encoding: { $exists: false }, data: { $type: 'string' } };
/** VERSIONs of one step of an upgrade, and characters of their texts after which it ends. */
const STEP = 500;
const STEP_CHARACTERS = 4 * 1024 * 1024;

/** Texts to be compressed. */
interface OldTexts {
  readonly versions: number;
  readonly characters: number;
}

/** Counts the texts that `compressNext` would compress; looks at every VERSION. */
export async function oldTexts(): Promise<OldTexts> {
  const length = { $strLenCP: '$data' };
  const [found] = await documents(COLLECTIONS.versions)
    .aggregate<OldTexts>([
      { $match: OLD_TEXTS },
      { $match: { $expr: { $gte: [length, LEAST] } } },
      { $group: { _id: null, versions: { $sum: 1 }, characters: { $sum: length } } },
    ])
    .toArray();
  return { versions: found?.versions ?? 0, characters: found?.characters ?? 0 };
}

/** One step of an upgrade. */
interface CompressedStep {
  /** The id after which the next step begins; null: this was the last one. */
  readonly last: string | null;
  readonly compressed: number;
}

/**
 * Compresses the texts of the next VERSIONs after an id, in the order of ids. Each document changes by itself: a reader finds
 * it before or after, with the same text.
 */
export async function compressNext(after: string): Promise<CompressedStep> {
  const found = documents(COLLECTIONS.versions).find<{ _id: string; data: string }>(
    { _id: { $gt: after }, ...OLD_TEXTS },
    { projection: { data: 1 }, sort: { _id: 1 }, hint: '_id_', batchSize: 50 },
  );
  const updates: mongoose.mongo.AnyBulkWriteOperation<StoredDocument>[] = [];
  let [last, seen, characters] = ['', 0, 0];
  for await (const { _id, data } of found) {
    const update = { $set: compressed(data) };
    if (data.length >= LEAST) updates.push({ updateOne: { filter: { _id, ...OLD_TEXTS }, update } });
    [last, seen, characters] = [_id, seen + 1, characters + data.length];
    if (seen === STEP || characters > STEP_CHARACTERS) break;
  }
  if (updates.length === 0) return { last: last === '' ? null : last, compressed: 0 };
  const { modifiedCount } = await documents(COLLECTIONS.versions).bulkWrite(updates, {
    ordered: false,
    writeConcern: { w: 'majority', journal: true },
  });
  return { last, compressed: modifiedCount };
}

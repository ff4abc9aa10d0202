import { createHash } from 'node:crypto';
import { closeSync, createReadStream, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import mongoose from 'mongoose';
import { testApp } from '../../support/app.js';
import { testDatabaseName, testDatabaseUri, useDatabase } from '../../support/database.js';
import { emptied, exported } from '../../support/interchange.js';
import { givenUpdate } from '../../support/merge-http.js';
import { runCommand, type CommandResult } from '../../support/process/command-line.js';
import { aComposition, givenComposition, givenEhr, givenTemplate } from '../../support/resources.js';

/** What a command may hold, in MiB: less than what it moves. The database is another process. */
const HEAP = 224;
/** Characters of a store: one that is held does not fit. */
const STORE = 300_000_000;
const LARGE_EHRS = 600;
const LARGE_VERSIONS = 300;

useDatabase();
const app = testApp();
const place = mkdtempSync(join(tmpdir(), 'everchart-flat-'));
const other = (): string => `${testDatabaseName()}-other`;
const run = (database: string, ...args: string[]): Promise<CommandResult> =>
  runCommand(args, {
    LOG_LEVEL: 'warn',
    MONGODB_URI: testDatabaseUri(),
    MONGODB_DATABASE: database,
    NODE_OPTIONS: `--max-old-space-size=${HEAP}`,
  });

/** Lines of an EHR with a COMPOSITION in two versions, and those before it. */
let before: string[] = [];
let ehr: string[] = [];

beforeAll(async () => {
  await emptied();
  await givenTemplate(app);
  const ehrId = await givenEhr(app);
  await givenUpdate(app, ehrId, await givenComposition(app, ehrId), aComposition());
  const lines = (await exported()).slice(0, -1);
  const begin = lines.findIndex((line) => line.startsWith('{"kind":"ehr"'));
  [before, ehr] = [lines.slice(0, begin), lines.slice(begin)];
});
afterAll(() => rmSync(place, { recursive: true, force: true }));

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gu;

/** Lines with ids of their own, which are in the order of the numbers. */
function renamed(lines: readonly string[], number: number): string[] {
  const ids = new Map<string, string>();
  const idOf = (id: string): string => {
    const known =
      ids.get(id) ??
      `${String(ids.size).padStart(8, '0')}-0000-4000-8000-${String(number).padStart(12, '0')}`;
    ids.set(id, known);
    return known;
  };
  return lines.map((line) => line.replaceAll(UUID, idOf));
}

/** A line of a COMPOSITION with a name of so many characters. */
function padded(line: string, characters: number): string {
  if (!line.startsWith('{"kind":"version"') || !line.includes('"type":"COMPOSITION"')) return line;
  const name = '"name":{"_type":"DV_TEXT","value":"';
  const at = line.indexOf(name, line.indexOf('"data":{"_type":"COMPOSITION"'));
  expect(at).toBeGreaterThan(0);
  const begin = at + name.length;
  return `${line.slice(0, begin)}${'x'.repeat(characters)}${line.slice(begin)}`;
}

/** Many EHRs, each with a large COMPOSITION. */
function* manyEhrs(): Generator<string> {
  yield* before;
  const one = ehr.filter((line) => !line.includes('::local.cdr::2"'));
  for (let number = 1; number <= LARGE_EHRS; number += 1)
    for (const line of renamed(one, number)) yield padded(line, STORE / LARGE_EHRS);
}

/** One EHR, with one COMPOSITION in many large versions. */
function* manyVersions(): Generator<string> {
  yield* before;
  const next = ehr.filter((line) => line.includes('::local.cdr::2"'));
  const [, time = ''] = /"time_committed":\{"_type":"DV_DATE_TIME","value":"([^"]+)"/u.exec(next[0]!) ?? [];
  for (const line of ehr.filter((one) => !next.includes(one))) yield line;
  for (let version = 2; version <= LARGE_VERSIONS; version += 1) {
    const at = new Date(Date.parse(time) + version * 1_000).toISOString();
    const contribution = `00000000-0000-4000-8000-${String(version).padStart(12, '0')}`;
    const [, uid = ''] =
      /"contribution":\{.*?"uid":\{"_type":"HIER_OBJECT_ID","value":"([^"]+)"/u.exec(next[0]!) ?? [];
    expect([next.length, uid.length, time.length > 0]).toEqual([2, 36, true]);
    for (const line of next)
      yield padded(
        line
          .replaceAll(
            /::local\.cdr::([12])"/gu,
            (_, number) => `::local.cdr::${version - 2 + Number(number)}"`,
          )
          .replaceAll(time, at)
          .replaceAll(uid, contribution),
        STORE / LARGE_VERSIONS,
      );
  }
}

/** Writes an interchange file. */
function written(lines: Iterable<string>): string {
  const file = join(place, 'given.ndjson');
  const descriptor = openSync(file, 'w');
  const hash = createHash('sha256');
  let count = 0;
  for (const line of lines) {
    hash.update(`${line}\n`);
    writeSync(descriptor, `${line}\n`);
    count += 1;
  }
  writeSync(descriptor, `${JSON.stringify({ kind: 'end', lines: count, sha256: hash.digest('hex') })}\n`);
  closeSync(descriptor);
  return file;
}

/** Where two files have other lines, with what stands there; null: nowhere. */
async function difference(one: string, other: string): Promise<string[] | null> {
  const linesOf = (file: string): AsyncIterator<string> =>
    createInterface({ input: createReadStream(file), crlfDelay: Infinity })[Symbol.asyncIterator]();
  const [left, right] = [linesOf(one), linesOf(other)];
  for (let line = 1; ; line += 1) {
    const [a, b] = [await left.next(), await right.next()];
    if (a.done === true && b.done === true) return null;
    const [here, there] = [String(a.value), String(b.value)];
    if (here === there) continue;
    let at = 0;
    while (here[at] === there[at]) at += 1;
    return [
      `line ${line}, ${at}`,
      ...[here, there].map((text) => text.slice(Math.max(0, at - 100), at + 100)),
    ];
  }
}

const succeeded = async (command: Promise<CommandResult>): Promise<void> => {
  const { code, stderr } = await command;
  expect([code, code === 0 ? '' : stderr.slice(-1_000)]).toEqual([0, '']);
};

describe('memory that does not grow with the store', () => {
  it.each([
    ['many large EHRs', manyEhrs],
    ['one object of many large versions', manyVersions],
  ])(
    'is enough to import, export, back up and restore %s',
    async (_name, content) => {
      const database = testDatabaseName();
      const given = written(content());
      await emptied();
      await succeeded(run(database, 'import', given, '--local'));
      const out = join(place, 'out.ndjson');
      await succeeded(run(database, 'export', '--all-versions', '--local', '--output', out));
      expect(await difference(out, given)).toBeNull();
      const backup = join(place, 'backup');
      await succeeded(run(database, 'backup', '--output', backup));
      await mongoose.connection.getClient().db(other()).dropDatabase();
      await succeeded(run(other(), 'restore', backup));
      await succeeded(run(other(), 'export', '--all-versions', '--local', '--output', out));
      expect(await difference(out, given)).toBeNull();
      await mongoose.connection.getClient().db(other()).dropDatabase();
    },
    1_800_000,
  );
});

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import mongoose from 'mongoose';
import request from 'supertest';
import { sealNewRecords } from '../../../maintenance/seal.js';
import type { Command } from '../../../packages/embedded-mongodb/src/protocol/command.js';
import { testApp } from '../../support/app.js';
import { testDatabaseName, testDatabaseUri, useDatabase } from '../../support/database.js';
import { emptied } from '../../support/interchange.js';
import { folder, givenDirectory, givenTag, merge, statusOf } from '../../support/merge-http.js';
import { ClusterProxy } from '../../support/process/cluster-proxy.js';
import { runCommand, type CommandResult } from '../../support/process/command-line.js';
import { givenComposition, givenEhr, givenTemplate, V1 } from '../../support/resources.js';
import { WITH_ADMIN } from '../../support/tokens.js';

/* What a replica set answers as of one moment is what is read in one session of `readConcern` snapshot. */

useDatabase();
const app = testApp(WITH_ADMIN);
const place = mkdtempSync(join(tmpdir(), 'everchart-snapshot-'));
let proxy: ClusterProxy;
let ehrId = '';
let seen: Read[] = [];

/** One command that reads. */
interface Read {
  readonly name: string;
  readonly collection: string;
  readonly filter: object;
  readonly level: string | null;
  readonly session: string | null;
}

const READS = new Set(['find', 'aggregate', 'getMore']);

function note(command: Command): null {
  if (!READS.has(command.name)) return null;
  const body = mongoose.mongo.BSON.deserialize(command.body);
  if (body['$db'] !== testDatabaseName()) return null;
  seen.push({
    name: command.name,
    collection: String(command.name === 'getMore' ? body['collection'] : body[command.name]),
    filter: (body['filter'] ?? {}) as object,
    level: (body['readConcern'] as { level?: string } | undefined)?.level ?? null,
    session: command.session === null ? null : Buffer.from(command.session, 'latin1').toString('hex'),
  });
  return null;
}

/** The embedded engine says that whoever writes waits for a snapshot; a replica set does not. */
function asReplicaSet(name: string, reply: mongoose.mongo.BSON.Document): mongoose.mongo.BSON.Document {
  if (!/^(?:hello|ismaster)$/iu.test(name)) return reply;
  return Object.fromEntries(Object.entries(reply).filter(([member]) => member !== 'holdsSnapshots'));
}

/** A store with what an export reads: a merge, a directory, item tags, a stored query. */
beforeAll(async () => {
  await emptied();
  await givenTemplate(app);
  ehrId = await givenEhr(app, statusOf('p1'));
  const other = await givenEhr(app);
  await givenDirectory(app, ehrId, folder('root'));
  for (const one of [ehrId, other]) await givenComposition(app, one);
  const uid = await givenComposition(app, ehrId);
  await givenTag(app, { ehrId, type: 'composition', uid }, 'k');
  expect((await merge(app, other, ehrId)).status).toBe(200);
  const stored = await request(app)
    .put(`${V1}/definition/query/org.example::all/1.0.0`)
    .set('Content-Type', 'text/plain')
    .send('SELECT e FROM EHR e');
  expect(stored.status).toBe(200);
  await sealNewRecords();
  proxy = await ClusterProxy.before(testDatabaseUri(), { fault: note, rewrite: asReplicaSet });
});
beforeEach(() => {
  seen = [];
});
afterAll(() => {
  proxy.close();
  rmSync(place, { recursive: true, force: true });
});

const run = (...args: string[]): Promise<CommandResult> =>
  runCommand([...args, '--output', join(place, 'out')], {
    LOG_LEVEL: 'warn',
    MONGODB_URI: proxy.uri,
    MONGODB_DATABASE: testDatabaseName(),
  });

/** The reads from the first to the last one of a snapshot, but for those of the sealer of a server that `--local` starts. */
function between(): Read[] {
  const isOfSnapshot = ({ level }: Read): boolean => level === 'snapshot';
  const [first, last] = [seen.findIndex(isOfSnapshot), seen.findLastIndex(isOfSnapshot)];
  return seen.slice(first, last + 1).filter(({ filter }) => !('unsealed' in filter));
}

const CONTENT = [
  ...['contributions', 'ehrs', 'item_tags', 'merge_archive', 'merge_history', 'merge_records'],
  ...['template_revisions', 'templates', 'versioned_objects', 'versions', 'distinct_persons'],
];
const DEFINITIONS = ['archetypes', 'query_owners', 'stored_queries'];

describe('every read', () => {
  it.each<[string, (ehrId: string) => string[], readonly string[]]>([
    [
      'an export of all versions',
      () => ['export', '--all-versions', '--local'],
      [...CONTENT, ...DEFINITIONS],
    ],
    ['one of EHRs by name', (id) => ['export', '--all-versions', '--local', '--ehr', id], CONTENT],
    ['one with the audit', () => ['export', '--all-versions', '--local', '--audit'], [...CONTENT, 'audit']],
    [
      'one since a time',
      () => ['export', '--all-versions', '--local', '--since', '2020-01-01T00:00:00Z'],
      CONTENT,
    ],
    ['a backup', () => ['backup'], [...CONTENT, ...DEFINITIONS, 'audit', 'seal_blocks', 'settings']],
  ])('of %s is in one session, of one snapshot', async (_name, args, collections) => {
    const { code, stderr } = await run(...args(ehrId));
    expect([code, code === 0 ? '' : stderr]).toEqual([0, '']);
    const reads = between().filter(({ collection }) => collections.includes(collection));
    // What a cursor goes on with is of the moment at which it began.
    const beside = reads.filter(({ name, level }) => name !== 'getMore' && level !== 'snapshot');
    expect(beside).toEqual([]);
    expect(new Set(reads.map(({ session }) => session)).size).toBe(1);
    expect([...new Set(reads.map(({ collection }) => collection))].sort()).toEqual([...collections].sort());
  });
});

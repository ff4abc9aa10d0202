import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import mongoose from 'mongoose';
import { testDatabaseName, testDatabaseUri, useDatabase } from '../../support/database.js';
import { folder } from '../../support/merge-http.js';
import { V1, type Json } from '../../support/resources.js';
import { startServerProcess, type ServerProcess } from '../../support/process/server.js';
import { TEST_JWT_SECRET } from '../../support/settings.js';
import { ADMIN } from '../../support/tokens.js';

useDatabase();

/** Versions of the directory, and random bytes of each: nothing compresses them. */
const VERSIONS = 12;
const BYTES = 5_200_000;
/** What a message to the database may have, and the heap of the server, MiB: both less than the archive. */
const MESSAGE = 48_000_000;
const HEAP_MIB = 160;

let server: ServerProcess;
beforeAll(async () => {
  server = await startServerProcess({
    MONGODB_URI: testDatabaseUri(),
    MONGODB_DATABASE: testDatabaseName(),
    AUTH: 'none',
    JWT_SECRET: TEST_JWT_SECRET,
    ADMIN_API_ACTIVE: 'true',
    SEAL_INTERVAL_MS: '0',
    LOG_LEVEL: 'info',
    NODE_OPTIONS: `--max-old-space-size=${HEAP_MIB}`,
  });
});
afterAll(async () => {
  await server.kill();
});

async function call(method: string, path: string, body?: object, headers: Record<string, string> = {}) {
  const response = await fetch(`${server.url}${path}`, {
    method,
    headers: { 'Content-Type': 'application/json', Authorization: ADMIN, ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  expect([path, response.status, response.ok ? '' : text]).toEqual([path, expect.any(Number), '']);
  return { response, text };
}

const etagOf = (response: Response): string => response.headers.get('etag') ?? '';

/** A directory whose text no compression makes small. */
function large(): Json {
  const value = { _type: 'DV_TEXT', value: randomBytes(BYTES).toString('base64') };
  const name = { _type: 'DV_TEXT', value: 'note' };
  const element = { _type: 'ELEMENT', archetype_node_id: 'at0002', name, value };
  const details = { _type: 'ITEM_TREE', archetype_node_id: 'at0001', name, items: [element] };
  return { ...folder('ward'), details };
}

async function givenEhr(): Promise<string> {
  return etagOf((await call('POST', `${V1}/ehr`)).response).replaceAll('"', '');
}

describe('an archive of 60 MB', () => {
  it('is written, read and put back in bounded parts, and all is as it was', async () => {
    const [source, target] = [await givenEhr(), await givenEhr()];
    const path = `${V1}/ehr/${source}/directory`;
    let etag = etagOf((await call('POST', path, large())).response);
    for (let version = 2; version <= VERSIONS; version += 1)
      etag = etagOf((await call('PUT', path, large(), { 'If-Match': etag })).response);
    const before = await stored(source);
    expect(before.bytes).toBeGreaterThan(60_000_000);
    expect(before.bytes).toBeGreaterThan(MESSAGE);

    const pair = { source_ehr: source, target_ehr: target };
    await call('POST', '/rest/admin/ehr/merge', { ...pair, reversible: true });
    expect((await stored(source)).versions).toEqual([]);
    const archive = mongoose.connection.collection('merge_archive');
    expect(await archive.countDocuments({ kind: 'version' })).toBe(VERSIONS + 1);
    await call('POST', '/rest/admin/ehr/unmerge', pair);
    expect(await stored(source)).toEqual(before);
    expect(await archive.countDocuments({})).toBe(0);
  });
});

/** All versions of an EHR with a hash of each, and of what AQL reads of it, made in the database. */
async function stored(ehrId: string): Promise<{ bytes: number; versions: unknown[]; derived: unknown[] }> {
  const hashed = (name: string, owner: string) =>
    mongoose.connection
      .collection(name)
      .aggregate([
        { $match: { [owner]: ehrId } },
        { $sort: { _id: 1 } },
        { $project: { hash: { $toHashedIndexKey: '$$ROOT' }, bytes: { $bsonSize: '$$ROOT' } } },
      ])
      .toArray();
  const versions = await hashed('versions', 'ehr_id');
  const bytes = versions.reduce((sum, version) => sum + Number(version.bytes), 0);
  return { bytes, versions, derived: await hashed('aql', 'ehr') };
}

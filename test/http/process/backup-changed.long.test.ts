import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import mongoose from 'mongoose';
import request from 'supertest';
import { writeBackup } from '../../../maintenance/backup.js';
import { sealNewRecords } from '../../../maintenance/seal.js';
import { testApp } from '../../support/app.js';
import { testDatabaseName, testDatabaseUri, useDatabase } from '../../support/database.js';
import { emptied } from '../../support/interchange.js';
import { folder, givenDirectory, givenTag, merge, statusOf } from '../../support/merge-http.js';
import { runCommand, type CommandResult } from '../../support/process/command-line.js';
import { givenComposition, givenEhr, givenTemplate } from '../../support/resources.js';
import { ADMIN, WITH_ADMIN } from '../../support/tokens.js';

useDatabase();
const app = testApp(WITH_ADMIN);
const place = mkdtempSync(join(tmpdir(), 'everchart-backup-'));
const file = join(place, 'store.backup');
/** Another database of the same engine. */
const other = (): string => `${testDatabaseName()}-other`;
const run = (database: string, ...args: string[]): Promise<CommandResult> =>
  runCommand(args, { LOG_LEVEL: 'warn', MONGODB_URI: testDatabaseUri(), MONGODB_DATABASE: database });

/** All documents of a database, by collection and in the order of their ids. */
async function everything(database: string): Promise<Record<string, unknown[]>> {
  const db = mongoose.connection.getClient().db(database);
  const found: Record<string, unknown[]> = {};
  for (const { name } of await db.listCollections().toArray())
    found[name] = await db.collection(name).find({}).sort({ _id: 1 }).toArray();
  return found;
}

const emptyOther = (): Promise<boolean> => mongoose.connection.getClient().db(other()).dropDatabase();

beforeAll(async () => {
  await emptied();
  await givenTemplate(app);
  const [source, target] = [await givenEhr(app, statusOf('p1')), await givenEhr(app, statusOf('p2'))];
  for (const ehrId of [source, target]) await givenComposition(app, ehrId);
  await givenDirectory(app, target, folder('root'));
  expect((await merge(app, source, target)).status).toBe(200);
  await sealNewRecords();
  const { code, stdout } = await run(testDatabaseName(), 'backup', '--output', file);
  expect([code, stdout]).toEqual([0, expect.stringMatching(/^\d+ documents backed up\n$/)]);
});
afterEach(emptyOther);
afterAll(() => rmSync(place, { recursive: true, force: true }));

describe('a backup', () => {
  it('is tried out in a temporary database', async () => {
    await emptyOther();
    const { code, stdout, stderr } = await run(other(), 'restore', '--check', file);
    expect([code === 0 ? '' : stderr, stdout]).toEqual(['', expect.stringContaining('no violation')]);
    expect(await everything(other())).toEqual({});
  });

  it('of a store that somebody has changed is not sound, and says so when it is tried out', async () => {
    const versions = mongoose.connection.collection('versions');
    const [changed, path] = [{ type: 'COMPOSITION' }, join(place, 'changed.backup')];
    const before = await versions.findOne(changed);
    await versions.updateOne({ _id: before!._id }, { $set: { time_committed: new Date(0) } });
    expect((await run(testDatabaseName(), 'backup', '--output', path)).code).toBe(0);
    await versions.updateOne({ _id: before!._id }, { $set: { time_committed: before!['time_committed'] } });
    const { code, stdout } = await run(other(), 'restore', '--check', path);
    expect([code, stdout]).toEqual([1, expect.not.stringContaining('no violation')]);
  });

  it('is refused before anything is written when it was cut or changed', async () => {
    await emptyOther();
    const text = gunzipSync(readFileSync(file)).toString();
    const wrong = [
      text.slice(0, text.lastIndexOf('{"kind":"end"')),
      text.replace('"p2"', '"p3"'),
      text.replace('"version":1', '"version":2'),
    ];
    for (const [index, one] of wrong.entries()) {
      const path = join(place, `wrong-${index}`);
      writeFileSync(path, gzipSync(one));
      const { code, stderr } = await run(other(), 'restore', path);
      expect([code, stderr]).toEqual([1, expect.stringMatching(/no last line|checksum|can read/)]);
    }
    expect(await everything(other())).toEqual({});
  });

  it('of the embedded engine fails when something was written meanwhile, whatever it was', async () => {
    const ehrId = await givenEhr(app);
    const uid = await givenComposition(app, ehrId);
    const [source, target] = [await givenEhr(app, statusOf('p3')), await givenEhr(app, statusOf('p4'))];
    /** What becomes of a backup during which somebody does something. */
    const beside = async (change: () => Promise<unknown>): Promise<string> => {
      let isBegun = false;
      const write = async (): Promise<void> => {
        if (!isBegun) await change();
        isBegun = true;
      };
      return writeBackup({ write, onDocument: () => undefined }).then(
        () => 'made',
        (error: unknown) => String(error),
      );
    };
    const deletes = (path: string) => async () => {
      expect((await request(app).delete(path).set('Authorization', ADMIN)).status).toBe(204);
    };
    const failure = expect.stringMatching(/written while it was read.*back up again/);
    expect(await beside(() => Promise.resolve())).toBe('made');
    expect(await beside(() => givenComposition(app, ehrId))).toEqual(failure);
    expect(await beside(() => givenTag(app, { ehrId, type: 'composition', uid }, 'k'))).toEqual(failure);
    expect(await beside(() => merge(app, source, target))).toEqual(failure);
    expect(await beside(() => givenTemplate(app, 'minimal_observation.en.v1'))).toEqual(failure);
    expect(await beside(deletes(`/rest/admin/ehr/${ehrId}`))).toEqual(failure);
  });

  it('whose restore was interrupted lets no server start', async () => {
    await emptyOther();
    const db = mongoose.connection.getClient().db(other());
    await db.collection<{ _id: string }>('settings').insertOne({
      _id: 'storage',
      system_id: 'unfinished.restore',
      layout: Number.MAX_SAFE_INTEGER,
    } as {
      _id: string;
    });
    await db.collection<{ _id: string }>('contributions').insertOne({ _id: 'c' });
    const { code, stderr } = await run(other(), 'verify');
    expect([code, stderr]).toEqual([1, expect.stringContaining('unfinished.restore')]);
  });
});

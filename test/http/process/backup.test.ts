import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import mongoose from 'mongoose';
import { sealNewRecords } from '../../../maintenance/seal.js';
import { testApp } from '../../support/app.js';
import { testDatabaseName, testDatabaseUri, useDatabase } from '../../support/database.js';
import { emptied } from '../../support/interchange.js';
import { folder, givenDirectory, merge, statusOf } from '../../support/merge-http.js';
import { RevisedData } from '../../support/openehr/revised-data.js';
import { runCommand, type CommandResult } from '../../support/process/command-line.js';
import { givenComposition, givenEhr, givenTemplate } from '../../support/resources.js';
import { putCategories } from '../../support/policy/categories.js';
import { putPolicy } from '../../support/policy/put.js';
import { OBJECTED, putMarks, RESTRICTED } from '../../support/policy/marks.js';
import { ADMIN, WITH_ADMIN } from '../../support/tokens.js';

useDatabase();
const app = testApp({ ...WITH_ADMIN, templateRevisions: true });
/** Where marks can be set. */
const marking = testApp({ ...WITH_ADMIN, auth: 'jwt', accessMode: 'enforce' });
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

/** A template with two revisions, and data that an upgrade moved from one to the other. */
async function givenUpgrade(): Promise<void> {
  const data = new RevisedData(app);
  await data.given('revised', 'gm', 'kg');
  const job = await data.upgrade('revised');
  expect(await data.settled(`revised/upgrade/${job}`)).toMatchObject({ state: 'done', upgraded: 1 });
}

beforeAll(async () => {
  await emptied();
  await givenTemplate(app);
  const [source, target] = [await givenEhr(app, statusOf('p1')), await givenEhr(app, statusOf('p2'))];
  for (const ehrId of [source, target]) await givenComposition(app, ehrId);
  await givenDirectory(app, target, folder('root'));
  expect((await merge(app, source, target)).status).toBe(200);
  // One mark that holds, and one that was lifted.
  await putMarks(marking, target, [RESTRICTED, OBJECTED], ADMIN).expect(200);
  await putMarks(marking, target, [RESTRICTED], ADMIN).expect(200);
  await putPolicy(marking, 'everybody', 'permit (principal, action, resource);', ADMIN).expect(200);
  await putCategories(marking, [{ name: 'psychiatry', templates: ['note'] }], ADMIN).expect(200);
  await givenUpgrade();
  await sealNewRecords();
  const { code, stdout } = await run(testDatabaseName(), 'backup', '--output', file);
  expect([code, stdout]).toEqual([0, expect.stringMatching(/^\d+ documents backed up\n$/)]);
});
afterEach(emptyOther);
afterAll(() => rmSync(place, { recursive: true, force: true }));

describe('a backup', () => {
  it('is a file of this user alone', () => {
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(gunzipSync(readFileSync(file)).toString()).toMatch(
      /^\{"kind":"header","format":"everchart-backup"/,
    );
  });

  it('is restored to an empty database, document by document, and to no other', async () => {
    await emptyOther();
    const restored = await run(other(), 'restore', file);
    expect([restored.code === 0 ? '' : restored.stderr, restored.stdout]).toEqual([
      '',
      expect.stringMatching(/documents restored/),
    ]);
    const restoredNow = await everything(other());
    expect(restoredNow).toEqual(await everything(testDatabaseName()));
    expect(restoredNow).toMatchObject({
      template_revisions: [{ template_id: 'revised', name: '1', used: true }],
      template_upgrades: [{ state: 'done', upgraded: 1 }],
      policies: [expect.objectContaining({ _id: 'everybody' })],
      policy_versions: [expect.anything()],
      category_versions: [expect.objectContaining({ _id: 'categories::1' })],
      ehr_marks: expect.arrayContaining([
        expect.objectContaining({ kind: 'restriction_of_processing', open: true, lifted: [] }),
        expect.objectContaining({ kind: 'research_objection', lifted: [expect.anything()] }),
      ]),
    });
    const verified = await run(other(), 'verify');
    expect([verified.code, verified.stdout]).toEqual([0, expect.stringContaining('no violation')]);
    const again = await run(other(), 'restore', file);
    expect([again.code, again.stderr]).toEqual([1, expect.stringContaining('is not empty')]);
  });
});

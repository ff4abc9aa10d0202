import { beforeEach, expect, it } from '@jest/globals';
import request from 'supertest';
import { sealNewRecords } from '../../../maintenance/seal.js';
import { verifyStorage } from '../../../maintenance/verify.js';
import { testApp } from '../../support/app.js';
import { useDatabase } from '../../support/database.js';
import { emptied, exported, imported, refusals } from '../../support/interchange.js';
import { putCategories } from '../../support/policy/categories.js';
import { putPolicy } from '../../support/policy/put.js';
import type { Json } from '../../support/resources.js';
import { ADMIN, bearer, WITH_ADMIN } from '../../support/tokens.js';

/* The map of categories travels in an export of everything: docs/spec/interchange.md#lines */

useDatabase();
const roles = { rolePermissions: { MOVER: ['restore'], ADMIN: ['admin', 'restore'] } } as const;
const app = testApp({ ...WITH_ADMIN, ...roles, auth: 'jwt', accessMode: 'dry' });
const ASKING =
  'forbid (principal, action, resource is Version) when { resource.categories.contains("psychiatry") };';
const isVersion = (line: string): boolean => line.includes('"collection":"category_versions"');

/** Every version. */
async function told(): Promise<Json> {
  const { body } = await request(app).get('/rest/admin/categories/versions').set('Authorization', ADMIN);
  return body as Json;
}

/** Ten versions and more: their ids as texts stand in another order; a policy asks for a category that is gone by now. */
beforeEach(async () => {
  await emptied();
  for (let version = 1; version <= 10; version += 1)
    await putCategories(app, [{ name: 'psychiatry', templates: [`note ${version}`] }], ADMIN).expect(200);
  await putPolicy(app, 'asking', ASKING).expect(200);
  await putPolicy(app, 'asking', 'permit (principal, action, resource);').expect(200);
  await putCategories(
    app,
    [{ name: 'genetics', archetypes: ['openEHR-EHR-COMPOSITION.x.v1'] }],
    ADMIN,
  ).expect(200);
});

it('with every version, before the policies that ask for categories', async () => {
  const [before, lines] = [await told(), await exported()];
  expect(lines.filter(isVersion)).toHaveLength(11);
  await emptied();
  expect(refusals(await imported(lines))).toEqual([]);
  expect(await told()).toEqual(before);
  expect(await exported()).toEqual(lines);
  expect((await imported(lines)).map(({ result }) => result)).toEqual(
    lines.slice(1, -1).map(() => 'unchanged'),
  );
  const { body } = await putCategories(app, [], ADMIN).expect(200);
  expect(body).toMatchObject({ version: 12 });
  await sealNewRecords();
  expect((await verifyStorage()).violations).toEqual([]);
});

it('not with a version missing, nor what is no map', async () => {
  const lines = await exported();
  await emptied();
  const without = lines.filter((line) => !line.includes('"categories::4"'));
  expect(refusals(await imported(without))[0]).toBe(
    'categories have 3 versions here, and categories::5 stands behind another one',
  );
  await emptied();
  const broken = lines.map((line) => line.replace('"templates":["note 1"]', '"templates":"note 1"'));
  expect(refusals(await imported(broken))[0]).toBe('document categories::1 is no version of the categories');
});

it('not through a server for who may restore, and not administrate', async () => {
  const lines = (await exported()).filter(isVersion);
  await emptied();
  const restored = (role: string): request.Test =>
    request(app)
      .put('/rest/admin/restore/9c7e1ba0-5a3f-4f54-8d4c-0f8f7b1f1a12')
      .set({ Authorization: bearer([role], 'mover'), 'Content-Type': 'application/x-ndjson' })
      .send(lines.map((line) => `${line}\n`).join(''))
      .expect(200);
  const { body } = await restored('MOVER');
  expect(body.failed).toHaveLength(11);
  expect(body.failed[0]).toMatchObject({ status: 422, message: expect.stringContaining('permission admin') });
  expect((await restored('ADMIN')).body).toMatchObject({ imported: 11, failed: [] });
});

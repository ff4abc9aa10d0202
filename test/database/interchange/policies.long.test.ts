import { beforeEach, expect, it } from '@jest/globals';
import request from 'supertest';
import { sealNewRecords } from '../../../maintenance/seal.js';
import { verifyStorage } from '../../../maintenance/verify.js';
import { testApp } from '../../support/app.js';
import { useDatabase } from '../../support/database.js';
import { emptied, exported, imported, refusals } from '../../support/interchange.js';
import type { Json } from '../../support/resources.js';
import { ADMIN, bearer, WITH_ADMIN } from '../../support/tokens.js';

/* Policies of access travel in an export of everything: docs/spec/interchange.md#lines */

useDatabase();
const roles = { rolePermissions: { MOVER: ['restore'], ADMIN: ['admin', 'restore'] } } as const;
const app = testApp({ ...WITH_ADMIN, ...roles, auth: 'jwt', accessMode: 'dry' });
const PERMIT = 'permit (principal, action, resource);';
const OWN = `permit (principal, action == Action::"read", resource)
when { principal has ehr && resource.ehr_id == principal.ehr };`;

const ask = (method: 'get' | 'put' | 'delete', path: string): request.Test =>
  request(app)[method](`/rest/admin/policies${path}`).set('Authorization', ADMIN);
const put = (id: string, text: string): request.Test =>
  ask('put', `/${id}`).set('Content-Type', 'text/plain').send(text).expect(200);
const isVersion = (line: string): boolean => line.includes('"collection":"policy_versions"');

/** The list, and every version of each. */
async function told(): Promise<unknown[]> {
  const all: unknown[] = [(await ask('get', '').expect(200)).body];
  for (const id of ['gone', 'own', 'all']) all.push((await ask('get', `/${id}/versions`)).body as Json);
  return all;
}

/** Ten versions and more: their ids as texts stand in another order. */
beforeEach(async () => {
  await emptied();
  for (let version = 1; version <= 11; version += 1) await put('own', version % 2 === 1 ? OWN : PERMIT);
  await put('all', PERMIT);
  await put('gone', PERMIT);
  await ask('delete', '/gone').expect(204);
});

it('with every version, and those that hold are the newest', async () => {
  const [before, lines] = [await told(), await exported()];
  expect(lines.filter(isVersion)).toHaveLength(14);
  await emptied();
  expect(refusals(await imported(lines))).toEqual([]);
  expect(await told()).toEqual(before);
  expect(await exported()).toEqual(lines);
  expect((await imported(lines)).map(({ result }) => result)).toEqual(
    lines.slice(1, -1).map(() => 'unchanged'),
  );
  const { body } = await request(app)
    .post('/rest/admin/policies/decide')
    .set('Authorization', ADMIN)
    .send({ principal: { sub: 'ada' }, action: 'read', resource: { type: 'Ehr', ehr_id: 'e' } })
    .expect(200);
  expect(JSON.stringify(body)).toContain('"all"');
  await put('own', PERMIT);
  expect((await ask('get', '/own')).body).toMatchObject({ version: 12 });
  await sealNewRecords();
  expect((await verifyStorage()).violations).toEqual([]);
});

it('not over others that are here, nor with a version missing, nor what is no policy', async () => {
  const lines = await exported();
  await emptied();
  await put('all', OWN);
  expect(refusals(await imported(lines))).toEqual(['another document all::1 is in policy_versions here']);
  await emptied();
  const without = lines.filter((line) => !line.includes('"own::4"'));
  expect(refusals(await imported(without))[0]).toBe(
    'policy own has 3 versions here, and own::5 stands behind another one',
  );
  await emptied();
  const broken = lines.map((line) => line.replace('permit (principal, action, resource);', 'permit (who);'));
  expect(refusals(await imported(broken))[0]).toMatch(/^line 1, column \d+: /);
  await emptied();
  const numbers = lines.map((line) => line.replace('"by":"root-admin"', '"by":7'));
  expect(refusals(await imported(numbers))[0]).toBe('document all::1 is no version of a policy of access');
  expect((await ask('get', '').expect(200)).body).toMatchObject({ policies: [] });
});

it('not through a server for who may restore, and not administrate', async () => {
  const lines = (await exported()).filter(isVersion);
  await emptied();
  const restored = (role: string): request.Test =>
    request(app)
      .put('/rest/admin/restore/9c7e1ba0-5a3f-4f54-8d4c-0f8f7b1f1a11')
      .set({ Authorization: bearer([role], 'mover'), 'Content-Type': 'application/x-ndjson' })
      .send(lines.map((line) => `${line}\n`).join(''))
      .expect(200);
  const { body } = await restored('MOVER');
  expect(body.failed).toHaveLength(14);
  expect(body.failed[0]).toMatchObject({ status: 422, message: expect.stringContaining('permission admin') });
  expect((await restored('ADMIN')).body).toMatchObject({ imported: 14, failed: [] });
});

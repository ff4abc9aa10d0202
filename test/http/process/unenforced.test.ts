import { expect, it } from '@jest/globals';
import request from 'supertest';
import { testApp } from '../../support/app.js';
import { testDatabaseName, testDatabaseUri, useDatabase } from '../../support/database.js';
import { MARK_ROLES, putMarks, WITHHELD } from '../../support/policy/marks.js';
import { putPolicy } from '../../support/policy/put.js';
import { startServerProcess } from '../../support/process/server.js';
import { givenEhr } from '../../support/resources.js';
import { everythingOn } from '../../support/settings.js';
import { ADMIN } from '../../support/tokens.js';

useDatabase();

const enforcing = everythingOn({ auth: 'jwt', accessMode: 'enforce' });
const OPEN = 'permit (principal, action, resource);';

async function warningsOf(accessMode: 'off' | 'dry' | 'observe' | 'enforce'): Promise<string[]> {
  const app = testApp(everythingOn({ auth: 'jwt', accessMode, auditReads: true }));
  const { body } = await request(app).get('/rest/overview').set('Authorization', ADMIN).expect(200);
  return (body as { warnings: { code: string }[] }).warnings.map(({ code }) => code);
}

const start = (more: Readonly<Record<string, string>>) =>
  startServerProcess({
    MONGODB_URI: testDatabaseUri(),
    MONGODB_DATABASE: testDatabaseName(),
    AUTH: 'none',
    ...more,
  });

/** Each gives what takes it away again. */
async function givenMark(): Promise<() => Promise<unknown>> {
  const ehr = await givenEhr(testApp());
  const marking = (marks: readonly object[]) =>
    putMarks(testApp({ ...enforcing, rolePermissions: MARK_ROLES }), ehr, marks).expect(200);
  await marking([WITHHELD]);
  return () => marking([]);
}

async function givenPolicy(): Promise<() => Promise<unknown>> {
  const app = testApp(enforcing);
  await putPolicy(app, 'open', OPEN).expect(200);
  return () => request(app).delete('/rest/admin/policies/open').set('Authorization', ADMIN).expect(204);
}

it.each([
  ['a mark', givenMark],
  ['a policy', givenPolicy],
])('%s that does not hold is told, and a server that nobody told so does not start', async (_, given) => {
  expect(await warningsOf('off')).not.toContain('unenforced');
  const takenAway = await given();
  for (const mode of ['off', 'dry', 'observe'] as const)
    expect(await warningsOf(mode)).toContain('unenforced');
  expect(await warningsOf('enforce')).not.toContain('unenforced');
  await expect(start({})).rejects.toThrow('ACCESS_MODE is not set');
  const server = await start({ ACCESS_MODE: 'off' });
  expect(server.said.join('\n')).toContain('do not hold: ACCESS_MODE=off');
  await server.stop();
  await takenAway();
  expect(await warningsOf('off')).not.toContain('unenforced');
});

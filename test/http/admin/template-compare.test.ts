import { expect, it } from '@jest/globals';
import request from 'supertest';
import { testApp } from '../../support/app.js';
import { useDatabase } from '../../support/database.js';
import { fixtureText } from '../../support/fixture.js';
import { secondOpt } from '../../support/openehr/revisions.js';
import { givenTemplate, V1, type Json } from '../../support/resources.js';
import { USER, WITH_ADMIN } from '../../support/tokens.js';

const NAME = 'minimal_evaluation.en.v1';
const EVALUATION = 'openEHR-EHR-EVALUATION.minimal.v1';
const VALUE = `/content[${EVALUATION}]/data[at0001]/items[at0002]/value`;

const app = testApp(WITH_ADMIN);
const compare = (opt: string, id = NAME): request.Test =>
  request(app)
    .post(`/rest/admin/template/${id}/compare`)
    .set({ Authorization: USER, 'Content-Type': 'application/xml' })
    .send(opt);

useDatabase();

it('tells what differs from a stored template, and which stored queries read something else', async () => {
  await givenTemplate(app);
  const store = (name: string, q: string): request.Test =>
    request(app)
      .put(`${V1}/definition/query/org.example::${name}/1.0.0`)
      .set({ Authorization: USER, 'Content-Type': 'text/plain' })
      .send(q);
  const from = `FROM EHR e CONTAINS EVALUATION v[${EVALUATION}]`;
  expect((await store('mass', `SELECT v/data[at0001]/items[at0002]/value/magnitude ${from}`)).status).toBe(
    200,
  );
  expect((await store('ids', `SELECT v/uid/value ${from}`)).status).toBe(200);
  const { status, body } = await compare(secondOpt('a unit is replaced by another'));
  expect(status).toBe(200);
  expect(body as Json).toMatchObject({
    verdict: 'breaking',
    changes: [
      {
        path: VALUE,
        kind: 'changed',
        what: 'units',
        verdict: 'breaking',
        reason: expect.stringContaining('gm'),
      },
    ],
    stored_queries: [{ name: 'org.example::mass', version: '1.0.0', paths: [VALUE] }],
  });
});

it('finds nothing in the template itself, whatever its id, and stores nothing', async () => {
  await givenTemplate(app);
  const opt = fixtureText(`opt/${NAME}.opt`);
  expect((await compare(opt)).body).toEqual({ verdict: 'same', changes: [], stored_queries: [] });
  const other = opt.replaceAll(`<value>${NAME}</value>`, '<value>another</value>');
  expect((await compare(other)).body).toEqual({ verdict: 'same', changes: [], stored_queries: [] });
  expect((await compare(opt, 'another')).status).toBe(404);
});

it('refuses what is no template', async () => {
  await givenTemplate(app);
  expect((await compare('<template/>')).status).toBe(400);
});

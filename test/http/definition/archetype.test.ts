import { readFileSync } from 'node:fs';
import { expect, it } from '@jest/globals';
import request from 'supertest';
import { testApp } from '../../support/app.js';
import { useDatabase } from '../../support/database.js';
import { V1, type Json } from '../../support/resources.js';
import { RELEASE_1_1 } from '../../support/settings.js';

const SOURCE = readFileSync('routes/http/openapi/data/pulse_of_house.adl', 'utf8');
const ID = 'openEHR-EHR-OBSERVATION.pulse_of_house.v1';
const PATH = `${V1}/definition/archetype/adl1.4`;
const APPS = { '1.0.3': testApp(), '1.1.0': testApp(RELEASE_1_1) } as const;
const upload = (app: (typeof APPS)['1.0.3'], source: string, type = 'text/plain'): request.Test =>
  request(app).post(PATH).set('Content-Type', type).send(source);

useDatabase();

it.each(Object.entries(APPS))('stores, lists and reads archetypes in %s', async (edition, app) => {
  const id = ID.replace('pulse', `pulse_${edition.replaceAll('.', '_')}`);
  const source = SOURCE.replace(ID, id);
  const made = await upload(app, source);
  expect([made.status, made.text]).toEqual([201, '']);
  expect(made.headers.location).toMatch(new RegExp(`${PATH}/${id}$`));
  expect(made.headers.etag).toBe(edition === '1.0.3' ? `"${id}"` : `W/"${id}"`);
  const read = await request(app).get(`${PATH}/${id}`);
  expect([read.status, read.headers['content-type'], read.text]).toEqual([
    200,
    'text/plain; charset=utf-8',
    source,
  ]);
  const json = await request(app).get(`${PATH}/${id}`).set('Accept', 'application/json');
  expect(json.body).toMatchObject({
    archetype_id: id,
    original_language: 'en',
    languages: ['en', 'de'],
    concept: 'at0000',
    terms: { de: [{ code: 'at0000', text: 'Puls' }] },
  });
  const { body } = await request(app).get(PATH);
  expect((body as Json[]).find((one) => one.archetype_id === id)).toMatchObject({
    concept: 'Pulse',
    languages: ['en', 'de'],
  });
  expect((await upload(app, source)).status).toBe(409);
});

it('refuses what is no archetype, and names the place', async () => {
  const app = APPS['1.0.3'];
  const broken = await upload(app, SOURCE.replace('<"Puls">', '<"Puls"'));
  expect(broken.status).toBe(400);
  expect((broken.body as Json).violations).toMatchObject([{ code: 'syntax', line: 57, column: 20 }]);
  expect((await upload(app, '')).status).toBe(400);
  expect((await upload(app, SOURCE, 'application/xml')).status).toBe(415);
  expect((await request(app).get(`${PATH}/${ID}x`)).status).toBe(404);
});

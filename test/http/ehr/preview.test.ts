import { beforeAll, describe, expect, it } from '@jest/globals';
import request from 'supertest';
import { testApp } from '../../support/app.js';
import { useDatabase } from '../../support/database.js';
import { templateNames } from '../../support/fixture.js';
import { givenComposition, givenEhr, givenTemplate, V1 } from '../../support/resources.js';

useDatabase();
const app = testApp();
const TEMPLATE = 'minimal_evaluation.en.v1';
beforeAll(() => givenTemplate(app, TEMPLATE));

const FLAT = 'application/openehr.wt.flat+json';
const preview = (ehrId: string, uid: string, body: object, template = TEMPLATE) =>
  request(app)
    .post(`/rest/preview/${ehrId}/${uid}`)
    .set({ 'Content-Type': FLAT, 'openEHR-TEMPLATE_ID': template })
    .send(body);
const stored = async (ehrId: string, uid: string) =>
  (await request(app).get(`${V1}/ehr/${ehrId}/composition/${uid}`).expect(200)).body;
const flat = async (ehrId: string, uid: string) =>
  (await request(app).get(`${V1}/ehr/${ehrId}/composition/${uid}`).set('Accept', FLAT).expect(200)).body;

describe('the preview of a change', () => {
  it('is what would be stored, and stores nothing', async () => {
    const ehrId = await givenEhr(app);
    const uid = await givenComposition(app, ehrId);
    const before = await stored(ehrId, uid);
    const typed = await flat(ehrId, uid);
    const key = Object.keys(typed).find((name) => name.endsWith('|magnitude')) ?? '';
    const same = await preview(ehrId, uid, typed).expect(200);
    expect({ ...same.body, uid: before.uid }).toEqual(before);
    const changed = await preview(ehrId, uid, { ...typed, [key]: 77.5 }).expect(200);
    expect(JSON.stringify(changed.body)).toContain('"magnitude":77.5');
    expect(await stored(ehrId, uid.split('::')[0] ?? '')).toEqual(before);
    // What would refuse the change refuses this.
    const refused = await preview(ehrId, uid, { ...typed, [key]: 'much' });
    const update = await request(app)
      .put(`${V1}/ehr/${ehrId}/composition/${uid.split('::')[0]}`)
      .set({ 'Content-Type': FLAT, 'openEHR-TEMPLATE_ID': TEMPLATE, 'If-Match': uid, Prefer: 'unshown=keep' })
      .send({ ...typed, [key]: 'much' });
    expect(refused.status).toBe(update.status);
    expect(refused.body.message).toBe(update.body.message);
    await preview(await givenEhr(app), uid, typed).expect(404);
  });

  it('of the form of any document as it is changes nothing', async () => {
    const ehrId = await givenEhr(app);
    for (const name of templateNames()) {
      await givenTemplate(app, name);
      const example = await request(app)
        .get(`${V1}/definition/template/adl1.4/${encodeURIComponent(name)}/example?detail_level=medium`)
        .set('Accept', 'application/json');
      const made = await request(app).post(`${V1}/ehr/${ehrId}/composition`).send(example.body);
      if (made.status !== 201) continue;
      const uid = (made.headers['etag'] ?? '').replaceAll('"', '');
      const before = await stored(ehrId, uid);
      const same = await preview(ehrId, uid, await flat(ehrId, uid), name).expect(200);
      expect({ ...same.body, uid: before.uid }).toEqual(before);
    }
  });
});

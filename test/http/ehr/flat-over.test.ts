import { describe, expect, it, beforeAll } from '@jest/globals';
import request from 'supertest';
import { testApp } from '../../support/app.js';
import { useDatabase } from '../../support/database.js';
import {
  aComposition,
  givenComposition,
  givenEhr,
  givenTemplate,
  V1,
  versionedObjectUidOf,
  versionUidOf,
  type Json,
} from '../../support/resources.js';

useDatabase();
const app = testApp();
const TEMPLATE = 'minimal_evaluation.en.v1';
const FLAT = 'application/openehr.wt.flat+json';
beforeAll(() => givenTemplate(app, TEMPLATE));

/** A COMPOSITION whose names are links, which FLAT cannot say. */
const linked = (): Json =>
  JSON.parse(JSON.stringify(aComposition()), (_, value: Json | null) =>
    value?._type === 'ELEMENT'
      ? { ...value, name: { ...value.name, hyperlink: { _type: 'DV_URI', value: 'https://a.example' } } }
      : value,
  ) as Json;

describe('an update in FLAT', () => {
  const edited = async (prefer: string) => {
    const ehrId = await givenEhr(app);
    const uid = await givenComposition(app, ehrId, linked());
    const path = `${V1}/ehr/${ehrId}/composition`;
    const { body: flat } = await request(app).get(`${path}/${uid}`).set('Accept', FLAT).expect(200);
    const key = Object.keys(flat as Json).find((each) => each.endsWith('|magnitude'))!;
    const form = { ...(flat as Json) };
    Reflect.deleteProperty(form, `${key.split('/')[0]}/_uid`);
    const sent = await request(app)
      .put(`${path}/${versionedObjectUidOf(uid)}?templateId=${TEMPLATE}`)
      .set({ 'Content-Type': FLAT, 'If-Match': `"${uid}"`, ...(prefer !== '' && { Prefer: prefer }) })
      .send(JSON.stringify({ ...form, [key]: 77 }))
      .expect(200);
    const [before, after] = await Promise.all(
      [uid, versionUidOf(sent)].map(
        async (each) => (await request(app).get(`${path}/${each}`).expect(200)).body as Json,
      ),
    );
    return { before: before!, after: after! };
  };

  it('with unshown=keep changes what is changed, and nothing else', async () => {
    const { before, after } = await edited('unshown=keep');
    const changed = JSON.parse(JSON.stringify(before), (key, value: unknown) =>
      key === 'magnitude' ? 77 : value,
    ) as Json;
    expect({ ...after, uid: null }).toEqual({ ...changed, uid: null });
    expect(JSON.stringify(after)).toContain('https://a.example');
  });

  it('without it is the whole COMPOSITION, as ever', async () => {
    const { after } = await edited('');
    expect(JSON.stringify(after)).not.toContain('https://a.example');
  });

  it('says at which field of the form something is wrong', async () => {
    const ehrId = await givenEhr(app);
    const uid = await givenComposition(app, ehrId, linked());
    const path = `${V1}/ehr/${ehrId}/composition`;
    const { body: flat } = await request(app).get(`${path}/${uid}`).set('Accept', FLAT).expect(200);
    const key = Object.keys(flat as Json).find((each) => each.endsWith('|unit'))!;
    const { body } = await request(app)
      .put(`${path}/${versionedObjectUidOf(uid)}?templateId=${TEMPLATE}`)
      .set({ 'Content-Type': FLAT, 'If-Match': `"${uid}"`, Prefer: 'unshown=keep' })
      .send(JSON.stringify({ ...(flat as Json), [key]: 'miles' }))
      .expect(422);
    expect((body as Json).violations[0].flatPath.split('|')[0]).toBe(key.split('|')[0]);
  });
});

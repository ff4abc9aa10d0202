import { beforeAll, describe, expect, it } from '@jest/globals';
import request from 'supertest';
import { testApp } from '../../support/app.js';
import type { JsonObject } from '../../../openehr/base/json.js';
import { useDatabase } from '../../support/database.js';
import { fixtureNames, fixtureText, templateNames } from '../../support/fixture.js';
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

  /** Refused names, after each document that is taken went through its form as it is, and came back the same. */
  const refusedOf = async (
    documents: readonly (readonly [name: string, body: object | string])[],
  ): Promise<string[]> => {
    const ehrId = await givenEhr(app);
    const refused: string[] = [];
    for (const [name, body] of documents) {
      const made = await request(app)
        .post(`${V1}/ehr/${ehrId}/composition`)
        .set('Content-Type', 'application/json')
        .send(body);
      if (made.status !== 201) {
        refused.push(name);
        continue;
      }
      const uid = (made.headers['etag'] ?? '').replaceAll('"', '');
      const before = await stored(ehrId, uid);
      const template = before.archetype_details.template_id.value as string;
      const same = await preview(ehrId, uid, await flat(ehrId, uid), template).expect(200);
      expect([name, { ...same.body, uid: before.uid }]).toEqual([name, before]);
    }
    return refused;
  };

  it('of the form of an example of any template as it is changes nothing', async () => {
    const examples: [string, object][] = [];
    for (const name of templateNames()) {
      await givenTemplate(app, name);
      const example = await request(app)
        .get(`${V1}/definition/template/adl1.4/${encodeURIComponent(name)}/example?detail_level=medium`)
        .set('Accept', 'application/json');
      examples.push([name, example.body as object]);
    }
    // Its template allows one part and has ten.
    expect(await refusedOf(examples)).toEqual(['cardinality_of_section']);
  });

  it('of the form of any public document as it is changes nothing', async () => {
    for (const name of templateNames()) await givenTemplate(app, name);
    const names = fixtureNames('composition').filter((name) => name.endsWith('.json'));
    expect(names.length).toBeGreaterThan(20);
    const refused = await refusedOf(
      names.map((name) => [name, withoutUid(fixtureText(`composition/${name}`))] as const),
    );
    // Not JSON, not of their template, or against the reference model: each of them is refused for that.
    expect(refused).toEqual([
      'Test_dv_proportion_open_constraint.v0.json',
      'cardinality_of_section.json',
      'nested.en.v1.invalid.json',
      'persistent_minimal.en.v1.invalid.json',
      'test_all_types.en.v1.datetimes.json',
      'test_all_types.en.v1.durations.json',
      'test_all_types.en.v1.feeder-audit.json',
    ]);
  });

  it('keeps what no field shows: types of references, terminologies of symbols, encodings', async () => {
    await givenTemplate(app, ALL_TYPES);
    const rare = (change: (key: string, value: JsonObject) => object): object =>
      JSON.parse(fixtureText(`composition/${ALL_TYPES}.json`), (key, value: unknown) => {
        if (key === 'uid') return undefined;
        return typeof value === 'object' && value !== null ? change(key, value as JsonObject) : value;
      }) as object;
    const documents: readonly (readonly [string, object])[] = [
      [
        'type',
        rare((_, value) => (value._type === 'PARTY_REF' ? { ...value, type: 'ORGANISATION' } : value)),
      ],
      [
        'encoding',
        rare((key, value) => (key === 'encoding' ? { ...value, code_string: 'ISO_8859-1:1987' } : value)),
      ],
      [
        'symbol',
        rare((_, value) =>
          value.code_string === 'at0015'
            ? { ...value, terminology_id: { _type: 'TERMINOLOGY_ID', value: 'SNOMED-CT' } }
            : value,
        ),
      ],
    ];
    for (const [, document] of documents)
      expect(JSON.stringify(document)).toMatch(
        /ORGANISATION|ISO_8859-1:1987|SNOMED-CT"},"code_string":"at0015/,
      );
    // The template names the terminology of its symbols: no document can have another one.
    expect(await refusedOf(documents)).toEqual(['symbol']);
  });
});

const ALL_TYPES = 'test_all_types.en.v1';

/** An instance may have the uid of a version that is not here; what is no JSON stays as it is. */
function withoutUid(text: string): object | string {
  try {
    return { ...(JSON.parse(text) as object), uid: undefined };
  } catch {
    return text;
  }
}

import { beforeAll, describe, expect, it } from '@jest/globals';
import request from 'supertest';

import { testApp } from '../../support/app.js';
import { useDatabase } from '../../support/database.js';
import { templateNames } from '../../support/fixture.js';
import { codedText, element, evaluation, node, single, template } from '../../support/openehr/opt-builder.js';
import { TWINS } from '../../support/openehr/twin-template.js';
import { givenEhr, givenTemplate, V1 } from '../../support/resources.js';

const BASE = `${V1}/definition/template/adl1.4`;
const TEMPLATE_ID = 'minimal_observation.en.v1';
const FORMATS = ['JSON', 'XML', 'FLAT', 'STRUCTURED'] as const;
const LEVELS = ['required', 'medium', 'complete'] as const;
const MEDIA_TYPE = {
  JSON: 'application/json',
  XML: 'application/xml',
  FLAT: 'application/openehr.wt.flat+json',
  STRUCTURED: 'application/openehr.wt.structured+json',
};
const app = testApp();

/** Its content must be one of eight things and holds all of them: nothing is valid while container cardinality counts. */
const IMPOSSIBLE = 'cardinality_of_section';
const uncounted = testApp({ checkContainerCardinality: false });

useDatabase();

let ehrId: string;
let templateIds: string[];

beforeAll(async () => {
  for (const name of templateNames()) await givenTemplate(app, name);
  ehrId = await givenEhr(app);
  const list = await request(app).get(BASE);
  templateIds = (list.body as { template_id: string }[]).map((entry) => entry.template_id);
});

const example = (templateId: string, query = '') =>
  request(app).get(`${BASE}/${encodeURIComponent(templateId)}/example${query}`);

describe('GET template example', () => {
  it('finds all public templates', () => {
    expect(templateIds).toHaveLength(templateNames().length);
  });

  it.each(LEVELS.flatMap((level) => FORMATS.map((format) => [level, format] as const)))(
    'gives for every template at level %s in %s what is accepted when posted back',
    async (level, format) => {
      for (const templateId of templateIds) {
        const given = await example(templateId, `?detail_level=${level}&format=${format}`);
        expect([templateId, given.status]).toEqual([templateId, 200]);
        const posted = await request(templateId === IMPOSSIBLE ? uncounted : app)
          .post(`${V1}/ehr/${ehrId}/composition`)
          .set({
            'Content-Type': MEDIA_TYPE[format],
            'openEHR-TEMPLATE_ID': encodeIfSimplified(format, templateId),
          })
          .query({ format })
          .send(given.text);
        expect([templateId, posted.status, posted.text]).toEqual([templateId, 201, '']);
      }
    },
  );

  it('gives an output with a uid that can be committed as well', async () => {
    const given = await example(TEMPLATE_ID, '?type=output');
    expect(given.body.uid.value).toMatch(/^[0-9a-f-]{36}::local\.cdr::1$/);
    const posted = await request(app)
      .post(`${V1}/ehr/${ehrId}/composition`)
      .send(given.body as object);
    expect([posted.status, posted.headers.etag]).toEqual([201, `"${given.body.uid.value as string}"`]);
    expect((await example(TEMPLATE_ID, '?type=input')).body.uid).toBeUndefined();
  });

  it('gives more at each level', async () => {
    const sizes = await Promise.all(
      LEVELS.map(
        async (level) => (await example('test_all_types.en.v1', `?detail_level=${level}`)).text.length,
      ),
    );
    expect(sizes[0]).toBeLessThan(sizes[1]!);
    expect(sizes[1]).toBeLessThan(sizes[2]!);
    expect((await example('test_all_types.en.v1')).text).toHaveLength(sizes[0]!);
  });

  it.each([
    [undefined, undefined, 'application/json; charset=utf-8'],
    ['*/*', 'XML', 'application/xml; charset=utf-8'],
    ['application/xml', undefined, 'application/xml; charset=utf-8'],
    ['application/json', 'FLAT', 'application/json; charset=utf-8'],
    ['application/std.wt.flat+json', undefined, 'application/std.wt.flat+json; charset=utf-8'],
    [
      'application/openehr.wt.structured.schema+json',
      undefined,
      'application/openehr.wt.structured.schema+json; charset=utf-8',
    ],
  ])('answers Accept %s with format %s', async (accept, format, contentType) => {
    const given = await example(TEMPLATE_ID, format === undefined ? '' : `?format=${format}`).set(
      accept === undefined ? {} : { Accept: accept },
    );
    expect([given.status, given.headers['content-type']]).toEqual([200, contentType]);
  });

  it.each([
    ['?type=both', 400],
    ['?detail_level=all', 400],
    ['?type=input&type=output', 400],
    ['?format=RAW', 400],
    ['?format=nonsense', 406],
  ])('refuses %s with %i', async (query, status) => {
    expect((await example(TEMPLATE_ID, query)).status).toBe(status);
  });

  it('refuses what cannot be made with 406 and an unknown template with 404', async () => {
    expect((await example(TEMPLATE_ID).set('Accept', 'image/png')).status).toBe(406);
    expect((await example(TEMPLATE_ID, '?format=FLAT').set('Accept', 'application/xml')).status).toBe(406);
    expect((await example('unknown')).status).toBe(404);
  });
});

it.each(LEVELS.flatMap((level) => FORMATS.map((format) => [level, format] as const)))(
  'an example with two siblings of equal archetype and name is accepted, %s in %s',
  async (level, format) => {
    await request(app).post(BASE).set('Content-Type', 'application/xml').send(TWINS);
    const given = await example('twins', `?detail_level=${level}&format=${format}`);
    expect(given.status).toBe(200);
    const posted = await request(app)
      .post(`${V1}/ehr/${ehrId}/composition`)
      .set({ 'Content-Type': MEDIA_TYPE[format], 'openEHR-TEMPLATE_ID': encodeIfSimplified(format, 'twins') })
      .query({ format })
      .send(given.text);
    expect([posted.status, posted.text]).toEqual([201, '']);
  },
);

it.each(FORMATS)(
  'a template with a DV_SCALE and undeclared prefixes is taken, its example in %s',
  async (format) => {
    const scale = node('DV_SCALE', { inside: single('symbol', codedText('local', ['at0003'])) });
    const content = evaluation(element('at0002', scale, '1..1'), { at0002: 'Pain', at0003: 'Mild' });
    const text = template(content, { id: 'scale' }).replaceAll('xsi:type="', 'xsi:type="oe:');
    const created = await request(app).post(BASE).set('Content-Type', 'application/xml').send(text);
    expect([201, 409]).toContain(created.status);
    const given = await example('scale', `?detail_level=complete&format=${format}`);
    expect([given.status, given.text]).toEqual([200, expect.stringContaining('Mild')]);
    const posted = await request(app)
      .post(`${V1}/ehr/${ehrId}/composition`)
      .set({ 'Content-Type': MEDIA_TYPE[format], 'openEHR-TEMPLATE_ID': encodeIfSimplified(format, 'scale') })
      .query({ format })
      .send(given.text);
    expect([posted.status, posted.text]).toEqual([201, '']);
  },
);

describe('GET web template', () => {
  it('answers as before and tells where to ask instead', async () => {
    const given = await request(app).get(`${BASE}/${TEMPLATE_ID}/webtemplate`);
    expect([given.status, given.headers['content-type']]).toEqual([
      200,
      'application/openehr.wt+json; charset=utf-8',
    ]);
    expect(given.headers.deprecated).toBe('true');
    const successor = /^<([^>]+)>; rel="successor-version"$/.exec(given.headers.link!)?.[1] ?? '';
    const got = await request(app).get(new URL(successor).pathname).set('Accept', 'application/json');
    expect(JSON.parse(given.text)).toEqual(got.body);
    expect(given.headers.etag).toBe(got.headers.etag);
  });

  it('answers 404 and 406', async () => {
    expect((await request(app).get(`${BASE}/unknown/webtemplate`)).status).toBe(404);
    const other = await request(app)
      .get(`${BASE}/${TEMPLATE_ID}/webtemplate`)
      .set('Accept', 'application/xml');
    expect(other.status).toBe(406);
  });
});

/** Canonical forms name their template themselves. */
function encodeIfSimplified(format: (typeof FORMATS)[number], templateId: string): string {
  return format === 'FLAT' || format === 'STRUCTURED' ? templateId : '';
}

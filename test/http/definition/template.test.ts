import { beforeAll, describe, expect, it } from '@jest/globals';
import mongoose from 'mongoose';
import request from 'supertest';

import { testApp } from '../../support/app.js';
import { useDatabase } from '../../support/database.js';
import { fixtureText, templateNames } from '../../support/fixture.js';
import {
  aComposition,
  givenEhr,
  givenTemplate,
  V1,
  versionedObjectUidOf,
  versionUidOf,
} from '../../support/resources.js';

const BASE = '/rest/openehr/v1/definition/template/adl1.4';
const OPT = fixtureText('opt/minimal_observation.en.v1.opt');
const TEMPLATE_ID = 'minimal_observation.en.v1';

/** The same template under another id. */
function optWithId(templateId: string): string {
  return OPT.replace(`<value>${TEMPLATE_ID}</value>`, `<value>${templateId}</value>`);
}

function upload(opt: string, headers: Record<string, string> = {}, app = testApp()) {
  return request(app)
    .post(BASE)
    .set({ 'Content-Type': 'application/xml', Accept: 'application/xml', ...headers })
    .send(opt);
}

const storedCount = () => mongoose.connection.collection('templates').countDocuments();

useDatabase();

describe('POST template', () => {
  it('stores every public template and gives it back as received', async () => {
    await mongoose.connection.collection('templates').deleteMany({});
    for (const name of templateNames()) {
      const opt = fixtureText(`opt/${name}.opt`);
      const posted = await upload(opt);
      expect([name, posted.status, posted.text]).toEqual([name, 201, '']);
      expect(posted.headers['content-length']).toBe('0');
      expect(posted.headers['content-type']).toBeUndefined();
      const got = await request(testApp()).get(new URL(posted.headers.location!).pathname);
      expect([name, got.status, got.text === opt.replace(/^\ufeff/, '')]).toEqual([name, 200, true]);
      expect(got.headers.etag).toBe(posted.headers.etag);
      expect(got.headers['last-modified']).toBe(posted.headers['last-modified']);
    }
  });

  it('reads an id as an xs:token, wherever white space stands in it', async () => {
    const spaced = 'white  space.en.v1';
    const app = testApp();
    expect((await upload(optWithId(` ${spaced}\n `), {}, app)).headers.etag).toBe('"white space.en.v1"');
    for (const id of [spaced, 'white space.en.v1'])
      expect((await request(app).get(`${BASE}/${encodeURIComponent(id)}`)).status).toBe(200);
    expect((await upload(optWithId('white space.en.v1'), {}, app)).status).toBe(409);
    const ehrId = await givenEhr(app);
    const composition = aComposition(TEMPLATE_ID);
    for (const id of [spaced, 'white space.en.v1']) {
      composition['archetype_details'].template_id.value = id;
      const posted = await request(app).post(`${V1}/ehr/${ehrId}/composition`).send(composition);
      expect([id, posted.status]).toEqual([id, 201]);
      const url = `${V1}/ehr/${ehrId}/composition/${versionedObjectUidOf(versionUidOf(posted))}`;
      const updated = {
        ...composition,
        archetype_details: { ...composition['archetype_details'], template_id: { value: spaced } },
      };
      const put = await request(app)
        .put(url)
        .set('If-Match', `"${versionUidOf(posted)}"`)
        .send(updated);
      expect([id, put.status]).toEqual([id, 200]);
    }
    const flat = await request(app)
      .get(`${BASE}/${encodeURIComponent(spaced)}/example`)
      .set('Accept', 'application/openehr.wt.flat+json');
    const byHeader = await request(app)
      .post(`${V1}/ehr/${ehrId}/composition`)
      .set({ 'Content-Type': 'application/openehr.wt.flat+json', 'openEHR-TEMPLATE_ID': spaced })
      .send(flat.body);
    expect(byHeader.status).toBe(201);
    const listed = await request(app).get(BASE).query({ template_id: ' white  space* ' });
    expect(listed.body).toEqual([expect.objectContaining({ template_id: 'white space.en.v1' })]);
    const q = (condition: string, predicate = '') =>
      `SELECT c/archetype_details/template_id/value FROM EHR e CONTAINS COMPOSITION c${predicate} ${condition}`;
    const id = 'c/archetype_details/template_id/value';
    for (const [text, rows] of [
      [q(`WHERE ${id} = '${spaced}'`), 3],
      [q(`WHERE ${id} = $id`), 3],
      [q(`WHERE ${id} MATCHES {'${TEMPLATE_ID}', ' ${spaced}'}`), 3],
      [q(`WHERE ${id} MATCHES {$id}`), 3],
      [q(`WHERE ${id} != '${spaced}'`), 0],
      [q(`WHERE NOT ${id} = '${spaced}'`), 0],
      [q('', `[archetype_details/template_id/value = '${spaced}']`), 3],
      [q('', '[archetype_details/template_id/value = $id]'), 3],
      [q('', `[archetype_details/template_id/value != '${spaced}']`), 0],
    ] as const) {
      const body = { q: text, ehr_id: ehrId, query_parameters: { id: spaced } };
      const found = await request(app).post(`${V1}/query/aql`).send(body);
      const expected = Array.from({ length: rows }, () => ['white space.en.v1']);
      expect([text, found.body.rows]).toEqual([text, expected]);
      expect(found.body.meta.warnings).toBe(undefined);
    }
  });

  it('stays in use where a rule came after it was stored, and is refused as a new one', async () => {
    const app = testApp();
    const id = 'before.the.rule.v1';
    const code =
      '<value><terminology_id><value>SNOMED-CT</value></terminology_id><code_string>1</code_string></value>';
    const binding = `<term_bindings terminology="SNOMED-CT"><items code="ac0009">${code}</items></term_bindings>`;
    const opt = optWithId(id).replace('</definition>', `${binding}</definition>`);
    const refused = await upload(opt, { Accept: 'application/json' }, app);
    expect([refused.status, refused.body.message]).toEqual([
      400,
      'Invalid template: the constraint code ac0009 is bound but not defined',
    ]);
    expect((await upload(optWithId(id), {}, app)).status).toBe(201);
    const templates = mongoose.connection.collection<{ _id: string }>('templates');
    await templates.updateOne({ _id: id }, { $set: { opt }, $inc: { revision: 1 } });
    const ehrId = await givenEhr(app);
    const composition = aComposition(TEMPLATE_ID);
    composition['archetype_details'].template_id.value = id;
    const posted = await request(app).post(`${V1}/ehr/${ehrId}/composition`).send(composition);
    expect([posted.status, posted.text]).toEqual([201, '']);
    const flat = 'application/openehr.wt.flat+json';
    for (const [path, type] of [
      [`${BASE}/${id}`, 'application/openehr.wt+json'],
      [`${BASE}/${id}/example`, flat],
      [`${V1}/ehr/${ehrId}/composition/${versionUidOf(posted)}`, flat],
    ] as const)
      expect([path, (await request(app).get(path).set('Accept', type)).status]).toEqual([path, 200]);
  });

  it('refuses an id that exists with 409', async () => {
    await givenTemplate(testApp(), TEMPLATE_ID);
    const again = await upload(OPT, { Accept: '*/*' });
    expect(again.status).toBe(409);
    expect(again.body).toMatchObject({
      error: 'Conflict',
      message: `Operational template with this template ID already exists: ${TEMPLATE_ID}`,
    });
  });

  it('is found by ids with spaces and letters of any script', async () => {
    const posted = await upload(optWithId('Größe: a b [c]/d'));
    expect(posted.status).toBe(201);
    const path = new URL(posted.headers.location!).pathname;
    expect(path).toBe(`${BASE}/${encodeURIComponent('Größe: a b [c]/d')}`);
    expect((await request(testApp()).get(path)).status).toBe(200);
  });

  it.each([
    ['application/xml', 'application/xml; charset=utf-8', (text: string) => text === optWithId('rep.1')],
    ['application/json', 'application/json; charset=utf-8', isWebTemplate],
    ['application/openehr.wt+json', 'application/openehr.wt+json; charset=utf-8', isWebTemplate],
    ['application/std.wt+json', 'application/std.wt+json; charset=utf-8', isWebTemplate],
  ])('answers return=representation as %s', async (accept, contentType, isExpected) => {
    const id = accept === 'application/xml' ? 'rep.1' : `rep.${accept}`;
    const posted = await upload(optWithId(id), { Accept: accept, Prefer: 'return=representation' });
    expect(posted.status).toBe(201);
    expect(posted.headers['preference-applied']).toBe('return=representation');
    expect(posted.headers['content-type']).toBe(contentType);
    expect(isExpected(posted.text)).toBe(true);
  });

  it('answers return=identifier with the template id', async () => {
    const posted = await upload(optWithId('identified'), {
      Accept: 'application/openehr.wt+json',
      Prefer: 'return=identifier',
    });
    expect([posted.status, posted.body]).toEqual([201, { uid: 'identified' }]);
  });

  it.each([
    ['', 'Required request body is missing'],
    ['not xml', 'nvalid template input content'],
    ['<template', 'nvalid template input content'],
    ['<!DOCTYPE a [<!ENTITY x "y">]><template/>', ''],
    ['<other/>', ''],
    [OPT.replace(/<concept>.*<\/concept>/, ''), 'Supplied template has nil or empty concept'],
    [OPT.replace(/<language>[\s\S]*?<\/language>/, ''), 'Supplied template has nil or empty language'],
    [
      OPT.replace(/<description>[\s\S]*<\/description>/, ''),
      'Supplied template has nil or empty description',
    ],
    [OPT.replace(/<definition>[\s\S]*<\/definition>/, ''), 'Supplied template has nil or empty definition'],
    [optWithId(''), 'Supplied template has nil or empty template id value'],
    [optWithId('all'), 'the template id all is reserved'],
  ])('refuses broken input %#', async (opt, message) => {
    const before = await storedCount();
    const posted = await request(testApp()).post(BASE).set('Content-Type', 'application/xml').send(opt);
    expect(posted.status).toBe(400);
    expect(posted.body.error).toBe('Bad Request');
    expect(posted.body.message).toContain(message);
    expect(await storedCount()).toBe(before);
  });

  it('refuses other media types and charsets with 415', async () => {
    for (const type of ['application/json', 'text/plain', 'application/xml; charset=utf-16'])
      expect([type, (await upload(OPT, { 'Content-Type': type })).status]).toEqual([type, 415]);
  });

  it('refuses an Accept that it cannot serve with 406', async () => {
    expect((await upload(optWithId('unaccepted'), { Accept: 'image/png' })).status).toBe(406);
    expect((await request(testApp()).get(`${BASE}/unaccepted`)).status).toBe(404);
  });

  it('refuses a body over the limit with 413', async () => {
    const app = testApp({ maxBodyBytes: 1000 });
    expect((await upload(OPT, {}, app)).status).toBe(413);
  });

  it('replaces an unused template when that is allowed', async () => {
    const app = testApp({ templateAllowOverwrite: true });
    await upload(optWithId('again'));
    const changed = optWithId('again').replace(/<concept>.*<\/concept>/, '<concept>Another</concept>');
    expect((await upload(changed, {}, app)).status).toBe(201);
    const list = await request(app).get(BASE);
    expect(list.body.find((entry: { template_id: string }) => entry.template_id === 'again').concept).toBe(
      'Another',
    );
    const web = await request(app).get(`${BASE}/again`).set('Accept', 'application/json');
    expect(web.body.templateId).toBe('again');
  });
});

describe('GET template list', () => {
  beforeAll(() => givenTemplate(testApp(), TEMPLATE_ID));

  it('lists id, concept, archetype and time in JSON', async () => {
    const list = await request(testApp()).get(BASE);
    expect(list.status).toBe(200);
    expect(list.headers['content-type']).toBe('application/json; charset=utf-8');
    const entry = list.body.find((one: { template_id: string }) => one.template_id === TEMPLATE_ID);
    expect(entry).toEqual({
      template_id: TEMPLATE_ID,
      concept: expect.any(String),
      archetype_id: expect.stringMatching(/^openEHR-EHR-COMPOSITION\./),
      created_timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    });
  });

  it('lists them in XML', async () => {
    const list = await request(testApp()).get(BASE).set('Accept', 'application/xml');
    expect(list.headers['content-type']).toBe('application/xml; charset=utf-8');
    expect(list.text).toContain(`<template><template_id>${TEMPLATE_ID}</template_id>`);
  });

  it('refuses other types with 406', async () => {
    expect((await request(testApp()).get(BASE).set('Accept', 'text/csv')).status).toBe(406);
  });
});

describe('GET template', () => {
  beforeAll(() => givenTemplate(testApp(), TEMPLATE_ID));

  it.each([
    [undefined, 'application/xml; charset=utf-8', isOpt],
    ['*/*', 'application/xml; charset=utf-8', isOpt],
    ['application/xml', 'application/xml; charset=utf-8', isOpt],
    ['text/plain', 'text/plain; charset=utf-8', isOpt],
    ['application/json', 'application/json; charset=utf-8', isWebTemplate],
    ['application/openehr.wt+json', 'application/openehr.wt+json; charset=utf-8', isWebTemplate],
    [
      'application/std.wt+json;q=0.9, application/xml;q=0.1',
      'application/std.wt+json; charset=utf-8',
      isWebTemplate,
    ],
  ])('answers Accept %s', async (accept, contentType, isExpected) => {
    const headers: Record<string, string> = accept === undefined ? {} : { Accept: accept };
    const got = await request(testApp()).get(`${BASE}/${TEMPLATE_ID}`).set(headers);
    expect([got.status, got.headers['content-type'], got.headers.etag]).toEqual([
      200,
      contentType,
      `"${TEMPLATE_ID}"`,
    ]);
    expect(isExpected(got.text)).toBe(true);
  });

  it('answers HEAD with the same headers and no body', async () => {
    const head = await request(testApp()).head(`${BASE}/${TEMPLATE_ID}`);
    expect([head.status, head.headers.etag, head.text]).toEqual([200, `"${TEMPLATE_ID}"`, undefined]);
  });

  it('answers 404 for an unknown id and 406 for another type', async () => {
    const unknown = await request(testApp()).get(`${BASE}/unknown`);
    expect(unknown.status).toBe(404);
    expect(unknown.body.message).toBe("Template with template_id 'unknown' does not exist");
    expect((await request(testApp()).get(`${BASE}/%E0%A4%A`)).status).toBe(404);
    expect((await request(testApp()).get(`${BASE}/${TEMPLATE_ID}`).set('Accept', 'image/png')).status).toBe(
      406,
    );
  });

  it('refuses PUT and DELETE with 405', async () => {
    for (const method of ['put', 'delete'] as const) {
      const refused = await request(testApp())[method](`${BASE}/${TEMPLATE_ID}`);
      expect([refused.status, refused.headers.allow]).toEqual([405, 'HEAD, GET']);
    }
  });
});

describe('the compiled template', () => {
  it('follows a text that another process replaced', async () => {
    const app = testApp();
    await upload(optWithId('shared'));
    const language = async () =>
      (await request(app).get(`${BASE}/shared`).set('Accept', 'application/json')).body.tree.name as string;
    const before = await language();
    const templates = mongoose.connection.collection<{ _id: string; opt: string }>('templates');
    const doc = await templates.findOne({ _id: 'shared' });
    const opt = doc!.opt.replaceAll(`>${before}<`, '>Renamed<');
    await templates.updateOne({ _id: 'shared' }, { $set: { opt }, $inc: { revision: 1 } });
    expect(await language()).toBe('Renamed');
    await templates.deleteOne({ _id: 'shared' });
    expect((await request(app).get(`${BASE}/shared`).set('Accept', 'application/json')).status).toBe(404);
  });
});

describe('ADL 2', () => {
  it('is answered 501', async () => {
    const base = '/rest/openehr/v1/definition/template/adl2';
    const answers = [
      await request(testApp()).post(base).set('Content-Type', 'text/plain').send('x'),
      await request(testApp()).get(base),
      await request(testApp()).get(`${base}/t`),
      await request(testApp()).get(`${base}/t/1.0.0`),
      await request(testApp()).get(`${base}/t/example`),
    ];
    for (const answer of answers) {
      expect(answer.status).toBe(501);
      expect(answer.body).toMatchObject({
        error: 'Not Implemented',
        message: 'The current operation is not supported by this server. Please contact your administrator.',
      });
    }
  });
});

function isOpt(text: string): boolean {
  return text === OPT;
}

function isWebTemplate(text: string): boolean {
  return (JSON.parse(text) as { version?: string }).version === '2.3';
}

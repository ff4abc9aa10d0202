import { describe, expect, it } from '@jest/globals';
import mongoose from 'mongoose';
import request, { type Test } from 'supertest';
import { changeTypeTerm, lifecycleTerm } from '../../../change/commit/codes.js';
import { verifyStorage } from '../../../maintenance/verify.js';
import { testApp } from '../../support/app.js';
import { useDatabase } from '../../support/database.js';
import { fixtureText } from '../../support/fixture.js';
import { codedText, element, evaluation, template } from '../../support/openehr/opt-builder.js';
import { secondOpt } from '../../support/openehr/revisions.js';
import { aComposition, givenEhr, V1, versionUidOf, type Json } from '../../support/resources.js';
import { ADMIN, WITH_ADMIN } from '../../support/tokens.js';

const NAME = 'minimal_evaluation.en.v1';
const FIRST = fixtureText(`opt/${NAME}.opt`);
const SECOND = secondOpt('a unit is replaced by another');
const TEMPLATES = `${V1}/definition/template/adl1.4`;
const FLAT = 'application/openehr.wt.flat+json';

const app = testApp({ ...WITH_ADMIN, templateRevisions: true });
const off = testApp(WITH_ADMIN);
/** Where it is known who uploads. */
const known = testApp({ ...WITH_ADMIN, templateRevisions: true, auth: 'jwt' });

useDatabase();

/** The texts of a template with an id of its own. */
function texts(id: string): readonly [first: string, second: string] {
  const named = (opt: string): string => opt.replaceAll(`<value>${NAME}</value>`, `<value>${id}</value>`);
  return [named(FIRST), named(SECOND)];
}

const upload = (opt: string, of = app): Test =>
  request(of).post(TEMPLATES).set({ 'Content-Type': 'application/xml', Authorization: ADMIN }).send(opt);
const read = (path: string): Test => request(app).get(path).set('Authorization', ADMIN);
const revisions = (id: string): Test => read(`/rest/admin/template/${id}/revisions`);
const remove = (id: string, revision: string): Test =>
  request(app).delete(`/rest/admin/template/${id}/revisions/${revision}`).set('Authorization', ADMIN);

/** A COMPOSITION of the template whose mass is in these units. */
function massIn(units: string, id: string): Json {
  const text = JSON.stringify(aComposition(NAME)).replaceAll(NAME, id);
  return JSON.parse(text.replace('"units":"kg"', `"units":"${units}"`)) as Json;
}

async function commit(composition: object, headers: Record<string, string> = {}): Promise<request.Response> {
  const ehrId = await givenEhr(app);
  return request(app).post(`${V1}/ehr/${ehrId}/composition`).set(headers).send(composition);
}

async function noted(versionUid: string): Promise<unknown> {
  const versions = mongoose.connection.collection<{ _id: string; template_digest?: string }>('versions');
  return (await versions.findOne({ _id: versionUid }))?.template_digest;
}

describe('revisions of a template', () => {
  it('are uploaded under one id, each text once', async () => {
    const [first, second] = texts('uploaded');
    const made = await upload(first);
    expect([made.status, made.body]).toEqual([
      201,
      { template_id: 'uploaded', revision: '1', digest: expect.stringMatching(/^[0-9a-f]{64}$/) },
    ]);
    const next = await upload(second);
    expect([next.status, (next.body as Json).revision]).toEqual([201, '2']);
    expect(next.headers.location).toMatch(/\/adl1\.4\/uploaded$/);
    for (const [opt, revision] of [
      [second, '2'],
      [first, '1'],
    ] as const) {
      const again = await upload(opt);
      expect([again.status, (again.body as Json).revision]).toEqual([200, revision]);
    }
    expect((await upload('<template/>')).status).toBe(400);
  });

  it('are read by number and digest, the newest without', async () => {
    const [first, second] = texts('read');
    const { digest } = (await upload(first)).body as Json;
    await upload(second);
    const text = async (query = ''): Promise<string> => (await read(`${TEMPLATES}/read${query}`)).text;
    expect(await text()).toBe(second);
    expect(await text('?revision=1')).toBe(first);
    expect(await text(`?revision=${String(digest)}`)).toBe(first);
    expect((await read(`${TEMPLATES}/read?revision=3`)).status).toBe(404);
    const example = await read(`${TEMPLATES}/read/example?revision=1&detail_level=complete`);
    expect(example.status).toBe(200);
    expect((await read(`${TEMPLATES}/read/webtemplate?revision=1`)).status).toBe(200);
  });

  it('judge: the newest what is new, and another one what names it', async () => {
    const [first, second] = texts('judging');
    const { digest: before } = (await upload(first)).body as Json;
    const old = await commit(massIn('gm', 'judging'));
    expect(old.status).toBe(201);
    expect(await noted(versionUidOf(old))).toBe(before);
    const { digest: after } = (await upload(second)).body as Json;
    expect((await commit(massIn('gm', 'judging'))).status).toBe(422);
    const made = await commit(massIn('g', 'judging'));
    expect([made.status, await noted(versionUidOf(made))]).toEqual([201, after]);
    const pinned = await commit(massIn('gm', 'judging'), { 'openEHR-TEMPLATE_ID': 'judging;revision=1' });
    expect([pinned.status, await noted(versionUidOf(pinned))]).toEqual([201, before]);
    const unknown = await commit(massIn('g', 'judging'), { 'openEHR-TEMPLATE_ID': 'judging;revision=7' });
    expect(unknown.status).toBe(422);
  });

  it('let a code keep the text that it had', async () => {
    const called = (left: string): string =>
      template(
        evaluation(element('at0002', codedText('local', ['at0003'])), { at0002: 'Side', at0003: left }),
        { id: 'former' },
      );
    await upload(called('Left'));
    const { body } = await read(`${TEMPLATES}/former/example?detail_level=complete`);
    expect(JSON.stringify(body)).toContain('"Left"');
    await upload(called('On the left'));
    expect((await commit(body as Json)).status).toBe(201);
    const other = JSON.parse(JSON.stringify(body).replace('"Left"', '"Right"')) as Json;
    expect((await commit(other)).status).toBe(422);
  });

  it('show a VERSION in FLAT by its own', async () => {
    const renamed = (opt: string): string => opt.replaceAll('>quantity<', '>mass<');
    const [first] = texts('shown');
    await upload(first);
    const old = await commit(massIn('kg', 'shown'));
    await upload(renamed(first));
    const made = await commit(massIn('kg', 'shown'));
    const keys = async (response: request.Response): Promise<string> => {
      const flat = await request(app)
        .get(String(response.headers.location).replace(/^https?:\/\/[^/]*/, ''))
        .set('Accept', FLAT);
      return Object.keys(flat.body as Json).join();
    };
    expect(await keys(old)).toContain('/quantity|magnitude');
    expect(await keys(made)).toContain('/mass|magnitude');
  });

  it('are found by content for what was stored before there were any', async () => {
    const [first, second] = texts('before');
    await upload(first, off);
    const old = await request(off)
      .post(`${V1}/ehr/${await givenEhr(off)}/composition`)
      .send(massIn('gm', 'before'));
    expect(await noted(versionUidOf(old))).toBeUndefined();
    await upload(second);
    const flat = await request(app)
      .get(String(old.headers.location).replace(/^https?:\/\/[^/]*/, ''))
      .set('Accept', FLAT);
    expect(flat.status).toBe(200);
    expect(JSON.stringify(flat.body)).toContain('"gm"');
  });

  it('are noted as long as there are several, whether or not they are switched on', async () => {
    const [first, second] = texts('switched');
    await upload(first);
    const { digest } = (await upload(second)).body as Json;
    const ehrId = await givenEhr(off);
    const made = await request(off).post(`${V1}/ehr/${ehrId}/composition`).send(massIn('g', 'switched'));
    expect([made.status, await noted(versionUidOf(made))]).toEqual([201, digest]);
    // Else nothing would use it.
    expect((await remove('switched', '2')).status).toBe(422);
  });

  it('are told of a VERSION by its answers, and of the COMPOSITIONs of a CONTRIBUTION by its header', async () => {
    const [first, second] = texts('told');
    const { digest } = (await upload(first)).body as Json;
    await upload(second);
    const ehrId = await givenEhr(app);
    const creation = {
      _type: 'ORIGINAL_VERSION',
      commit_audit: {
        change_type: changeTypeTerm('249'),
        committer: { _type: 'PARTY_IDENTIFIED', name: 'x' },
      },
      lifecycle_state: lifecycleTerm('532'),
      data: massIn('gm', 'told'),
    };
    const send = (headers: Record<string, string>): Test =>
      request(app)
        .post(`${V1}/ehr/${ehrId}/contribution`)
        .set({ Prefer: 'return=representation', ...headers })
        .send({ versions: [creation], audit: creation.commit_audit });
    expect((await send({})).status).toBe(400);
    const made = await send({ 'openEHR-TEMPLATE_ID': 'told;revision=1' });
    expect(made.status).toBe(201);
    const uid = String((made.body as Json).versions[0].id.value);
    const [object = ''] = uid.split('::');
    for (const path of [
      `composition/${object}`,
      `composition/${uid}`,
      `versioned_composition/${object}/version/${uid}`,
      `versioned_composition/${object}/version`,
    ]) {
      const { headers } = await request(app).get(`${V1}/ehr/${ehrId}/${path}`);
      expect([path, headers['everchart-template-revision']]).toEqual([path, digest]);
    }
  });

  it('are listed with their use, and removed where there is none', async () => {
    const [first, second] = texts('listed');
    await upload(first);
    expect((await commit(massIn('gm', 'listed'))).status).toBe(201);
    await upload(second, known);
    const listed = (await revisions('listed')).body as Json[];
    expect(listed.map(({ revision, compositions, versions }) => [revision, compositions, versions])).toEqual([
      ['2', 0, 0],
      ['1', 1, 1],
    ]);
    expect(listed[0]).toMatchObject({ uploaded_by: 'root-admin', bytes: Buffer.byteLength(second) });
    const refused = await remove('listed', '1');
    expect([refused.status, refused.text]).toEqual([
      422,
      expect.stringContaining('1 COMPOSITIONs (1 versions)'),
    ]);
    expect((await remove('listed', '2')).status).toBe(204);
    expect((await read(`${TEMPLATES}/listed`)).text).toBe(first);
    expect((await commit(massIn('gm', 'listed'))).status).toBe(201);
    expect((await remove('listed', '2')).status).toBe(404);
    const only = await remove('listed', '1');
    expect(only.status).toBe(422);
  });

  it('differ from each other', async () => {
    const [first, second] = texts('compared');
    await upload(first);
    await upload(second);
    const compare = (body: object): Test =>
      request(app).post('/rest/admin/template/compared/compare').set('Authorization', ADMIN).send(body);
    const verdict = async (body: object): Promise<unknown> => ((await compare(body)).body as Json).verdict;
    expect(await verdict({ from: '1' })).toBe('breaking');
    expect(await verdict({ from: '1', to: '1' })).toBe('same');
    expect((await compare({ from: '9' })).status).toBe(404);
    expect((await compare({ from: 1 })).status).toBe(400);
  });

  it('are sealed, and go with their template', async () => {
    const [first, second] = texts('sealed');
    await upload(first);
    await upload(second);
    expect((await verifyStorage()).violations).toEqual([]);
    const gone = await request(app).delete('/rest/admin/template/sealed').set('Authorization', ADMIN);
    expect(gone.status).toBe(202);
    const kept = mongoose.connection.collection('template_revisions');
    expect(await kept.countDocuments({ template_id: 'sealed' })).toBe(0);
    expect((await verifyStorage()).violations).toEqual([]);
  });

  it('are there for each VERSION that notes one, or verify says so', async () => {
    await upload(texts('noted')[0]);
    const uid = versionUidOf(await commit(massIn('kg', 'noted')));
    const versions = mongoose.connection.collection<{ _id: string }>('versions');
    const digest = await noted(uid);
    await versions.updateOne({ _id: uid }, { $set: { template_digest: 'another' } });
    const { violations } = await verifyStorage();
    await versions.updateOne({ _id: uid }, { $set: { template_digest: digest } });
    expect(violations).toContainEqual({
      kind: 'versions',
      id: uid,
      message: 'the revision of its template by which it was judged is not there',
    });
  });

  it('are not there by default: another text of a known id is refused, and VERSIONs note nothing', async () => {
    const [first, second] = texts('off');
    expect((await upload(first, off)).status).toBe(201);
    expect((await upload(second, off)).status).toBe(409);
    const versions = mongoose.connection.collection('versions');
    const made = await request(off)
      .post(`${V1}/ehr/${await givenEhr(off)}/composition`)
      .send(massIn('kg', 'off'));
    const stored = await versions.findOne({ template_id: 'off' });
    expect([made.status, Object.keys(stored ?? {}).includes('template_digest')]).toEqual([201, false]);
  });
});

import { beforeAll, describe, expect, it } from '@jest/globals';
import request from 'supertest';
import { testApp } from '../../support/app.js';
import { useDatabase } from '../../support/database.js';
import {
  aComposition,
  dump,
  givenComposition,
  givenEhr,
  givenTemplate,
  V1,
  versionedObjectUidOf,
  versionUidOf,
  type Json,
} from '../../support/resources.js';

const app = testApp();
let ehrId = '';
useDatabase();
beforeAll(async () => {
  await givenTemplate(app);
  ehrId = await givenEhr(app);
});

const path = (tail = ''): string => `${V1}/ehr/${ehrId}/${tail}`;
const post = (state: string, content = aComposition()): request.Test =>
  request(app)
    .post(path('composition'))
    .set('openEHR-VERSION', `lifecycle_state.code_string="${state}"`)
    .send(content);
const put = (uid: string, state: string, changeType = '251'): request.Test =>
  request(app)
    .put(path(`composition/${versionedObjectUidOf(uid)}`))
    .set('If-Match', `"${uid}"`)
    .set('openEHR-VERSION', `lifecycle_state.code_string="${state}"`)
    .set('openEHR-AUDIT_DETAILS', `change_type.code_string="${changeType}"`)
    .send(aComposition());
const codeOfOpenehr = (code_string: string): Json => ({
  terminology_id: { value: 'openehr' },
  code_string,
});
const contribute = (...versions: Json[]): request.Test =>
  request(app)
    .post(path('contribution'))
    .set('Prefer', 'return=representation,resolve_refs')
    .send({ versions });
const entry = (changeType: string, state: string, preceding?: string): Json => ({
  commit_audit: { change_type: codeOfOpenehr(changeType) },
  ...(changeType === '523' ? {} : { lifecycle_state: codeOfOpenehr(state), data: aComposition() }),
  ...(preceding !== undefined && { preceding_version_uid: { value: preceding } }),
});
const next = (uid: string, by = 1): string => uid.replace(/\d+$/, (version) => String(Number(version) + by));
async function deleted(): Promise<string> {
  const uid = await givenComposition(app, ehrId);
  expect((await request(app).delete(path(`composition/${uid}`))).status).toBe(204);
  return next(uid);
}

/** RM: common, version lifecycle: `abandon` leads from incomplete, `deactivate` from complete. */
const STATES = ['532', '553', '800', '801'];
const REFUSED = new Set(['532>801', '800>801', '553>800', '801>800']);

describe('the lifecycle of a version', () => {
  it.each(STATES.flatMap((from) => STATES.map((to) => [from, to] as const)))(
    'leads from %s to %s as the reference model says, by PUT and in a CONTRIBUTION',
    async (from, to) => {
      const uid = versionUidOf(await post(from));
      const isRefused = REFUSED.has(`${from}>${to}`);
      const before = await dump();
      if (isRefused) {
        const refused = await put(uid, to);
        expect([refused.status, refused.body.message]).toEqual([
          422,
          expect.stringMatching(`^the lifecycle state ${to} follows .* only, ${uid} is ${from}$`),
        ]);
        expect((await contribute(entry('251', to, uid))).status).toBe(400);
        expect(await dump()).toBe(before);
      } else {
        expect((await put(uid, to)).status).toBe(200);
        // Within one CONTRIBUTION as from one to the next.
        const both = await contribute(entry('249', from), entry('251', '532', next(uid)));
        expect(both.status).toBe(201);
      }
    },
  );

  it('is judged by the entries before it in the same CONTRIBUTION', async () => {
    const uid = versionUidOf(await post('553'));
    const before = await dump();
    const refused = await contribute(entry('251', '532', uid), entry('251', '801', next(uid)));
    expect([refused.status, refused.body.message]).toEqual([
      400,
      `versions[1]: the lifecycle state 801 follows 553 or 801 only, ${next(uid)} is 532`,
    ]);
    expect(await dump()).toBe(before);
    expect((await contribute(entry('251', '553', uid), entry('251', '801', next(uid)))).status).toBe(201);
  });

  it('is that of a FOLDER and an EHR_STATUS too', async () => {
    const folder = {
      _type: 'FOLDER',
      name: { value: 'root' },
      archetype_node_id: 'openEHR-EHR-FOLDER.generic.v1',
    };
    const made = await request(app).post(path('directory')).send(folder);
    expect(made.status).toBe(201);
    const abandoned = await request(app)
      .put(path('directory'))
      .set('If-Match', String(made.headers['etag']))
      .set('openEHR-VERSION', 'lifecycle_state.code_string="801"')
      .send(folder);
    expect(abandoned.status).toBe(422);
    const status = await request(app).get(path('ehr_status'));
    const other = await request(app)
      .put(path('ehr_status'))
      .set('If-Match', String(status.headers['etag']))
      .set('openEHR-VERSION', 'lifecycle_state.code_string="801"')
      .send(status.body as Json);
    expect(other.status).toBe(422);
  });
});

describe('the change type', () => {
  it('816 restoration brings a deleted COMPOSITION back, by PUT and in a CONTRIBUTION', async () => {
    const one = await deleted();
    const restored = await put(one, '532', '816');
    expect(restored.status).toBe(200);
    const version = await request(app).get(
      path(`versioned_composition/${versionedObjectUidOf(one)}/version/${next(one)}`),
    );
    expect(version.body.commit_audit.change_type).toMatchObject({
      value: 'restoration',
      defining_code: { code_string: '816' },
    });
    const other = await contribute(entry('816', '532', await deleted()));
    expect(other.status).toBe(201);
    expect(other.body.versions[0].commit_audit.change_type.value).toBe('restoration');
    const uid = await givenComposition(app, ehrId);
    expect((await contribute(entry('523', '', uid), entry('816', '532', next(uid)))).status).toBe(201);
  });

  it('816 is refused of what is not deleted, and of a first version', async () => {
    const uid = await givenComposition(app, ehrId);
    const before = await dump();
    const refused = await put(uid, '532', '816');
    expect([refused.status, refused.body.message]).toEqual([
      422,
      `a restoration (816) follows a deletion, ${uid} is none`,
    ]);
    expect((await contribute(entry('816', '532', uid))).status).toBe(400);
    expect((await contribute(entry('816', '532'))).status).toBe(400);
    const first = await request(app)
      .post(path('composition'))
      .set('openEHR-AUDIT_DETAILS', 'change_type.code_string="816"')
      .send(aComposition());
    expect(first.status).toBe(400);
    expect(await dump()).toBe(before);
  });

  it('817 format conversion is that of a first version or of a later one', async () => {
    const first = await request(app)
      .post(path('composition'))
      .set('openEHR-AUDIT_DETAILS', 'change_type.value="format conversion"')
      .send(aComposition());
    expect(first.status).toBe(201);
    expect((await put(versionUidOf(first), '532', '817')).status).toBe(200);
    const both = await contribute(entry('817', '532'), entry('817', '532', next(versionUidOf(first))));
    expect(both.status).toBe(201);
    expect(both.body.versions.map(({ commit_audit: { change_type: type } }: Json) => type.value)).toEqual([
      'format conversion',
      'format conversion',
    ]);
  });

  it('of a restoration is found by AQL and written in XML', async () => {
    const uid = await deleted();
    expect((await put(uid, '532', '816')).status).toBe(200);
    const q = `SELECT v/uid/value FROM VERSION v[LATEST_VERSION] CONTAINS COMPOSITION c WHERE v/commit_audit/change_type/defining_code/code_string = '816' AND v/uid/value = '${next(uid)}'`;
    const rows = await request(app).post(`${V1}/query/aql`).send({ q });
    expect(rows.body.rows).toEqual([[next(uid)]]);
    const xml = await request(app)
      .get(path(`versioned_composition/${versionedObjectUidOf(uid)}/version/${next(uid)}`))
      .set('Accept', 'application/xml');
    expect(xml.text).toContain('<value>restoration</value>');
  });
});

describe('a draft', () => {
  const ROOT = ['name', 'language', 'territory', 'category', 'composer', 'context', 'content'];
  it.each(['553', '801'])('in the state %s may lack everything but its template', async (state) => {
    const draft = aComposition();
    for (const name of ROOT) draft[name] = undefined;
    const response = await post(state, draft);
    expect(response.status).toBe(201);
    const uid = versionUidOf(response);
    const read = await request(app).get(path(`composition/${uid}`));
    expect([read.status, Object.keys(read.body as Json).sort()]).toEqual([
      200,
      ['_type', 'archetype_details', 'archetype_node_id', 'uid'],
    ]);
    for (const accept of [
      'application/xml',
      'application/openehr.wt.flat+json',
      'application/openehr.wt.structured+json',
    ]) {
      const other = await request(app)
        .get(path(`composition/${uid}`))
        .set('Accept', accept);
      expect([accept, other.status]).toEqual([accept, 200]);
    }
    const q = `SELECT c/uid/value, c/composer/name, c FROM EHR e CONTAINS COMPOSITION c WHERE c/uid/value = '${uid}'`;
    const rows = await request(app).post(`${V1}/query/aql`).send({ q });
    expect(rows.body.rows[0].slice(0, 2)).toEqual([uid, null]);
    expect((await post('532', draft)).status).toBe(400);
    expect((await put(uid, '553')).status).toBe(200);
  });

  it('must say of which template it is', async () => {
    const draft = aComposition();
    delete draft['archetype_details'];
    const response = await post('553', draft);
    expect(response.status).toBe(400);
    expect(response.body.validationErrors).toEqual([
      '/archetype_details: Composition missing mandatory attribute: archetype details',
      '/archetype_details/template_id: Composition missing mandatory attribute: archetype details/template_id',
    ]);
  });
});

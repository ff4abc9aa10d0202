import { randomUUID } from 'node:crypto';
import { afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import request from 'supertest';
import { verifyStorage } from '../../../maintenance/verify.js';
import { testApp } from '../../support/app.js';
import { useDatabase } from '../../support/database.js';
import {
  MARK_ROLES,
  OBJECTED,
  putMarks,
  RESTRICTED,
  ROOT,
  tokenOf,
  WITHHELD,
} from '../../support/policy/marks.js';
import { merge, unmerge } from '../../support/merge-http.js';
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
import { everythingOn } from '../../support/settings.js';
import { putPolicy } from '../../support/policy/put.js';

useDatabase();

const settings = { ...everythingOn({ auth: 'jwt', accessMode: 'enforce' }), rolePermissions: MARK_ROLES };
const app = testApp(settings);
const open = testApp();
const NURSE = tokenOf(['USER'], {}, 'nurse');
const AUDITOR = tokenOf(['AUDITOR'], {}, 'auditor');
const RESEARCHER = tokenOf(['USER'], { purpose_of_use: 'HRESCH' }, 'researcher');
const EHRS = 'SELECT e/ehr_id/value FROM EHR e';
const OF_COMPOSITIONS = 'SELECT c/uid/value FROM EHR e CONTAINS COMPOSITION c';

const get = (path: string, token = NURSE) => request(app).get(path).set('Authorization', token);
const ehrOf = (ehr: string, token = NURSE) => get(`${V1}/ehr/${ehr}`, token);
const marksOf = (ehr: string, token = ROOT, query = '') => get(`/rest/ehrs/${ehr}/marks${query}`, token);
const post = (ehr: string, token = NURSE, body: object = aComposition()) =>
  request(app).post(`${V1}/ehr/${ehr}/composition`).set('Authorization', token).send(body);
const rowsOf = async (q: string, token = NURSE, ehr_id?: string): Promise<unknown[]> => {
  const asked = request(app).post(`${V1}/query/aql`).set('Authorization', token).send({ q, ehr_id });
  return ((await asked.expect(200)).body as { rows: unknown[] }).rows;
};
const put = (ehr: string, marks: readonly object[], token = ROOT) => putMarks(app, ehr, marks, token);
const patientOf = (ehr: string): string => tokenOf(['USER'], { ownEhrId: ehr }, `patient of ${ehr}`);

async function givenRecord(): Promise<{ readonly ehr: string; readonly uid: string }> {
  const ehr = await givenEhr(open);
  return { ehr, uid: await givenComposition(open, ehr) };
}

beforeAll(() => givenTemplate(open));

afterEach(async () => {
  const { violations } = await verifyStorage();
  expect(violations).toEqual([]);
});

describe('marks of an EHR', () => {
  it('are replaced as a list, and what was lifted stays in the history with who and when', async () => {
    const { ehr } = await givenRecord();
    const first = await put(ehr, [RESTRICTED, OBJECTED]).expect(200);
    const said = { time: expect.any(String), by: 'root' };
    expect(first.body).toEqual({
      ehr_id: ehr,
      enforced: true,
      categories: ['episodic', 'event', 'persistent'],
      marks: expect.arrayContaining([
        { ...RESTRICTED, ...said },
        { ...OBJECTED, ...said },
      ]),
    });
    const kept = (first.body as Json)['marks'].find(({ kind }: Json) => kind === OBJECTED.kind) as Json;
    // As it was read.
    const second = await put(ehr, [kept]).expect(200);
    expect((second.body as Json)['marks']).toEqual([kept]);
    expect((await marksOf(ehr).expect(200)).body).toEqual(second.body);
    const history = (await marksOf(ehr, ROOT, '?history=true').expect(200)).body as Json;
    expect(history['marks']).toHaveLength(2);
    expect(history['marks']).toEqual(
      expect.arrayContaining([kept, { ...RESTRICTED, ...said, lifted: said }]),
    );
    await put(ehr, []).expect(200);
    expect(((await marksOf(ehr, ROOT, '?history=true')).body as Json)['marks']).toHaveLength(2);
  });

  it('are for administrators and the patient, read by auditors, and for nobody else, whether the EHR is there or not', async () => {
    const { ehr } = await givenRecord();
    const other = await givenEhr(open);
    for (const id of [ehr, '5f1c9a6e-1b7d-4e0a-9c3b-0a8b6d2f4e11']) {
      await marksOf(id, NURSE).expect(403);
      await put(id, [], NURSE).expect(403);
      await put(id, [], AUDITOR).expect(403);
      await put(id, [], patientOf(other)).expect(403);
    }
    await marksOf(ehr, AUDITOR).expect(200);
    await put(ehr, [WITHHELD, OBJECTED], patientOf(ehr)).expect(200);
    await put(ehr, [RESTRICTED], patientOf(ehr)).expect(403);
    await put(ehr, [RESTRICTED, WITHHELD]).expect(200);
    // What an administrator set the patient sees, and leaves.
    const seen = ((await marksOf(ehr, patientOf(ehr)).expect(200)).body as Json)['marks'] as Json[];
    expect(seen.map(({ kind }) => kind).sort()).toEqual([WITHHELD.kind, RESTRICTED.kind].sort());
    await put(ehr, [], patientOf(ehr)).expect(403);
    await put(ehr, [RESTRICTED], patientOf(ehr)).expect(200);
    await put('5f1c9a6e-1b7d-4e0a-9c3b-0a8b6d2f4e11', [RESTRICTED]).expect(404);
  });

  it('hold for whoever opens an application for the patient, and are not his to set or to be told of', async () => {
    const { ehr, uid } = await givenRecord();
    await put(ehr, [WITHHELD], patientOf(ehr)).expect(200);
    const scopes = 'user/composition-*.cruds patient/composition-*.cruds';
    const smart = testApp({ ...settings, smartScopes: 'on' });
    const physician = (claims: object): string => tokenOf(['USER'], { ehrId: ehr, ...claims }, 'physician');
    for (const [to, token] of [
      [app, physician({})],
      [smart, physician({ scope: scopes })],
      [app, physician({ ownEhrId: await givenEhr(open) })],
    ] as const) {
      const asked = (path: string) => request(to).get(path).set('Authorization', token);
      await asked(`${V1}/ehr/${ehr}/composition/${uid}`).expect(404);
      const found = request(to).post(`${V1}/query/aql`).set('Authorization', token);
      expect(((await found.send({ q: OF_COMPOSITIONS, ehr_id: ehr })).body as Json)['rows'] ?? []).toEqual(
        [],
      );
      await asked(`/rest/ehrs/${ehr}/marks`).expect(403);
      await asked(`/rest/ehrs/${ehr}/access`).expect(403);
      await putMarks(to, ehr, [], token).expect(403);
    }
    expect(((await marksOf(ehr).expect(200)).body as Json)['marks']).toHaveLength(1);
  });

  it('hide drafts of what they hide, and not what somebody types that is new', async () => {
    const { ehr, uid } = await givenRecord();
    const other = await givenComposition(open, ehr);
    const draftOf = (id: string) => get(`/rest/draft/${ehr}/${id}`);
    const listed = async (): Promise<string[]> =>
      ((await get('/rest/draft').expect(200)).body as Json[]).flatMap(({ ehr_id, draft_id }) =>
        ehr_id === ehr ? [String(draft_id)] : [],
      );
    const ids: string[] = [];
    for (const version_uid of [uid, other, null]) {
      ids.push(randomUUID());
      const body = { template_id: 'minimal_evaluation.en.v1', version_uid, content: { typed: version_uid } };
      await request(app)
        .put(`/rest/draft/${ehr}/${ids.at(-1)!}`)
        .set('Authorization', NURSE)
        .send(body)
        .expect(200);
    }
    const answers = async (): Promise<unknown[]> => {
      const statuses: number[] = [];
      for (const id of ids) statuses.push((await draftOf(id)).status);
      return [...statuses, new Set(await listed())];
    };
    expect(await answers()).toEqual([200, 200, 200, new Set(ids)]);
    await put(ehr, [{ ...WITHHELD, object_uid: versionedObjectUidOf(uid) }]).expect(200);
    expect(await answers()).toEqual([404, 200, 200, new Set(ids.slice(1))]);
    const absent = await draftOf(randomUUID());
    const hidden = await draftOf(ids[0]!);
    expect((hidden.body as Json).message.replace(ids[0]!, '…')).toBe(
      (absent.body as Json).message.replace(/draft [^ ]+/, 'draft …'),
    );
    await put(ehr, [WITHHELD]).expect(200);
    expect(await answers()).toEqual([404, 404, 200, new Set(ids.slice(2))]);
    await put(ehr, []).expect(200);
    expect(await answers()).toEqual([200, 200, 200, new Set(ids)]);
  });

  it('are refused by 400 with what is wrong, and nothing is written', async () => {
    const { ehr, uid } = await givenRecord();
    const other = await givenRecord();
    const wrong: readonly [object, string][] = [
      [{ ...RESTRICTED, kind: 'nonsense' }, 'kind'],
      [{ kind: RESTRICTED.kind }, 'ground'],
      [{ ...WITHHELD, ground: ' ' }, 'ground'],
      [{ ...WITHHELD, colour: 'red' }, 'colour'],
      [{ ...WITHHELD, from: '2026-02-01', to: '2026-01-01' }, 'from'],
      [{ ...WITHHELD, from: 'yesterday' }, 'from'],
      [{ ...RESTRICTED, template_id: 'x' }, 'template_id'],
      [{ ...WITHHELD, object_uid: uid }, 'object_uid'],
      [{ ...WITHHELD, object_uid: versionedObjectUidOf(other.uid) }, 'object_uid'],
      [{ ...WITHHELD, object_uid: versionedObjectUidOf(uid), template_id: 'x' }, 'object_uid'],
    ];
    for (const [mark, named] of wrong) {
      const refused = await put(ehr, [OBJECTED, mark]);
      expect([mark, refused.status, (refused.body as Json).message]).toEqual([
        mark,
        400,
        expect.stringContaining(named),
      ]);
    }
    const many = Array.from({ length: 101 }, (_, index) => ({ ...WITHHELD, template_id: String(index) }));
    await put(ehr, many).expect(422);
    expect(((await marksOf(ehr)).body as Json)['marks']).toEqual([]);
  });

  it('are audited', async () => {
    const { ehr } = await givenRecord();
    await put(ehr, [WITHHELD], patientOf(ehr)).expect(200);
    const found = await get(`/rest/admin/audit?operation=marks_put&ehr_id=${ehr}`, AUDITOR).expect(200);
    expect(found.body).toEqual([
      expect.objectContaining({ ehr_id: ehr, options: { marks: [WITHHELD.kind] } }),
    ]);
  });

  it('are kept where policies are tried, and are none where there are no policies', async () => {
    const { ehr } = await givenRecord();
    const dry = testApp({ ...settings, accessMode: 'dry' });
    const kept = await putMarks(dry, ehr, [RESTRICTED]).expect(200);
    expect((kept.body as Json)['enforced']).toBe(false);
    await request(dry).get(`${V1}/ehr/${ehr}`).set('Authorization', NURSE).expect(200);
    await ehrOf(ehr).expect(404);
    const off = testApp({ ...settings, accessMode: 'off' });
    const refused = await putMarks(off, ehr, []).expect(409);
    expect((refused.body as Json).message).toContain('ACCESS_MODE');
    await request(off).get(`${V1}/ehr/${ehr}`).set('Authorization', NURSE).expect(200);
    await put(ehr, []).expect(200);
    await ehrOf(ehr).expect(200);
  });
});

describe('a restriction of processing', () => {
  it('hides the EHR from everybody, is named to administrators and auditors, and stands against writes', async () => {
    const { ehr, uid } = await givenRecord();
    const plain = await givenRecord();
    expect(await rowsOf(EHRS)).toContainEqual([ehr]);
    await put(ehr, [RESTRICTED]).expect(200);
    const absent = await ehrOf(ehr).expect(404);
    expect((absent.body as Json)['marks']).toBeUndefined();
    for (const token of [ROOT, AUDITOR])
      for (const path of [`${V1}/ehr/${ehr}`, `${V1}/ehr/${ehr}/composition/${uid}`]) {
        const named = await get(path, token).expect(403);
        expect(named.body).toMatchObject({
          code: 'restricted',
          marks: [{ ...RESTRICTED, time: expect.any(String), by: 'root' }],
        });
      }
    for (const token of [NURSE, ROOT, AUDITOR]) {
      expect(await rowsOf(EHRS, token)).not.toContainEqual([ehr]);
      expect(await rowsOf(EHRS, token)).toContainEqual([plain.ehr]);
      expect(await rowsOf(OF_COMPOSITIONS, token)).not.toContainEqual([uid]);
    }
    const found = await get(`/rest/ehrs?identifier=${ehr}`).expect(200);
    expect((found.body as Json)['ehrs']).toEqual([]);
    await get(`/rest/ehrs/${ehr}/extract`).expect(404);
    const refused = await post(ehr).expect(409);
    expect(refused.body).toMatchObject({ code: 'restricted' });
    expect((refused.body as Json)['marks']).toBeUndefined();
    expect((await post(ehr, ROOT).expect(409)).body).toMatchObject({
      code: 'restricted',
      marks: [RESTRICTED],
    });
    await request(app)
      .put(`${V1}/ehr/${ehr}/composition/${versionedObjectUidOf(uid)}`)
      .set({ Authorization: NURSE, 'If-Match': `"${uid}"` })
      .send(aComposition())
      .expect(409);
    await put(ehr, []).expect(200);
    await ehrOf(ehr).expect(200);
    await post(ehr).expect(201);
  });

  it('of one COMPOSITION hides that in all versions, and leaves the rest', async () => {
    const { ehr, uid } = await givenRecord();
    const other = await givenComposition(open, ehr);
    const container = versionedObjectUidOf(uid);
    await put(ehr, [{ ...RESTRICTED, object_uid: container }]).expect(200);
    await get(`${V1}/ehr/${ehr}/composition/${uid}`).expect(404);
    await get(`${V1}/ehr/${ehr}/versioned_composition/${container}`).expect(404);
    await get(`${V1}/ehr/${ehr}/composition/${other}`).expect(200);
    expect(await rowsOf(OF_COMPOSITIONS, NURSE, ehr)).toEqual([[other]]);
    expect(await rowsOf(OF_COMPOSITIONS)).not.toContainEqual([uid]);
    const change = (which: string, token: string) =>
      request(app)
        .put(`${V1}/ehr/${ehr}/composition/${versionedObjectUidOf(which)}`)
        .set({ Authorization: token, 'If-Match': `"${which}"` })
        .send(aComposition());
    expect((await change(uid, NURSE).expect(409)).body).toMatchObject({ code: 'restricted' });
    await change(other, NURSE).expect(200);
    await post(ehr).expect(201);
    expect((await get(`${V1}/ehr/${ehr}/composition/${uid}`, AUDITOR).expect(403)).body).toMatchObject({
      marks: [{ ...RESTRICTED, object_uid: container }],
    });
  });

  it('is named to nobody where policies hide the EHR besides', async () => {
    const { ehr } = await givenRecord();
    await putPolicy(
      app,
      'some',
      `permit (principal, action, resource) when { resource.ehr_id != "${ehr}" };`,
      ROOT,
    ).expect(200);
    await put(ehr, [RESTRICTED]).expect(200);
    await ehrOf(ehr, ROOT).expect(404);
    await post(ehr, ROOT).expect(404);
    await request(app).delete('/rest/admin/policies/some').set('Authorization', ROOT).expect(204);
  });
});

describe("a patient's restriction", () => {
  it('hides the EHR from all but himself, who also writes, and lets others write down what is new', async () => {
    const { ehr, uid } = await givenRecord();
    await put(ehr, [WITHHELD], patientOf(ehr)).expect(200);
    for (const token of [NURSE, ROOT]) {
      await ehrOf(ehr, token).expect(404);
      expect(await rowsOf(EHRS, token)).not.toContainEqual([ehr]);
    }
    await ehrOf(ehr, patientOf(ehr)).expect(200);
    expect(await rowsOf(EHRS, patientOf(ehr))).toContainEqual([ehr]);
    const made = versionUidOf(await post(ehr).expect(201));
    await get(`${V1}/ehr/${ehr}/composition/${made}`).expect(404);
    await request(app)
      .put(`${V1}/ehr/${ehr}/composition/${versionedObjectUidOf(uid)}`)
      .set({ Authorization: NURSE, 'If-Match': `"${uid}"` })
      .send(aComposition())
      .expect(404);
  });

  it.each([
    ['a template', { template_id: 'testTemplate' }],
    ['a category', { category: 'event' }],
    ['an origin', { origin: 'local.cdr' }],
    ['a time', { from: '2000-01-01', to: '2100' }],
  ])('by %s picks COMPOSITIONs, in reads and queries alike', async (_, scope) => {
    const { ehr, uid } = await givenRecord();
    const composition = (await get(`${V1}/ehr/${ehr}/composition/${uid}`).expect(200)).body as Json;
    const template = composition['archetype_details'].template_id.value as string;
    const named = 'template_id' in scope ? { template_id: template } : scope;
    await put(ehr, [{ ...WITHHELD, ...named }]).expect(200);
    await ehrOf(ehr).expect(200);
    await get(`${V1}/ehr/${ehr}/ehr_status`).expect(200);
    await get(`${V1}/ehr/${ehr}/composition/${uid}`).expect(404);
    expect(await rowsOf(OF_COMPOSITIONS, NURSE, ehr)).toEqual([]);
    expect(await rowsOf(OF_COMPOSITIONS)).not.toContainEqual([uid]);
    const others =
      'from' in scope
        ? { from: '1990-01-01', to: '1990' }
        : Object.fromEntries(
            Object.keys(scope).map((name) => [name, name === 'category' ? 'episodic' : 'other']),
          );
    await put(ehr, [{ ...WITHHELD, ...others }]).expect(200);
    await get(`${V1}/ehr/${ehr}/composition/${uid}`).expect(200);
    expect(await rowsOf(OF_COMPOSITIONS, NURSE, ehr)).toEqual([[uid]]);
    expect(await rowsOf(OF_COMPOSITIONS)).toContainEqual([uid]);
  });

  it('by organisation is for its people, and for those of whom none is known', async () => {
    const { ehr } = await givenRecord();
    await put(ehr, [{ ...WITHHELD, organisation: 'clinic' }]).expect(200);
    const of = (organisation: string) => tokenOf(['USER'], { organisation });
    for (const [token, isSeen] of [
      [of('clinic'), false],
      [of('practice'), true],
      [NURSE, false],
    ] as const) {
      await ehrOf(ehr, token).expect(isSeen ? 200 : 404);
      const rows = await rowsOf(EHRS, token);
      expect(rows.flat().includes(ehr)).toBe(isSeen);
    }
  });
});

describe('an objection to research', () => {
  it('leaves the EHR out for research, and nowhere else', async () => {
    const { ehr, uid } = await givenRecord();
    await put(ehr, [OBJECTED], patientOf(ehr)).expect(200);
    expect(await rowsOf(EHRS, RESEARCHER)).not.toContainEqual([ehr]);
    expect(await rowsOf(OF_COMPOSITIONS, RESEARCHER)).not.toContainEqual([uid]);
    await ehrOf(ehr, RESEARCHER).expect(404);
    await get(`/rest/ehrs/${ehr}/extract`, RESEARCHER).expect(404);
    expect(await rowsOf(EHRS)).toContainEqual([ehr]);
    await ehrOf(ehr).expect(200);
  });
});

describe('marks and decisions', () => {
  it('are told by a dry decision, and asked for by policies', async () => {
    const { ehr, uid } = await givenRecord();
    await put(ehr, [{ ...WITHHELD, object_uid: versionedObjectUidOf(uid) }, OBJECTED]).expect(200);
    const decide = async (resource: object, more: object = {}) =>
      (
        await request(app)
          .post('/rest/admin/policies/decide')
          .set('Authorization', ROOT)
          .send({ principal: { sub: 'ada' }, action: 'read', resource, ...more })
          .expect(200)
      ).body as Json;
    expect(await decide({ ehr_id: ehr, uid })).toEqual({
      decision: 'forbid',
      policies: [],
      marks: [WITHHELD.kind],
      reasons: [`the mark ${WITHHELD.kind} forbids it`],
    });
    expect(await decide({ ehr_id: ehr, uid }, { emergency: true })).toMatchObject({ decision: 'permit' });
    expect(await decide({ ehr_id: ehr })).toMatchObject({ decision: 'permit', marks: [] });
    await putPolicy(
      app,
      'objected',
      'permit (principal, action, resource) unless { resource.marks.contains("research_objection") };',
      ROOT,
    ).expect(200);
    await ehrOf(ehr).expect(404);
    expect(await rowsOf(EHRS)).not.toContainEqual([ehr]);
    expect(await decide({ ehr_id: ehr })).toMatchObject({ decision: 'forbid', policies: [] });
    await request(app).delete('/rest/admin/policies/objected').set('Authorization', ROOT).expect(204);
    await ehrOf(ehr).expect(200);
  });

  it('hold for what was before them, whatever time is asked for', async () => {
    const { ehr, uid } = await givenRecord();
    await new Promise((resolve) => setTimeout(resolve, 5));
    const before = new Date().toISOString();
    await put(ehr, [RESTRICTED]).expect(200);
    await get(`${V1}/ehr/${ehr}/ehr_status?version_at_time=${before}`).expect(404);
    const asOf = await get(`${V1}/query/aql?q=${encodeURIComponent(OF_COMPOSITIONS)}&as_of=${before}`).expect(
      200,
    );
    expect((asOf.body as Json)['rows']).not.toContainEqual([uid]);
  });
});

describe('marks of what goes elsewhere', () => {
  it('go with a COMPOSITION that is moved, and end with an EHR that is erased', async () => {
    const { ehr, uid } = await givenRecord();
    const other = await givenEhr(open);
    const container = versionedObjectUidOf(uid);
    const mark = { ...WITHHELD, object_uid: container };
    await put(ehr, [mark, OBJECTED]).expect(200);
    await request(app)
      .post(`/rest/admin/ehr/${ehr}/composition/${container}/move`)
      .set('Authorization', ROOT)
      .send({ target_ehr: other })
      .expect(200);
    expect(((await marksOf(other)).body as Json)['marks']).toEqual([expect.objectContaining(mark)]);
    expect(((await marksOf(ehr)).body as Json)['marks']).toEqual([expect.objectContaining(OBJECTED)]);
    expect(await rowsOf(OF_COMPOSITIONS, NURSE, other)).toEqual([]);
    await ehrOf(other).expect(200);
    await request(app).delete(`/rest/admin/ehr/${other}`).set('Authorization', ROOT).expect(204);
    await marksOf(other).expect(404);
  });

  it('of an object follow it out of a merge that is taken back', async () => {
    const [source, target] = [await givenRecord(), await givenRecord()];
    await merge(app, source.ehr, target.ehr).expect(200);
    const mark = { ...RESTRICTED, object_uid: versionedObjectUidOf(source.uid) };
    await put(target.ehr, [mark]).expect(200);
    await get(`${V1}/ehr/${target.ehr}/composition/${source.uid}`).expect(404);
    await unmerge(app, source.ehr, target.ehr).expect(200);
    await get(`${V1}/ehr/${source.ehr}/composition/${source.uid}`).expect(404);
    expect(((await marksOf(source.ehr)).body as Json)['marks']).toEqual([expect.objectContaining(mark)]);
    expect(((await marksOf(target.ehr)).body as Json)['marks']).toEqual([]);
  });

  it('are not carried by an EXTRACT, which says so to who may know, and of an objection to everybody', async () => {
    const ehr = await givenEhr(open);
    const uid = (await givenComposition(open, ehr)).split('::')[0];
    const warned = async (token: string, headers: object = {}): Promise<string | undefined> =>
      (
        await request(app)
          .get(`${V1}/ehr/${ehr}/extract`)
          .set({ Authorization: token, ...headers })
          .expect(200)
      ).headers['warning'];
    expect(await warned(ROOT)).toBeUndefined();
    await putMarks(app, ehr, [{ ...WITHHELD, object_uid: uid }]).expect(200);
    const READER = tokenOf(['USER'], {}, 'reader of extracts');
    expect(await warned(READER)).toBeUndefined();
    expect(await warned(ROOT)).toMatch(/^299 .*patient_restriction.* no EXTRACT carries: set them/);
    const broken = { 'Purpose-Of-Use': 'BTG', 'Purpose-Of-Use-Reason': 'x' };
    expect(await warned(tokenOf(['NIGHT']), broken)).toContain('patient_restriction');
    await putMarks(app, ehr, [{ ...WITHHELD, object_uid: uid }, OBJECTED]).expect(200);
    expect(await warned(READER)).toMatch(/has marks \(research_objection\) that/);
    expect(await warned(ROOT)).toContain('patient_restriction, research_objection');
    await putMarks(app, ehr, []).expect(200);
    expect(await warned(ROOT)).toBeUndefined();
  });
});

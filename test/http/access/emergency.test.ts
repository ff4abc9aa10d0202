import { randomUUID } from 'node:crypto';
import { afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import request from 'supertest';
import { everyOperation } from '../../../src/operation-table.js';
import { loadConfig } from '../../../src/settings/config.js';
import { testApp } from '../../support/app.js';
import { useDatabase } from '../../support/database.js';
import { MARK_ROLES, putMarks, RESTRICTED, ROOT, tokenOf, WITHHELD } from '../../support/policy/marks.js';
import { givenComposition, givenEhr, givenTemplate, V1, type Json } from '../../support/resources.js';
import { everythingOn } from '../../support/settings.js';
import { putPolicy } from '../../support/policy/put.js';
import { statusOf } from '../../support/policy/unseen-world.js';

useDatabase();

const settings = {
  ...everythingOn({ auth: 'jwt', accessMode: 'enforce', auditReads: false }),
  rolePermissions: { ...MARK_ROLES, ALL: [...MARK_ROLES.ADMIN, 'emergency', 'draft'] as const },
};
const app = testApp(settings);
const open = testApp();
const NIGHT = tokenOf(['NIGHT'], {}, 'night nurse');
const NURSE = tokenOf(['USER'], {}, 'nurse');
const BROKEN = { 'Purpose-Of-Use': 'BTG', 'Purpose-Of-Use-Reason': 'bewußtlos, Notaufnahme' };
/** Operations that name no EHR and come to one patient: found by what names him, or made. */
const OF_ONE = ['ehr_create', 'ehr_get_by_subject', 'ehr_find'];
const EHRS = 'SELECT e/ehr_id/value FROM EHR e';

const get = (path: string, headers: object = {}, token = NIGHT, on = app) =>
  request(on)
    .get(path)
    .set({ Authorization: token, ...latin1(headers) });
const query = (headers: object = {}, more: object = {}, token = NIGHT) =>
  request(app)
    .post(`${V1}/query/aql`)
    .set({ Authorization: token, ...latin1(headers) })
    .send({ q: EHRS, ...more });
const policy = (id: string, text: string) => putPolicy(app, id, text, ROOT);

/** Bytes of UTF-8, as Node sends headers. */
function latin1(headers: object): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Buffer.from(String(value)).toString('latin1')]),
  );
}

async function withheldEhr(mark: object = WITHHELD): Promise<{ readonly ehr: string; readonly uid: string }> {
  const ehr = await givenEhr(open);
  const uid = await givenComposition(open, ehr);
  await putMarks(app, ehr, [mark]).expect(200);
  return { ehr, uid };
}

async function records(query: string): Promise<Json[]> {
  const found = await get(`/rest/admin/audit?${query}`, {}, ROOT);
  return found.body as Json[];
}

beforeAll(() => givenTemplate(open));

afterEach(async () => {
  const listed = await get('/rest/admin/policies', {}, ROOT);
  for (const { id } of (listed.body as Json)['policies'])
    await request(app).delete(`/rest/admin/policies/${id}`).set('Authorization', ROOT).expect(204);
});

describe('emergency access', () => {
  it("passes a patient's restriction, and no restriction of processing", async () => {
    const [withheld, restricted] = [await withheldEhr(), await withheldEhr(RESTRICTED)];
    await get(`${V1}/ehr/${withheld.ehr}`).expect(404);
    await get(`${V1}/ehr/${withheld.ehr}`, BROKEN).expect(200);
    await get(`${V1}/ehr/${withheld.ehr}/composition/${withheld.uid}`, BROKEN).expect(200);
    await get(`${V1}/ehr/${withheld.ehr}`, { ...BROKEN, 'Purpose-Of-Use': 'ETREAT' }).expect(200);
    await get(`${V1}/ehr/${restricted.ehr}`, BROKEN).expect(404);
    const rowsOf = async (ehr: string) =>
      ((await query(BROKEN, { ehr_id: ehr }).expect(200)).body as Json)['rows'] as unknown[];
    expect(await rowsOf(withheld.ehr)).toEqual([[withheld.ehr]]);
    await query(BROKEN, { ehr_id: restricted.ehr }).expect(404);
    const found = await get(`/rest/ehrs?identifier=${withheld.ehr}`, BROKEN).expect(200);
    expect((found.body as Json)['ehrs']).toHaveLength(1);
    // It is for the request that states it.
    await get(`${V1}/ehr/${withheld.ehr}`).expect(404);
  });

  it('passes what policies say that it may, and nothing else', async () => {
    const [ehr, other] = [await givenEhr(open), await givenEhr(open)];
    const about = (id: string) => `when { resource.ehr_id == "${id}" }`;
    await policy('all', 'permit (principal, action, resource);').expect(200);
    await policy('may', `@emergency("may pass") forbid (principal, action, resource) ${about(ehr)};`).expect(
      200,
    );
    await policy('never', `forbid (principal, action, resource) ${about(other)};`).expect(200);
    await get(`${V1}/ehr/${ehr}`).expect(404);
    await get(`${V1}/ehr/${ehr}`, BROKEN).expect(200);
    await get(`${V1}/ehr/${other}`, BROKEN).expect(404);
    // By default all is denied, but to whom a policy for emergencies permits it.
    for (const id of ['may', 'never'])
      await request(app).delete(`/rest/admin/policies/${id}`).set('Authorization', ROOT);
    await policy('all', 'permit (principal, action, resource) when { principal.sub == "nobody" };').expect(
      200,
    );
    await get(`${V1}/ehr/${ehr}`, BROKEN).expect(404);
    await policy(
      'glass',
      '@emergency("only") permit (principal, action == Action::"read", resource);',
    ).expect(200);
    await get(`${V1}/ehr/${ehr}`, BROKEN).expect(200);
    await get(`${V1}/ehr/${ehr}`).expect(404);
    await policy('wrong', '@emergency("always") permit (principal, action, resource);').expect(422);
    await policy(
      'purpose',
      'permit (principal, action, resource) when { principal has purpose && principal.purpose == "BTG" };',
    ).expect(200);
    await query(BROKEN, { ehr_id: ehr }).expect(200);
  });

  it('is stated by both headers, by who may, and by no other purpose', async () => {
    const { ehr } = await withheldEhr();
    const ask = async (headers: object, token = NIGHT) =>
      (await get(`${V1}/ehr/${ehr}`, headers, token)).status;
    const { 'Purpose-Of-Use': purpose, 'Purpose-Of-Use-Reason': reason } = BROKEN;
    expect(await ask({ 'Purpose-Of-Use': purpose })).toBe(400);
    expect(await ask({ 'Purpose-Of-Use-Reason': reason })).toBe(400);
    expect(await ask({ ...BROKEN, 'Purpose-Of-Use-Reason': '  ' })).toBe(400);
    expect(await ask({ ...BROKEN, 'Purpose-Of-Use-Reason': 'x'.repeat(501) })).toBe(400);
    for (const other of ['TREAT', 'btg', 'HRESCH', 'x'])
      expect(await ask({ ...BROKEN, 'Purpose-Of-Use': other })).toBe(400);
    expect(await ask(BROKEN, NURSE)).toBe(403);
    expect(await ask(BROKEN, ROOT)).toBe(403);
    expect(await ask(BROKEN, tokenOf(['NIGHT'], { purpose_of_use: 'HRESCH' }))).toBe(403);
    // By the purpose of the token, with a reason.
    const etreat = tokenOf(['NIGHT'], { purpose_of_use: 'ETREAT' });
    expect(await ask({}, etreat)).toBe(404);
    expect(await ask({ 'Purpose-Of-Use-Reason': reason }, etreat)).toBe(200);
    expect(
      await ask({ 'Purpose-Of-Use-Reason': reason }, tokenOf(['USER'], { purpose_of_use: 'ETREAT' })),
    ).toBe(403);
    // Where there are no policies the headers say nothing.
    const off = testApp({ ...settings, accessMode: 'off' });
    await get(`${V1}/ehr/${ehr}`, { 'Purpose-Of-Use': 'x' }, NURSE, off).expect(200);
  });

  it('is recorded by itself with its reason, before anything is read, whatever is recorded else', async () => {
    const { ehr, uid } = await withheldEhr();
    await get(`${V1}/ehr/${ehr}/composition/${uid}`, BROKEN).expect(200);
    await query(BROKEN, { ehr_id: ehr }).expect(200);
    const said = { purpose: 'BTG', reason: BROKEN['Purpose-Of-Use-Reason'], ehr_id: ehr };
    const of = await records(`operation=emergency_access&ehr_id=${ehr}`);
    expect(of).toEqual([
      expect.objectContaining({
        ...said,
        reason: expect.stringContaining('Notaufnahme'),
        target: 'query_execute_adhoc_post',
      }),
      expect.objectContaining({ ...said, target: 'composition_get', sub: 'night nurse' }),
    ]);
    const [queried] = await records('operation=emergency_access');
    expect(queried).toMatchObject({ target: 'query_execute_adhoc_post', purpose: 'BTG' });
    // The requests themselves say what they came to; reads are not recorded here else.
    expect(await records(`operation=composition_get&ehr_id=${ehr}`)).toEqual([
      expect.objectContaining({ ...said, objects: [uid] }),
    ]);
    const [rows] = await records('operation=query_execute_adhoc_post');
    expect(rows).toMatchObject({
      ehr_id: ehr,
      rows: 1,
      purpose: 'BTG',
      reason: expect.stringContaining('Notaufnahme'),
    });
    await get(`${V1}/ehr/${ehr}`).expect(404);
    expect(await records(`operation=ehr_get&ehr_id=${ehr}`)).toEqual([]);
    // Each is counted, so that somebody can be told.
    const { text } = await request(app).get('/management/prometheus').set('Authorization', ROOT);
    expect(text).toMatch(/everchart_emergency_access_total\{purpose="BTG"\} [1-9]/);
    expect(text).toMatch(/everchart_emergency_access_total\{purpose="ETREAT"\} \d/);
  });

  it('is told to who has the right and did not use it that something is withheld, and to nobody else', async () => {
    const [{ ehr }, plain] = [await withheldEhr(), await givenEhr(open)];
    const restricted = await withheldEhr(RESTRICTED);
    const HEADER = 'everchart-withheld';
    const told = async (path: string, token = NIGHT, headers: object = {}) =>
      (await get(path, headers, token)).headers[HEADER];
    expect(await told(`${V1}/ehr/${ehr}`)).toBe('emergency');
    expect(await told(`/rest/ehrs?identifier=${ehr}`)).toBe('emergency');
    expect(await told(`/rest/ehrs?identifier=${plain}`)).toBeUndefined();
    expect(await told(`${V1}/ehr/${ehr}`, NIGHT, BROKEN)).toBeUndefined();
    for (const path of [`${V1}/ehr/${plain}`, `${V1}/ehr/${restricted.ehr}`])
      expect(await told(path)).toBeUndefined();
    expect(await told(`${V1}/ehr/${ehr}`, NURSE)).toBeUndefined();
    const metaOf = async (token: string, headers: object = {}, more: object = {}) => {
      const { body, headers: answered } = await query(headers, more, token);
      return [(body as Json)['meta']?._withheld, answered[HEADER]];
    };
    expect(await metaOf(NIGHT)).toEqual([true, 'emergency']);
    expect(await metaOf(NIGHT, BROKEN, { ehr_id: ehr })).toEqual([undefined, undefined]);
    expect(await metaOf(NURSE)).toEqual([undefined, undefined]);
    expect(await metaOf(NIGHT, {}, { ehr_id: plain })).toEqual([undefined, undefined]);
  });

  it('is for one record: what names none is 400 and says what would be right, whatever operation', async () => {
    const { ehr } = await withheldEhr();
    const judged = everyOperation(settings).operations.filter(
      ({ discloses, path }) => discloses !== 'nothing' && discloses !== 'whole' && !path.includes('{ehr_id}'),
    );
    const token = tokenOf(['ALL'], {}, 'chief of the night');
    for (const { id, method, path: pattern } of judged.filter((row) => !OF_ONE.includes(row.id))) {
      const path = pattern.replace('{qualified_query_name}', 'org.example::q').replace('{version}', '1.0.0');
      const asked = method === 'GET' ? request(app).get(path) : request(app).post(path);
      const sent = asked.set({ Authorization: token, ...latin1(BROKEN) });
      const { status, text } = await (method === 'GET' ? sent : sent.send({ q: EHRS, of: 'query' }));
      expect({ id, status, text }).toEqual({ id, status: 400, text: expect.stringContaining('one record') });
      expect(text).not.toContain(ehr);
    }
    expect(judged.map(({ id }) => id)).toEqual(expect.arrayContaining(OF_ONE));
    // By the purpose of a token too; without a reason that is no emergency, and opens nothing.
    const etreat = tokenOf(['NIGHT'], { purpose_of_use: 'ETREAT' });
    await query({ 'Purpose-Of-Use-Reason': 'unconscious' }, {}, etreat).expect(400);
    const { body } = await query({}, {}, etreat).expect(200);
    expect((body as Json)['rows']).not.toContainEqual([ehr]);
    // Each way to name it, and what is wrong with that is said.
    await query(BROKEN, { ehr_id: ehr }).expect(200);
    await query({ ...BROKEN, 'openEHR-EHR-id': ehr }).expect(200);
    await get(`${V1}/query/aql?q=${encodeURIComponent(EHRS)}&ehr_id=${ehr}`, BROKEN).expect(200);
    await query(BROKEN, { ehr_id: 'not an id!' }).expect(400);
    await request(app)
      .post('/rest/print')
      .set({ Authorization: NIGHT, ...latin1(BROKEN) })
      .send({ of: 'record', ehr_id: ehr })
      .expect(204);
  });

  it('finds who is in front of somebody by the whole of an identifier, and each record that it finds is in the log', async () => {
    const [subject, shared] = [randomUUID(), randomUUID()];
    const known = async (number: string): Promise<string> => {
      const ehr = await givenEhr(open, statusOf(shared, number));
      await putMarks(app, ehr, [WITHHELD]).expect(200);
      return ehr;
    };
    const ehr = await known(subject);
    const bySubject = `${V1}/ehr?subject_id=${subject}&subject_namespace=hospital`;
    await get(bySubject).expect(404);
    await get(bySubject, BROKEN).expect(200);
    const found = await get(`/rest/ehrs?identifier=${subject}`, BROKEN).expect(200);
    expect((found.body as Json)['ehrs']).toEqual([expect.objectContaining({ ehr_id: ehr })]);
    await get(`/rest/ehrs?identifier=${subject.slice(0, 8)}`, BROKEN).expect(200, { ehrs: [] });
    const of = await records(`operation=emergency_access&ehr_id=${ehr}`);
    expect(of.map(({ target }) => target)).toEqual(['ehr_find', 'ehr_get_by_subject']);
    // Records of one patient that nobody has merged yet; what more share says of nobody who he is.
    const others = [ehr];
    for (let more = 1; more < 5; more += 1) others.push(await known(randomUUID()));
    const twins = await get(`/rest/ehrs?identifier=${shared}`, BROKEN).expect(200);
    expect((twins.body as Json)['ehrs']).toHaveLength(5);
    for (const each of others)
      expect((await records(`operation=emergency_access&ehr_id=${each}`))[0]).toMatchObject({
        target: 'ehr_find',
        reason: expect.stringContaining('Notaufnahme'),
      });
    await known(randomUUID());
    await get(`/rest/ehrs?identifier=${shared}`, BROKEN).expect(400, /one/);
    await get(`/rest/ehrs?identifier=${shared}`).expect(200, { ehrs: [] });
  });

  it('is never what * of a role includes', () => {
    const { rolePermissions } = loadConfig({ ROLE_PERMISSIONS: 'ADMIN=*;NIGHT=*,emergency' });
    expect(rolePermissions['ADMIN']).not.toContain('emergency');
    expect(rolePermissions['NIGHT']).toContain('emergency');
  });
});

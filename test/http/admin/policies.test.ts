import { afterEach, describe, expect, it } from '@jest/globals';
import request from 'supertest';
import { verifyStorage } from '../../../maintenance/verify.js';
import { testApp } from '../../support/app.js';
import { useDatabase } from '../../support/database.js';
import { givenComposition, givenEhr, givenTemplate, V1, type Json } from '../../support/resources.js';
import { ADMIN, USER, WITH_ADMIN } from '../../support/tokens.js';

useDatabase();
const settings = { ...WITH_ADMIN, auth: 'jwt', accessMode: 'dry' } as const;
const app = testApp(settings);
const open = testApp();
const POLICIES = '/rest/admin/policies';

const ask = (method: 'get' | 'put' | 'post' | 'delete', path: string, server = app) =>
  request(server)[method](`${POLICIES}${path}`).set('Authorization', ADMIN);
const put = (id: string, text: string, server = app) =>
  ask('put', `/${id}`, server).set('Content-Type', 'text/plain').send(text);
const names = async () => ((await ask('get', '')).body as Json)['policies'].map(({ id }: Json) => id);
const QUERIED = 'permit (principal, action == Action::"query", resource);';
const PERMIT = 'permit (principal, action, resource);';
const OWN = `permit (principal, action == Action::"read", resource)
when { principal has ehr && resource.ehr_id == principal.ehr };`;

afterEach(async () => {
  for (const id of await names()) await ask('delete', `/${id}`).expect(204);
});

describe('policies of access', () => {
  it('are kept with every version, as text and as JSON, and their states are sealed', async () => {
    const made = await put('own', PERMIT).expect(200);
    expect(made.body).toMatchObject({ id: 'own', policy: PERMIT, version: 1, by: 'root-admin' });
    expect(made.headers['etag']).toBe('"own::1"');
    await ask('put', '/own').send({ policy: OWN }).expect(200);
    expect((await ask('get', '/own').expect(200)).body).toMatchObject({ policy: OWN, version: 2 });
    expect((await ask('get', '/own').set('Accept', 'text/plain')).text).toBe(OWN);
    await ask('delete', '/own').expect(204);
    await ask('get', '/own').expect(404);
    await ask('delete', '/own').expect(404);
    await put('own', PERMIT).expect(200);
    const { versions } = (await ask('get', '/own/versions').expect(200)).body as Json;
    expect(versions.map(({ version, policy }: Json) => [version, policy])).toEqual([
      [1, PERMIT],
      [2, OWN],
      [3, null],
      [4, PERMIT],
    ]);
    expect((await verifyStorage()).violations).toEqual([]);
  });

  it('are recorded by who changed what', async () => {
    await put('own', PERMIT).expect(200);
    const { body } = await request(app)
      .get('/rest/admin/audit?operation=putPolicy')
      .set('Authorization', ADMIN)
      .expect(200);
    expect(body[0]).toMatchObject({
      user: 'root-admin',
      target: 'own',
      options: { version: expect.any(Number) },
    });
  });

  const REFUSED: readonly (readonly [string, number, string, string, number | undefined])[] = [
    ['a text that is no policy', 400, 'syntax', 'permit (principal,\n  action, resorce);', 2],
    ['two policies', 400, 'syntax', `${PERMIT}\n${PERMIT}`, 2],
    [
      'an attribute that nothing has',
      422,
      'schema',
      'permit (principal, action, resource)\nwhen { resource.colour == "red" };',
      2,
    ],
    [
      'a question without has',
      422,
      'schema',
      'permit (principal, action, resource)\n\nwhen { principal.ehr == "a" };',
      3,
    ],
    [
      'two attributes of the object against each other',
      422,
      'translation',
      'permit (principal, action, resource is Version)\nwhen { resource.kind == "EHR_STATUS" ||\n resource.kind == resource.origin };',
      3,
    ],
    ['counts of too few', 422, 'schema', `\n@counts("1") ${QUERIED}`, 2],
    ['counts of no number', 422, 'schema', `@counts("ten") ${QUERIED}`, 1],
    ['counts without a number', 422, 'schema', `@counts ${QUERIED}`, 1],
    ['counts of what is read', 422, 'schema', `@counts("10") ${PERMIT}`, 1],
    ['counts of what is forbidden', 422, 'schema', `@counts("10") ${QUERIED.replace('permit', 'forbid')}`, 1],
    ['a template of policies', 400, 'syntax', 'permit (principal == ?principal, action, resource);', 1],
    [
      'brackets without end',
      400,
      'syntax',
      `permit (principal, action, resource) when { ${'('.repeat(5_000)} };`,
      undefined,
    ],
  ];
  const refusals = REFUSED.map(([what, ...expected]) => ({ what, expected }));

  it.each(refusals)('refuse $what with its place, and nothing changes', async ({ expected }) => {
    const [status, kind, text, line] = expected;
    const refused = await put('bad', text).expect(status);
    expect(refused.body.violations[0]).toMatchObject({ rule: kind, ...(line !== undefined && { line }) });
    const told = await ask('post', '/validate').set('Content-Type', 'text/plain').send(text).expect(200);
    expect(told.body).toEqual({
      valid: false,
      findings: expect.arrayContaining([expect.objectContaining({ kind })]),
    });
    await ask('get', '/bad').expect(404);
    // What could not be read leaves the reader whole.
    expect((await ask('post', '/validate').send({ policy: OWN })).body).toEqual({
      valid: true,
      findings: [],
    });
  });

  it('have ids that are words of a path', async () => {
    for (const id of ['validate', 'observed', '.hidden', 'a'.repeat(65), 'a%20b'])
      await put(id, PERMIT).expect(400);
    await put('a.b-c_1', PERMIT).expect(200);
  });

  it('are at most POLICIES_MAX', async () => {
    const small = testApp({ ...settings, policiesMax: 1 });
    await put('one', PERMIT, small).expect(200);
    await put('one', OWN, small).expect(200);
    expect((await put('two', PERMIT, small).expect(422)).body.message).toContain('POLICIES_MAX');
    expect(await names()).toEqual(['one']);
  });

  it('never lock out who changes them', async () => {
    const locking = [
      'forbid (principal, action, resource);',
      'forbid (principal, action, resource) when { principal.roles.contains("ADMIN") };',
      'forbid (principal, action, resource) unless { principal.sub == "somebody" };',
    ];
    for (const text of locking) {
      const refused = await put('lock', text).expect(409);
      expect(refused.body.violations[0].rule).toBe('locks_out_administrators');
    }
    const harmless = [
      'forbid (principal, action, resource) unless { principal.roles.contains("ADMIN") };',
      'forbid (principal, action, resource is Version);',
      'forbid (principal, action == Action::"read", resource);',
      'forbid (principal, action, resource) when { principal has ehr && resource.ehr_id != principal.ehr };',
    ];
    for (const text of harmless) await put('lock', text).expect(200);
  });

  it('do not exist where they are off', async () => {
    const off = testApp({ ...WITH_ADMIN, auth: 'jwt' });
    await ask('get', '', off).expect(404);
    await put('own', PERMIT, off).expect(404);
  });

  it('need the permission admin', async () => {
    await request(app).get(POLICIES).set('Authorization', USER).expect(403);
  });
});

describe('a dry decision', () => {
  const decide = (body: object) => ask('post', '/decide').send(body);
  const patient = (ehr: string) => ({ sub: 'patient', ehr });

  it('permits everything without a policy, and what a policy permits with one, and says which', async () => {
    const ehrId = await givenEhr(open);
    const question = { principal: patient(ehrId), action: 'read', resource: { ehr_id: ehrId } };
    expect((await decide(question).expect(200)).body).toMatchObject({
      decision: 'permit',
      policies: [],
      marks: [],
    });
    await put('own', OWN).expect(200);
    expect((await decide(question)).body).toMatchObject({ decision: 'permit', policies: ['own'] });
    const other = { ...question, principal: patient('another') };
    expect((await decide(other)).body).toEqual({
      decision: 'forbid',
      policies: [],
      marks: [],
      reasons: ['no policy permits it'],
    });
    await put('never', 'forbid (principal, action, resource is Ehr);').expect(200);
    expect((await decide(question)).body).toMatchObject({ decision: 'forbid', policies: ['never'] });
    // Nothing is enforced: who asks for it gets it.
    await request(app).get(`${V1}/ehr/${ehrId}`).set('Authorization', USER).expect(200);
  });

  it('knows a stored COMPOSITION by its version, by its container, and when it is deleted', async () => {
    await givenTemplate(open);
    const ehrId = await givenEhr(open);
    const uid = await givenComposition(open, ehrId);
    await put(
      'notes',
      'permit (principal, action, resource is Version) when { resource has template_id && resource.template_id like "minimal_*" && resource.archetypes.contains("openEHR-EHR-EVALUATION.minimal.v1") && resource.category == "event" };',
    ).expect(422);
    await put(
      'notes',
      'permit (principal, action, resource is Version) when { resource has template_id && resource.template_id like "minimal_*" && resource.archetypes.contains("openEHR-EHR-EVALUATION.minimal.v1") && resource has category && resource.category == "event" };',
    ).expect(200);
    const question = (one: string) => ({
      principal: { sub: 'nurse' },
      action: 'read',
      resource: { ehr_id: ehrId, uid: one },
    });
    for (const one of [uid, uid.split('::')[0]!])
      expect((await decide(question(one)).expect(200)).body).toMatchObject({
        decision: 'permit',
        policies: ['notes'],
      });
    const deleted = await request(open).delete(`${V1}/ehr/${ehrId}/composition/${uid}`).expect(204);
    expect((await decide(question(JSON.parse(deleted.headers['etag']!)))).body.policies).toEqual(['notes']);
    await decide(question('8849182c-82ad-4088-a07f-48ead4180515::x::1')).expect(404);
  });

  it('asks tags, each value for itself', async () => {
    await put(
      'ward',
      'permit (principal, action, resource) when { principal has organisation && resource.hasTag("access.ward") && resource.getTag("access.ward").contains(principal.organisation) };',
    ).expect(200);
    const question = (values: readonly string[]) => ({
      principal: { sub: 'nurse', organisation: '4A' },
      action: 'query',
      resource: { type: 'Ehr', ehr_id: 'e', tags: { 'access.ward': values } },
    });
    expect((await decide(question(['3B', '4A']))).body.decision).toBe('permit');
    expect((await decide(question(['3B,4A']))).body.decision).toBe('forbid');
  });

  it('takes something that is not stored, and refuses what the schema does not know', async () => {
    await put(
      'old',
      'permit (principal, action, resource is Version) when { resource.time_committed < datetime("2026-01-01") };',
    ).expect(200);
    const resource = {
      ...{ type: 'Version', ehr_id: 'e', kind: 'COMPOSITION', origin: 'here', lifecycle_state: '532' },
      time_committed: '2025-12-31T23:59:59Z',
    };
    const question = { principal: { sub: 'a' }, action: 'export', resource };
    expect((await decide(question).expect(200)).body.decision).toBe('permit');
    const later = { ...question, resource: { ...resource, time_committed: '2026-01-01T00:00:00Z' } };
    expect((await decide(later)).body.decision).toBe('forbid');
    for (const bad of [
      { ...question, action: 'look' },
      { ...question, principal: {} },
      { ...question, resource: { ...resource, colour: 'red' } },
      { ...question, resource: { ...resource, type: 'Folder' } },
      { ...question, resource: {} },
    ])
      await decide(bad).expect(400);
  });
});

describe('the comparison of a draft', () => {
  it('counts what would be gained and lost, by template, with examples', async () => {
    await givenTemplate(open);
    const ehrId = await givenEhr(open);
    const uid = await givenComposition(open, ehrId);
    await put('all', PERMIT).expect(200);
    const draft = {
      policies: [
        { id: 'all', policy: PERMIT },
        {
          id: 'notes',
          policy: 'forbid (principal, action, resource is Version) when { resource.kind == "COMPOSITION" };',
        },
      ],
      principals: [{ sub: 'nurse' }],
      actions: ['read', 'query'],
    };
    const { body } = await ask('post', '/compare').send(draft).expect(200);
    const { examined, complete, differences, examples } = body as Json;
    expect(complete).toBe(true);
    expect(differences.map(({ principal, action }: Json) => [principal, action])).toEqual([
      [0, 'read'],
      [0, 'query'],
    ]);
    const [{ ehrs, versions, templates }] = differences;
    expect(ehrs).toEqual({ gained: 0, lost: 0 });
    expect(versions.lost).toBeGreaterThan(0);
    expect(versions.lost).toBeLessThan(examined.versions);
    expect(
      Object.values(templates).reduce((sum: number, each) => sum + Number((each as Json)['lost']), 0),
    ).toBe(versions.lost);
    expect(examples).toContainEqual(
      expect.objectContaining({
        decision: 'forbid',
        policies: ['notes'],
        ehr_id: ehrId,
        uid,
        action: 'read',
      }),
    );
    const same = await ask('post', '/compare').send({ ...draft, policies: [draft.policies[0]] });
    expect(same.body.examples).toEqual([]);
  });

  it('is refused for more than twenty requests', async () => {
    const principals = Array.from({ length: 11 }, (_, index) => ({ sub: `u${index}` }));
    const draft = { policies: [], principals, actions: ['read', 'query'] };
    await ask('post', '/compare').send(draft).expect(400);
  });

  it('names the policy of the draft that cannot be read', async () => {
    const draft = { policies: [{ id: 'x', policy: 'permit' }], principals: [{ sub: 'a' }] };
    expect((await ask('post', '/compare').send(draft).expect(422)).body.message).toContain(
      'the policy x: 1:',
    );
  });
});

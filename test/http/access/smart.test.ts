import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from '@jest/globals';
import jwt from 'jsonwebtoken';
import { pino } from 'pino';
import request from 'supertest';
import { identityWarnings } from '../../../src/identity/identity-settings.js';
import { everyOperation } from '../../../src/operation-table.js';
import { loadConfig } from '../../../src/settings/config.js';
import { developmentToken } from '../../../cli/development-token.js';
import { handlerOf, testApp } from '../../support/app.js';
import { useDatabase } from '../../support/database.js';
import { fixtureText } from '../../support/fixture.js';
import { merge } from '../../support/merge-http.js';
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
import { everythingOn, TEST_JWT_SECRET } from '../../support/settings.js';
import { ADMIN, USER } from '../../support/tokens.js';
import { putPolicy } from '../../support/policy/put.js';

useDatabase();

const app = testApp(everythingOn({ auth: 'jwt', accessMode: 'off' }));
const open = testApp();
const EVALUATION = 'minimal_evaluation.en.v1';
const OBSERVATION = 'minimal_observation.en.v1';
const OF_ALL =
  'SELECT e/ehr_id/value, c/archetype_details/template_id/value FROM EHR e CONTAINS COMPOSITION c';

/** An application's token for somebody who may do everything. */
function tokenWith(scope: string, claims: object = {}): string {
  const payload = { roles: ['USER', 'ADMIN', 'AUDITOR'], scope: `openid fhirUser ${scope}`, ...claims };
  return `Bearer ${jwt.sign(payload, TEST_JWT_SECRET, { subject: 'ada', expiresIn: 600 })}`;
}

const get = (path: string, token: string, on = app) =>
  request(on).get(`${V1}${path}`).set('Authorization', token);
const post = (path: string, token: string, body: object | string, on = app) =>
  request(on).post(`${V1}${path}`).set('Authorization', token).send(body);
const query = (token: string, body: object = { q: OF_ALL }, on = app) => post('/query/aql', token, body, on);
const rowsOf = (answer: { readonly body: unknown }): unknown[] => (answer.body as { rows: unknown[] }).rows;
const messageOf = (answer: { readonly body: unknown }): string => (answer.body as Json).message as string;

async function storedQuery(name: string): Promise<void> {
  await request(open)
    .put(`${V1}/definition/query/${name}/1.0.0`)
    .set('Content-Type', 'text/plain')
    .send(OF_ALL)
    .expect(200);
}

/** An EHR with one COMPOSITION of each template. */
async function filledEhr(): Promise<{ ehr: string; evaluation: string; observation: string }> {
  const ehr = await givenEhr(open);
  const [evaluation, observation] = [
    await givenComposition(open, ehr),
    await givenComposition(open, ehr, aComposition(OBSERVATION)),
  ];
  return { ehr, evaluation, observation };
}

beforeAll(async () => {
  await givenTemplate(open);
  await givenTemplate(open, OBSERVATION);
  await storedQuery('org.example::all');
  await storedQuery('plain');
});

describe('a scope for COMPOSITIONs', () => {
  it.each(['c', 'r', 'u', 'd', 's', 'cruds'])(
    'with %s gives the operations of these letters, on these templates alone',
    async (letters) => {
      const has = (letter: string): boolean => letters.includes(letter);
      for (const name of [EVALUATION, 'minimal_evaluation*', 'minimal%5Fevaluation.**']) {
        const { ehr, evaluation, observation } = await filledEhr();
        const token = tokenWith(`user/composition-${name}.${letters}`);
        const unseen = has('r') ? 403 : 404;
        const change = (method: 'put' | 'delete', uid: string) => {
          const place = method === 'put' ? versionedObjectUidOf(uid) : uid;
          const changing = request(app)[method](`${V1}/ehr/${ehr}/composition/${place}`);
          return changing.set({ Authorization: token, 'If-Match': `"${uid}"` });
        };
        const path = `/ehr/${ehr}/composition`;
        await get(`${path}/${evaluation}`, token).expect(has('r') ? 200 : 404);
        await get(`${path}/${observation}`, token).expect(404);
        const made = await post(path, token, aComposition()).expect(has('c') ? 201 : 403);
        if (!has('c')) expect(messageOf(made)).toBe('no scope of the token permits you to create this');
        await post(path, token, aComposition(OBSERVATION)).expect(403);
        const changed = await change('put', evaluation).send(aComposition());
        expect(changed.status).toBe(has('u') ? 200 : unseen);
        await change('put', observation).send(aComposition(OBSERVATION)).expect(404);
        const latest = has('u') ? versionUidOf(changed) : evaluation;
        const found = await query(token, { q: `${OF_ALL} WHERE e/ehr_id/value = '${ehr}'` });
        expect(found.status).toBe(has('s') ? 200 : 403);
        if (has('s')) expect(rowsOf(found)).toEqual(Array(has('c') ? 2 : 1).fill([ehr, EVALUATION]));
        await change('delete', observation).expect(404);
        await change('delete', latest).expect(has('d') ? 204 : unseen);
      }
    },
  );

  it('gives the EHR and its EHR_STATUS to read, and neither a directory nor anything to change', async () => {
    const { ehr } = await filledEhr();
    const token = tokenWith(`system/composition-${OBSERVATION}.c`);
    await get(`/ehr/${ehr}`, token).expect(200);
    const status = await get(`/ehr/${ehr}/ehr_status`, token).expect(200);
    await request(app)
      .put(`${V1}/ehr/${ehr}/ehr_status`)
      .set({ Authorization: token, 'If-Match': `"${versionUidOf(status)}"` })
      .send(status.body as object)
      .expect(403);
    await post('/ehr', token, {}).expect(403);
    await get(`/ehr/${ehr}/directory`, token).expect(404);
    await get(`/ehr/${ehr}/extract`, token).expect(404);
    expect(messageOf(await get('/ehr/00000000-0000-4000-8000-000000000000/extract', token).expect(404))).toBe(
      messageOf(await get(`/ehr/${ehr}/extract`, token)).replace(ehr, '00000000-0000-4000-8000-000000000000'),
    );
  });

  it('judges each version of a CONTRIBUTION', async () => {
    const { ehr } = await filledEhr();
    const token = tokenWith(`user/composition-${EVALUATION}.c`);
    const code = {
      _type: 'CODE_PHRASE',
      terminology_id: { _type: 'TERMINOLOGY_ID', value: 'openehr' },
      code_string: '249',
    };
    const change_type = { _type: 'DV_CODED_TEXT', value: 'creation', defining_code: code };
    const version = (name: string) => ({
      _type: 'ORIGINAL_VERSION',
      commit_audit: { _type: 'AUDIT_DETAILS', change_type },
      data: aComposition(name),
    });
    const commit = (...names: string[]) =>
      post(`/ehr/${ehr}/contribution`, token, { _type: 'CONTRIBUTION', versions: names.map(version) });
    expect(messageOf(await commit(EVALUATION, OBSERVATION).expect(403))).toMatch(/^versions\[1\]: no scope/);
    await commit(EVALUATION, EVALUATION).expect(201);
  });
});

describe('scopes of a patient', () => {
  it('are about the EHR of the token alone, in reads, writes and queries', async () => {
    const [own, other] = [await filledEhr(), await filledEhr()];
    const scope = 'patient/composition-*.cruds patient/aql-**.s';
    const token = tokenWith(scope, { ehrId: own.ehr });
    await get(`/ehr/${own.ehr}/composition/${own.evaluation}`, token).expect(200);
    await get(`/ehr/${other.ehr}`, token).expect(404);
    await get(`/ehr/${other.ehr}/composition/${other.evaluation}`, token).expect(404);
    await post(`/ehr/${own.ehr}/composition`, token, aComposition()).expect(201);
    await post(`/ehr/${other.ehr}/composition`, token, aComposition()).expect(404);
    const ofEhrs = 'SELECT DISTINCT e/ehr_id/value FROM EHR e';
    for (const q of [ofEhrs, `${ofEhrs} CONTAINS COMPOSITION c`, `${ofEhrs} NOT CONTAINS FOLDER f`])
      expect(rowsOf(await query(token, { q }).expect(200))).toEqual([[own.ehr]]);
    expect(
      rowsOf(await query(token, { q: 'SELECT COUNT(*) FROM EHR e CONTAINS EHR_STATUS s' }).expect(200)),
    ).toEqual([[1]]);
    await query(token, { q: ofEhrs, ehr_id: other.ehr }).expect(404);
    const stored = await get('/query/org.example::all', token).expect(200);
    expect(new Set(rowsOf(stored).map((row) => (row as string[])[0]))).toEqual(new Set([own.ehr]));
    const found = await request(app)
      .get(`/rest/ehrs?identifier=${other.ehr}`)
      .set('Authorization', token)
      .expect(200);
    expect(found.text).not.toContain(other.ehr);
    // Of another claim that names it, and after a merge.
    await merge(testApp(everythingOn({ auth: 'jwt', accessMode: 'off' })), other.ehr, own.ehr).expect(200);
    await get(
      `/ehr/${own.ehr}/composition/${other.evaluation}`,
      tokenWith(scope, { ehrId: other.ehr }),
    ).expect(200);
  });

  it("are about the user's own EHR where an application was opened for none, else about the one it was opened for", async () => {
    const [own, other] = [await filledEhr(), await filledEhr()];
    const scope = 'patient/composition-*.rs';
    const asks = async (claims: object): Promise<number[]> => {
      const token = tokenWith(scope, claims);
      const read = async ({ ehr, evaluation }: typeof own): Promise<number> =>
        (await get(`/ehr/${ehr}/composition/${evaluation}`, token)).status;
      return [await read(own), await read(other)];
    };
    expect(await asks({ ownEhrId: own.ehr })).toEqual([200, 404]);
    expect(await asks({ ownEhrId: own.ehr, ehrId: other.ehr })).toEqual([404, 200]);
  });

  it('are held whatever else the token says, and of others nothing else is asked', async () => {
    const [own, other] = [await filledEhr(), await filledEhr()];
    const twice = { ehrId: own.ehr, organisation: ['one', 'other'] };
    for (const accessMode of ['off', 'observe', 'enforce'] as const) {
      const on = testApp(everythingOn({ auth: 'jwt', accessMode, auditReads: true }));
      const refused = await get(`/ehr/${other.ehr}`, tokenWith('patient/composition-*.r', twice), on).expect(
        401,
      );
      expect(messageOf(refused)).toBe('the claim organisation has two values');
      await get(`/ehr/${other.ehr}`, tokenWith('openid', twice), on).expect(
        accessMode === 'enforce' ? 401 : 200,
      );
    }
  });

  it.each([
    ['patient/composition-*.r', {}, 'no claim ehrId'],
    ['user/composition-*.r patient/aql-x.s', {}, 'no claim ehrId'],
    ['patient/composition-*.r', { ehrId: ['a', 'b'] }, 'the claim ehrId has two values'],
    ['patient/composition-*.r', { ehrId: '00000000-0000-4000-8000-00000000abcd' }, 'names no EHR'],
  ])('of a token with %s and %j are refused: %s', async (scope, claims, message) => {
    const ehr = await givenEhr(open);
    const refused = await get(`/ehr/${ehr}`, tokenWith(scope, claims)).expect(401);
    expect(messageOf(refused)).toContain(message);
  });

  it('stand in tokens for development, where the settings look for them', async () => {
    const { ehr, evaluation } = await filledEhr();
    const { jwt: keys } = loadConfig({ JWT_SECRET: TEST_JWT_SECRET, CLAIM_EHR: 'context.ehr' });
    const asked = {
      user: 'ada',
      roles: ['USER'],
      lifetimeSeconds: 60,
      scope: 'patient/composition-*.r',
      ehrId: ehr,
    };
    const token = `Bearer ${developmentToken(keys, asked)}`;
    const on = testApp(everythingOn({ auth: 'jwt', accessMode: 'off', jwt: keys }));
    await get(`/ehr/${ehr}/composition/${evaluation}`, token, on).expect(200);
    await get(`/ehr/${await givenEhr(open)}`, token, on).expect(404);
  });

  it('add up with those of a user, each in its own compartment', async () => {
    const [own, other] = [await filledEhr(), await filledEhr()];
    const token = tokenWith(`patient/composition-*.r user/composition-${OBSERVATION}.r`, { ehrId: own.ehr });
    await get(`/ehr/${own.ehr}/composition/${own.evaluation}`, token).expect(200);
    await get(`/ehr/${other.ehr}/composition/${other.observation}`, token).expect(200);
    await get(`/ehr/${other.ehr}/composition/${other.evaluation}`, token).expect(404);
  });
});

describe('a scope for queries', () => {
  const executes = async (token: string, path: string): Promise<number> => (await get(path, token)).status;
  const STORED = '/query/org.example::all';
  const PLAIN = '/query/plain/1.0.0';

  it.each([
    ['user/aql-org.example::all.s', [200, 403, 403]],
    ['user/aql-org.example::*.rs', [200, 403, 403]],
    ['user/aql-plain.s', [403, 200, 403]],
    ['user/aql-*.s', [403, 200, 200]],
    ['system/aql-**.s', [200, 200, 200]],
    ['user/aql-**.cru', [403, 403, 403]],
    ['user/composition-*.crud', [403, 403, 403]],
    ['user/composition-*.s', [200, 200, 200]],
    ['user/template-**.cruds', [403, 403, 403]],
  ])('%s', async (scope, expected) => {
    await filledEhr();
    const token = tokenWith(scope);
    const adHoc = await query(token);
    const statuses = [await executes(token, STORED), await executes(token, PLAIN), adHoc.status];
    expect(statuses).toEqual(expected);
    expect(await executes(token, `/query/aql?q=${encodeURIComponent(OF_ALL)}`)).toBe(expected[2]);
    expect((await post('/query/aql/explain', token, { q: OF_ALL })).status).toBe(expected[2]);
    expect((await post(STORED, token, {})).status).toBe(expected[0]);
    if (adHoc.status === 403)
      expect(adHoc.headers['www-authenticate']).toBe('Bearer error="insufficient_scope"');
    else expect(rowsOf(adHoc).length).toBeGreaterThan(0);
  });

  it('says the same of a query that is not there', async () => {
    const token = tokenWith('user/aql-plain.rs');
    const masked = async (name: string) => {
      const { status, headers, text } = await get(`/query/${name}`, token);
      return [status, headers['www-authenticate'], text.replace(/"request_id":"[^"]+"/, '')];
    };
    expect(await masked('org.example::all')).toEqual(await masked('org.example::none'));
  });

  it('gives the definitions that it names to read, and to store', async () => {
    const token = tokenWith('user/aql-org.example::*.cr');
    const names = async (path: string): Promise<string[]> =>
      ((await get(path, token).expect(200)).body as Json[]).map(({ name }) => name as string);
    expect(await names('/definition/query')).toEqual(['org.example::all']);
    expect(await names('/definition/query/p')).toEqual([]);
    await get('/definition/query/org.example::all/1', token).expect(200);
    await get('/definition/query/plain/1', token).expect(403);
    const put = (name: string) =>
      request(app)
        .put(`${V1}/definition/query/${name}/1.0.0`)
        .set({ Authorization: token, 'Content-Type': 'text/plain' })
        .send(OF_ALL);
    await put('other.example::new').expect(403);
    await put('org.example::made').expect(200);
    expect(await names('/definition/query')).toEqual(['org.example::all', 'org.example::made']);
  });

  it('for one stored query finds all in its compartment by that one alone', async () => {
    const { ehr, observation } = await filledEhr();
    const token = tokenWith(`patient/aql-plain.s patient/composition-${EVALUATION}.s`, { ehrId: ehr });
    const templates = (answer: { readonly body: unknown }) =>
      rowsOf(answer)
        .map((row) => (row as string[])[1])
        .sort();
    expect(templates(await get(PLAIN, token).expect(200))).toEqual([EVALUATION, OBSERVATION]);
    expect(templates(await get(STORED, token).expect(200))).toEqual([EVALUATION]);
    expect(templates(await query(token).expect(200))).toEqual([EVALUATION]);
    await get(`/ehr/${ehr}/composition/${observation}`, token).expect(404);
  });
});

describe('a scope for templates', () => {
  const PATH = '/definition/template/adl1.4';
  const upload = (token: string, on = app) =>
    request(on)
      .post(`${V1}${PATH}`)
      .set({ Authorization: token, 'Content-Type': 'application/xml' })
      .send(fixtureText('opt/minimal_action_2.opt'));

  it('gives these to list, to read and to make', async () => {
    const token = tokenWith('user/template-minimal_evaluation*.rs');
    const listed = (await get(PATH, token).expect(200)).body as Json[];
    expect(listed.map(({ template_id: id }) => id as string)).toEqual([EVALUATION]);
    for (const view of ['', '/example', '/webtemplate']) {
      await get(`${PATH}/${EVALUATION}${view}`, token).expect(200);
      await get(`${PATH}/${OBSERVATION}${view}`, token).expect(403);
      await get(`${PATH}/none${view}`, token).expect(403);
    }
    for (const scope of ['user/template-minimal_action_2.r', 'user/template-minimal_evaluation*.c'])
      expect(messageOf(await upload(tokenWith(scope)).expect(403))).toBe(
        'no scope of this token permits this',
      );
    const replacing = testApp(everythingOn({ auth: 'jwt', templateAllowOverwrite: true }));
    await upload(tokenWith('user/template-minimal_action_2.c'), replacing).expect(403);
    await upload(tokenWith('user/template-minimal_action_2.c')).expect(201);
    await upload(tokenWith('user/template-minimal_action_2.cu'), replacing).expect(201);
    await get(PATH, tokenWith('user/template-**.r')).expect(403);
  });

  it('gives nothing of a record', async () => {
    const { ehr, evaluation } = await filledEhr();
    const token = tokenWith('patient/template-**.cruds');
    await get(`/ehr/${ehr}`, token).expect(404);
    await get(`/ehr/${ehr}/composition/${evaluation}`, token).expect(404);
    await query(token).expect(403);
  });
});

describe('a token with scopes', () => {
  it('administrates nothing, whatever the roles of its user, and does nothing else that no scope names', async () => {
    const ehr = await givenEhr(open);
    const token = tokenWith('user/composition-**.cruds user/template-**.cruds user/aql-**.crs');
    const asked = async (method: 'get' | 'delete', path: string) =>
      (await request(app)[method](path).set('Authorization', token)).status;
    expect(
      [
        await asked('delete', `/rest/admin/ehr/${ehr}`),
        await asked('get', '/rest/admin/audit'),
        await asked('get', '/rest/admin/users'),
        await asked('get', '/management/env'),
        await asked('get', '/rest/dashboards'),
        await asked('get', `${V1}/definition/archetype/adl1.4`),
      ].filter((status) => ![403, 404].includes(status)),
    ).toEqual([]);
    expect(await asked('get', '/management/health')).toBe(403);
    await get(`/ehr/${ehr}`, ADMIN).expect(200);
    for (const path of ['/rest/status', '/rest/openapi.json', '/.well-known/smart-configuration'])
      expect(await asked('get', path)).toBe(200);
    expect((await request(app).options(V1).set('Authorization', token)).status).toBe(200);
  });

  it('is refused by every operation that no scope names, and that tells of no record that could be judged', async () => {
    const settings = everythingOn({ auth: 'jwt', accessMode: 'dry' });
    const on = testApp(settings);
    const token = tokenWith('user/composition-**.cruds user/template-**.cruds user/aql-**.cruds');
    const NAMED = /^(?:template_adl1\.4_|query_(?:list|get|store)|options$|status_get$|terminology_search$)/;
    const unnamed = everyOperation(settings).operations.filter(
      ({ id, access, discloses }) =>
        ['nothing', 'whole'].includes(discloses) && access !== 'open' && !NAMED.test(id),
    );
    expect(unnamed.length).toBeGreaterThan(60);
    const METHODS = { GET: 'get', PUT: 'put', POST: 'post', DELETE: 'delete', OPTIONS: 'options' } as const;
    const others: string[] = [];
    for (const { id, method, path } of unnamed) {
      const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
        name.endsWith('id') ? randomUUID() : 'x',
      );
      const { status } = await request(on)[METHODS[method]](filled).set('Authorization', token);
      if (status !== 403) others.push(`${id} ${status}`);
    }
    expect(others).toEqual([]);
  });

  it('does no more than the roles of its user', async () => {
    const ehr = await givenEhr(open);
    const token = tokenWith('user/composition-**.cruds', { roles: ['READER'] });
    await get(`/ehr/${ehr}`, token).expect(200);
    await post(`/ehr/${ehr}/composition`, token, aComposition()).expect(403);
  });

  it('that cannot be read sees nothing, which is logged once and counted', async () => {
    const ehr = await givenEhr(open);
    const lines: string[] = [];
    const log = pino({ level: 'warn' }, { write: (line: string) => void lines.push(line) });
    const settings = everythingOn({ auth: 'jwt', accessMode: 'off' });
    const handle = handlerOf(settings, log);
    const logged = (req: Parameters<typeof handle>[0], res: Parameters<typeof handle>[1]) =>
      void handle(req, res);
    const token = tokenWith('patient/Observation.rs', { azp: 'app-1' });
    await get(`/ehr/${ehr}`, token, logged).expect(404);
    await query(token, undefined, logged).expect(403);
    const told = lines.map((line) => JSON.parse(line) as Json).filter(({ scope }) => scope !== undefined);
    expect(told.map(({ scope, client }) => [scope, client] as unknown)).toEqual([
      ['patient/Observation.rs', 'app-1'],
    ]);
    const metrics = await request(logged)
      .get('/management/prometheus')
      .set('Authorization', ADMIN)
      .expect(200);
    expect(metrics.text).toMatch(/everchart_unreadable_scopes_total [1-9]/);
  });

  it('without any about records is restricted only where they are required', async () => {
    const { ehr } = await filledEhr();
    const bare = tokenWith('launch/patient offline_access');
    for (const token of [bare, USER]) {
      await get(`/ehr/${ehr}`, token).expect(200);
      await query(token).expect(200);
    }
    const requiring = testApp(everythingOn({ auth: 'jwt', accessMode: 'off', smartScopes: 'required' }));
    for (const token of [bare, USER, ADMIN]) {
      await get(`/ehr/${ehr}`, token, requiring).expect(404);
      await query(token, undefined, requiring).expect(403);
    }
    await get(`/ehr/${ehr}`, tokenWith('user/composition-x.r'), requiring).expect(200);
  });

  it('is one as any other where SMART_SCOPES is off', async () => {
    const { ehr, evaluation } = await filledEhr();
    const off = testApp(everythingOn({ auth: 'jwt', accessMode: 'off', smartScopes: 'off' }));
    await get(`/ehr/${ehr}/composition/${evaluation}`, tokenWith('patient/composition-x.r'), off).expect(200);
    await request(off).get('/.well-known/smart-configuration').set('Authorization', USER).expect(404);
  });
});

describe('scopes beside policies', () => {
  const enforcing = testApp(everythingOn({ auth: 'jwt', accessMode: 'enforce' }));
  const POLICIES = '/rest/admin/policies';
  const policy = (text: string) => putPolicy(enforcing, 'p', text).expect(200);

  it('must permit it as well', async () => {
    const { ehr, evaluation, observation } = await filledEhr();
    const all = tokenWith('user/composition-*.rs');
    const one = tokenWith(`user/composition-${EVALUATION}.rs`);
    const seen = async (token: string): Promise<number[]> =>
      Promise.all(
        [evaluation, observation].map(
          async (uid) => (await get(`/ehr/${ehr}/composition/${uid}`, token, enforcing)).status,
        ),
      );
    const counted = async (token: string) =>
      rowsOf(
        await query(
          token,
          { q: `SELECT COUNT(*) FROM EHR e[ehr_id/value='${ehr}'] CONTAINS COMPOSITION c` },
          enforcing,
        ),
      )[0];
    expect([await seen(all), await seen(one)]).toEqual([
      [200, 200],
      [200, 404],
    ]);
    await policy(
      `permit (principal, action, resource) unless { resource is Version && resource.kind == "COMPOSITION" && resource has template_id && resource.template_id == "${EVALUATION}" };`,
    );
    expect([await seen(all), await seen(one), await seen(USER)]).toEqual([
      [404, 200],
      [404, 404],
      [404, 200],
    ]);
    expect([await counted(all), await counted(one), await counted(USER)]).toEqual([[1], [0], [1]]);
    await request(enforcing).delete(`${POLICIES}/p`).set('Authorization', ADMIN).expect(204);
    expect(await seen(one)).toEqual([200, 404]);
  });

  it('are named where a refusal says that something is there', async () => {
    const { ehr, observation } = await filledEhr();
    const telling = testApp(everythingOn({ auth: 'jwt', accessMode: 'off', accessRefused: '403' }));
    const token = tokenWith(`user/composition-${EVALUATION}.rs`);
    const refused = await get(`/ehr/${ehr}/composition/${observation}`, token, telling).expect(403);
    expect(messageOf(refused)).toBe('no scope of the token permits you to see this');
  });
});

describe('scopes while policies are observed', () => {
  it('hold, and are none of what policies would hide', async () => {
    const observing = testApp(everythingOn({ auth: 'jwt', accessMode: 'observe', auditReads: true }));
    const { ehr, evaluation, observation } = await filledEhr();
    await putPolicy(observing, 'of-all', 'permit (principal, action, resource);').expect(200);
    const token = tokenWith(`user/composition-${EVALUATION}.r`);
    const from = new Date().toISOString();
    await get(`/ehr/${ehr}/composition/${evaluation}`, token, observing).expect(200);
    await get(`/ehr/${ehr}/composition/${observation}`, token, observing).expect(404);
    const told = await request(observing)
      .get(`/rest/admin/policies/observed?from=${from}`)
      .set('Authorization', ADMIN)
      .expect(200);
    expect((told.body as Json)['observed']).toEqual([]);
    await request(observing).delete('/rest/admin/policies/of-all').set('Authorization', ADMIN).expect(204);
  });
});

describe('the settings of scopes', () => {
  it('need users with tokens', () => {
    const key = { JWT_SECRET: TEST_JWT_SECRET };
    expect(() => loadConfig({ ...key, AUTH: 'none', SMART_SCOPES: 'on' })).toThrow(
      'SMART_SCOPES=on needs users',
    );
    expect(() => loadConfig({ AUTH: 'basic', BASIC_USERS_FILE: 'x', SMART_SCOPES: 'required' })).toThrow(
      'SMART_SCOPES',
    );
    expect(() =>
      loadConfig({ ...key, AUTH: 'jwt', SMART_TOKEN_ENDPOINT: 'https://id.example.org/token' }),
    ).toThrow('SMART_AUTHORIZATION_ENDPOINT and SMART_TOKEN_ENDPOINT');
    expect(loadConfig({ ...key, AUTH: 'jwt', SMART_SCOPES: 'on' }).smartScopes).toBe('on');
    expect(loadConfig({}).smartScopes).toBe('off');
  });

  it('warn where applications are not told where they sign in', () => {
    const warned = (more: object) =>
      identityWarnings(loadConfig({ JWT_SECRET: TEST_JWT_SECRET, AUTH: 'jwt', SMART_SCOPES: 'on', ...more }))
        .join()
        .includes('not told where they sign in');
    const endpoints = {
      SMART_AUTHORIZATION_ENDPOINT: 'https://a.example',
      SMART_TOKEN_ENDPOINT: 'https://b.example',
    };
    expect([{}, { JWT_ISSUER: 'any' }, { JWT_ISSUER: 'clinic' }].map(warned)).toEqual([true, true, true]);
    expect([{ JWT_ISSUER: 'https://id.example' }, endpoints, { SMART_SCOPES: 'off' }].map(warned)).toEqual([
      false,
      false,
      false,
    ]);
  });
});

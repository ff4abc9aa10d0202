import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import request from 'supertest';

import { adminCases, mergedPair, mergedQueryCases } from './admin-cases.js';
import { approvalCases } from './approval-cases.js';
import { distinctCases } from './distinct-cases.js';
import { draftCases } from './draft-cases.js';
import { extractCases } from './extract-cases.js';
import { operationCases } from './operation-cases.js';
import { markCases } from './mark-cases.js';
import { policyCases } from './policy-cases.js';
import { userCases } from './user-cases.js';
import { ownCases } from './own-cases.js';
import type { Call } from './probe.js';
import { AQL, creation, FOLDER, LARGE_AQL, STATUS, statusOf, TEMPLATE, World } from './world.js';
import { fixtureText } from '../fixture.js';
import { aComposition, givenTemplate, V1, versionUidOf } from '../resources.js';

/** Status that a documented operation must give for a request, made when it is needed. */
export interface ApiCase {
  readonly id: string;
  readonly status: number;
  readonly call: () => Promise<Call> | Call;
}

/** Cases of every documented operation; the first of each succeeds. */
export function apiCases(app: RequestListener): ApiCase[] {
  const world = new World(app);
  return [
    ...ehrCases(world),
    ...extractCases(world),
    ...compositionCases(world),
    ...directoryCases(world),
    ...contributionCases(world),
    ...archetypeCases(world),
    ...definitionCases(world),
    ...queryCases(world),
    ...mergedQueryCases(world),
    ...tagCases(world),
    ...draftCases(world, async () => (await mergedPair(world)).source_ehr),
    ...ownCases(world, {
      merged: async () => (await mergedPair(world)).source_ehr,
      invalid: invalidComposition(),
    }),
    ...operationCases(),
    ...adminCases(world),
    ...userCases(),
    ...policyCases(world),
    ...markCases(world, { merged: async () => (await mergedPair(world)).source_ehr }),
    ...distinctCases(world),
    ...approvalCases(world),
  ];
}

const nextOf = (uid: string): string => uid.replace(/\d+$/, (number) => String(Number(number) + 1));
const idempotent = async (
  world: World,
  path: string,
  body: object | string,
  ifMatch?: string,
): Promise<Record<string, string>> => {
  const key = randomUUID();
  const isUpdate = ifMatch !== undefined;
  const sending = isUpdate ? request(world.app).put(path) : request(world.app).post(path);
  await sending
    .set({
      'Content-Type': 'application/json',
      'Idempotency-Key': key,
      ...(isUpdate && { 'If-Match': ifMatch }),
    })
    .send(body);
  return { 'Idempotency-Key': key };
};

function ehrCases(world: World): ApiCase[] {
  const patient = randomUUID();
  const taken = async (): Promise<object> => {
    await request(world.app).post(`${V1}/ehr`).send(statusOf(patient));
    return statusOf(patient);
  };
  return [
    { id: 'options', status: 200, call: () => ({}) },
    { id: 'overview_get', status: 200, call: () => ({}) },
    { id: 'ehr_create', status: 201, call: () => ({ body: STATUS }) },
    { id: 'ehr_create', status: 400, call: () => ({ body: '{' }) },
    { id: 'ehr_create', status: 409, call: async () => ({ body: await taken() }) },
    {
      id: 'ehr_create',
      status: 422,
      call: async () => ({
        headers: await idempotent(world, `${V1}/ehr`, STATUS),
        body: statusOf(randomUUID()),
      }),
    },
    {
      id: 'ehr_get_by_subject',
      status: 200,
      call: async () => {
        await taken();
        return { query: `?subject_id=${patient}&subject_namespace=hospital` };
      },
    },
    { id: 'ehr_extract_get', status: 200, call: async () => ({ params: { ehr_id: await world.ehr() } }) },
    {
      id: 'ehr_extract_get',
      status: 400,
      call: async () => ({ params: { ehr_id: await world.ehr() }, query: '?versions=some' }),
    },
    { id: 'ehr_get_by_subject', status: 400, call: () => ({ query: '?subject_id=x' }) },
    { id: 'ehr_get_by_subject', status: 404, call: () => ({ query: '?subject_id=x&subject_namespace=y' }) },
    {
      id: 'ehr_create_with_id',
      status: 201,
      call: () => ({ params: { ehr_id: randomUUID() }, body: STATUS }),
    },
    {
      id: 'ehr_create_with_id',
      status: 409,
      call: async () => ({ params: { ehr_id: await world.ehr() }, body: STATUS }),
    },
    {
      id: 'ehr_create_with_id',
      status: 422,
      call: async () => {
        const ehr_id = randomUUID();
        const headers = await idempotent(world, `${V1}/ehr/${ehr_id}`, STATUS, '*');
        return { params: { ehr_id }, headers, body: statusOf(randomUUID()) };
      },
    },
    { id: 'ehr_find', status: 200, call: () => ({ query: `?identifier=${patient}` }) },
    { id: 'ehr_find', status: 400, call: () => ({}) },
    { id: 'ehr_get_by_id', status: 200, call: async () => ({ params: { ehr_id: await world.ehr() } }) },
    { id: 'ehr_status_get_at_time', status: 200, call: async () => ({ params: await world.status() }) },
    { id: 'ehr_status_get_by_version', status: 200, call: async () => ({ params: await world.status() }) },
    ...versionedCases('versioned_ehr_status', () => world.status()),
    {
      id: 'ehr_status_update',
      status: 200,
      call: async () => {
        const params = await world.status();
        return { params, headers: { 'If-Match': params.version_uid }, body: STATUS };
      },
    },
    {
      id: 'ehr_status_update',
      status: 422,
      call: async () => {
        const params = await world.status();
        const path = `${V1}/ehr/${params.ehr_id}/ehr_status`;
        const headers = await idempotent(world, path, STATUS, params.version_uid);
        const body = { ...STATUS, is_modifiable: false };
        return { params, headers: { ...headers, 'If-Match': params.version_uid }, body };
      },
    },
    {
      id: 'ehr_status_update',
      status: 409,
      call: async () => {
        const params = await world.status();
        return { params, headers: { 'If-Match': params.version_uid }, body: await taken() };
      },
    },
    {
      id: 'ehr_status_update',
      status: 412,
      call: async () => {
        const params = await world.status();
        return { params, headers: { 'If-Match': nextOf(params.version_uid) }, body: STATUS };
      },
    },
  ];
}

function versionedCases(id: string, params: () => Promise<Record<string, string>>): ApiCase[] {
  return ['get', 'revision_history_get', 'version_get_at_time', 'version_get_by_id'].map((operation) => ({
    id: `${id}_${operation}`,
    status: 200,
    call: async () => ({ params: await params() }),
  }));
}

function compositionCases(world: World): ApiCase[] {
  const inEhr = async (ehr_id: Promise<string>, body: object, headers = {}): Promise<Call> => {
    await givenTemplate(world.app, TEMPLATE);
    return { params: { ehr_id: await ehr_id }, body, headers };
  };
  const update =
    (change: (uid: string) => string, body: object): ApiCase['call'] =>
    async () => {
      const params = await world.composition();
      return { params: containerOf(params), headers: { 'If-Match': change(params.version_uid) }, body };
    };
  const get =
    (params: () => Promise<Record<string, string>>): ApiCase['call'] =>
    async () => {
      const found = await params();
      return { params: { ...found, uid_based_id: found.versioned_object_uid ?? '' } };
    };
  return [
    { id: 'composition_create', status: 201, call: () => inEhr(world.ehr(), aComposition()) },
    { id: 'composition_create', status: 409, call: () => inEhr(world.frozenEhr(), aComposition()) },
    {
      id: 'composition_create',
      status: 412,
      call: async () => {
        const { ehr_id, version_uid } = await world.composition();
        const uid = { _type: 'OBJECT_VERSION_ID', value: version_uid };
        return inEhr(Promise.resolve(ehr_id), { ...aComposition(), uid });
      },
    },
    { id: 'composition_create', status: 422, call: () => inEhr(world.ehr(), unknownTemplate()) },
    { id: 'composition_get', status: 200, call: get(() => world.composition()) },
    { id: 'composition_get', status: 204, call: get(() => world.deletedComposition()) },
    { id: 'composition_update', status: 200, call: update((uid) => uid, aComposition()) },
    { id: 'composition_update', status: 412, call: update(nextOf, aComposition()) },
    { id: 'composition_update', status: 422, call: update((uid) => uid, invalidComposition()) },
    {
      id: 'composition_update',
      status: 409,
      call: async () => {
        const params = await world.composition();
        await freeze(world, params.ehr_id);
        return {
          params: containerOf(params),
          headers: { 'If-Match': params.version_uid },
          body: aComposition(),
        };
      },
    },
    {
      id: 'composition_delete',
      status: 204,
      call: async () => ({ params: versionOf(await world.composition()) }),
    },
    {
      id: 'composition_delete',
      status: 409,
      call: async () => {
        const params = await world.composition();
        const path = `${V1}/ehr/${params.ehr_id}/composition/${params.versioned_object_uid}`;
        await request(world.app).put(path).set('If-Match', params.version_uid).send(aComposition());
        return { params: versionOf(params) };
      },
    },
    ...versionedCases('versioned_composition', () => world.composition()),
  ];
}

const versionOf = <T extends { version_uid: string }>(params: T) => ({
  ...params,
  uid_based_id: params.version_uid,
});
const containerOf = <T extends { versioned_object_uid: string }>(params: T) => ({
  ...params,
  uid_based_id: params.versioned_object_uid,
});

function unknownTemplate(): object {
  const composition = aComposition();
  composition.archetype_details.template_id.value = 'unknown';
  return composition;
}

/** Readable, but not as the template wants it. */
function invalidComposition(): object {
  const composition = aComposition();
  composition.category.defining_code.code_string = '999';
  return composition;
}

async function freeze(world: World, ehrId: string): Promise<void> {
  const path = `${V1}/ehr/${ehrId}/ehr_status`;
  const uid = versionUidOf(await request(world.app).get(path));
  await request(world.app)
    .put(path)
    .set('If-Match', uid)
    .send({ ...STATUS, is_modifiable: false });
}

function directoryCases(world: World): ApiCase[] {
  const at = (params: { ehr_id: string; version_uid: string }, uid: string): Call => ({
    params,
    headers: { 'If-Match': uid },
  });
  const stored = async (): Promise<Call> => {
    const params = await world.directory();
    return at(params, params.version_uid);
  };
  const stale = async (): Promise<Call> => {
    const params = await world.directory();
    return at(params, nextOf(params.version_uid));
  };
  const frozen = async (): Promise<Call> => {
    const params = await world.directory();
    await freeze(world, params.ehr_id);
    return at(params, params.version_uid);
  };
  const withBody = (call: () => Promise<Call>) => async (): Promise<Call> => ({
    ...(await call()),
    body: FOLDER,
  });
  const uid = { _type: 'OBJECT_VERSION_ID', value: `${randomUUID()}::other::1` };
  return [
    {
      id: 'directory_create',
      status: 201,
      call: async () => ({ params: { ehr_id: await world.ehr() }, body: FOLDER }),
    },
    {
      id: 'directory_create',
      status: 409,
      call: async () => ({ params: await world.directory(), body: FOLDER }),
    },
    {
      id: 'directory_create',
      status: 412,
      call: async () => ({ params: { ehr_id: await world.ehr() }, body: { ...FOLDER, uid } }),
    },
    {
      id: 'directory_create',
      status: 422,
      call: async () => {
        const ehr_id = await world.ehr();
        const headers = await idempotent(world, `${V1}/ehr/${ehr_id}/directory`, FOLDER);
        return { params: { ehr_id }, headers, body: { ...FOLDER, folders: [] } };
      },
    },
    { id: 'directory_get_at_time', status: 200, call: async () => ({ params: await world.directory() }) },
    {
      id: 'directory_get_at_time',
      status: 204,
      call: async () => ({ params: await world.deletedDirectory() }),
    },
    { id: 'directory_get_by_version', status: 200, call: async () => ({ params: await world.directory() }) },
    {
      id: 'directory_get_by_version',
      status: 204,
      call: async () => ({ params: await world.deletedDirectory() }),
    },
    { id: 'directory_update', status: 200, call: withBody(stored) },
    { id: 'directory_update', status: 409, call: withBody(frozen) },
    { id: 'directory_update', status: 412, call: withBody(stale) },
    { id: 'directory_delete', status: 204, call: stored },
    { id: 'directory_delete', status: 409, call: frozen },
    { id: 'directory_delete', status: 412, call: stale },
  ];
}

function contributionCases(world: World): ApiCase[] {
  const inEhr = async (ehr_id: Promise<string>, body: object, headers = {}): Promise<Call> => {
    await givenTemplate(world.app, TEMPLATE);
    return { params: { ehr_id: await ehr_id }, body, headers };
  };
  return [
    { id: 'contribution_create', status: 201, call: () => inEhr(world.ehr(), creation(aComposition())) },
    {
      id: 'contribution_create',
      status: 409,
      call: () => inEhr(world.frozenEhr(), creation(aComposition())),
    },
    {
      id: 'contribution_create',
      status: 412,
      call: async () => {
        const { ehr_id, version_uid } = await world.composition();
        const uid = { _type: 'OBJECT_VERSION_ID', value: version_uid };
        return inEhr(Promise.resolve(ehr_id), creation({ ...aComposition(), uid }));
      },
    },
    {
      id: 'contribution_create',
      status: 422,
      call: async () => {
        const call = await inEhr(world.ehr(), creation(aComposition()));
        const path = `${V1}/ehr/${call.params?.ehr_id ?? ''}/contribution`;
        return { ...call, headers: await idempotent(world, path, call.body ?? ''), body: creation(FOLDER) };
      },
    },
    { id: 'contribution_get', status: 200, call: async () => ({ params: await world.contribution() }) },
  ];
}

function archetypeCases(world: World): ApiCase[] {
  const id = (): string => `openEHR-EHR-OBSERVATION.p${randomUUID()}.v1`;
  const source = (archetypeId = id()): string =>
    readFileSync('routes/http/openapi/data/pulse_of_house.adl', 'utf8').replace(
      'openEHR-EHR-OBSERVATION.pulse_of_house.v1',
      archetypeId,
    );
  const stored = async (): Promise<string> => {
    const archetypeId = id();
    const path = `${V1}/definition/archetype/adl1.4`;
    await request(world.app).post(path).set('Content-Type', 'text/plain').send(source(archetypeId));
    return archetypeId;
  };
  const upload = 'archetype_adl1.4_upload';
  const text = { 'Content-Type': 'text/plain' };
  return [
    { id: upload, status: 201, call: () => ({ body: source(), headers: text }) },
    { id: upload, status: 400, call: () => ({ body: 'archetype', headers: text }) },
    { id: upload, status: 409, call: async () => ({ body: source(await stored()), headers: text }) },
    { id: 'archetype_adl1.4_list', status: 200, call: () => ({}) },
    {
      id: 'archetype_adl1.4_get',
      status: 200,
      call: async () => ({ params: { archetype_id: await stored() } }),
    },
    { id: 'archetype_adl1.4_get', status: 404, call: () => ({ params: { archetype_id: 'unknown' } }) },
  ];
}

function definitionCases(world: World): ApiCase[] {
  const adl2 = ['upload', 'list', 'get', 'get_version', 'example'];
  return [
    { id: 'template_adl1.4_upload', status: 201, call: () => ({ body: world.opt().text }) },
    {
      id: 'template_adl1.4_upload',
      status: 200,
      call: async () => ({ body: (await world.template()).text, settings: { templateRevisions: true } }),
    },
    { id: 'template_adl1.4_upload', status: 400, call: () => ({ body: '<template/>' }) },
    {
      id: 'template_adl1.4_upload',
      status: 409,
      call: async () => ({ body: (await world.template()).text }),
    },
    {
      id: 'template_adl1.4_upload',
      status: 422,
      call: async () => {
        await world.composition();
        const changed = `${fixtureText(`opt/${TEMPLATE}.opt`)}<!-- changed -->`;
        return { body: changed, settings: { templateAllowOverwrite: true } };
      },
    },
    { id: 'template_adl1.4_list', status: 200, call: () => ({}) },
    { id: 'template_adl1.4_list', status: 400, call: () => ({ query: '?fetch=0' }) },
    ...['get', 'example', 'webtemplate'].flatMap((view): ApiCase[] => [
      {
        id: `template_adl1.4_${view}`,
        status: 200,
        call: async () => ({ params: { template_id: (await world.template()).template_id } }),
      },
      { id: `template_adl1.4_${view}`, status: 404, call: () => ({ params: { template_id: 'unknown' } }) },
    ]),
    {
      id: 'template_adl1.4_example',
      status: 400,
      call: async () => ({ params: { template_id: (await world.template()).template_id }, query: '?type=x' }),
    },
    ...adl2.map((view): ApiCase => ({
      id: `template_adl2_${view}`,
      status: 501,
      call: () => ({ params: { template_id: 't', version: '1.0.0' } }),
    })),
    { id: 'query_list_all', status: 200, call: () => ({}) },
    { id: 'query_list', status: 200, call: () => ({ params: { qualified_query_name: 'org' } }) },
    { id: 'query_list', status: 400, call: () => ({ params: { qualified_query_name: 'a b' } }) },
    { id: 'query_get', status: 200, call: async () => ({ params: await world.query() }) },
    { id: 'query_get', status: 400, call: () => ({ params: { qualified_query_name: 'a', version: 'x' } }) },
    {
      id: 'query_get',
      status: 404,
      call: () => ({ params: { qualified_query_name: 'none', version: '1' } }),
    },
    { id: 'query_store', status: 200, call: async () => ({ params: await world.query(), body: AQL }) },
    { id: 'query_store', status: 400, call: async () => ({ params: await world.query(), body: 'SELECT' }) },
    { id: 'query_store', status: 422, call: async () => ({ params: await world.query(), body: LARGE_AQL }) },
    {
      id: 'query_store_version',
      status: 200,
      call: async () => ({ params: { ...(await world.query()), version: '2.0.0' }, body: AQL }),
    },
    {
      id: 'query_store_version',
      status: 400,
      call: async () => ({ params: await world.query(), body: 'SELECT' }),
    },
    {
      id: 'query_store_version',
      status: 409,
      call: async () => ({ params: await world.query(), body: AQL }),
    },
    {
      id: 'query_store_version',
      status: 422,
      call: async () => ({ params: { ...(await world.query()), version: '9.0.0' }, body: LARGE_AQL }),
    },
  ];
}

function queryCases(world: World): ApiCase[] {
  const limited = `${AQL} LIMIT 1`;
  const encoded = encodeURIComponent(AQL);
  const storedLimit = async (): Promise<{ qualified_query_name: string; version: string }> => {
    const params = await world.query();
    const path = `${V1}/definition/query/${params.qualified_query_name}/1.0.1`;
    await request(world.app).put(path).set('Content-Type', 'text/plain').send(limited);
    return { ...params, version: '1.0.1' };
  };
  return [
    { id: 'query_execute_adhoc', status: 200, call: () => ({ query: `?q=${encoded}` }) },
    { id: 'query_execute_adhoc', status: 400, call: () => ({ query: '?q=SELECT' }) },
    {
      id: 'query_execute_adhoc',
      status: 422,
      call: () => ({ query: `?q=${encodeURIComponent(limited)}&fetch=1` }),
    },
    { id: 'query_execute_adhoc_post', status: 200, call: () => ({ body: { q: AQL } }) },
    { id: 'query_execute_adhoc_post', status: 400, call: () => ({ body: { q: 'SELECT' } }) },
    { id: 'query_execute_adhoc_post', status: 422, call: () => ({ body: { q: limited, fetch: 1 } }) },
    { id: 'query_explain', status: 200, call: () => ({ body: { q: AQL } }) },
    { id: 'query_explain', status: 400, call: () => ({ body: { q: 'SELECT' } }) },
    { id: 'query_explain', status: 422, call: () => ({ body: { q: limited, fetch: 1 } }) },
    ...['', '_version'].flatMap((version): ApiCase[] => [
      {
        id: `query_execute_stored${version}`,
        status: 200,
        call: async () => ({ params: await world.query() }),
      },
      {
        id: `query_execute_stored${version}`,
        status: 400,
        call: async () => ({ params: await world.query(), query: '?fetch=x' }),
      },
      {
        id: `query_execute_stored${version}`,
        status: 404,
        call: () => ({ params: { qualified_query_name: 'none', version: '1' } }),
      },
      {
        id: `query_execute_stored${version}`,
        status: 422,
        call: async () => ({ params: await storedLimit(), query: '?fetch=1' }),
      },
      {
        id: `query_execute_stored${version}_post`,
        status: 200,
        call: async () => ({ params: await world.query(), body: {} }),
      },
      {
        id: `query_execute_stored${version}_post`,
        status: 400,
        call: async () => ({ params: await world.query(), body: '[]' }),
      },
      {
        id: `query_execute_stored${version}_post`,
        status: 404,
        call: () => ({ params: { qualified_query_name: 'none', version: '1' }, body: {} }),
      },
      {
        id: `query_execute_stored${version}_post`,
        status: 422,
        call: async () => ({ params: await storedLimit(), body: { fetch: 1 } }),
      },
    ]),
  ];
}

function tagCases(world: World): ApiCase[] {
  return ['composition', 'ehr_status'].flatMap((resource): ApiCase[] => {
    const target = async (): Promise<Record<string, string>> => {
      const found = resource === 'composition' ? await world.composition() : await world.status();
      return { ...found, uid_based_id: found.versioned_object_uid, key: 'k' };
    };
    const tagged = async (): Promise<Record<string, string>> => {
      const params = await target();
      const path = `${V1}/ehr/${params.ehr_id ?? ''}/${resource}/${params.uid_based_id ?? ''}/tags`;
      await request(world.app)
        .put(path)
        .send([{ key: 'k' }]);
      return params;
    };
    return [
      { id: 'ehr_tags_get', status: 200, call: async () => ({ params: await tagged() }) },
      { id: `${resource}_tags_get`, status: 200, call: async () => ({ params: await tagged() }) },
      {
        id: `${resource}_tags_update`,
        status: 200,
        call: async () => ({ params: await target(), body: [{ key: 'k' }] }),
      },
      { id: `${resource}_tags_delete`, status: 204, call: async () => ({ params: await tagged() }) },
      { id: `${resource}_item_tag_get`, status: 200, call: async () => ({ params: await tagged() }) },
      {
        id: `${resource}_item_tag_put`,
        status: 200,
        call: async () => ({ params: await target(), body: [{ key: 'k' }] }),
      },
      {
        id: `${resource}_item_tag_put`,
        status: 409,
        call: async () => ({ params: await tagged(), body: [{ key: 'k' }] }),
      },
      {
        id: `${resource}_item_tag_put`,
        status: 422,
        call: async () => ({ params: await target(), body: [] }),
      },
      {
        id: `${resource}_item_tag_delete`,
        status: 204,
        call: async () => ({ params: await tagged(), body: [randomUUID()] }),
      },
      {
        id: `${resource}_item_tag_delete`,
        status: 422,
        call: async () => ({ params: await tagged(), body: [] }),
      },
    ];
  });
}

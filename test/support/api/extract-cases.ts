import { randomUUID } from 'node:crypto';
import request from 'supertest';
import { testApp } from '../app.js';
import { otherVersion } from '../imported-version.js';
import { bearer, WITH_ADMIN } from '../tokens.js';
import type { ApiCase } from './cases.js';
import { aComposition, V1 } from '../resources.js';
import { FOLDER, STATUS, type World } from './world.js';

const AS_MOVER = { Authorization: bearer(['MOVER'], 'mover') };

/** An EXTRACT of an EHR that has nothing but its EHR_STATUS. */
function extractOf(ehrId: string, further: readonly object[] = []): object {
  const items = [contentOf('EHR_STATUS', STATUS), ...further];
  return { _type: 'EXTRACT', chapters: [{ _type: 'EXTRACT_ENTITY_CHAPTER', extract_id_key: ehrId, items }] };
}

/** One version of one object. */
function contentOf(type: string, data: object): object {
  const uuid = randomUUID();
  const item = {
    _type: `X_VERSIONED_${type}`,
    uid: { _type: 'HIER_OBJECT_ID', value: uuid },
    versions: [otherVersion({ uuid, number: 1 }, { data })],
  };
  return { _type: 'OPENEHR_CONTENT_ITEM', item };
}

/** A COMPOSITION whose template is not here. */
function unknownComposition(): object {
  const data = aComposition();
  data['archetype_details'].template_id.value = 'unknown.v1';
  return contentOf('COMPOSITION', data);
}

/** An EHR that was made of an EXTRACT, with the id of its import. */
async function made(): Promise<{ ehr_id: string; import_id: string }> {
  const { body } = await request(testApp({ ...WITH_ADMIN, rolePermissions: { MOVER: ['restore'] } }))
    .post('/rest/openehr/v1/ehr/extract')
    .set(AS_MOVER)
    .send(extractOf(randomUUID()));
  const { ehr_id, import_id } = body as { ehr_id: string; import_id: string };
  return { ehr_id, import_id };
}

/** Cases of EXTRACTs; the first of each operation succeeds. */
export function extractCases(world: World): ApiCase[] {
  const none = { ehr_id: randomUUID(), import_id: randomUUID() };
  const dry = '?dry_run=true';
  const body = extractOf(randomUUID());
  return [
    { id: 'ehr_extract_create', status: 201, call: () => ({ body: extractOf(randomUUID()) }) },
    { id: 'ehr_extract_create', status: 400, call: () => ({ body: {} }) },
    { id: 'ehr_extract_create', status: 409, call: async () => ({ body: extractOf((await made()).ehr_id) }) },
    {
      id: 'ehr_extract_create',
      status: 422,
      call: () => ({ body: extractOf(randomUUID(), [unknownComposition()]) }),
    },
    { id: 'addExtract', status: 200, call: async () => ({ params: await made(), query: dry, body }) },
    { id: 'addExtract', status: 400, call: async () => ({ params: await made(), body }) },
    { id: 'addExtract', status: 404, call: () => ({ params: none, query: dry, body }) },
    { id: 'addExtract', status: 409, call: async () => ({ params: await made(), query: '?plan=x', body }) },
    { id: 'undoExtract', status: 200, call: async () => ({ params: await made() }) },
    {
      id: 'undoExtract',
      status: 400,
      call: async () => ({ params: { ...none, ehr_id: await world.ehr(), import_id: 'x' } }),
    },
    { id: 'undoExtract', status: 404, call: () => ({ params: none }) },
    {
      id: 'undoExtract',
      status: 409,
      call: async () => {
        const params = await made();
        await request(testApp()).post(`${V1}/ehr/${params.ehr_id}/directory`).send(FOLDER);
        return { params };
      },
    },
  ];
}

import type { RequestListener } from 'node:http';
import mongoose from 'mongoose';
import request from 'supertest';
import type { MergeHistoryDoc } from '../../models/merge/history.js';
import { givenTemplate, V1, versionUidOf, type Json } from './resources.js';
import { ADMIN } from './tokens.js';

/** Prefix of the administration API. */
export const O = '/rest/admin';

/** Templates that merge tests use; the first one is persistent. */
export const MERGE_TEMPLATES = [
  'persistent_minimal.en.v1',
  'minimal_evaluation.en.v1',
  'minimal_observation.en.v1',
] as const;

/** A call of the administration API by an administrator. */
export function admin(
  app: RequestListener,
  method: 'get' | 'post' | 'put' | 'delete',
  path: string,
): request.Test {
  return request(app)[method](`${O}${path}`).set('Authorization', ADMIN);
}

/** Merges and gives the answer. */
export function merge(
  app: RequestListener,
  source: string,
  target: string,
  further: object = {},
): request.Test {
  const body = { source_ehr: source, target_ehr: target, reversible: true, ...further };
  return admin(app, 'post', '/ehr/merge').send(body);
}

/** Unmerges and gives the answer. */
export function unmerge(
  app: RequestListener,
  source: string,
  target: string,
  further: object = {},
): request.Test {
  return admin(app, 'post', '/ehr/unmerge').send({ source_ehr: source, target_ehr: target, ...further });
}

/** Uploads the templates. */
export async function givenMergeTemplates(app: RequestListener): Promise<void> {
  for (const name of MERGE_TEMPLATES) await givenTemplate(app, name);
}

/** An EHR_STATUS with this subject id. */
export function statusOf(subjectId: string, further: object = {}): Json {
  return {
    _type: 'EHR_STATUS',
    is_queryable: true,
    is_modifiable: true,
    archetype_node_id: 'openEHR-EHR-EHR_STATUS.generic.v1',
    name: { _type: 'DV_TEXT', value: 'EHR Status' },
    subject: {
      _type: 'PARTY_SELF',
      external_ref: {
        _type: 'PARTY_REF',
        namespace: 'hospital',
        type: 'PERSON',
        id: { _type: 'GENERIC_ID', value: subjectId, scheme: 'mrn' },
      },
    },
    ...further,
  };
}

/** A FOLDER with items and sub-folders. */
export function folder(name: string, itemIds: readonly string[] = [], folders: readonly Json[] = []): Json {
  return {
    _type: 'FOLDER',
    name: { _type: 'DV_TEXT', value: name },
    archetype_node_id: 'openEHR-EHR-FOLDER.generic.v1',
    ...(itemIds.length > 0 && { items: itemIds.map(itemTo) }),
    ...(folders.length > 0 && { folders }),
  };
}

function itemTo(id: string): Json {
  const _type = id.includes('::') ? 'OBJECT_VERSION_ID' : 'HIER_OBJECT_ID';
  return { _type: 'OBJECT_REF', id: { _type, value: id }, namespace: 'local', type: 'VERSIONED_COMPOSITION' };
}

/** Makes a directory and gives its version uid. */
export async function givenDirectory(app: RequestListener, ehrId: string, root: object): Promise<string> {
  const response = await request(app).post(`${V1}/ehr/${ehrId}/directory`).send(root);
  if (response.status !== 201) throw new Error(`directory: ${response.status} ${response.text}`);
  return versionUidOf(response);
}

/** Changes a composition and gives its new version uid. */
export async function givenUpdate(
  app: RequestListener,
  ehrId: string,
  versionUid: string,
  composition: object,
): Promise<string> {
  const response = await request(app)
    .put(`${V1}/ehr/${ehrId}/composition/${versionUid.split('::')[0]!}`)
    .set('If-Match', `"${versionUid}"`)
    .send(composition);
  if (response.status !== 200) throw new Error(`update: ${response.status} ${response.text}`);
  return versionUidOf(response);
}

/** Tags a composition or EHR_STATUS; gives the id of the tag. */
export async function givenTag(
  app: RequestListener,
  address: { readonly ehrId: string; readonly type: 'composition' | 'ehr_status'; readonly uid: string },
  key: string,
): Promise<string> {
  const { ehrId, type, uid } = address;
  const response = await request(app)
    .put(`/rest/experimental/tags/ehr/${ehrId}/${type}/${uid}/item_tag`)
    .send([{ key, value: 'v' }]);
  if (response.status !== 200) throw new Error(`tag: ${response.status} ${response.text}`);
  return String((response.body as string[])[0]);
}

/** Rows of an AQL query. */
export async function rows(app: RequestListener | string, q: string, ehrId?: string): Promise<unknown[][]> {
  const response = await request(app)
    .post(`${V1}/query/aql`)
    .send({ q, ...(ehrId !== undefined && { ehr_id: ehrId }) });
  if (response.status !== 200) throw new Error(`AQL: ${response.status} ${response.text}`);
  return (response.body as { rows: unknown[][] }).rows;
}

/** As if the unmerge of the source had written the version. */
export async function writtenByUnmerge(source: string, versionUid: string): Promise<void> {
  const found = await mongoose.connection
    .collection<{ _id: string; contribution_uid: string }>('versions')
    .findOne({ _id: versionUid });
  await mongoose.connection
    .collection<MergeHistoryDoc>('merge_history')
    .updateOne({ source_ehr: source }, { $push: { 'undone.contribution_uids': found!.contribution_uid } });
}

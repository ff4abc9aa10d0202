import { json, STANDARD, textOf } from './answer.js';
import { at, items, textAt } from './json.js';
import type { Send } from './http.js';
import type { CompositionFormat, JsonObject, Revision } from './types.js';

/** EHRs and what is in them. */
export interface RecordApi {
  ehr: (ehrId: string) => Promise<JsonObject>;
  createEhr: (subject: { readonly namespace: string; readonly id: string } | null) => Promise<string>;
  ehrStatus: (ehrId: string) => Promise<JsonObject>;
  composition: (ehrId: string, uid: string) => Promise<JsonObject>;
  compositionText: (ehrId: string, uid: string, format: CompositionFormat) => Promise<string>;
  revisions: (ehrId: string, containerUid: string) => Promise<Revision[]>;
  /** Gives the version uid. `body` is canonical JSON, or FLAT. */
  createComposition: (
    ehrId: string,
    body: unknown,
    as?: { readonly format: string; readonly templateId: string },
  ) => Promise<string>;
  updateComposition: (ehrId: string, latestUid: string, body: JsonObject) => Promise<string>;
  /** null: there is none. */
  directory: (ehrId: string) => Promise<JsonObject | null>;
  contribution: (ehrId: string, uid: string) => Promise<JsonObject>;
}

/** The part of the API that reads and writes records. */
export function recordApi(send: Send): RecordApi {
  const ehr = (ehrId: string): string => `${STANDARD}/ehr/${encodeURIComponent(ehrId)}`;
  const composition = (ehrId: string, uid: string): string =>
    `${ehr(ehrId)}/composition/${encodeURIComponent(uid)}`;
  return {
    ehr: (ehrId) => json(send, { path: ehr(ehrId) }),
    createEhr: async (subject) => {
      const body = subject === null ? undefined : statusOf(subject);
      return etag(await send({ method: 'POST', path: `${STANDARD}/ehr`, ...(body && { body }) }));
    },
    ehrStatus: (ehrId) => json(send, { path: `${ehr(ehrId)}/ehr_status` }),
    composition: (ehrId, uid) => json(send, { path: composition(ehrId, uid) }),
    compositionText: async (ehrId, uid, format) => {
      const headers = { Accept: '*/*' };
      return textOf(await send({ path: composition(ehrId, uid), query: { format }, headers }));
    },
    revisions: async (ehrId, container) => {
      const path = `${ehr(ehrId)}/versioned_composition/${container}/revision_history`;
      return revisionsOf(await json<JsonObject>(send, { path }));
    },
    createComposition: async (ehrId, body, as) =>
      etag(await send({ method: 'POST', path: `${ehr(ehrId)}/composition`, body, ...(as && { query: as }) })),
    updateComposition: async (ehrId, latestUid, body) => {
      const path = composition(ehrId, latestUid.split('::')[0] ?? '');
      return etag(await send({ method: 'PUT', path, body, headers: { 'If-Match': `"${latestUid}"` } }));
    },
    directory: async (ehrId) => {
      const response = await send({ path: `${ehr(ehrId)}/directory` });
      return response.status === 204 ? null : ((await response.json()) as JsonObject);
    },
    contribution: (ehrId, uid) => json(send, { path: `${ehr(ehrId)}/contribution/${uid}` }),
  };
}

function etag(response: Response): string {
  return (response.headers.get('ETag') ?? '').replaceAll('"', '');
}

function statusOf({ namespace, id }: { readonly namespace: string; readonly id: string }): object {
  return {
    _type: 'EHR_STATUS',
    archetype_node_id: 'openEHR-EHR-EHR_STATUS.generic.v1',
    name: { value: 'EHR Status' },
    subject: {
      external_ref: {
        id: { _type: 'GENERIC_ID', value: id, scheme: 'id' },
        namespace,
        type: 'PERSON',
      },
    },
    is_queryable: true,
    is_modifiable: true,
  };
}

function revisionsOf(history: JsonObject): Revision[] {
  return items(history.items)
    .map((item) => {
      const [audit] = items(at(item, 'audits'));
      return {
        uid: textAt(item, 'version_id', 'value'),
        time: textAt(audit, 'time_committed', 'value'),
        changeType: textAt(audit, 'change_type', 'value'),
        committer: textAt(audit, 'committer', 'name'),
        description: textAt(audit, 'description', 'value'),
      };
    })
    .sort((left, right) => (left.time < right.time ? 1 : -1));
}

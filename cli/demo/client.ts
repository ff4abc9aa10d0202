import { Agent, request } from 'node:http';
import type { JsonObject } from '../../openehr/base/json.js';

/** The few calls of the standard API that the demo makes, over HTTP like any client. */
export interface DemoClient {
  uploadTemplate(opt: string): Promise<void>;
  /** An EHR, about the person with this id if one is given; gives the ehr_id. */
  createEhr(subjectId?: string): Promise<string>;
  /** Gives the version uid. */
  commitComposition(ehrId: string, composition: JsonObject): Promise<string>;
  /** Gives the body as received. */
  composition(ehrId: string, uid: string): Promise<string>;
  query(q: string, parameters: Readonly<Record<string, string | number>>): Promise<QueryAnswer>;
}

/** The parts of a RESULT_SET that the demo prints. */
interface QueryAnswer {
  readonly columns: readonly { readonly name: string }[];
  readonly rows: readonly (readonly unknown[])[];
}

interface Call {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly type?: string;
  readonly body?: string;
}

interface Answer {
  readonly etag: string;
  readonly text: string;
}

/** Connections are kept: a new one for each call would be most of its time. */
const agent = new Agent({ keepAlive: true });

/** A client of the server at `url`. @throws Error with status and message when an answer is not a success. */
export function demoClient(url: string): DemoClient {
  const base = `${url}/rest/openehr/v1`;
  return {
    async uploadTemplate(opt) {
      await send(base, {
        method: 'POST',
        path: '/definition/template/adl1.4',
        type: 'application/xml',
        body: opt,
      });
    },
    async createEhr(subjectId) {
      const status = subjectId === undefined ? {} : { body: JSON.stringify(statusOf(subjectId)) };
      return (await send(base, { method: 'POST', path: '/ehr', type: 'application/json', ...status })).etag;
    },
    async commitComposition(ehrId, composition) {
      const body = JSON.stringify(composition);
      const path = `/ehr/${ehrId}/composition`;
      return (await send(base, { method: 'POST', path, type: 'application/json', body })).etag;
    },
    async composition(ehrId, uid) {
      return (await send(base, { method: 'GET', path: `/ehr/${ehrId}/composition/${uid}` })).text;
    },
    async query(q, parameters) {
      const body = JSON.stringify({ q, query_parameters: parameters });
      const call: Call = { method: 'POST', path: '/query/aql', type: 'application/json', body };
      return JSON.parse((await send(base, call)).text) as QueryAnswer;
    },
  };
}

function statusOf(subjectId: string): JsonObject {
  const id = { _type: 'GENERIC_ID', value: subjectId, scheme: 'id' };
  return {
    _type: 'EHR_STATUS',
    archetype_node_id: 'openEHR-EHR-EHR_STATUS.generic.v1',
    name: { _type: 'DV_TEXT', value: 'EHR Status' },
    subject: {
      _type: 'PARTY_SELF',
      external_ref: { _type: 'PARTY_REF', id, namespace: 'patients', type: 'PERSON' },
    },
    is_queryable: true,
    is_modifiable: true,
  };
}

function send(base: string, { method, path, type, body = '' }: Call): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const headers = {
      'Content-Length': Buffer.byteLength(body),
      ...(type !== undefined && { 'Content-Type': type }),
    };
    const outgoing = request(base + path, { method, agent, headers }, (incoming) => {
      const chunks: Buffer[] = [];
      incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
      incoming.on('error', reject);
      incoming.on('end', () => {
        const text = Buffer.concat(chunks).toString('utf8');
        const status = incoming.statusCode ?? 0;
        if (status >= 200 && status < 300)
          resolve({ etag: (incoming.headers.etag ?? '').replaceAll('"', ''), text });
        else reject(new Error(`${method} ${path} answered ${status}: ${text}`));
      });
    });
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

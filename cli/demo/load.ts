import { Agent, request } from 'node:http';
import type { JsonObject } from '../../openehr/base/json.js';
import { DEMO_TEMPLATES, templateText, compositionsOfPatient, seededRandom } from './patient.js';

/** How much made-up data is loaded, and how. */
export interface LoadPlan {
  readonly ehrs: number;
  readonly compositionsPerEhr: number;
  readonly seed: number;
  /** Requests under way at once. */
  readonly parallel: number;
}

/** Uploads the templates, creates the EHRs and commits their compositions; gives the ehr_ids. */
export async function loadDemoData(
  client: DemoClient,
  plan: LoadPlan,
  onCommit: (committed: number) => void,
): Promise<string[]> {
  for (const name of DEMO_TEMPLATES) await client.uploadTemplate(templateText(name));
  const ehrIds: string[] = [];
  let committed = 0;
  await inParallel(plan.ehrs, plan.parallel, async (index) => {
    const ehrId = await client.createEhr(`P-${String(index + 1).padStart(4, '0')}`);
    ehrIds[index] = ehrId;
    for (const composition of patientCompositions(plan, index)) {
      await client.commitComposition(ehrId, composition);
      committed += 1;
      onCommit(committed);
    }
  });
  return ehrIds;
}

/** The compositions of patient number `index`, the same for the same plan. */
export function patientCompositions(plan: LoadPlan, index: number): JsonObject[] {
  return compositionsOfPatient(seededRandom(plan.seed * 100_003 + index), plan.compositionsPerEhr);
}

/** Runs `work` for 0 … count - 1, at most `parallel` at once. @throws the first failure. */
export async function inParallel(
  count: number,
  parallel: number,
  work: (index: number) => Promise<void>,
): Promise<void> {
  let next = 0;
  const lane = async (): Promise<void> => {
    while (next < count) {
      const index = next;
      next += 1;
      await work(index);
    }
  };
  await Promise.all(Array.from({ length: Math.min(parallel, count) }, lane));
}

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
    archetype_details: {
      _type: 'ARCHETYPED',
      archetype_id: { _type: 'ARCHETYPE_ID', value: 'openEHR-EHR-EHR_STATUS.generic.v1' },
      rm_version: '1.0.4',
    },
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
          resolve({ etag: (incoming.headers.etag ?? '').replace(/^W\/|"/g, ''), text });
        else reject(new Error(`${method} ${path} answered ${status}: ${text}`));
      });
    });
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

import { Agent, request } from 'node:http';
import { demoClient, loadDemoData, patientCompositions, type LoadPlan } from '../cli/demo/load.js';

/** One request of the mixed work: which one depends on the turn alone. Gives the HTTP status, 0: no answer. */
export type Work = (turn: number) => Promise<number>;

const PLAN: LoadPlan = { ehrs: 500, compositionsPerEhr: 4, seed: 20260105, parallel: 8 };
const READINGS = `SELECT o/data[at0001]/origin/value AS time,
    o/data[at0001]/events[at0002]/data[at0003]/items[at0004]/value/magnitude AS systolic
  FROM EHR e CONTAINS OBSERVATION o[openEHR-EHR-OBSERVATION.sample_blood_pressure.v1]`;
const HIGH = `${READINGS} WHERE o/data[at0001]/events[at0002]/data[at0003]/items[at0004]/value/magnitude > 185
  ORDER BY systolic DESC`;

/**
 * Loads 500 EHRs, then mixes: of ten requests three commit a COMPOSITION, four get one, one gets an EHR, one asks for
 * the readings of an EHR and one for the highest of all.
 */
export async function mixedWork(url: string): Promise<Work> {
  const ehrIds = await loadDemoData(demoClient(url), PLAN, () => undefined);
  const bodies = [0, 1, 2]
    .flatMap((index) => patientCompositions(PLAN, index))
    .map((one) => JSON.stringify(one));
  const uids: string[] = [];
  const send = (path: string, body?: string): Promise<Answer> => ask(`${url}/rest/openehr/v1${path}`, body);
  const query = (q: string): Promise<Answer> => send('/query/aql', JSON.stringify({ q: `${q} LIMIT 20` }));
  const commit = async (turn: number, ehrId: string): Promise<Answer> => {
    const response = await send(`/ehr/${ehrId}/composition`, bodies[turn % bodies.length]);
    const etag = response.etag?.replaceAll('"', '');
    if (etag !== undefined) uids[turn % PLAN.ehrs] = `${ehrId}/composition/${etag}`;
    return response;
  };
  const requestOf = (turn: number): Promise<Answer> => {
    const ehrId = ehrIds[(turn * 7) % ehrIds.length] ?? '';
    switch (turn % 10) {
      case 0:
      case 1:
      case 2:
        return commit(turn, ehrId);
      case 7:
        return send(`/ehr/${ehrId}`);
      case 8:
        return query(READINGS.replace('EHR e', `EHR e[ehr_id/value='${ehrId}']`));
      case 9:
        return query(HIGH);
      default:
        return send(`/ehr/${uids[(turn * 13) % PLAN.ehrs] ?? ehrId}`);
    }
  };
  return async (turn) => (await requestOf(turn)).status;
}

interface Answer {
  /** 0: none. */
  readonly status: number;
  readonly etag: string | undefined;
}

/**
 * `fetch` looks at all connections for each request, which under overload is what the sender is busy with. As many are kept
 * as a gateway keeps: Node.js takes one new connection in each turn of its event loop, which would be all that is measured.
 * A request that waits for one is timed all the same.
 */
const agent = new Agent({ keepAlive: true, maxSockets: 512 });

function ask(url: string, body: string | undefined): Promise<Answer> {
  return new Promise((resolve) => {
    const sent = request(url, {
      agent,
      method: body === undefined ? 'GET' : 'POST',
      headers: { 'Content-Type': 'application/json' },
    });
    sent.once('error', () => {
      resolve({ status: 0, etag: undefined });
    });
    sent.once('response', (response) => {
      response.resume().once('close', () => {
        resolve({ status: response.complete ? (response.statusCode ?? 0) : 0, etag: response.headers.etag });
      });
    });
    sent.end(body);
  });
}

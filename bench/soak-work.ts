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
  const send = async (path: string, body?: string): Promise<Response | null> => {
    const headers = { 'Content-Type': 'application/json' };
    const options = body === undefined ? {} : { method: 'POST', headers, body };
    try {
      const response = await fetch(`${url}/rest/openehr/v1${path}`, options);
      await response.arrayBuffer();
      return response;
    } catch {
      return null;
    }
  };
  const query = (q: string): Promise<Response | null> =>
    send('/query/aql', JSON.stringify({ q: `${q} LIMIT 20` }));
  const commit = async (turn: number, ehrId: string): Promise<Response | null> => {
    const response = await send(`/ehr/${ehrId}/composition`, bodies[turn % bodies.length]);
    const etag = response?.headers.get('ETag')?.replaceAll('"', '');
    if (etag !== undefined) uids[turn % PLAN.ehrs] = `${ehrId}/composition/${etag}`;
    return response;
  };
  const request = (turn: number): Promise<Response | null> => {
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
  return async (turn) => (await request(turn))?.status ?? 0;
}

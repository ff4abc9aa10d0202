import type { JsonObject } from '../../../openehr/base/json.js';
import { demoClient } from '../../../cli/demo/load.js';
import { templateText, compositionsOfPatient, seededRandom } from '../../../cli/demo/patient.js';
import { startServerProcess, type ServerProcess } from './server.js';

const TEMPLATE = 'ehrbase_blood_pressure_simple.de.v0';
const EHRS = 6;
const CLIENTS = 24;
const COMPOSITIONS = compositionsOfPatient(seededRandom(7), 200).filter((composition) =>
  JSON.stringify(composition.archetype_details).includes(TEMPLATE),
);

/** A version that a server acknowledged before it was killed. */
interface Acknowledged {
  readonly ehrId: string;
  readonly uid: string;
}

/** What is to be true after every crash: found wrong, in words. */
export interface Crashes {
  readonly acknowledged: readonly Acknowledged[];
  readonly problems: readonly string[];
}

/** A server on the data of this folder. */
export function crashServer(directory: string): Promise<ServerProcess> {
  return startServerProcess({
    EMBEDDED_DATA_DIR: directory,
    LOCAL_DATABASE: 'embedded',
    MONGODB_URI: '',
    LOG_LEVEL: 'info',
  });
}

/**
 * So often: starts a server on the data of a folder, lets 24 clients commit to six EHRs, so that their commits are written in
 * groups, kills it (SIGKILL) after a random number of answers, and starts it again. Tells of acknowledged versions that
 * are not there, and of CONTRIBUTIONs of which a part is missing.
 */
export async function crashRounds(directory: string, rounds: number, seed = 1): Promise<Crashes> {
  const random = seededRandom(seed);
  const acknowledged: Acknowledged[] = [];
  const problems: string[] = [];
  const ehrIds: string[] = [];
  let server = await crashServer(directory);
  await prepare(server.url, ehrIds);
  for (let round = 1; round <= rounds; round += 1) {
    const added = await commitUntilKilled(server, ehrIds, random.integer(20, 100));
    acknowledged.push(...added);
    server = await crashServer(directory);
    problems.push(...(await problemsOf(server.url, ehrIds, added)).map((text) => `round ${round}: ${text}`));
  }
  await server.stop();
  return { acknowledged, problems };
}

async function prepare(url: string, ehrIds: string[]): Promise<void> {
  const client = demoClient(url);
  await client.uploadTemplate(templateText(TEMPLATE));
  for (let count = 0; count < EHRS; count += 1) ehrIds.push(await client.createEhr());
}

/** Commits until the server is gone; gives what it acknowledged. */
async function commitUntilKilled(
  server: ServerProcess,
  ehrIds: readonly string[],
  answers: number,
): Promise<Acknowledged[]> {
  const client = demoClient(server.url);
  const acknowledged: Acknowledged[] = [];
  let next = 0;
  const lane = async (): Promise<void> => {
    for (;;) {
      const ehrId = ehrIds[next % ehrIds.length] ?? '';
      const composition = COMPOSITIONS[next % COMPOSITIONS.length] ?? {};
      next += 1;
      try {
        acknowledged.push({ ehrId, uid: await client.commitComposition(ehrId, composition) });
      } catch {
        return;
      }
      if (acknowledged.length === answers) void server.kill();
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, lane));
  return acknowledged;
}

interface Reference {
  readonly id: { readonly value: string };
}

async function problemsOf(
  url: string,
  ehrIds: readonly string[],
  acknowledged: readonly Acknowledged[],
): Promise<string[]> {
  const problems: string[] = [];
  const get = async (path: string): Promise<JsonObject> => {
    const response = await fetch(`${url}/rest/openehr/v1${path}`);
    if (response.status !== 200) problems.push(`GET ${path}: ${response.status}`);
    return (await response.json()) as JsonObject;
  };
  for (const { ehrId, uid } of acknowledged) await get(`/ehr/${ehrId}/composition/${uid}`);
  let compositions = 0;
  for (const ehrId of ehrIds) {
    const ehr = await get(`/ehr/${ehrId}?include=compositions,contributions`);
    const contributions = ehr.contributions as unknown as Reference[];
    const listed = (ehr.compositions as unknown as Reference[]).length;
    compositions += listed;
    // One for each COMPOSITION and one for the EHR_STATUS.
    if (contributions.length !== listed + 1)
      problems.push(`EHR ${ehrId}: ${contributions.length} CONTRIBUTIONs, ${listed} COMPOSITIONs`);
    for (const { id } of contributions.slice(-CLIENTS)) {
      const { versions } = await get(`/ehr/${ehrId}/contribution/${id.value}`);
      for (const version of versions as unknown as (Reference & { type: string })[]) {
        const resource = version.type === 'EHR_STATUS' ? 'ehr_status' : 'composition';
        await get(`/ehr/${ehrId}/${resource}/${version.id.value}`);
      }
    }
  }
  const count = await demoClient(url).query('SELECT COUNT(*) FROM EHR e CONTAINS COMPOSITION c', {});
  if (Number(count.rows[0]?.[0]) !== compositions)
    problems.push(`AQL counts ${String(count.rows[0]?.[0])} of ${compositions} COMPOSITIONs`);
  return problems;
}

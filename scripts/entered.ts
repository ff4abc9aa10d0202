import { Session } from 'node:inspector/promises';
import { configFromEnvironment } from '../src/settings/config.js';
import { createLogger } from '../src/logger.js';
import { developmentToken } from '../cli/development-token.js';
import { realComposition, templateText } from '../cli/demo/patient.js';
import { startServer } from '../src/process/start.js';

/**
 * How many functions and files of the product one POST of a COMPOSITION, one query and one merge enter on a warm
 * server: V8's precise coverage between request and answer, without packages and anonymous module code.
 */
const ROOT = new URL('..', import.meta.url).href;
const ROOMS = /^(aql|change|cli|config|database|maintenance|merge|models|openehr|query|routes|src|workers)\//;
const WARM = 5;
const TEMPLATE = 'ehrbase_blood_pressure_simple.de.v0';
const AQL = `SELECT o/data[at0001]/events[at0006]/data[at0003]/items[at0004]/value/magnitude AS systolic
  FROM EHR e[ehr_id/value=$ehr] CONTAINS COMPOSITION c CONTAINS OBSERVATION o
  WHERE c/context/start_time/value > '2000-01-01' ORDER BY c/context/start_time/value DESC LIMIT 10`;

// Data of the demo, on a temporary database: node --import tsx scripts/entered.ts
const settings = configFromEnvironment({
  ...{ HOST: '127.0.0.1', PORT: '0', AUTH: 'none', LOCAL_DATABASE: 'embedded', LOG_LEVEL: 'error' },
  ...{ EMBEDDED_DATA_DIR: 'temporary', ADMIN_API_ACTIVE: 'true', JWT_SECRET: 'x'.repeat(32) },
});
const server = await startServer(settings, createLogger('error'));
const bearer = developmentToken(settings.jwt, {
  ...{ user: 'bench', roles: [settings.jwt.roleAdmin], lifetimeSeconds: 600 },
});

async function send(path: string, body: string | null, type = 'application/json'): Promise<Response> {
  const headers = { 'Content-Type': type, Authorization: `Bearer ${bearer}` };
  const response = await fetch(`${server.url}/rest/${path}`, { method: 'POST', headers, body });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  await response.text();
  return response;
}

const newEhr = async (): Promise<string> =>
  (await send('openehr/v1/ehr', null)).headers.get('etag')?.replaceAll('"', '') ?? '';
const commit = (ehrId: string): Promise<Response> => send(`openehr/v1/ehr/${ehrId}/composition`, composition);
const query = (ehrId: string): Promise<Response> =>
  send('openehr/v1/query/aql', JSON.stringify({ q: AQL, query_parameters: { ehr: ehrId } }));
const composition = JSON.stringify(realComposition(TEMPLATE));

async function mergeOfTwo(): Promise<() => Promise<Response>> {
  const [source, target] = [await newEhr(), await newEhr()];
  for (const ehrId of [source, target]) await commit(ehrId);
  const body = JSON.stringify({ source_ehr: source, target_ehr: target, reversible: true });
  return () => send('admin/ehr/merge', body);
}

/** Runs the work once under coverage. Counts of earlier calls are dropped by taking them. */
async function enteredBy(session: Session, work: () => Promise<unknown>): Promise<string> {
  await session.post('Profiler.takePreciseCoverage');
  await work();
  const { result } = await session.post('Profiler.takePreciseCoverage');
  const files = result
    .filter(({ url }) => url.startsWith(ROOT) && ROOMS.test(url.slice(ROOT.length)))
    .map(({ functions }) => functions.filter(({ ranges: [whole] }) => (whole?.count ?? 0) > 0).length)
    .filter((entered) => entered > 0);
  return `${files.reduce((sum, entered) => sum + entered, 0)} functions in ${files.length} files`;
}

await send('openehr/v1/definition/template/adl1.4', templateText(TEMPLATE), 'application/xml');
const ehrId = await newEhr();
const session = new Session();
session.connect();
await session.post('Profiler.enable');
await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
for (let i = 0; i < WARM; i++) {
  await commit(ehrId);
  await query(ehrId);
  await (
    await mergeOfTwo()
  )();
}
const merge = await mergeOfTwo();
process.stdout.write(`POST composition: ${await enteredBy(session, () => commit(ehrId))}\n`);
process.stdout.write(`POST query/aql: ${await enteredBy(session, () => query(ehrId))}\n`);
process.stdout.write(`POST admin/ehr/merge: ${await enteredBy(session, merge)}\n`);
await server.close();
process.exit(0);

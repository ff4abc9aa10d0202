import { randomBytes } from 'node:crypto';
import { SingleBar } from 'cli-progress';
import type { Settings } from '../../config/settings.js';
import { configFromEnvironment, warnOfMisspeltSettings } from '../../src/settings/config.js';
import { demoClient, type DemoClient, loadDemoData, type LoadPlan } from './load.js';
import { textTable } from '../output.js';
import { developmentToken } from '../development-token.js';
import { createLogger } from '../../src/logger.js';
import { startServer, type RunningServer } from '../../src/process/start.js';
import { writeShown } from '../shown.js';

const PLAN: LoadPlan = { ehrs: 200, compositionsPerEhr: 10, seed: 20260105, parallel: 8 };
const TOKEN_LIFETIME_SECONDS = 8 * 3600;

/** A server on a temporary database, real templates, made-up patients, four queries; `once`: then it ends. */
export async function runDemo(once: boolean): Promise<void> {
  const settings = demoSettings();
  const server = await startOnFreePort(settings);
  stopOnSignal(server);
  print(`everchart demo, ${server.database.description}`);
  const client = demoClient(server.url);
  const ehrIds = await load(client);
  for (const query of demoQueries(ehrIds[0] ?? '')) await show(client, query);
  if (once) {
    await server.close();
    return;
  }
  const token = developmentToken(settings.jwt, {
    user: 'demo-admin',
    roles: [settings.jwt.roleAdmin],
    lifetimeSeconds: TOKEN_LIFETIME_SECONDS,
  });
  print(`\nThe server runs at ${server.url}/rest/openehr/v1 until you press Ctrl+C.`);
  print(`The console: ${server.url}/console`);
  print(`For its administration, a development admin token, valid for 8 hours:\n${token}`);
}

function demoSettings(): Settings {
  return configFromEnvironment({
    MONGODB_DATABASE: `demo_${randomBytes(4).toString('hex')}`,
    EMBEDDED_DATA_DIR: 'temporary',
    ADMIN_API_ACTIVE: 'true',
    AUTH: 'none',
    JWT_SECRET: randomBytes(32).toString('hex'),
    JWT_PUBLIC_KEY: '',
    JWT_JWKS_URL: '',
    JWT_ALGORITHMS: 'HS256',
    JWT_ROLE_CLAIMS: '',
    ROLE_PERMISSIONS: '',
    BASIC_USERS_FILE: '',
    COMMITTER_MUST_BE_USER: 'false',
    LOG_LEVEL: 'warn',
  });
}

/** The configured port may be taken, for instance by `npm start`: any other one will do for a demo. */
async function startOnFreePort(settings: Settings): Promise<RunningServer> {
  const log = createLogger(settings.logLevel);
  warnOfMisspeltSettings(log);
  try {
    return await startServer(settings, log);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    return startServer({ ...settings, port: 0 }, log);
  }
}

async function load(client: DemoClient): Promise<string[]> {
  const total = PLAN.ehrs * PLAN.compositionsPerEhr;
  const start = performance.now();
  const bar = process.stderr.isTTY
    ? new SingleBar({ format: 'loading [{bar}] {value}/{total} compositions, {eta_formatted} left' })
    : null;
  bar?.start(total, 0);
  const ehrIds = await loadDemoData(client, PLAN, (committed) => bar?.update(committed));
  bar?.stop();
  const seconds = (performance.now() - start) / 1000;
  print(
    `${PLAN.ehrs} EHRs and ${total} compositions committed in ${seconds.toFixed(1)} s ` +
      `(${Math.round(total / seconds)} compositions/s)`,
  );
  return ehrIds;
}

async function show(client: DemoClient, query: DemoQuery): Promise<void> {
  const start = performance.now();
  const answer = await client.query(query.aql, query.parameters);
  const ms = performance.now() - start;
  const parameters = Object.entries(query.parameters).map(([name, value]) => `$${name} = ${value}`);
  print(`\n${query.title}\n\n${query.aql}`);
  if (parameters.length > 0) print(`with ${parameters.join(', ')}`);
  const names = answer.columns.map((column) => column.name);
  print(`\n${textTable(names, answer.rows)}\n${answer.rows.length} rows in ${ms.toFixed(1)} ms`);
}

function stopOnSignal(server: RunningServer): void {
  const stop = (): void => {
    void server.close().finally(() => process.exit(0));
  };
  process.on('SIGINT', stop).on('SIGTERM', stop);
}

function print(line: string): void {
  writeShown(process.stdout, `${line}\n`);
}

/** A query of the demo: what it shows, its text, its parameters. */
interface DemoQuery {
  readonly title: string;
  readonly aql: string;
  readonly parameters: Readonly<Record<string, string | number>>;
}

const BLOOD_PRESSURE = 'openEHR-EHR-OBSERVATION.sample_blood_pressure.v1';
const READING = 'o/data[at0001]/events[at0002]/data[at0003]';
const SYSTOLIC = `${READING}/items[at0004]/value/magnitude`;
const DIASTOLIC = `${READING}/items[at0005]/value/magnitude`;
const TEMPERATURE = 't/data[at0002]/events[at0003]/data[at0001]/items[at0004]/value/magnitude';

/** The four queries: population, one patient, aggregate, two levels of containment. `ehrId`: whose trend. */
function demoQueries(ehrId: string): DemoQuery[] {
  return [
    {
      title: 'Population: the highest systolic pressures above 160 mm[Hg]',
      aql: `SELECT e/ehr_id/value AS ehr, c/context/start_time/value AS time,
       ${SYSTOLIC} AS systolic,
       ${DIASTOLIC} AS diastolic
FROM EHR e CONTAINS COMPOSITION c CONTAINS OBSERVATION o[${BLOOD_PRESSURE}]
WHERE ${SYSTOLIC} > $limit
ORDER BY systolic DESC, time LIMIT 10`,
      parameters: { limit: 160 },
    },
    {
      title: 'One patient: the trend of the blood pressure',
      aql: `SELECT c/context/start_time/value AS time,
       ${SYSTOLIC} AS systolic,
       ${DIASTOLIC} AS diastolic
FROM EHR e[ehr_id/value=$ehr] CONTAINS COMPOSITION c CONTAINS OBSERVATION o[${BLOOD_PRESSURE}]
ORDER BY time`,
      parameters: { ehr: ehrId },
    },
    {
      title: 'Aggregate: how many readings, and how high',
      aql: `SELECT COUNT(*) AS readings, MIN(${SYSTOLIC}) AS lowest,
       MAX(${SYSTOLIC}) AS highest, AVG(${SYSTOLIC}) AS mean
FROM EHR e CONTAINS COMPOSITION c CONTAINS OBSERVATION o[${BLOOD_PRESSURE}]`,
      parameters: {},
    },
    {
      title: 'Containment through two levels: fever in the section of a screening report',
      aql: `SELECT e/ehr_id/value AS ehr, s/name/value AS section, ${TEMPERATURE} AS temperature
FROM EHR e CONTAINS COMPOSITION c[openEHR-EHR-COMPOSITION.report.v1]
     CONTAINS SECTION s CONTAINS OBSERVATION t[openEHR-EHR-OBSERVATION.body_temperature.v2]
WHERE ${TEMPERATURE} >= 38.5
ORDER BY temperature DESC LIMIT 10`,
      parameters: {},
    },
  ];
}

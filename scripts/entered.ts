import { Session } from 'node:inspector/promises';
import { configFromEnvironment } from '../src/settings/config.js';
import { createLogger } from '../src/logger.js';
import { developmentToken } from '../cli/development-token.js';
import { realComposition, templateText } from '../cli/demo/patient.js';
import { startServer } from '../src/process/start.js';

/**
 * How many functions and files of the product one POST of a COMPOSITION, one query and one merge enter on a warm
 * server: V8's precise coverage between request and answer, without packages and functions that have no name. Fails where
 * they are more than the budget. `--files` tells which.
 */
const ROOT = new URL('..', import.meta.url).href;
const ROOMS = /^(aql|change|cli|config|database|maintenance|merge|models|openehr|query|routes|src|workers)\//;
const WARM = 5;
/** Requests of one kind that are measured at most. */
const MOST = 40;

interface Budget {
  readonly files: number;
  readonly functions: number;
}

/** Does what a request needs, and gives the request. */
type Prepared = () => Promise<() => Promise<unknown>>;

/** What a request may enter at most. To raise one needs a page in docs/decisions (0041 says what they were to be). */
const BUDGETS = {
  composition: { files: 112, functions: 386 },
  'query/aql': { files: 139, functions: 674 },
  'admin/ehr/merge': { files: 90, functions: 272 },
} as const;
/** Code of a module itself, functions without a name, and what the compiler adds. */
const UNNAMED: ReadonlySet<string> = new Set(['', '__name']);
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
  const sent = (): Promise<Response> =>
    fetch(`${server.url}/rest/${path}`, { method: 'POST', headers, body });
  // A connection that the server ended as it was idle brings no answer, and has brought no request.
  const response = await sent().catch(sent);
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

/** What requests entered: names of functions by where they stand, and all files. Functions without a name belong to the one around them. */
interface Entered {
  readonly files: ReadonlySet<string>;
  readonly functions: ReadonlyMap<string, string>;
}

/** Runs the work once under coverage. Counts of earlier calls are dropped by taking them. */
async function enteredBy(session: Session, work: () => Promise<unknown>): Promise<Entered> {
  await session.post('Profiler.takePreciseCoverage');
  await work();
  const { result } = await session.post('Profiler.takePreciseCoverage');
  const files = new Set<string>();
  const named = new Map<string, string>();
  for (const { url, functions } of result) {
    const file = url.startsWith(ROOT) ? url.slice(ROOT.length) : '';
    if (!ROOMS.test(file)) continue;
    for (const { functionName, ranges } of functions) {
      const [whole] = ranges;
      if (whole === undefined || whole.count === 0) continue;
      files.add(file);
      if (!UNNAMED.has(functionName)) named.set(`${file}:${whole.startOffset}`, functionName);
    }
  }
  return { files, functions: named };
}

/** What both entered. */
function inBoth(one: Entered, other: Entered): Entered {
  return {
    files: new Set([...one.files].filter((file) => other.files.has(file))),
    functions: new Map([...one.functions].filter(([at]) => other.functions.has(at))),
  };
}

function isWithin({ files, functions }: Entered, most: Budget): boolean {
  return files.size <= most.files && functions.size <= most.functions;
}

/**
 * What each of several requests alike entered, for what the server does of its own falls into some: no more requests than
 * it takes to be within the budget.
 */
async function alwaysEntered(session: Session, prepared: Prepared, most: Budget): Promise<Entered> {
  let always = await enteredBy(session, await prepared());
  for (let requests = 1; requests < MOST && !isWithin(always, most); requests += 1)
    always = inBoth(always, await enteredBy(session, await prepared()));
  return always;
}

/** Measures one kind of request and says what it entered, with `--files` in which files; whether it is within its budget. */
async function measured(session: Session, name: keyof typeof BUDGETS, prepared: Prepared): Promise<boolean> {
  const most = BUDGETS[name];
  const entered = await alwaysEntered(session, prepared, most);
  const { files, functions } = entered;
  process.stdout.write(
    `POST ${name}: ${functions.size} of at most ${most.functions} functions in ${files.size} of at most ${most.files} files\n`,
  );
  if (process.argv.includes('--files')) process.stdout.write(`${[...files].sort().join('\n')}\n`);
  return isWithin(entered, most);
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
// What is trusted for so many milliseconds is read again by each request of a machine that is slow enough: no time passes from here.
const now = performance.now();
performance.now = () => now;
const areWithin = [
  await measured(session, 'composition', () => Promise.resolve(() => commit(ehrId))),
  await measured(session, 'query/aql', () => Promise.resolve(() => query(ehrId))),
  await measured(session, 'admin/ehr/merge', mergeOfTwo),
];
await server.close();
process.exit(areWithin.every(Boolean) ? 0 : 1);

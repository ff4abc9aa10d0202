import { randomBytes } from 'node:crypto';
import { Command } from 'commander';
import { connectAnyServer } from '../../database/connect.js';
import { examine, forgetExamination, type DoctorFinding } from '../../database/doctor.js';
import { jsonObjectOf } from '../../openehr/base/json.js';
import { COLLECTION_LAYOUT } from '../../models/access/layout.js';
import { configFromEnvironment } from '../../src/settings/config.js';
import { compositionsOfPatient, DEMO_TEMPLATES, seededRandom, templateText } from '../demo/patient.js';
import { apiClient, answerError, type ApiClient } from '../transfer/api-client.js';
import { textTable } from '../output.js';
import { CommandFailed } from './options.js';
import { writeShown } from '../shown.js';

const HELP = `
Everything is tried out in a database of its own, which is dropped at the end: version, topology, rights, how far the clocks are apart, writes of
the majority, transactions (committed, aborted, in conflict, large), the bulkWrite command, every index, then a server of this process
that stores a template, an EHR and COMPOSITIONs, and asks queries of each shape, by a pipeline and by the evaluator. The exit code is 1 when something is missing.`;

/** `everchart doctor`: what the product can do on a MongoDB. */
export function doctorCommand(): Command {
  return new Command('doctor')
    .option(
      '--uri <uri>',
      'connection string (default: the setting MONGODB_URI, where `ps` does not show it)',
    )
    .addHelpText('after', HELP)
    .action(({ uri }: { uri?: string }) => runCommand(uri ?? configFromEnvironment().database.mongodbUri));
}

async function runCommand(uri: string): Promise<void> {
  if (uri === '') throw new Error('name a database by --uri or MONGODB_URI');
  const scratch = {
    MONGODB_URI: uri,
    MONGODB_DATABASE: `everchart-doctor-${randomBytes(6).toString('hex')}`,
  };
  const findings: DoctorFinding[] = [];
  try {
    findings.push(...(await withAnyServer(() => examine(COLLECTION_LAYOUT), scratch)));
    if (findings.every(({ verdict }) => verdict !== 'missing')) findings.push(...(await served(scratch)));
  } finally {
    await withAnyServer(forgetExamination, scratch);
  }
  const rows = findings.map(({ what, verdict, detail }) => [what, verdict, detail]);
  writeShown(process.stdout, `${textTable(['what', 'verdict', 'found'], rows)}\n`);
  if (findings.some(({ verdict }) => verdict === 'missing')) throw new CommandFailed();
}

/** Runs work on a database that may be none for the product: what it lacks is what is asked. @throws when it cannot be reached */
async function withAnyServer<T>(
  work: () => Promise<T>,
  scratch: Readonly<Record<string, string>>,
): Promise<T> {
  const { database } = configFromEnvironment(scratch);
  const handle = await connectAnyServer(database, (line) => void writeShown(process.stderr, `${line}\n`));
  try {
    return await work();
  } finally {
    await handle.close();
  }
}

/** COMPOSITIONs that are written. */
const COMPOSITIONS = 6;
/** What counts parts that hold others is left to the evaluator. */
const EVALUATED = 'COUNT(DISTINCT c/content)';
/** Queries of each shape, by a pipeline and by the evaluator: the columns of SELECT, what is behind them, and what the evaluator is asked for instead. */
const SHAPES: readonly (readonly [what: string, columns: string, rest: string, evaluated?: string])[] = [
  ['rows', 'c/uid/value', 'FROM EHR e CONTAINS COMPOSITION c'],
  ['rows in order, paged', 'c/uid/value', 'FROM EHR e CONTAINS COMPOSITION c ORDER BY c/uid/value LIMIT 2'],
  ['an aggregate', 'COUNT(c/uid/value)', 'FROM EHR e CONTAINS COMPOSITION c', EVALUATED],
  ['values below an archetype', 'o/uid/value', 'FROM EHR e CONTAINS COMPOSITION c CONTAINS OBSERVATION o'],
  ['whole objects', 'c', 'FROM EHR e CONTAINS COMPOSITION c'],
  ['versions', 'v/uid/value', 'FROM EHR e CONTAINS VERSION v[ALL_VERSIONS] CONTAINS COMPOSITION c'],
];

/** What says in `explain` that a query is evaluated in this process. */
const IN_PROCESS = 'evaluate';

/** The product itself on this database. */
async function served(scratch: Readonly<Record<string, string>>): Promise<DoctorFinding[]> {
  const { startLocalServer } = await import('../transfer/local-server.js');
  const { server, token } = await startLocalServer('everchart', scratch);
  try {
    const client = apiClient({ url: server.url, identity: { token }, repeatForMs: 0 });
    const findings = [await tried('a commit', () => committed(client))];
    for (const [what, columns, rest, evaluated = `${columns}, ${EVALUATED}`] of SHAPES) {
      const [piped, counted] = [`SELECT ${columns} ${rest}`, `SELECT ${evaluated} ${rest}`];
      findings.push(await tried(`AQL: ${what}, by a pipeline`, () => asked(client, piped, null)));
      findings.push(await tried(`AQL: ${what}, by the evaluator`, () => asked(client, counted, IN_PROCESS)));
    }
    return findings;
  } finally {
    await server.close();
  }
}

async function tried(what: string, work: () => Promise<string>): Promise<DoctorFinding> {
  const start = performance.now();
  try {
    const detail = await work();
    return { what, verdict: 'works', detail: `${detail}, ${Math.round(performance.now() - start)} ms` };
  } catch (error) {
    return { what, verdict: 'missing', detail: error instanceof Error ? error.message : String(error) };
  }
}

async function committed(client: ApiClient): Promise<string> {
  for (const name of DEMO_TEMPLATES) {
    const body = templateText(name);
    await expectSuccess(
      client.send('POST', '/definition/template/adl1.4', { body, type: 'application/xml' }),
    );
  }
  const { etag } = await expectSuccess(client.send('POST', '/ehr'));
  for (const composition of compositionsOfPatient(seededRandom(1), COMPOSITIONS))
    await expectSuccess(
      client.send('POST', `/ehr/${etag}/composition`, { body: JSON.stringify(composition) }),
    );
  return `${DEMO_TEMPLATES.length} templates, an EHR, ${COMPOSITIONS} COMPOSITIONs`;
}

/** `inProcess`: who evaluates it beside the database, as `explain` says. */
async function asked(client: ApiClient, q: string, inProcess: string | null): Promise<string> {
  const body = JSON.stringify({ q });
  const { text } = await expectSuccess(client.send('POST', '/query/aql', { body }));
  const { rows } = JSON.parse(text) as { rows: unknown[] };
  if (rows.length === 0) throw new Error('no rows');
  const explained = await expectSuccess(client.send('POST', '/query/aql/explain', { body }));
  const found = jsonObjectOf(explained.text).in_process ?? null;
  if (found !== inProcess) throw new Error(`in process: ${JSON.stringify(found)}`);
  return `${rows.length} rows`;
}

async function expectSuccess(
  sent: ReturnType<ApiClient['send']>,
): Promise<Awaited<ReturnType<ApiClient['send']>>> {
  const answer = await sent;
  if (answer.status >= 300) throw answerError(answer.status, answer.text);
  return answer;
}

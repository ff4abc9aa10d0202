import { createWriteStream, mkdtempSync, rmSync, statSync } from 'node:fs';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmbedded } from '../packages/embedded-mongodb/src/spawn.js';
import { runCli } from '../cli/cli.js';
import { DEMO_TEMPLATES } from '../cli/demo/patient.js';
import { patientCompositions } from '../cli/demo/load.js';
import { textTable } from '../cli/output.js';
import { processFigures } from './process-figures.js';

const COMPOSITIONS_PER_EHR = 20;

/** Which of ten compositions of a patient are taken; sizes are those of the JSON text, on average. */
const MIXES = {
  'blood pressures, 4.6 KB': [0, 1, 2, 3, 5, 6, 7, 9],
  'as the demo has them, 6.4 KB': [0, 1, 2, 3, 4, 5, 6, 7, 8, 9],
  'many screenings, 8.2 KB': [2, 3, 4, 7, 8],
} as const;

/**
 * Runs `everchart import --local` on made-up compositions of different sizes, each into a new temporary embedded
 * database: "here" is this process, which is command and server in one. Then exports all versions of it, and imports that file into
 * another new one.
 */
export async function benchImport(ehrs: number, print: (line: string) => void): Promise<void> {
  const rows: string[][] = [];
  for (const [mix, chosen] of Object.entries(MIXES)) rows.push([mix, ...(await importMix(chosen, ehrs))]);
  print(textTable(COLUMNS, rows));
}

async function importMix(chosen: readonly number[], ehrs: number): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'everchart-import-'));
  const count = ehrs * COMPOSITIONS_PER_EHR;
  const [file, whole] = [join(folder, 'records.ndjson'), join(folder, 'whole.ndjson')];
  try {
    await writeRecords(file, chosen, ehrs);
    const committed = await inNewDatabase(async (databaseId) => {
      await runLocally('template', 'upload', ...DEMO_TEMPLATES.map((name) => `cli/demo/data/${name}.opt`));
      const figures = await timedImport(file, databaseId);
      await runLocally('export', '--all-versions', '--output', whole);
      return figures;
    });
    const restored = await inNewDatabase((databaseId) => timedImport(whole, databaseId));
    const [{ seconds }, again] = [committed, restored.seconds];
    const [, , ...further] = shown(count, restored);
    return [...shown(count, committed), ...further, (seconds / again).toFixed(2)];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const COLUMNS = [
  ...['mix', 'compositions', 'MB', 'seconds', '/s', 'MB/s', 'CPU s here', 'CPU s database'],
  ...['all versions: seconds', '/s', 'MB/s', 'CPU s here', 'CPU s database', 'rate of the first (aim 0.8)'],
];

/** Runs with a new temporary embedded database, of which the process is named. */
async function inNewDatabase<T>(work: (databaseId: number) => Promise<T>): Promise<T> {
  const database = await startEmbedded({ dir: null, log: () => undefined });
  process.env.MONGODB_URI = database.uri;
  try {
    return await work(database.pid);
  } finally {
    delete process.env.MONGODB_URI;
    await database.stop();
  }
}

/** What an import took. */
interface ImportFigures {
  readonly megabytes: number;
  readonly seconds: number;
  readonly here: number;
  readonly database: number;
}

function shown(count: number, { megabytes, seconds, here, database }: ImportFigures): string[] {
  const figures = [megabytes, seconds, count / seconds, megabytes / seconds, here, database];
  return [`${count}`, ...figures.map((figure) => figure.toFixed(1))];
}

async function timedImport(file: string, databaseId: number): Promise<ImportFigures> {
  const databaseSeconds = (): number => processFigures(databaseId).processorSeconds;
  const before = { here: process.cpuUsage(), database: databaseSeconds(), time: performance.now() };
  await runLocally('import', file);
  const seconds = (performance.now() - before.time) / 1000;
  const { user, system } = process.cpuUsage(before.here);
  return {
    ...{ megabytes: statSync(file).size / 1e6, seconds },
    ...{ here: (user + system) / 1e6, database: databaseSeconds() - before.database },
  };
}

/** Runs `everchart` with `--local` in this process; the database is that of `MONGODB_URI`. @throws Error when it fails */
export async function runLocally(...args: string[]): Promise<void> {
  const code = await runCli([...args, '--local']);
  if (code !== 0) throw new Error(`everchart ${args.join(' ')} ended with ${code}`);
}

async function writeRecords(file: string, chosen: readonly number[], ehrs: number): Promise<void> {
  const output = createWriteStream(file);
  const made = (COMPOSITIONS_PER_EHR * 10) / chosen.length;
  const plan = { ehrs, compositionsPerEhr: made, seed: 20260105, parallel: 1 };
  for (let index = 0; index < ehrs; index += 1) {
    const ehrId = `e0000000-0000-4000-8000-${index.toString(16).padStart(12, '0')}`;
    const compositions = patientCompositions(plan, index).filter((_, at) => chosen.includes(at % 10));
    for (const composition of compositions) {
      if (!output.write(`${JSON.stringify({ ehr_id: ehrId, composition })}\n`)) await once(output, 'drain');
    }
  }
  output.end();
  await once(output, 'finish');
}

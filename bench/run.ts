import { Command } from 'commander';
import { configFromEnvironment } from '../src/settings/config.js';
import { demoClient, loadDemoData, type LoadPlan } from '../cli/demo/load.js';
import { createLogger } from '../src/logger.js';
import { startServer, type RunningServer } from '../src/process/start.js';
import { benchAccess } from './access.js';
import { benchQueries } from './aql.js';
import { benchAqlGrowth } from './aql-growth.js';
import { benchAqlJoins } from './aql-joins.js';
import { compareWith } from './compare.js';
import { compareMerges } from './compare-merge.js';
import { benchConsole } from './console.js';
import { benchFormat } from './format.js';
import { benchGrowth } from './growth.js';
import { benchImport } from './import.js';
import { benchIndexEntries } from './index-entries.js';
import { benchKnee } from './knee.js';
import { benchMainJob } from './main-job.js';
import { machine } from './measure.js';
import { benchMerge } from './merge.js';
import { benchTable } from './own-table.js';
import { benchResources } from './resources.js';
import { benchRm } from './rm.js';
import { benchSeal } from './seal.js';
import { benchStream } from './stream.js';
import { benchTemplate } from './template.js';

interface Options {
  readonly ehrs: string;
  readonly compositions: string;
  readonly seed: string;
  readonly only: string;
  readonly compare?: string;
  readonly work?: string;
  readonly merged: string;
  readonly runs: string;
  readonly server?: string;
  readonly token?: string;
}

const PARTS = [
  'rm',
  'template',
  'format',
  'main',
  'import',
  'resources',
  'aql',
  'aql-growth',
  'aql-joins',
  'stream',
  'merge',
  'seal',
  'entries',
  'console',
];
/** Parts that take long, and run only when they are named. */
const LONG_PARTS = ['table', 'knee', 'growth', 'access'];
const FEW_EHRS = 1_000;
const MANY_EHRS = 5_000;

/** `npm run bench`: builds a data set over HTTP, then measures the main job and each room. */
async function main(): Promise<void> {
  const options = new Command('bench')
    .option('--ehrs <number>', 'EHRs', '1000')
    .option('--compositions <number>', 'compositions of each EHR', '20')
    .option('--seed <number>', 'seed of the made-up data', '20260105')
    .option('--only <parts>', `comma list of ${[...PARTS, ...LONG_PARTS].join(', ')}`, PARTS.join(','))
    .option(
      '--compare <reference>',
      'a git reference or the folder of a checkout, run beside this one in turns',
    )
    .option('--merged <number>', 'merge: compositions of the EHR that is merged', '10000')
    .option('--runs <number>', 'table, and merge with --compare: runs, of which the median is shown', '3')
    .option('--server <url>', 'table: the openEHR base path of an empty server, instead of this checkout')
    .option('--token <token>', 'table: a bearer token for it')
    .option('--work <name>', 'with --compare: only the work whose name holds this')
    .parse()
    .opts<Options>();
  print(machine());
  const { compare, only, merged, runs, work } = options;
  if (compare === undefined) await runParts(options);
  else if (only === 'merge')
    await compareMerges(compare, { count: Number(merged), runs: Number(runs) }, print);
  else await compareWith(compare, work, print);
}

async function runParts(options: Options): Promise<void> {
  const parts = new Set(options.only.split(','));
  if (parts.has('rm')) await titled('Reference model', () => benchRm(print));
  if (parts.has('template')) await titled('Templates', () => benchTemplate(print));
  if (parts.has('format')) await titled('Formats', () => benchFormat(print));
  await runOnServer(parts, options);
  if (parts.has('import')) await titled('Import', () => benchImport(Number(options.ehrs), print));
  if (parts.has('aql')) await titled('AQL', () => benchQueries(Number(options.ehrs), print));
  if (parts.has('aql-growth')) await titled('AQL, growth', () => benchAqlGrowth(FEW_EHRS, MANY_EHRS, print));
  if (parts.has('aql-joins')) await titled('AQL, joins', () => benchAqlJoins(print));
  if (parts.has('stream')) await titled('Stream', () => benchStream(print));
  if (parts.has('merge')) await titled('Merge', () => benchMerge(Number(options.merged), print));
  if (parts.has('seal')) await titled('Seal', () => benchSeal(print));
  await runLongParts(parts, options);
}

async function runLongParts(parts: ReadonlySet<string>, options: Options): Promise<void> {
  if (parts.has('table')) await titled('Side by side', () => sideBySide(options));
  if (parts.has('access')) await titled('Access', () => benchAccess(print));
  if (parts.has('knee')) await titled('Knee', () => benchKnee(print));
  if (parts.has('growth')) {
    const total = Number(options.ehrs) * Number(options.compositions);
    await titled('Growth', () => benchGrowth(total, print));
  }
}

function sideBySide({ ehrs, compositions, runs, server, token }: Options): Promise<void> {
  const plan = { ehrs: Number(ehrs), compositionsPerEhr: Number(compositions) };
  const elsewhere = { ...(server !== undefined && { server }), ...(token !== undefined && { token }) };
  return benchTable(plan, { runs: Number(runs), ...elsewhere }, print);
}

async function runOnServer(parts: ReadonlySet<string>, options: Options): Promise<void> {
  if (parts.has('main')) await titled('Main job', () => withServer((server) => mainJob(server, options)));
  if (parts.has('resources')) {
    await titled('Resources', () => withServer((server) => benchResources(server.url, print)));
  }
  if (parts.has('entries')) {
    await titled('Index entries of a commit', () =>
      withServer((server) => benchIndexEntries(server.url, print)),
    );
  }
  if (parts.has('console')) {
    await titled('Console', () => withServer((server) => benchConsole(server.url, print)));
  }
}

async function mainJob(server: RunningServer, options: Options): Promise<void> {
  const plan: LoadPlan = {
    ehrs: Number(options.ehrs),
    compositionsPerEhr: Number(options.compositions),
    seed: Number(options.seed),
    parallel: 8,
  };
  const start = performance.now();
  const ehrIds = await loadDemoData(demoClient(server.url), plan, () => undefined);
  const count = plan.ehrs * plan.compositionsPerEhr;
  const seconds = (performance.now() - start) / 1000;
  const rate = Math.round(count / seconds);
  print(`${plan.ehrs} EHRs, ${count} compositions, seed ${plan.seed}: ${seconds.toFixed(1)} s, ${rate}/s\n`);
  await benchMainJob({ url: server.url, ehrIds, plan }, print);
}

async function withServer(work: (server: RunningServer) => Promise<void>): Promise<void> {
  const settings = configFromEnvironment({ EMBEDDED_DATA_DIR: 'temporary', PORT: '0', LOG_LEVEL: 'warn' });
  const server = await startServer(settings, createLogger(settings.logLevel));
  try {
    print(server.database.description);
    await work(server);
  } finally {
    await server.close();
  }
}

async function titled(title: string, work: () => Promise<void> | void): Promise<void> {
  print(`\n## ${title}\n`);
  await work();
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

await main();

/**
 * Runs the laws at full size, with arguments of jest:
 *
 *     npm run test:laws [-- --testPathPatterns merge]
 *     npm run test:laws -- --report [arguments of jest]
 *     LAW_PART=200 npm run test:laws -- --report
 *
 * With `--report` one file after the other, and writes date, seed and result of each into the table of `docs/reliability.md` as soon as
 * it has ended: a run that is cut short has what it did. With `LAW_PART` so many times less of each, which says how long all
 * would take and writes nothing. Ends with 1 when a law was broken.
 */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { performance } from 'node:perf_hooks';
import { processorSeconds } from './processor-seconds.mjs';

const PAGE = 'docs/reliability.md';
/** What npm is told; not beside the command, where knip would resolve the script's imports from here. */
const TEST = ['test', '--'];
const own = process.argv.slice(2);
const isReport = own.includes('--report');
const given = own.filter((one) => one !== '--report');
const part = Number(process.env.LAW_PART ?? 1);
/** One for all files, so that a failure can be repeated by it. */
const seed =
  process.env.LAW_SEED === 'random' ? String(Math.floor(Math.random() * 2 ** 31)) : process.env.LAW_SEED;
const env = { ...process.env, TEST_LAWS: '1', ...(seed !== undefined && { LAW_SEED: seed }) };

async function jest(args) {
  const child = spawn('npm', [...TEST, ...args], { stdio: 'inherit', env });
  const [code] = await once(child, 'exit');
  return code ?? 1;
}

/** The files that the arguments name, from the root. */
function lawFiles() {
  const listed = execFileSync('npm', [...TEST, '--listTests', '--json', ...given], { env }).toString();
  const paths = JSON.parse(listed.split('\n').find((line) => line.startsWith('[')) ?? '[]');
  return paths.map((path) => relative(process.cwd(), path)).sort();
}

/** Runs one file; what its row says of it. */
async function tried(file) {
  const report = join(folder, 'result.json');
  rmSync(report, { force: true });
  const [start, processor] = [performance.now(), processorSeconds()];
  await jest(['--runTestsByPath', file, '--json', `--outputFile=${report}`]);
  const seconds = (performance.now() - start) / 1000;
  const used = processorSeconds() - processor;
  const minutes = (time) => (time / 60).toFixed(1);
  const broken = brokenIn(report);
  const took = `${minutes(seconds)} min, ${minutes(used)} of a processor, on ${commit}`;
  return { broken, seconds, used, text: `${broken === null ? '0 wrong' : `**${broken}**`}; ${took}` };
}

/** The first line that a failure says; null without one. */
function brokenIn(report) {
  try {
    const { testResults } = JSON.parse(readFileSync(report, 'utf8'));
    const cases = testResults.flatMap(({ assertionResults }) => assertionResults);
    const failed = cases.find(({ status }) => status === 'failed');
    if (failed === undefined) return cases.length === 0 ? 'did not run' : null;
    const [message = ''] = failed.failureMessages;
    const seedOf = /LAW_SEED=\d+|"?seed"?: \d+/.exec(message)?.[0] ?? '';
    return `broken: ${failed.title.replaceAll('|', '/')} ${seedOf}`.trim();
  } catch {
    return 'gave no result';
  }
}

/** The row of a law; date, seed and result are the last three of its cells. */
function written(page, file, [date, seedOf, result]) {
  const lines = page.split('\n');
  const [, below] = page.split('\n## The laws at full size\n');
  const from = page.slice(0, page.length - below.length).split('\n').length - 1;
  const at = lines.findIndex((line, index) => index >= from && line.startsWith(`| \`${file}\` |`));
  if (at < 0) throw new Error(`${PAGE} has no row of ${file}`);
  const [, name, size] = lines[at].split('|');
  lines[at] = `|${name}|${size}| ${date} | ${seedOf} | ${result} |`;
  return { row: lines[at], page: lines.join('\n') };
}

/** What a law draws when nothing else is said. */
function defaultSeed() {
  return /EVERY_RUN = (\d+)/.exec(readFileSync('test/support/laws.ts', 'utf8'))[1];
}

async function report() {
  const rows = [];
  let isKept = true;
  for (const file of lawFiles()) {
    const { broken, seconds, used, text } = await tried(file);
    isKept &&= broken === null;
    const whole = `at full size at most ${((seconds * part) / 60).toFixed(0)} min, ${((used * part) / 60).toFixed(0)} of a processor`;
    const cells = [new Date().toISOString().slice(0, 10), seed ?? defaultSeed(), text];
    const { row, page } = written(readFileSync(PAGE, 'utf8'), file, cells);
    if (part === 1) writeFileSync(PAGE, page);
    rows.push(part === 1 ? row : `${row} ${whole}`);
    process.stdout.write(`${rows.at(-1)}\n`);
  }
  process.stdout.write(`\n${rows.join('\n')}\n`);
  return isKept ? 0 : 1;
}

const commit = execFileSync('git', ['rev-parse', '--short=8', 'HEAD']).toString().trim();
const folder = mkdtempSync(join(tmpdir(), 'everchart-laws-'));
try {
  process.exitCode = await (isReport ? report() : jest(given));
} finally {
  rmSync(folder, { recursive: true, force: true });
}

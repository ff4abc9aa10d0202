/**
 * Runs the whole suite several times, some of the runs beside two loops that take a core each:
 *
 *     npm run test:repeat -- 10 --busy 5 [-- arguments of jest]
 *
 * `-- --randomize` shuffles the cases of each file, by a seed that the log of the run tells.
 * Prints a line for each run and the names of what failed; ends with 1 when a test failed or a run gave no result.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { parseArgs } from 'node:util';
import { processorSeconds } from './processor-seconds.mjs';

const LOOPS = 2;
const LIMIT_MS = 60 * 60_000;
/** A loop ends with its parent, however that ends. */
const LOOP = 'const parent = process.ppid; while (process.ppid === parent);';

const own = process.argv.slice(2);
const rest = own.includes('--') ? own.splice(own.indexOf('--')).slice(1) : [];
const { values, positionals } = parseArgs({
  args: own,
  options: { busy: { type: 'string', default: '0' } },
  allowPositionals: true,
});
const runs = Number(positionals[0] ?? '10');
const busyRuns = Number(values.busy);
if (!(runs >= 1 && busyRuns >= 0 && busyRuns <= runs)) {
  process.stderr.write('usage: npm run test:repeat -- <runs> [--busy <how many of them>] [-- <jest>]\n');
  process.exit(2);
}
const folder = mkdtempSync(join(tmpdir(), 'everchart-repeat-'));

/** Runs the suite once; its output stays in the folder. */
async function runSuite(number) {
  const report = join(folder, `${number}.json`);
  const log = openSync(join(folder, `${number}.log`), 'w');
  const start = performance.now();
  const processor = processorSeconds();
  const args = ['test', '--', '--json', `--outputFile=${report}`, ...rest];
  const child = spawn('npm', args, { stdio: ['ignore', log, log], timeout: LIMIT_MS });
  await once(child, 'exit');
  closeSync(log);
  return { ...resultOf(report), seconds: elapsed(start), processor: processorSeconds() - processor };
}

const elapsed = (start) => (performance.now() - start) / 1000;

/** What a run found; one without a report failed as a whole. */
function resultOf(report) {
  try {
    const { numPassedTests, success, testResults } = JSON.parse(readFileSync(report, 'utf8'));
    const failures = testResults.flatMap(({ name, status, assertionResults }) => {
      const failed = assertionResults.filter((test) => test.status === 'failed');
      const names = failed.map(({ fullName }) => `${name}: ${fullName}`);
      return status === 'failed' && names.length === 0 ? [`${name}: did not run`] : names;
    });
    return { passed: numPassedTests, failures: success || failures.length > 0 ? failures : ['jest failed'] };
  } catch {
    return { passed: 0, failures: ['the run gave no result'] };
  }
}

const columns = ['run', 'busy', 'passed', 'failed', 'seconds', 'processor seconds'];
const line = (cells) => `${cells.map((cell, i) => String(cell).padStart(columns[i].length)).join('  ')}\n`;
process.stdout.write(`${folder}\n${line(columns)}`);

let isGreen = true;
for (let number = 1; number <= runs; number += 1) {
  const busy = number > runs - busyRuns ? LOOPS : 0;
  const loops = Array.from({ length: busy }, () =>
    spawn(process.execPath, ['-e', LOOP], { stdio: 'ignore' }),
  );
  try {
    const { passed, failures, seconds, processor } = await runSuite(number);
    const cells = [number, busy, passed, failures.length, seconds.toFixed(0), processor.toFixed(0)];
    process.stdout.write(line(cells));
    for (const failure of failures) process.stdout.write(`  ${failure}\n`);
    isGreen &&= failures.length === 0;
  } finally {
    const ended = loops.map((loop) => once(loop, 'exit'));
    for (const loop of loops) loop.kill('SIGKILL');
    await Promise.all(ended);
  }
}
process.exitCode = isGreen ? 0 : 1;

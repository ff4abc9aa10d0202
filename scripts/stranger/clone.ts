// `npm run check:stranger`: clones the last commit, installs it and runs every block of README, guide and examples as it is
// printed. No switch, no condition; git must find the clone unchanged afterwards. Takes about five minutes of two cores.
// Blocks of the packages run where nothing but the packed files is: `npm run check:pack`.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { judged, watchOthers } from './pace.js';
import { pagesOfClone } from './pages.js';
import { runPage } from './shell.js';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** What a newcomer waits for, in seconds, on two cores that do nothing else. */
const FIRST_SECONDS = 60;

/** Runs a command, says what it took, and gives its seconds by the clock. */
function timed(command: string, cwd: string): number {
  const script = `TIMEFORMAT='%R %U %S'; { time { ${command} >/dev/null 2>&3; }; } 3>&2 2>&1`;
  const said = execFileSync('bash', ['-c', script], {
    cwd,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [clock = NaN, user = NaN, system = NaN] = said.trim().split(' ').map(Number);
  process.stdout.write(
    `${command}: ${clock.toFixed(0)} s, ${(user + system).toFixed(0)} s of the processor\n`,
  );
  return clock;
}

const folder = mkdtempSync(join(tmpdir(), 'everchart-stranger-'));
try {
  const clone = join(folder, 'everchart');
  execFileSync('git', ['clone', '--quiet', '--no-hardlinks', root, clone]);
  const others = watchOthers();
  const steps = ['npm ci --prefer-offline --no-audit --no-fund', 'npm run demo -- --once'].map((command) =>
    timed(command, clone),
  );
  const seconds = steps.reduce((sum, clock) => sum + clock, 0);
  const pace = { seconds, others: others() };
  process.stdout.write(`${judged('from a clone to the demo', pace, FIRST_SECONDS)}\n`);
  process.chdir(clone);
  for (const page of pagesOfClone()) runPage(page, { repository: clone, folder: clone, server: 'npm start' });
  // Files that are new count too: what the pages have written has folders that git leaves alone.
  const changed = execFileSync('git', ['status', '--porcelain'], { cwd: clone, encoding: 'utf8' });
  if (changed !== '') throw new Error(`the pages changed the clone:\n${changed}`);
} finally {
  process.chdir(root);
  rmSync(folder, { recursive: true, force: true });
}

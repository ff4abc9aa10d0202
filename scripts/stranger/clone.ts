// `npm run check:stranger`: clones the last commit, installs it and runs every block of README, guide, examples and packages as
// it is printed. No switch, no condition; git must find the clone unchanged afterwards. Takes about five minutes of two cores.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { blocksOf, type Block } from './blocks.js';
import { KEEPS_RUNNING, NOT_RUN, pages, type Page } from './pages.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const MARK = '-- end of block --';
const LONGEST_MS = 600_000;

/** The shell of a reader with a second terminal, in which one thing at a time goes on running. */
const SHELL = `set -e -u -o pipefail
KEPT=
end_kept() {
  [ -n "$KEPT" ] || return 0
  kill -TERM -- "-$KEPT" 2>/dev/null || true
  for _ in $(seq 300); do kill -0 -- "-$KEPT" 2>/dev/null || break; sleep 0.2; done
  kill -KILL -- "-$KEPT" 2>/dev/null || true
  KEPT=
}
trap end_kept EXIT
keep() {
  end_kept
  local log; log=$(mktemp)
  # A terminal keeps standard input open.
  setsid bash -c "sleep infinity | { $1; }" >"$log" 2>&1 </dev/null &
  KEPT=$!
  for turn in $(seq 1500); do
    ! grep -q "$2" "$log" || break
    [ "$turn" -lt 1500 ] && kill -0 "$KEPT" 2>/dev/null || { cat "$log"; exit 1; }
    sleep 0.2
  done
  cat "$log"; rm "$log"
}
`;

/** A line of a block as the shell runs it: one that goes on running is kept in the second terminal. */
function commandOf(line: string): string {
  const bare = line.replace(/ # .*$/, '').trim();
  if (NOT_RUN.some((one) => one.line.test(bare))) return ':';
  const kept = KEEPS_RUNNING.find((one) => one.line.test(bare));
  return kept === undefined ? line : `keep ${quoted(bare)} ${quoted(kept.ready)}`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** Runs the page with an input that, as an editor's, stays open until the program has ended. */
function beside(input: string, page: Page): string {
  return `INPUT=$(mktemp -u); mkfifo "$INPUT"; npx tsx ${page.typescript} <"$INPUT" &
exec 9>"$INPUT"; rm "$INPUT"; printf %s ${quoted(input)} >&9; wait $!`;
}

/** An editor that opens and closes: the language server ends with 0. */
const EDITOR = [
  { id: 1, method: 'initialize', params: { processId: null, rootUri: null, capabilities: {} } },
  { id: 2, method: 'shutdown' },
  { method: 'exit' },
]
  .map((message) => JSON.stringify({ jsonrpc: '2.0', ...message }))
  .map((text) => `Content-Length: ${text.length}\r\n\r\n${text}`)
  .join('');

/** Blocks of TypeScript wait until the page runs their file, or come last. */
function scriptOf(page: Page, blocks: readonly Block[]): string {
  const shell = blocks
    .filter(({ language }) => language === 'sh')
    .map(({ text }) => `${text.split('\n').map(commandOf).join('\n')}\necho '${MARK}'`)
    .join('\n');
  const isRun =
    shell.includes(`npx tsx ${page.typescript}`) || !blocks.some(({ language }) => language === 'ts');
  const server = page.path.startsWith('packages/') ? `keep 'npm start' 'listening on'\n` : '';
  const program = page.path.includes('aql-lsp')
    ? beside(EDITOR, page)
    : `npx tsx ${page.typescript} </dev/null`;
  return `${SHELL}${server}${shell}\n${isRun ? '' : program}\n`;
}

/** @throws Error with all that the page printed when it failed, or when it did not print what it says */
function run(page: Page, clone: string): void {
  const blocks = blocksOf(readFileSync(join(clone, page.path), 'utf8'));
  const typescript = blocks.filter(({ language }) => language === 'ts').map(({ text }) => text);
  if (typescript.length > 0) writeFileSync(join(clone, page.typescript), typescript.join('\n'));
  const { status, stdout, stderr } = spawnSync('bash', ['-c', scriptOf(page, blocks)], {
    cwd: clone,
    encoding: 'utf8',
    timeout: LONGEST_MS,
  });
  const missing = blocks.flatMap(({ expected }) => expected).filter((line) => !stdout.includes(line));
  if (status !== 0 || missing.length > 0)
    throw new Error(
      `${page.path}: status ${String(status)}, not printed: ${JSON.stringify(missing)}\n${stdout}\n${stderr}`,
    );
  process.stdout.write(`${page.path}: ${blocks.length} blocks\n`);
}

const folder = mkdtempSync(join(tmpdir(), 'everchart-stranger-'));
try {
  const clone = join(folder, 'everchart');
  execFileSync('git', ['clone', '--quiet', '--no-hardlinks', root, clone]);
  execFileSync('npm', ['ci', '--prefer-offline', '--no-audit', '--no-fund'], {
    cwd: clone,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  process.chdir(clone);
  for (const page of pages()) run(page, clone);
  const changed = execFileSync('git', ['status', '--porcelain', '--untracked-files=no'], {
    cwd: clone,
    encoding: 'utf8',
  });
  if (changed !== '') throw new Error(`the pages changed the clone:\n${changed}`);
} finally {
  process.chdir(root);
  rmSync(folder, { recursive: true, force: true });
}

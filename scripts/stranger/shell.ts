import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { blocksOf, type Block } from './blocks.js';
import { KEEPS_RUNNING, NOT_RUN, type Page } from './pages.js';
import { settingsOf } from './registry.js';

const MARK = '-- end of block --';
const LONGEST_MS = 600_000;

/** Where pages stand and where they are run. */
export interface Place {
  /** The repository whose pages they are. */
  readonly repository: string;
  /** The folder of the reader. */
  readonly folder: string;
  /** What the reader has running beside a page of a package. */
  readonly server: string;
  readonly env?: Readonly<Record<string, string>>;
}

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
function scriptOf(page: Page, blocks: readonly Block[], place: Place): string {
  const shell = blocks
    .filter(({ language }) => language === 'sh')
    .map(({ text }) => `${text.split('\n').map(commandOf).join('\n')}\necho '${MARK}'`)
    .join('\n');
  const isRun =
    shell.includes(`npx tsx ${page.typescript}`) || !blocks.some(({ language }) => language === 'ts');
  const server = page.path.startsWith('packages/') ? `${commandOf(place.server)}\n` : '';
  const program = page.path.includes('aql-lsp')
    ? beside(EDITOR, page)
    : `npx tsx ${page.typescript} </dev/null`;
  return `${SHELL}${server}${shell}\n${isRun ? '' : program}\n`;
}

/** Runs commands as a reader types them. @throws Error with all that they printed when one fails */
export function runCommands(commands: readonly string[], { folder, env = {} }: Place): string {
  return shellOutput(`${SHELL}${commands.map(commandOf).join('\n')}\n`, folder, env, commands.join('; '));
}

/** Runs every block of a page. @throws Error with all that it printed when it failed, or did not print what it says */
export function runPage(page: Page, place: Place): void {
  const blocks = blocksOf(readFileSync(join(place.repository, page.path), 'utf8'));
  const typescript = blocks.filter(({ language }) => language === 'ts').map(({ text }) => text);
  if (typescript.length > 0) writeFileSync(join(place.folder, page.typescript), typescript.join('\n'));
  const stdout = shellOutput(scriptOf(page, blocks, place), place.folder, place.env ?? {}, page.path);
  const missing = blocks.flatMap(({ expected }) => expected).filter((line) => !stdout.includes(line));
  if (missing.length > 0) throw new Error(`${page.path}: not printed: ${JSON.stringify(missing)}\n${stdout}`);
  process.stdout.write(`${page.path}: ${blocks.length} blocks\n`);
}

function shellOutput(
  script: string,
  cwd: string,
  env: Readonly<Record<string, string>>,
  what: string,
): string {
  const { status, stdout, stderr } = spawnSync('env', [...settingsOf(env), 'bash', '-c', script], {
    cwd,
    encoding: 'utf8',
    timeout: LONGEST_MS,
  });
  if (status !== 0) throw new Error(`${what}: status ${String(status)}\n${stdout}\n${stderr}`);
  return stdout;
}

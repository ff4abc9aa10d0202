import { execFileSync, spawnSync } from 'node:child_process';
import { expect, it } from '@jest/globals';
import { createLogger, forTerminal } from '../../../src/logger.js';

const ESCAPE = String.fromCharCode(27);

it('writes a line for people on a terminal, which nothing in it can break or command', () => {
  const lines: string[] = [];
  const log = createLogger('info', forTerminal({ write: (line) => void lines.push(line) }));
  const hostile = `${ESCAPE}[31m\n\u009b2J\u202eforged`;
  log.warn({ sub: hostile, err: new Error(hostile) }, `told ${hostile}`);
  expect(lines).toHaveLength(1);
  const plain = lines[0]!.replaceAll(new RegExp(`${ESCAPE}\\[\\d+m`, 'g'), '');
  expect(plain).toMatch(/WARN: told .*forged.*"sub":.*forged/);
  expect(plain).not.toMatch(/[\p{Cc}\u2028-\u202e]./u);
  // the signs above stand as text: no colour but those of the line itself
  expect(lines[0]).not.toContain(`${ESCAPE}[31m\n`);
  expect(plain).toContain(String.raw`\u001b[31m\n\u009b2J\u202eforged`);
});

it('has no colours where the terminal wants none', () => {
  const lines: string[] = [];
  createLogger('info', forTerminal({ write: (line) => void lines.push(line) }, false)).warn('told');
  expect(lines.join('')).toContain('WARN: told');
  expect(lines.join('')).not.toContain(ESCAPE);
});

/** What this process may have been told of colours. */
const UNSET = { NO_COLOR: undefined, NODE_DISABLE_COLORS: undefined, FORCE_COLOR: undefined, CI: undefined };

/** What a process writes to a terminal of its own that logs one line. */
function onTerminal(env: Readonly<Record<string, string>>): string {
  const logger = new URL('../../../src/logger.ts', import.meta.url).href;
  const program = `import('${logger}').then(({ createLogger }) => createLogger('info').warn('told'))`;
  const command = `'${process.execPath}' --import tsx -e "${program}"`;
  return execFileSync('script', ['--quiet', '--return', '--command', command, '/dev/null'], {
    env: { ...process.env, ...UNSET, NODE_OPTIONS: '', TERM: 'xterm-256color', ...env },
    encoding: 'utf8',
  });
}

// That of util-linux gives a process a terminal.
const hasScript = String(spawnSync('script', ['--version']).stdout).includes('util-linux');
(hasScript ? it : it.skip)('has colours on a terminal, and none with NO_COLOR', () => {
  expect(onTerminal({})).toMatch(new RegExp(`${ESCAPE}\\[.*WARN.*told`));
  const plain = onTerminal({ NO_COLOR: '1' });
  expect(plain).toContain('WARN: told');
  expect(plain).not.toContain(ESCAPE);
});

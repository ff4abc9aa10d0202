import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, it } from '@jest/globals';

const path = (name: string): string => fileURLToPath(new URL(`../../../${name}`, import.meta.url));
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'everchart-kept-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

function write(name: string, text: string): void {
  mkdirSync(dirname(join(folder, name)), { recursive: true });
  writeFileSync(join(folder, name), text);
}

/** Counts how often it was asked since it was loaded. */
const COUNTER = 'let count = 0; module.exports = () => (count += 1);';

/** What a file finds of the counters, then what it leaves. */
const finding = ({
  found,
  comment = '',
  leaving = '',
}: {
  readonly found: object;
  readonly comment?: string;
  readonly leaving?: string;
}): string => `${comment}
  it('finds', () => {
    const [pure, stored, packed] = ['./aql/counter.js', './models/counter.js', 'counter'].map((name) => require(name)());
    const { LEFT: variable = '' } = process.env;
    const global = globalThis.left ?? '';
    expect({ pure, stored, packed, variable, global }).toEqual(${JSON.stringify(found)});
  });
  it('leaves', () => {
    process.env.LEFT = globalThis.left = 'left';
    ${leaving}
  });
`;

/** Runs the files one after the other in one process, in the order of their names, and gives what Jest says. */
function run(files: Readonly<Record<string, string>>, ...options: readonly string[]): Promise<string> {
  write('aql/counter.js', COUNTER);
  write('models/counter.js', COUNTER);
  write('node_modules/counter/index.js', COUNTER);
  write(
    'by-name.cjs',
    `module.exports = class extends require(${JSON.stringify(path('node_modules/@jest/test-sequencer'))}).default {
      sort(tests) { return tests.sort((one, other) => (one.path < other.path ? -1 : 1)); }
    };`,
  );
  for (const [name, text] of Object.entries(files)) write(`${name}.test.cjs`, text);
  const config = {
    rootDir: folder,
    testMatch: ['**/*.test.cjs'],
    transform: {},
    testEnvironment: path('test/support/jest/environment.mjs'),
    runtime: path('test/support/jest/runtime.cjs'),
    testSequencer: join(folder, 'by-name.cjs'),
  };
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [path('node_modules/jest/bin/jest.js'), '--runInBand', '--config', JSON.stringify(config), ...options],
      (_, stdout, stderr) => {
        resolve(stdout + stderr);
      },
    );
  });
}

const NOTHING_LEFT = { variable: '', global: '' };
const ANEW = { pure: 1, stored: 1, packed: 1, ...NOTHING_LEFT };
const KEPT = { pure: 2, stored: 1, packed: 2, ...NOTHING_LEFT };

it('keeps packages and rooms without a state for the next file, and nothing else that a file leaves', async () => {
  const said = await run({ a: finding({ found: ANEW }), b: finding({ found: KEPT }) });
  expect(said).toContain('4 passed, 4 total');
});

it.each([
  ['a case that fails', finding({ found: ANEW, leaving: 'throw new Error();' }), '1 failed, 3 passed'],
  ['a hook that fails', `${finding({ found: ANEW })} afterAll(() => { throw new Error(); });`, '4 passed'],
  ['a file that cannot be loaded', "require('./aql/counter.js')(); throw new Error();", '2 passed'],
])('keeps nothing after %s', async (_, failing, counted) => {
  const said = await run({ a: failing, b: finding({ found: ANEW }) });
  expect(said).toMatch(/^FAIL .*a\.test\.cjs/m);
  expect(said).toMatch(/^PASS .*b\.test\.cjs/m);
  expect(said).toContain(`${counted}, `);
});

it('gives a file modules of its own that asks for them, and keeps those of the others', async () => {
  const comment = '/** @own-modules */';
  const own = finding({ found: ANEW, comment });
  const said = await run({ a: finding({ found: ANEW }), b: own, c: finding({ found: KEPT }) });
  expect(said).toContain('6 passed, 6 total');
});

it('lets only a file with modules of its own mock them', async () => {
  const mocking =
    "jest.mock('counter', () => () => 7); it('is mocked', () => expect(require('counter')()).toBe(7));";
  const said = await run({ a: mocking, b: `/** @own-modules */ ${mocking}` });
  expect(said).toContain('A file that mocks modules needs @own-modules');
  expect(said).toMatch(/^FAIL .*a\.test\.cjs/m);
  expect(said).toMatch(/^PASS .*b\.test\.cjs/m);
});

it('keeps nothing where lines are counted', async () => {
  const files = { a: finding({ found: ANEW }), b: finding({ found: ANEW }) };
  const said = await run(
    files,
    '--coverage',
    '--coverageProvider=v8',
    `--coverageDirectory=${folder}/coverage`,
  );
  expect(said).toContain('4 passed, 4 total');
});

import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { testServer } from '../../support/app.js';
import { useDatabase } from '../../support/database.js';
import { outputOf } from '../../support/process/command-line.js';
import { testSettings } from '../../support/settings.js';
import { compilerFindings } from '../../support/typescript.js';

/** A code block of the page. */
interface Block {
  readonly language: string;
  readonly text: string;
  /** What stands after `=>`: each is part of what the block prints. */
  readonly expected: readonly string[];
}

const page = readFileSync('docs/getting-started.md', 'utf8');
const blocks: Block[] = [...page.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].map(
  ([, language = '', text = '']) => ({
    language,
    text,
    expected: [...text.matchAll(/^(?:#|\/\/) => (.*)$/gm)].map(([, line = '']) => line),
  }),
);

let server: Server;
let folder = '';

useDatabase();
beforeAll(async () => {
  // Below the repository: there the packages are found as they are where they are installed.
  mkdirSync('node_modules/.cache', { recursive: true });
  folder = resolve(mkdtempSync('node_modules/.cache/getting-started-'));
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  server = await testServer(testSettings());
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
  rmSync(folder, { recursive: true });
});

/** The blocks of a language, with the server and the folder of this test in the place of those of a reader. */
function blocksIn(language: string): Block[] {
  const { port } = server.address() as AddressInfo;
  return blocks
    .filter((block) => block.language === language)
    .map((block) => ({
      ...block,
      text: block.text
        .replaceAll('127.0.0.1:8080', `127.0.0.1:${port}`)
        .replaceAll('src/gen', join(folder, 'gen'))
        .replaceAll('query.json', join(folder, 'query.json'))
        .replaceAll('OPT=test/', `OPT=${resolve('test')}/`),
    }));
}

const MARK = '-- end of block --';

/** What each block prints, when all of them are run as one script. */
function expectPrinted(run: readonly Block[], output: string): void {
  const printed = output.split(MARK);
  for (const [index, { text, expected }] of run.entries())
    for (const line of expected)
      expect([text, printed[index]]).toEqual([text, expect.stringContaining(line)]);
}

it('has blocks of the shell and of TypeScript, and no others', () => {
  expect(new Set(blocks.map(({ language }) => language))).toEqual(new Set(['sh', 'ts']));
  expect(blocks.flatMap(({ expected }) => expected).length).toBeGreaterThan(15);
});

it('prints what it says: every block, those of the shell in a shell, those of TypeScript as one file', async () => {
  const shell = blocksIn('sh');
  // In a folder without the settings file of a developer.
  const everchart = `'${process.execPath}' '${resolve('src/everchart.mjs')}'`;
  const command = `npx() { shift; (cd '${folder}' && ${everchart} "$@"); }`;
  const script = [command, ...shell.map(({ text }) => `${text}\necho '${MARK}'`)].join('\n');
  expectPrinted(shell, await outputOf('bash', ['-e', '-u', '-o', 'pipefail', '-c', script]));

  const typescript = blocksIn('ts');
  const file = join(folder, 'start.ts');
  writeFileSync(file, typescript.map(({ text }) => `${text}\nconsole.log('${MARK}');\n`).join(''));
  expect(compilerFindings([file])).toEqual([]);
  const source = ['--import', 'tsx', '--conditions=@everchart/source'];
  expectPrinted(typescript, await outputOf(process.execPath, [...source, file]));
});

import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { blocksOf, type Block } from '../../../scripts/stranger/blocks.js';
import { testServer } from '../../support/app.js';
import { useDatabase } from '../../support/database.js';
import { outputOf } from '../../support/process/command-line.js';
import { testSettings } from '../../support/settings.js';
import { compilerFindings } from '../../support/typescript.js';

const blocks = blocksOf(readFileSync('docs/getting-started.md', 'utf8'));

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
    .filter((block) => block.language === language && !block.text.startsWith('npm start'))
    .map((block) => ({
      ...block,
      text: block.text
        .replaceAll('127.0.0.1:8080', `127.0.0.1:${port}`)
        .replaceAll('examples/first', folder)
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
  const typescript = blocksIn('ts');
  const file = join(folder, 'start.ts');
  writeFileSync(file, typescript.map(({ text }) => `${text}\nconsole.log('${MARK}');\n`).join(''));
  // In a folder without the settings file of a developer.
  const everchart = `'${process.execPath}' '${resolve('src/everchart.mjs')}'`;
  const command = `npx() { if [ "$1" = tsx ]; then '${process.execPath}' --import tsx "$2"; else shift; (cd '${folder}' && ${everchart} "$@"); fi; }`;
  const script = [command, ...shell.map(({ text }) => `${text}\necho '${MARK}'`)].join('\n');
  const printed = await outputOf('bash', ['-e', '-u', '-o', 'pipefail', '-c', script]);
  expectPrinted(shell, printed);
  expect(compilerFindings([file])).toEqual([]);
  // The last block of the shell runs those of TypeScript.
  expectPrinted(
    typescript,
    printed
      .split(MARK)
      .slice(shell.length - 1)
      .join(MARK),
  );
});

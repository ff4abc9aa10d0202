import { copyFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { toolProgram } from '../../scripts/tools.js';
import { testApp, useServer } from '../support/app.js';
import { expectWalk, generatedFolder, output, writeDocument } from '../support/clients/walk.js';
import { useDatabase } from '../support/database.js';
import { compilerFindings } from '../support/typescript.js';

const TOOLS = join(import.meta.dirname, '../../tools/node_modules');
const PROGRAM = join(import.meta.dirname, 'programs/openapi-fetch.ts');

useDatabase();
const server = useServer(testApp());
mkdirSync(join(TOOLS, '.cache'), { recursive: true });
// Beside what it imports.
const folder = generatedFolder(join(TOOLS, '.cache'));

it('openapi-typescript and openapi-fetch: types that compile strictly, say what is wrong, and work', async () => {
  const command = toolProgram('openapi-typescript');
  const document = await writeDocument(server.url, folder, 'any');
  await output({ command, args: [document, '-o', join(folder, 'api.ts')], cwd: folder });
  const program = join(folder, 'program.mts');
  copyFileSync(PROGRAM, program);
  expect(compilerFindings([program])).toEqual([]);
  await expectWalk(server.url, { command: process.execPath, args: ['--import', 'tsx', program], cwd: '.' });
});

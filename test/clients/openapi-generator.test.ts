import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from '@jest/globals';
import { testApp, useServer } from '../support/app.js';
import { javaProgram, pythonPrograms } from '../support/clients/toolchains.js';
import { expectWalk, generatedFolder, output, writeDocument } from '../support/clients/walk.js';
import { useDatabase } from '../support/database.js';

const jar = javaProgram('org.openapitools', 'openapi-generator-cli', '7.17.0');
const python = pythonPrograms('tools/python/openapi-generator.txt');

useDatabase();
const server = useServer(testApp());
const folder = generatedFolder(tmpdir());

/** What of a client is generated: no pages, no tests. */
const PARTS = [
  'models,apis,supportingFiles',
  ...['modelDocs', 'apiDocs', 'modelTests', 'apiTests'].map((part) => `${part}=false`),
].join();

/** Generates a client of a language into a folder. */
async function generate(language: string, into: string, ...more: string[]): Promise<void> {
  const document = await writeDocument(server.url, folder, 'minimal');
  await output({
    command: 'java',
    args: [
      ...['-jar', jar ?? '', 'generate', '-i', document, '-g', language, '-o', into],
      ...['--global-property', PARTS, ...more],
    ],
    cwd: folder,
  });
}

const program = (name: string): string => join(import.meta.dirname, 'programs', name);

(jar === null || python === null ? it.skip : it)(
  'openapi-generator, in Python: models of every class, and a client that works',
  async () => {
    const app = join(folder, 'python');
    await generate('python', app, '--package-name', 'cdr', '--name-mappings', '_type=rmType');
    copyFileSync(program('openapi_generator.py'), join(app, 'program.py'));
    await expectWalk(server.url, { command: join(python ?? '', 'python'), args: ['program.py'], cwd: app });
  },
);

(jar === null ? it.skip : it)(
  'openapi-generator, typescript-fetch: names as openEHR has them, and a client that works',
  async () => {
    const app = join(folder, 'typescript');
    mkdirSync(app);
    writeFileSync(join(app, 'package.json'), '{ "type": "module" }');
    const form = 'importFileExtension=.ts,supportsES6=true,modelPropertyNaming=original';
    await generate('typescript-fetch', join(app, 'client'), '--additional-properties', form);
    copyFileSync(program('typescript-fetch.ts'), join(app, 'program.ts'));
    const args = ['--import', 'tsx', join(app, 'program.ts')];
    await expectWalk(server.url, { command: process.execPath, args, cwd: '.' });
  },
);

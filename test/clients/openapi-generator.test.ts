import { copyFileSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { it } from '@jest/globals';
import { testApp, useServer } from '../support/app.js';
import { hasGo, javaLibraries, javaProgram, pythonPrograms } from '../support/clients/toolchains.js';
import { expectWalk, generatedFolder, output, writeDocument } from '../support/clients/walk.js';
import { useDatabase } from '../support/database.js';

const jar = javaProgram('org.openapitools', 'openapi-generator-cli', '7.17.0');
const python = pythonPrograms('tools/python/openapi-generator.txt');
const libraries = javaLibraries('tools/java/pom.xml');

useDatabase();
const server = useServer(testApp());
const folder = generatedFolder(tmpdir());

/** What of a client is generated: no pages, no tests. */
const PARTS = [
  'models,apis,supportingFiles',
  ...['modelDocs', 'apiDocs', 'modelTests', 'apiTests'].map((part) => `${part}=false`),
].join();

/** What generators that keep `_type` and `type` apart by a name of ours, and read a union by its discriminator, are told. */
const byType = (name: string): string[] => ['--name-mappings', `_type=${name}`];
const BY_DISCRIMINATOR = 'useOneOfDiscriminatorLookup=true';

/** Generates a client of a language into a folder. */
async function generate(
  language: string,
  into: string,
  writes: 'any' | 'minimal',
  ...more: string[]
): Promise<void> {
  const document = await writeDocument(server.url, folder, writes);
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
    await generate('python', app, 'minimal', '--package-name', 'cdr', ...byType('rmType'));
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
    await generate('typescript-fetch', join(app, 'client'), 'minimal', '--additional-properties', form);
    copyFileSync(program('typescript-fetch.ts'), join(app, 'program.ts'));
    const args = ['--import', 'tsx', join(app, 'program.ts')];
    await expectWalk(server.url, { command: process.execPath, args, cwd: '.' });
  },
);

(jar === null || libraries === null ? it.skip : it)(
  'openapi-generator, in Java: classes that compile, and a client that works',
  async () => {
    const app = join(folder, 'java');
    const packages = 'invokerPackage=cdr,apiPackage=cdr.api,modelPackage=cdr.model';
    const form = ['--library', 'native', '--additional-properties', `${BY_DISCRIMINATOR},${packages}`];
    await generate('java', app, 'any', ...byType('rmType'), ...form);
    const sources = join(app, 'src/main/java');
    copyFileSync(program('OpenapiGenerator.java'), join(sources, 'OpenapiGenerator.java'));
    const files = readdirSync(sources, { recursive: true, encoding: 'utf8' });
    const [classes, path] = [join(app, 'classes'), join(libraries ?? '', '*')];
    const compiled = ['-proc:none', '-cp', path, '-d', classes];
    await output({
      command: 'javac',
      args: [...compiled, ...files.filter((name) => name.endsWith('.java'))],
      cwd: sources,
    });
    const args = ['-cp', [classes, path].join(delimiter), 'OpenapiGenerator'];
    await expectWalk(server.url, { command: 'java', args, cwd: app });
  },
);

(jar === null || !hasGo('openapi-generator') ? it.skip : it)(
  'openapi-generator, in Go: a package that builds, and a client that works',
  async () => {
    const app = join(folder, 'go');
    const form = `packageName=cdr,${BY_DISCRIMINATOR}`;
    await generate('go', join(app, 'cdr'), 'any', ...byType('RmType'), '--additional-properties', form);
    for (const file of ['go.mod', 'go.sum']) rmSync(join(app, 'cdr', file));
    // It needs nothing but what comes with Go.
    writeFileSync(join(app, 'go.mod'), 'module walk\n\ngo 1.23\n');
    copyFileSync(program('openapi_generator.go'), join(app, 'main.go'));
    await output({ command: 'go', args: ['build', '-o', 'walk', '.'], cwd: app });
    await expectWalk(server.url, { command: join(app, 'walk'), args: [], cwd: app });
  },
);

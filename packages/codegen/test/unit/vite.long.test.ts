import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import type { Plugin } from 'vite';
import { fixtureText } from '../../../../test/support/fixture.js';
import everchart from '../../src/vite.js';

const root = fileURLToPath(new URL('../../../../', import.meta.url));
const url = (path: string): string => pathToFileURL(join(root, path)).href;
let folder: string;
let vite: ChildProcess | undefined;

const QUERY = 'SELECT COUNT(*) AS first FROM COMPOSITION c';
const CONFIG = `export default {
  templates: { files: ['models'], output: 'gen' },
  queries: { files: ['queries'], output: 'gen', templates: ['models'] },
};`;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'codegen-vite-'));
  for (const name of ['models', 'queries']) mkdirSync(join(folder, name));
  file('models/evaluation.opt', fixtureText('opt/minimal_evaluation.en.v1.opt'));
  file('queries/some.aql', QUERY);
  file('everchart.config.mjs', CONFIG);
  file('index.html', '<script type="module" src="/main.ts"></script>');
  file(
    'main.ts',
    "import { TEMPLATE_ID } from './gen/minimal-evaluation-en-v1';\ndocument.title = TEMPLATE_ID;",
  );
});
afterEach(async () => {
  if (vite?.exitCode === null) {
    vite.kill();
    await once(vite, 'close');
  }
  rmSync(folder, { recursive: true });
});

function file(name: string, text: string): void {
  writeFileSync(join(folder, name), text);
}
const made = (name: string): string =>
  existsSync(join(folder, name)) ? readFileSync(join(folder, name), 'utf8') : '';

/** Runs Vite with the plug-in; gives what it says so far. Its errors are lines that begin with `wrong: `. */
function run(what: string, options = ''): () => string {
  const program = `import { build, createLogger, createServer } from '${url('node_modules/vite/dist/node/index.js')}';
import everchart from '${url('packages/codegen/src/vite.ts')}';
const customLogger = createLogger('silent');
customLogger.error = (message) => console.log('wrong: ' + message);
const common = { root: ${JSON.stringify(folder)}, configFile: false, customLogger, plugins: [everchart(${options})] };
${what}`;
  file('program.mjs', program);
  // Nothing of the folder is named from where it runs.
  vite = spawn(process.execPath, ['--import', 'tsx', join(folder, 'program.mjs')], { cwd: root });
  let said = '';
  for (const stream of [vite.stdout!, vite.stderr!])
    stream.on('data', (piece: Buffer) => (said += piece.toString()));
  return () => said;
}

/** Until it is so; while what runs goes on. */
async function until(said: () => string, condition: () => boolean): Promise<void> {
  while (!condition()) {
    expect([vite?.exitCode, said()]).toEqual([null, expect.anything()]);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

it('is a plug-in by the types of Vite, which the package does not bring', () => {
  const plugin: Plugin = everchart();
  expect(plugin.name).toBe('everchart-codegen');
});

it('writes what a build imports, and a mistake ends the build with its place', async () => {
  const said = run('await build(common);');
  await once(vite!, 'close');
  expect([vite!.exitCode, said()]).toEqual([0, expect.not.stringContaining('wrong')]);
  const [script = ''] = readdirSync(join(folder, 'dist/assets'));
  expect(made(`dist/assets/${script}`)).toContain('minimal_evaluation.en.v1');

  file('queries/some.aql', 'SELECT FROM nothing');
  // The configuration is looked for from Vite's root, wherever Vite runs.
  const refused = run('await build(common);', "{ config: 'everchart.config.mjs' }");
  await once(vite!, 'close');
  expect([vite!.exitCode, refused()]).toEqual([1, expect.stringMatching(/some\.aql:1:\d+: /)]);
}, 240_000);

it('builds again when a file comes into a folder that is named', async () => {
  const said = run(`import { existsSync } from 'node:fs';
const building = await build({ ...common, build: { watch: {} } });
while (!existsSync(${JSON.stringify(join(folder, 'close'))})) await new Promise((resolve) => setTimeout(resolve, 50));
await building.close();`);
  await until(said, () => existsSync(join(folder, 'dist/index.html')));
  file('queries/more.aql', QUERY.replace('first', 'second'));
  await until(said, () => made('gen/more.ts').includes('second'));
  file('close', '');
  await once(vite!, 'close');
}, 240_000);

it('writes beside a server for development, again when something changes, and says over the page what is wrong', async () => {
  const said = run(`import { existsSync } from 'node:fs';
const spy = { name: 'spy', configureServer: ({ ws }) => void (ws.send = (message) => console.log('sent: ' + JSON.stringify(message))) };
const plugins = [spy, ...common.plugins];
const server = await createServer({ ...common, plugins, server: { middlewareMode: true, ws: false } });
await server.restart();
console.log('started anew');
while (!existsSync(${JSON.stringify(join(folder, 'close'))})) await new Promise((resolve) => setTimeout(resolve, 50));
await server.close();`);
  await until(said, () => said().includes('started anew'));
  expect(made('gen/some.ts')).toContain('first');

  file('queries/some.aql', 'SELECT FROM nothing');
  await until(said, () => /wrong: .*some\.aql:1:\d+: /.test(said()));
  await until(said, () => /sent: {"type":"error","err":{"message":"[^"]*some\.aql:1:\d+: /.test(said()));

  file('queries/more.aql', QUERY.replace('first', 'second'));
  file('queries/some.aql', QUERY.replace('first', 'third'));
  await until(said, () => made('gen/more.ts').includes('second') && made('gen/some.ts').includes('third'));
  await until(said, () => said().includes('sent: {"type":"full-reload"}'));

  file('close', '');
  await once(vite!, 'close');
  expect(vite!.exitCode).toBe(0);
}, 240_000);

import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { installTools } from '../tools.js';
import { OPT } from './pages.js';
import { runCommands } from './shell.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const apps = join(root, 'tools/apps');
const bin = join(apps, 'node_modules');
const opt = join(root, OPT);
const node = (version: number): string => `${bin}/node-${version}/bin/node`;

/**
 * Applications that have the client and generated modules from a registry: Deno, Node.js 22 and 24 run the TypeScript as it is,
 * the Node.js of this process what is compiled; Vite builds a page in React, Angular's compiler a component.
 */
export function runApps(env: Readonly<Record<string, string>>): void {
  installTools(apps);
  // Below tools/apps, where what the applications need beside ours is found.
  mkdirSync(join(apps, '.cache'), { recursive: true });
  const folder = mkdtempSync(join(apps, '.cache', 'app-'));
  try {
    writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }');
    const run = (...commands: string[]): string =>
      runCommands(commands, {
        repository: root,
        folder,
        server: '',
        env: { ...env, OPT: opt, NODE_OPTIONS: '' },
      });
    run('npm i @everchart/client @everchart/rm', 'npm i -D @everchart/codegen');
    runPrograms(folder, run);
    buildVite(folder, run);
    compileAngular(folder, run);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

type Run = (...commands: string[]) => string;

const WALK = 'walk true 151 at1001 true 422 ehrbase_blood_pressure_simple.de.v0';

function program(name: string, destination: string): void {
  copyFileSync(join(apps, 'programs', name), destination);
}

/** Versions of Node.js that run TypeScript: npm has them for Linux on x64. @throws Error where they are not there although it has */
function otherNodes(): number[] {
  const found = [22, 24].filter((version) => existsSync(node(version)));
  if (found.length < 2 && process.platform === 'linux' && process.arch === 'x64')
    throw new Error(`of Node.js 22 and 24 tools/apps has ${found.join()}`);
  return found;
}

/** What `compiled` is compiled with. */
const COMPILED = {
  compilerOptions: {
    ...{ strict: true, skipLibCheck: true, rootDir: '.', types: [] },
    ...{ module: 'NodeNext', target: 'ES2023', lib: ['ES2023', 'DOM'] },
  },
};

/** The same program as TypeScript, and compiled. */
function runPrograms(folder: string, run: Run): void {
  program('walk.ts', join(folder, 'walk.ts'));
  // Or Deno takes that of the repository.
  writeFileSync(join(folder, 'tsconfig.json'), '{}');
  mkdirSync(join(folder, 'compiled'));
  writeFileSync(join(folder, 'compiled/tsconfig.json'), JSON.stringify(COMPILED));
  const text = readFileSync(join(folder, 'walk.ts'), 'utf8').replace(/\.ts';/, ".js';");
  writeFileSync(join(folder, 'compiled/walk.ts'), text);
  const runs: readonly (readonly [name: string, command: string])[] = [
    ['Deno', `${bin}/.bin/deno run --check --allow-net=127.0.0.1 walk.ts`],
    ...otherNodes().map((version) => [`Node.js ${version}`, `${node(version)} walk.ts`] as const),
    [`Node.js ${process.version}, compiled`, `'${process.execPath}' compiled/walk.js`],
  ];
  const said = run(
    'npx everchart-codegen templates "$OPT" -o gen --import-extension ts',
    'npx everchart-codegen templates "$OPT" -o compiled/gen',
    `'${process.execPath}' ${bin}/typescript/bin/tsc -p compiled`,
    'npx everchart start',
    'npx everchart template upload "$OPT"',
    ...runs.map(([, command]) => command),
  );
  const walked = said.split('\n').filter((line) => line.startsWith('walk '));
  if (walked.length !== runs.length || walked.some((line) => line !== WALK)) throw new Error(said);
  process.stdout.write(`the client and a generated module in ${runs.map(([name]) => name).join('; ')}\n`);
}

/** What `npm create vite` makes, with a page and the plug-in of ours, is built, then compiled as its own script does. */
function buildVite(folder: string, run: Run): void {
  const app = join(folder, 'vite');
  const node22 = existsSync(node(22)) ? node(22) : process.execPath;
  run(`${node22} ${bin}/create-vite/index.js vite --template react-ts --no-interactive`);
  program('App.tsx', join(app, 'src/App.tsx'));
  program('vite.config.ts', join(app, 'vite.config.ts'));
  const config = { templates: { files: [opt], output: 'src/gen' } };
  writeFileSync(join(app, 'everchart.config.mjs'), `export default ${JSON.stringify(config)};`);
  const compilers = ['typescript-7', 'typescript'].map(
    (name) => `${node22} ${bin}/${name}/bin/tsc -b --force vite`,
  );
  run(`(cd vite; ${node22} ${bin}/vite/bin/vite.js build)`, ...compilers);
  const built = readdirSync(join(app, 'dist/assets')).filter((name) => name.endsWith('.js'));
  const text = built.map((name) => readFileSync(join(app, 'dist/assets', name), 'utf8')).join('');
  if (!text.includes('at1001')) throw new Error('the page has no codes');
  process.stdout.write(`a page by Vite and React: ${Math.round(text.length / 1_000)} KB\n`);
}

/** Generated modules and a component beside them, as strictly as `ng new` has it. */
function compileAngular(folder: string, run: Run): void {
  const app = join(folder, 'angular');
  mkdirSync(join(app, 'src'), { recursive: true });
  program('component.ts', join(app, 'src/component.ts'));
  program('angular.json', join(app, 'tsconfig.json'));
  const node22 = existsSync(node(22)) ? node(22) : process.execPath;
  run(
    'npx everchart-codegen templates "$OPT" -o angular/src/gen',
    `${node22} ${bin}/@angular/compiler-cli/bundles/src/bin/ngc.js -p angular/tsconfig.json`,
  );
  if (!existsSync(join(app, 'out/component.js'))) throw new Error('Angular compiled nothing');
  process.stdout.write('a component by the compiler of Angular\n');
}

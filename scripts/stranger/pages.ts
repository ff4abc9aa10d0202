import { readFileSync, readdirSync } from 'node:fs';

/** A page whose blocks a stranger runs, and where its blocks of TypeScript are written as one file. */
export interface Page {
  readonly path: string;
  readonly typescript: string;
}

const FIRST = 'examples/first';

/** The template that pages and applications are shown with. */
export const OPT = 'test/fixtures/openehr/opt/ehrbase_blood_pressure_simple.de.v0.opt';

/** All that the repository shows who cloned it, in the order of reading. */
export function pagesOfClone(): Page[] {
  return ['README.md', 'docs/running.md', 'docs/getting-started.md', ...below('examples')].map((path) => ({
    path,
    typescript: `${FIRST}/${path === 'docs/getting-started.md' ? 'start' : 'page'}.ts`,
  }));
}

/** What the packages show whoever installs them, in a folder of their own. */
export function pagesOfPackages(): Page[] {
  return below('packages').map((path) => ({ path, typescript: 'page.ts' }));
}

function below(folder: string): string[] {
  return readdirSync(folder)
    .map((name) => `${folder}/${name}/README.md`)
    .filter((path) => textOf(path).includes('```'));
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

/** Lines that are not run, and why. */
export const NOT_RUN: readonly { readonly line: RegExp; readonly reason: string }[] = [
  { line: /^npm ci$/, reason: 'it has just made this clone' },
  { line: /^mongosh /, reason: 'no package of npm' },
];

/** Lines that go on running, and what they print once the next may run. */
export const KEEPS_RUNNING: readonly { readonly line: RegExp; readonly ready: string }[] = [
  { line: /(^|=\S* )npm start( |$)/, ready: 'listening on' },
  { line: /^npx everchart start$/, ready: 'listening on' },
  { line: /^np(m run|x everchart) demo$/, ready: 'admin token' },
  { line: /^npm run serve$/, ready: 'Local:' },
];

import { readFileSync, readdirSync } from 'node:fs';

/** A page whose blocks a stranger runs, and where its blocks of TypeScript are written as one file. */
export interface Page {
  readonly path: string;
  readonly typescript: string;
}

const FIRST = 'examples/first';

/** All that the repository shows a newcomer, in the order of reading. Packages come last: they need the template of the guide. */
export function pages(): Page[] {
  const below = (folder: string): string[] =>
    readdirSync(folder).map((name) => `${folder}/${name}/README.md`);
  const withBlocks = [...below('examples'), ...below('packages')].filter((path) =>
    textOf(path).includes('```'),
  );
  return ['README.md', 'docs/running.md', 'docs/getting-started.md', ...withBlocks].map((path) => ({
    path,
    typescript: `${FIRST}/${path === 'docs/getting-started.md' ? 'start' : 'page'}.ts`,
  }));
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
  {
    line: /^npm i (-D )?@everchart\//,
    reason: 'linked in a clone; `npm run check:pack` installs the packed files',
  },
  { line: /^mongosh /, reason: 'no package of npm' },
];

/** Lines that go on running, and what they print once the next may run. */
export const KEEPS_RUNNING: readonly { readonly line: RegExp; readonly ready: string }[] = [
  { line: /(^|=\S* )npm start( |$)/, ready: 'listening on' },
  { line: /^npm run demo$/, ready: 'admin token' },
  { line: /^npm run serve$/, ready: 'Local:' },
];

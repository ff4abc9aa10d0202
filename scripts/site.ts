// `npm run site`: the pages of the repository as a site in tools/site/dist that needs no network and is searched in the browser.
// VitePress, from the lock of tools/site; it fails for a link to a page that is not there, and for what another machine would have to give.
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { needsNetwork } from './pages/site-offline.js';
import { installTools } from './tools.js';

const root = fileURLToPath(new URL('..', import.meta.url));
const site = join(root, 'tools/site');
const pages = join(site, 'pages');

/** What of the repository is read: pages, and the pictures in them. */
const READ = /^(?:docs\/.*|packages\/[^/]+\/README|examples\/[^/]+\/README|[A-Z]+)\.(?:md|png)$/;

const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], { cwd: root })
  .toString()
  .split('\n')
  .filter((file) => READ.test(file));

/** A folder's page has the name that servers look for. */
const nameOf = (file: string): string => file.replace(/(^|\/)README\.md$/, '$1index.md');

/**
 * A page with links to other pages by the names that these have here; what is no page is not linked.
 * @throws Error that names a page which is linked and not there
 */
function pageOf(file: string): string {
  const link = (_: string, mark: string, label: string, target: string): string =>
    linkOf(file, { mark, label: label.replaceAll(PICTURE, link), target });
  return readFileSync(join(root, file), 'utf8').replaceAll(LINK, link);
}

const PICTURE = /(!)\[([^\]]*)\]\(([^)\s]+)\)/g;
/** Its text may be a picture. */
const LINK = /(!?)\[((?:[^[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)/g;

const PAGE = /\.(?:md|png)$/;

interface Link {
  readonly mark: string;
  readonly label: string;
  readonly target: string;
}

function linkOf(file: string, { mark, label, target }: Link): string {
  if (/^(?:[a-z]+:|#)/.test(target)) return `${mark}[${label}](${target})`;
  const [path = '', anchor = ''] = target.split(/(?=#)/);
  const found = posix.join(posix.dirname(file), path);
  if (PAGE.test(found) && !existsSync(join(root, found))) throw new Error(`${file} leads to ${target}`);
  if (!files.includes(found)) return label;
  const relative = posix.relative(posix.dirname(nameOf(file)), nameOf(found));
  return `${mark}[${label}](./${relative}${anchor})`;
}

/** What stands by itself beside a page: plain text that begins with a capital. */
function heading(text = ''): string {
  const plain = text.replaceAll('`', '');
  return plain.charAt(0).toUpperCase() + plain.slice(1);
}

/** The map of README, as what stands beside each page. */
function sidebar(): object[] {
  const [, map = ''] = readFileSync(join(root, 'README.md'), 'utf8').split('## Where to read on');
  return [...map.matchAll(/^\| (.*) \| (.*) \|$/gm)].flatMap(([, links = '', text = '']) => {
    const items = [...links.matchAll(/\[([^\]]+)\]\(([^)]+\.md)\)/g)].map(([, label, path = '']) => ({
      text: label,
      link: `/${path.replace(/\.md$/, '')}`,
    }));
    return items.length === 0 ? [] : [{ text: heading(text.split(/[;:]/)[0]), collapsed: false, items }];
  });
}

installTools(site);
rmSync(pages, { recursive: true, force: true });
for (const file of files) {
  const target = join(pages, nameOf(file));
  mkdirSync(dirname(target), { recursive: true });
  if (file.endsWith('.md')) writeFileSync(target, pageOf(file));
  else cpSync(join(root, file), target);
}
writeFileSync(join(site, 'sidebar.json'), JSON.stringify(sidebar(), null, 2));
execFileSync(process.execPath, ['node_modules/vitepress/bin/vitepress.js', 'build', '.'], {
  cwd: site,
  stdio: 'inherit',
});
const missing = needsNetwork(join(site, 'dist'));
if (missing.length > 0) throw new Error(`the site needs a network:\n${missing.join('\n')}`);
process.stdout.write(`${files.length} pages and pictures: tools/site/dist\n`);

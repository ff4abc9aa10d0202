/**
 * Makes the native package loadable on glibc 2.36 and 2.37: copies that are bound to older symbol versions,
 * kept in a cache of the user. The installed package is never changed.
 */
import { createHash, randomBytes } from 'node:crypto';
import { accessSync, constants, mkdirSync, statSync } from 'node:fs';
import { mkdir, open, readFile, rename, rm, stat } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { relinkFor, type GlibcVersion } from './elf.js';
import { cacheFolders } from './library-environment.js';

const PRODUCT = 'everchart';
/** To be raised with every change of what `relinkFor` does. */
const ALGORITHM = 1;
const STAMP = 'relinked.json';

/** What is to be relinked. */
export interface RelinkRequest {
  /** The `.node` file first, libraries it loads from its own folder after it. */
  readonly files: readonly string[];
  readonly packageVersion: string;
  readonly host: GlibcVersion;
}

/** The path of a copy of the first file that loads on the host, beside copies of the others. @throws Error */
export async function relinkedCopy(request: RelinkRequest): Promise<string> {
  const target = join(cacheFolder(), await entryName(request));
  const [main] = request.files;
  if (main === undefined) throw new Error('there is nothing to relink');
  if (!(await isComplete(target))) await makeEntry(target, request);
  return join(target, basename(main));
}

async function entryName({ files, packageVersion, host }: RelinkRequest): Promise<string> {
  const hash = createHash('sha256').update(`${ALGORITHM}`);
  for (const file of files) hash.update(`\n${basename(file)} ${(await stat(file)).size}`);
  const digest = hash.digest('hex').slice(0, 16);
  return `embedded-mongodb-${packageVersion}-${process.arch}-glibc-${host.join('.')}-${digest}`;
}

/** Writes an entry aside and moves it into place; whoever comes second takes the first one's. */
async function makeEntry(target: string, { files, host, packageVersion }: RelinkRequest): Promise<void> {
  const aside = `${target}.tmp-${process.pid}-${randomBytes(4).toString('hex')}`;
  await mkdir(aside, { mode: 0o700 });
  try {
    for (const file of files) {
      await writeDurably(join(aside, basename(file)), relinkFor(await readFile(file), host));
    }
    const stamp = { algorithm: ALGORITHM, packageVersion, glibc: host.join('.') };
    await writeDurably(join(aside, STAMP), Buffer.from(JSON.stringify(stamp)));
    await rename(aside, target);
  } catch (error) {
    await rm(aside, { recursive: true, force: true });
    if (!(await isComplete(target))) throw error;
  }
}

async function writeDurably(path: string, content: Buffer): Promise<void> {
  const file = await open(path, 'wx', 0o600);
  try {
    await file.writeFile(content);
    await file.sync();
  } finally {
    await file.close();
  }
}

async function isComplete(entry: string): Promise<boolean> {
  return stat(join(entry, STAMP)).then(
    () => true,
    () => false,
  );
}

/** The first folder that can be used: owned by this user, writable, and by nobody else. @throws Error */
function cacheFolder(): string {
  const { own, xdg } = cacheFolders();
  const candidates = [
    own,
    xdg === undefined ? undefined : join(xdg, PRODUCT),
    join(homedir(), '.cache', PRODUCT),
    join(tmpdir(), `${PRODUCT}-${process.getuid?.() ?? 'user'}`),
  ].filter((folder) => folder !== undefined);
  const usable = candidates.find(isUsable);
  if (usable === undefined) throw new Error(`none of the folders ${candidates.join(', ')} can be written`);
  return usable;
}

function isUsable(folder: string): boolean {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    accessSync(folder, constants.W_OK);
    const { uid, mode } = statSync(folder);
    return uid === process.getuid?.() && (mode & 0o022) === 0;
  } catch {
    return false;
  }
}

/** Folders and files that no other user of this machine may read. */
import { randomBytes } from 'node:crypto';
import {
  accessSync,
  chmodSync,
  constants,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';

const OTHERS = 0o077;

/**
 * Makes a folder that only this user may enter, or makes an existing one of this user so.
 * @throws Error when it is no folder, cannot be made, belongs to somebody else, or stays open to others
 */
export function ensurePrivateFolder(folder: string, log: (line: string) => void): void {
  makeFolder(folder);
  const { uid, mode } = statSync(folder);
  const own = process.getuid?.();
  if (own === undefined) return; // Windows: its folders have lists of rights instead
  if (uid !== own) {
    throw new Error(
      `the data folder ${folder} belongs to another user (uid ${uid}, this process is ${own}): give it to this user or name another folder`,
    );
  }
  if ((mode & OTHERS) === 0) return;
  chmodSync(folder, 0o700);
  if ((statSync(folder).mode & OTHERS) !== 0) {
    throw new Error(
      `the data folder ${folder} is open to other users and its file system keeps it so: name a folder elsewhere`,
    );
  }
  log(`the data folder ${folder} was open to other users (${octal(mode)}) and is now 0700`);
}

function makeFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  } catch (error) {
    // On a read-only file system the system says ENOENT of a folder in a folder that is there.
    const above = nearestAbove(folder);
    if (isWritable(above)) throw error;
    throw new Error(`the data folder ${folder} cannot be made: ${above} is read-only for this user`, {
      cause: error,
    });
  }
}

function nearestAbove(folder: string): string {
  const above = dirname(folder);
  return existsSync(above) || above === folder ? above : nearestAbove(above);
}

/** Whether this user may write to a file or folder that is there. */
export function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** Writes a file that only this user may read, in one step, whatever was there. */
export function writePrivateFile(file: string, text: string): void {
  const aside = `${file}.${randomBytes(8).toString('hex')}`;
  writeFileSync(aside, text, { mode: 0o600, flag: 'wx' });
  renameSync(aside, file);
}

/** The text of a file that only this user can have written; empty when there is none. */
export function readPrivateFile(file: string): string {
  const found = lstatSync(file, { throwIfNoEntry: false });
  if (found?.isFile() !== true) return '';
  const own = process.getuid?.();
  const isPrivate = own === undefined || (found.uid === own && (found.mode & OTHERS) === 0);
  return isPrivate ? readFileSync(file, 'utf8') : '';
}

function octal(mode: number): string {
  return (mode & 0o7777).toString(8).padStart(4, '0');
}

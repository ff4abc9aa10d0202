/** The place of the UNIX socket: a folder that only this user may enter, below the folder for temporary files. */
import { randomBytes } from 'node:crypto';
import { lstatSync, mkdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';

/** Longest path in bytes: `sun_path` holds 104 with its end on macOS, 108 on Linux. */
export const MAX_SOCKET_PATH_BYTES = 103;

// Drivers know a socket by the ending, and compare the names of hosts in lower case.
const SOCKET = 'mongodb.sock';
const FOLDER = /^everchart-[0-9a-f]{16}$/;

/**
 * A path on which a server can listen at once. The one that was used before is taken again while its folder is this
 * user's own or free, so that clients find the database after a restart; a socket left there by a killed process is
 * removed.
 * @throws Error when there is no place for it
 */
export function socketPath(before: string | null): string {
  if (before !== null && fits(before) && claim(dirname(before))) return cleared(before);
  for (const base of new Set([tmpdir(), '/tmp'])) {
    const path = join(base, `everchart-${randomBytes(8).toString('hex')}`, SOCKET);
    if (fits(path) && claim(dirname(path))) return cleared(path);
  }
  throw new Error(
    `no folder for the database's socket can be made in ${tmpdir()}: set TMPDIR to a short path`,
  );
}

/** Whether a path is short enough and looks like one that was made here: what lies there may be removed. */
function fits(path: string): boolean {
  const isOwnName = basename(path) === SOCKET && FOLDER.test(basename(dirname(path)));
  return isOwnName && Buffer.byteLength(path) <= MAX_SOCKET_PATH_BYTES;
}

/** Whether the folder is this user's alone, after it was made if there was none. */
function claim(folder: string): boolean {
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') return false;
  }
  const found = lstatSync(folder, { throwIfNoEntry: false });
  return found?.isDirectory() === true && found.uid === process.getuid?.() && (found.mode & 0o077) === 0;
}

function cleared(path: string): string {
  rmSync(path, { force: true });
  return path;
}

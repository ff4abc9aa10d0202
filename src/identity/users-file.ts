import {
  closeSync,
  existsSync,
  fstatSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
  type BigIntStats,
} from 'node:fs';
import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { asciiUpperCase } from '../../openehr/base/text.js';
import { isPasswordHash, type PasswordHash } from './password.js';

/** One user: a line of `BASIC_USERS_FILE`. */
export interface UserRecord {
  readonly name: string;
  /** Upper-cased. */
  readonly roles: readonly string[];
  readonly scrypt: PasswordHash;
  /** The `sub` of the same person's tokens. */
  readonly person?: string;
}

/** Users by name. */
export type Users = ReadonlyMap<string, UserRecord>;

/** Bits of a mode that let anybody else in. */
const OTHERS = 0o077n;
const NO_COLON_NO_CONTROL = /^[^:\p{Cc}]{1,255}$/u;

/** Whether a user can have this name: RFC 7617 allows neither a colon nor control characters. */
export function isUserName(name: string): boolean {
  return NO_COLON_NO_CONTROL.test(name);
}

/** The users of a file, read again whenever it changes. */
export class UsersFile {
  readonly #path: string;
  #users: Users;
  #state: string;

  /** Reads the file. @throws Error when it cannot be trusted or read */
  constructor(path: string) {
    this.#path = path;
    ({ users: this.#users, state: this.#state } = readFile(path));
  }

  /** The users now. @throws Error as the constructor: a file that was broken or opened to others lets nobody in */
  async current(): Promise<Users> {
    const state = fileState(await stat(this.#path, { bigint: true }));
    if (state !== this.#state) ({ users: this.#users, state: this.#state } = readFile(this.#path));
    return this.#users;
  }
}

/** Reads a users file. @throws Error when others can reach it, it is not ours, or a line of it is no user */
export function readUsers(path: string): Users {
  return readFile(path).users;
}

/**
 * Changes a users file, or makes it, with mode 0600, all or nothing: a new file takes the place of the old one.
 * @throws Error as `readUsers`, or when another process changes it at this moment
 */
export function changeUsers(path: string, change: (users: Users) => Users): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const fresh = `${path}.new`;
  const file = openNew(fresh);
  try {
    const users = change(existsSync(path) ? readUsers(path) : new Map());
    writeFileSync(file, [...users.values()].map((user) => `${JSON.stringify(user)}\n`).join(''));
    fsyncSync(file);
    renameSync(fresh, path);
  } catch (error) {
    rmSync(fresh, { force: true });
    throw error;
  } finally {
    closeSync(file);
  }
}

/** The file that becomes the users file; only one process at a time can make it. */
function openNew(path: string): number {
  try {
    return openSync(path, 'wx', 0o600);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'EEXIST') throw cause;
    throw new Error(
      `${path} exists: another command changes the users, or one was interrupted; then remove it`,
      {
        cause,
      },
    );
  }
}

function readFile(path: string): { readonly users: Users; readonly state: string } {
  const file = openFile(path);
  try {
    const stats = fstatSync(file, { bigint: true });
    requireOurs(path, stats);
    return { users: usersOf(path, readFileSync(file, 'utf8')), state: fileState(stats) };
  } finally {
    closeSync(file);
  }
}

function openFile(path: string): number {
  try {
    return openSync(path, 'r');
  } catch (cause) {
    const { code = 'unknown' } = cause as NodeJS.ErrnoException;
    throw new Error(`BASIC_USERS_FILE: ${path} cannot be read (${code}); \`everchart user add\` writes it`, {
      cause,
    });
  }
}

/** Systems without users of their own (Windows) give no mode to validate. */
function requireOurs(path: string, stats: BigIntStats): void {
  if (!stats.isFile()) throw new Error(`BASIC_USERS_FILE: ${path} is not a file`);
  const own = process.getuid?.();
  if (own === undefined) return;
  if (stats.uid !== BigInt(own))
    throw new Error(
      `BASIC_USERS_FILE: ${path} belongs to user ${stats.uid}, the server runs as ${own}: chown it`,
    );
  if ((stats.mode & OTHERS) !== 0n)
    throw new Error(
      `BASIC_USERS_FILE: others may reach ${path} (mode 0${(stats.mode & 0o777n).toString(8)}): chmod 600 it`,
    );
}

/** Changes whenever the file, its mode or its owner does. */
function fileState({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return [dev, ino, size, mtimeNs, ctimeNs].join(':');
}

function usersOf(path: string, text: string): Users {
  const users = new Map<string, UserRecord>();
  for (const [index, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue;
    const user = userOfLine(line);
    if (user === null)
      throw new Error(
        `BASIC_USERS_FILE: line ${index + 1} of ${path} is not a user as \`everchart user add\` writes it`,
      );
    if (users.has(user.name))
      throw new Error(`BASIC_USERS_FILE: line ${index + 1} of ${path} repeats a user`);
    users.set(user.name, user);
  }
  return users;
}

function userOfLine(line: string): UserRecord | null {
  try {
    const { name, roles, scrypt, person } = JSON.parse(line) as Record<string, unknown>;
    if (typeof name !== 'string' || !isUserName(name) || !isPasswordHash(scrypt)) return null;
    if (!Array.isArray(roles) || !roles.every((role) => typeof role === 'string')) return null;
    if (person !== undefined && (typeof person !== 'string' || person === '')) return null;
    return { name, roles: roles.map(asciiUpperCase), scrypt, ...(person !== undefined && { person }) };
  } catch {
    return null;
  }
}

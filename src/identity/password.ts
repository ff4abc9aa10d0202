import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { text } from 'node:stream/consumers';

/** A password as it is kept: scrypt (RFC 7914) with its parameters; `salt` and `key` in base64. */
export interface PasswordHash {
  readonly N: number;
  readonly r: number;
  readonly p: number;
  readonly salt: string;
  readonly key: string;
}

/** Cost of new hashes: about 32 MiB and, on a usual core, a quarter of a second for each guess. */
const COST = { N: 2 ** 15, r: 8, p: 3 } as const;
/** Costs of hashes that are taken: nothing weaker, and nothing that takes all memory. */
const LEAST_N = 2 ** 15;
const MOST_BYTES = 256 * 2 ** 20;
const SALT_BYTES = 16;
const KEY_BYTES = 32;

const derive = promisify<string, Buffer, number, object, Buffer>(scrypt);

/** Hashes a password with a fresh salt. */
export async function hashPassword(password: string): Promise<PasswordHash> {
  const salt = randomBytes(SALT_BYTES).toString('base64');
  const key = await derivedKey(password, { ...COST, salt });
  return { ...COST, salt, key: key.toString('base64') };
}

/** Whether this is the password of the hash; takes the same time whether it is or not. */
export async function isPassword(password: string, hash: PasswordHash): Promise<boolean> {
  return timingSafeEqual(await derivedKey(password, hash), Buffer.from(hash.key, 'base64'));
}

/** A hash that no password fits: checking one against it takes as long as against that of a user. */
export function unknownHash(): PasswordHash {
  return {
    ...COST,
    salt: randomBytes(SALT_BYTES).toString('base64'),
    key: randomBytes(KEY_BYTES).toString('base64'),
  };
}

/** Whether a record of a file is a hash that can be checked. */
export function isPasswordHash(value: unknown): value is PasswordHash {
  if (typeof value !== 'object' || value === null) return false;
  const { N, r, p, salt, key } = value as Record<string, unknown>;
  return areCosts(N, r, p) && hashLength(salt) >= SALT_BYTES && hashLength(key) === KEY_BYTES;
}

function areCosts(N: unknown, r: unknown, p: unknown): boolean {
  if (![N, r, p].every((cost) => Number.isInteger(cost) && (cost as number) > 0)) return false;
  const [n, blocks, times] = [N as number, r as number, p as number];
  return (
    n >= LEAST_N &&
    Number.isInteger(Math.log2(n)) &&
    blocks >= 8 &&
    times <= 16 &&
    n * blocks * 128 <= MOST_BYTES
  );
}

function hashLength(value: unknown): number {
  return typeof value === 'string' ? Buffer.from(value, 'base64').length : 0;
}

function derivedKey(password: string, { N, r, p, salt }: Omit<PasswordHash, 'key'>): Promise<Buffer> {
  const maxmem = 128 * r * (N + p + 2);
  return derive(password.normalize('NFC'), Buffer.from(salt, 'base64'), KEY_BYTES, { N, r, p, maxmem });
}

/**
 * The password that a person types twice, unseen, or that standard input holds.
 * @throws Error when the two differ
 */
export async function givenPassword(fromStdin: boolean): Promise<string> {
  if (fromStdin || !process.stdin.isTTY) return (await text(process.stdin)).replace(/\r?\n$/, '');
  const [first, second] = await askUnseen(['Password: ', 'Again: ']);
  if (first !== second) throw new Error('the two passwords differ');
  return first ?? '';
}

/** The password of a user who has one, as a person types it, unseen. */
export async function typedPassword(question: string): Promise<string> {
  const [password = ''] = await askUnseen([question]);
  return password;
}

async function askUnseen(questions: readonly string[]): Promise<string[]> {
  // What is typed goes to this output; nothing of it is shown.
  const nowhere = new Writable({
    write: (_chunk, _encoding, done) => {
      done();
    },
  });
  const lines = createInterface({ input: process.stdin, output: nowhere, terminal: true });
  try {
    const answers: string[] = [];
    for (const question of questions) {
      process.stderr.write(question);
      answers.push(await lines.question(''));
      process.stderr.write('\n');
    }
    return answers;
  } finally {
    lines.close();
  }
}

import { createHmac, randomBytes } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';
import { CdrError } from '../../openehr/base/errors.js';
import { textOfUtf8 } from '../../openehr/base/utf8.js';
import type { Identity } from './token-verifier.js';
import { Attempts } from './attempts.js';
import { HashQueue } from './hash-queue.js';
import { isPassword, unknownHash } from './password-hash.js';
import type { UserRecord, Users, UsersFile } from './users-file.js';

/**
 * Checks the credentials of a Basic `Authorization` (base64 of `name:password`) sent from an address.
 * @throws unauthenticated, too-many-requests, unavailable
 */
export type PasswordVerifier = (credentials: string, address: string) => Promise<Identity>;

/** Issuer of the users of `BASIC_USERS_FILE`. */
const BASIC_ISSUER = 'basic';

/** How long a password that was right needs no new hash, in ms. */
const REMEMBERED_MS = 300_000;
/** How many right passwords are memoized. */
const REMEMBERED = 10_000;

interface Guess {
  readonly name: string;
  readonly password: string;
  readonly address: string;
}

/**
 * Builds the check against a users file. A wrong name costs as much time as a wrong password. What was right is
 * memoized as a hash under a key that only this process has, bound to the record, so that it ends with the record.
 */
export function passwordVerifier(file: Pick<UsersFile, 'current'>, log: Logger): PasswordVerifier {
  const validate = new Validate();
  return async (credentials, address) => {
    const guess = { ...guessIn(credentials), address };
    const user = (await usersNow(file, log)).get(guess.name);
    if (!(await validate.isRight(guess, user)) || user === undefined) throw wrong();
    const { name, roles } = user;
    return { name, subject: name, issuer: BASIC_ISSUER, clientId: null, roles };
  };
}

class Validate {
  readonly #key = randomBytes(32);
  readonly #memoized = new LRUCache<string, true>({ max: REMEMBERED, ttl: REMEMBERED_MS });
  readonly #underWay = new Map<string, Promise<boolean>>();
  readonly #attempts = new Attempts();
  readonly #queue = new HashQueue();
  readonly #unknown = unknownHash();

  /** @throws too-many-requests; unavailable */
  async isRight(guess: Guess, user: UserRecord | undefined): Promise<boolean> {
    await this.#attempts.requireLeft(guess.address, guess.name);
    const id = this.#idOf(guess, user);
    if (this.#memoized.has(id)) return true;
    // A client that opens many connections sends the same password over each: it is validated once.
    const attempt = `${guess.address} ${id}`;
    const underWay = this.#underWay.get(attempt) ?? this.#validated(guess, user);
    this.#underWay.set(attempt, underWay);
    try {
      const isRight = await underWay;
      if (isRight && user !== undefined) this.#memoized.set(id, true);
      return isRight;
    } finally {
      this.#underWay.delete(attempt);
    }
  }

  async #validated({ name, password, address }: Guess, user: UserRecord | undefined): Promise<boolean> {
    await this.#attempts.begin(address, name);
    try {
      const isRight = await this.#queue.run(() => isPassword(password, user?.scrypt ?? this.#unknown));
      if (isRight) await this.#attempts.takeBack(address, name);
      return isRight;
    } catch (error) {
      await this.#attempts.takeBack(address, name);
      throw error;
    }
  }

  #idOf({ name, password }: Guess, user: UserRecord | undefined): string {
    const text = JSON.stringify([name, password, user?.scrypt.key ?? null]);
    return createHmac('sha256', this.#key).update(text).digest('base64');
  }
}

/** @throws unauthenticated when it is not `name:password` in UTF-8 */
function guessIn(credentials: string): Pick<Guess, 'name' | 'password'> {
  const text = textOfUtf8(Buffer.from(credentials, 'base64'))?.normalize('NFC') ?? '';
  const colon = text.indexOf(':');
  if (colon < 1) throw wrong();
  return { name: text.slice(0, colon), password: text.slice(colon + 1) };
}

async function usersNow(file: Pick<UsersFile, 'current'>, log: Logger): Promise<Users> {
  try {
    return await file.current();
  } catch (cause) {
    log.error({ err: cause }, 'nobody can sign in with a password: the users file cannot be used');
    throw new CdrError('unavailable', 'passwords cannot be checked now', { cause, retryAfterSeconds: 60 });
  }
}

function wrong(): CdrError {
  return new CdrError('unauthenticated', 'the user name or the password is wrong');
}

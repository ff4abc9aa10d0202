import { createHmac, randomBytes, createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';
import { CdrError } from '../../openehr/base/errors.js';
import { textOfUtf8 } from '../../openehr/base/utf8.js';
import { networkOf } from '../../routes/http/request/request-state.js';
import { Places } from '../admission/places.js';
import { Rates } from '../admission/rates.js';
import type { Identity } from './token-verifier.js';
import { isPassword, unknownHash } from './password.js';
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
    const { name, roles, person = null } = user;
    return { name, subject: name, issuer: BASIC_ISSUER, person, clientId: null, roles };
  };
}

class Validate {
  readonly #key = randomBytes(32);
  readonly #memoized = new LRUCache<string, true>({ max: REMEMBERED, ttl: REMEMBERED_MS });
  readonly #underWay = new Map<string, Promise<boolean>>();
  readonly #attempts = new Attempts();
  readonly #places = new Places({ atOnce: HASHES_AT_ONCE, waiting: HASHES_WAITING }, tooManyWait);
  readonly #unknown = unknownHash();

  /** @throws too-many-requests; unavailable */
  async isRight(guess: Guess, user: UserRecord | undefined): Promise<boolean> {
    const id = this.#idOf(guess, user);
    // Before the attempts: what others at the same address try wrong locks nobody out who was right a moment ago.
    if (this.#memoized.has(id)) return true;
    this.#attempts.requireLeft(guess.address, guess.name);
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
    this.#attempts.begin(address, name);
    try {
      const isRight = await this.#places.run(() => isPassword(password, user?.scrypt ?? this.#unknown));
      if (isRight) this.#attempts.takeBack(address, name);
      return isRight;
    } catch (error) {
      this.#attempts.takeBack(address, name);
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

/** Wrong passwords of one address for one user within `ATTEMPTS_PERIOD_S`; then it has to wait. */
export const ATTEMPTS_PER_USER = 10;
/** Wrong passwords of one address for whatever users within `ATTEMPTS_PERIOD_S`; then it has to wait. */
export const ATTEMPTS_PER_ADDRESS = 100;
/** Seconds after which wrong passwords are forgotten. */
export const ATTEMPTS_PERIOD_S = 900;

/**
 * Limits how often passwords can be guessed, by address and by address and user. Never by user alone: anybody could lock
 * somebody out by guessing. Each process counts for itself.
 */
class Attempts {
  readonly #ofAddress = new Rates({ most: ATTEMPTS_PER_ADDRESS, spanMs: ATTEMPTS_PERIOD_S * 1000 });
  readonly #ofUser = new Rates({ most: ATTEMPTS_PER_USER, spanMs: ATTEMPTS_PERIOD_S * 1000 });

  /** @throws too-many-requests with `Retry-After` while the address may not try, not even with the right password that is not remembered */
  requireLeft(address: string, name: string): void {
    const now = performance.now();
    refuseWhile(this.#ofUser.waitOf(attemptKey(address, name), now));
    refuseWhile(this.#ofAddress.waitOf(networkOf(address), now));
  }

  /** Counts an attempt as wrong before it is validated, so that many at once get no further. @throws as `requireLeft` */
  begin(address: string, name: string): void {
    const now = performance.now();
    refuseWhile(this.#ofUser.take(attemptKey(address, name), now));
    refuseWhile(this.#ofAddress.take(networkOf(address), now));
  }

  /** Takes back what `begin` counted: the password was right, or was not validated. */
  takeBack(address: string, name: string): void {
    this.#ofUser.takeBack(attemptKey(address, name));
    this.#ofAddress.takeBack(networkOf(address));
  }
}

/** As a hash: names come from clients and may be long. */
function attemptKey(address: string, name: string): string {
  return createHash('sha256')
    .update(`${networkOf(address)}\0${name}`)
    .digest('base64');
}

function refuseWhile(waitMs: number): void {
  if (waitMs === 0) return;
  const retryAfterSeconds = Math.max(1, Math.ceil(waitMs / 1000));
  throw new CdrError('too-many-requests', 'too many wrong passwords', { retryAfterSeconds });
}

/** Passwords hashed at the same time: each takes a thread and some 32 MiB. */
export const HASHES_AT_ONCE = 2;
/** Passwords that may wait for their turn. */
export const HASHES_WAITING = 20;

function tooManyWait(): CdrError {
  return new CdrError('unavailable', 'too many passwords wait to be checked', { retryAfterSeconds: 2 });
}

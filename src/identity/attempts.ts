import { createHash } from 'node:crypto';
import { isIPv6 } from 'node:net';
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import { CdrError } from '../../openehr/base/errors.js';

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
export class Attempts {
  readonly #ofAddress = new RateLimiterMemory({ points: ATTEMPTS_PER_ADDRESS, duration: ATTEMPTS_PERIOD_S });
  readonly #ofUser = new RateLimiterMemory({ points: ATTEMPTS_PER_USER, duration: ATTEMPTS_PERIOD_S });

  /** @throws too-many-requests with `Retry-After` while the address may not try, not even with the right password */
  async requireLeft(address: string, name: string): Promise<void> {
    refuseWithout(await this.#ofUser.get(pairOf(address, name)));
    refuseWithout(await this.#ofAddress.get(networkOf(address)));
  }

  /** Counts an attempt as wrong before it is validated, so that many at once get no further. @throws as `requireLeft` */
  async begin(address: string, name: string): Promise<void> {
    try {
      await this.#ofUser.consume(pairOf(address, name));
      await this.#ofAddress.consume(networkOf(address));
    } catch (refusal) {
      throw refusal instanceof RateLimiterRes ? tooMany(refusal) : refusal;
    }
  }

  /** Takes back what `begin` counted: the password was right, or was not validated. */
  async takeBack(address: string, name: string): Promise<void> {
    await this.#ofUser.reward(pairOf(address, name));
    await this.#ofAddress.reward(networkOf(address));
  }
}

/** Whoever has one IPv6 address has its /64 network of them; an IPv4 address stands for itself. */
function networkOf(address: string): string {
  const bare = address.replace(/^::ffff:(?=\d+\.)/i, '').replace(/%.*$/, '');
  if (!isIPv6(bare)) return bare;
  const [head = [], tail = []] = bare
    .split('::')
    .map((part) => part.split(':').filter((group) => group !== ''));
  const zeros = Array.from({ length: Math.max(0, 8 - head.length - tail.length) }, () => '0');
  const groups = [...head, ...zeros, ...tail].slice(0, 4);
  return groups.map((group) => Number.parseInt(group, 16).toString(16)).join(':');
}

/** As a hash: names come from clients and may be long. */
function pairOf(address: string, name: string): string {
  return createHash('sha256')
    .update(`${networkOf(address)}\0${name}`)
    .digest('base64');
}

function refuseWithout(left: RateLimiterRes | null): void {
  if (left !== null && left.remainingPoints <= 0) throw tooMany(left);
}

function tooMany({ msBeforeNext }: RateLimiterRes): CdrError {
  const retryAfterSeconds = Math.max(1, Math.ceil(msBeforeNext / 1000));
  return new CdrError('too-many-requests', 'too many wrong passwords', { retryAfterSeconds });
}

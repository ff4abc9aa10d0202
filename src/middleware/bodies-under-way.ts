import type { Context } from 'koa';
import type { Settings } from '../../config/settings.js';
import { CdrError, type BudgetDetail } from '../../openehr/base/errors.js';
import { networkOf, requesterOf } from '../../routes/http/request/request-state.js';

/** How many bytes of bodies may be under way at once. */
type BodyBytes = Settings['bodyBytes'];

/** Whose bytes are counted together, and how many there may be. */
interface Place {
  readonly name: string;
  /** Who they are, as a message says it. */
  readonly whose: string;
  /** The setting of `most`. */
  readonly setting: string;
  readonly most: number;
}

const OF_USER = { whose: 'bodies of this user', setting: 'BODY_BYTES_PER_USER' };
const OF_ADDRESS = { whose: 'bodies of this address', setting: 'BODY_BYTES_PER_ADDRESS' };
const OF_ALL = { name: 'all', whose: 'bodies', setting: 'BODY_BYTES_UNDER_WAY' };

/** Seconds after which it makes sense to send a body again that found no room. */
const RETRY_AFTER_S = 2;

/**
 * Bytes of bodies that were received and are not done with, of one process: in all, and of each user and each address, so
 * that nobody keeps the memory of all by sending much and never ending.
 */
export class BodiesUnderWay {
  readonly #held = new Map<string, number>();

  constructor(private readonly limits: BodyBytes) {}

  /**
   * Runs what reads the body of a request and answers it; its bytes count until that has ended. `most`: bytes that it may
   * have. What is compressed counts as large as it may become until it was read. `work` must begin to read at once, for from here
   * on the body flows, and calls `settled` with the bytes of what it read.
   * @throws unavailable when user, address or all together hold too much
   */
  async holding(
    ctx: Context,
    most: number,
    work: (settled: (bytes: number) => void) => Promise<void>,
  ): Promise<void> {
    let held = 0;
    const state = { isRefused: false };
    let refuse: (reason: CdrError) => void = () => undefined;
    const refused = new Promise<never>((_, reject) => (refuse = reject));
    const places = this.#placesOf(ctx);
    const count = (bytes: number): void => {
      held += bytes;
      const full = places.filter((place) => this.#add(place.name, bytes) > place.most)[0];
      if (full === undefined || bytes <= 0) return;
      refuse(noRoom(full));
      state.isRefused = true;
      // What reads the body lets go of what it has.
      ctx.req.emit('aborted');
    };
    const onData = (chunk: Buffer): void => {
      count(chunk.length);
    };
    if (ctx.get('Content-Encoding') === '') ctx.req.on('data', onData);
    else count(most);
    try {
      await Promise.race([
        refused,
        state.isRefused
          ? refused
          : work((bytes) => {
              count(bytes - held);
            }),
      ]);
    } finally {
      ctx.req.off('data', onData);
      for (const { name } of places) this.#add(name, -held);
    }
  }

  #placesOf(ctx: Context): readonly Place[] {
    const { process, user, address } = this.limits;
    return [
      ...(ctx.state.user === null ? [] : [{ ...OF_USER, name: `user ${requesterOf(ctx)}`, most: user }]),
      { ...OF_ADDRESS, name: `address ${networkOf(ctx.state.address)}`, most: address },
      { ...OF_ALL, most: process },
    ];
  }

  /** What is held there then. */
  #add(name: string, bytes: number): number {
    const held = (this.#held.get(name) ?? 0) + bytes;
    if (held === 0) this.#held.delete(name);
    else this.#held.set(name, held);
    return held;
  }
}

function noRoom({ whose, setting, most }: Place): CdrError {
  const budget: BudgetDetail = { name: 'bodyBytesUnderWay', setting, limit: most, used: null };
  return new CdrError(
    'unavailable',
    `${whose} under way hold ${most} bytes already (${setting}): send them one after another`,
    { retryAfterSeconds: RETRY_AFTER_S, budget },
  );
}

import { relative } from 'node:path';
import { expect } from '@jest/globals';

/** How often a law is tried: in `npm test`, and by `npm run test:laws`; `npm run test:long` takes a part of the latter. */
interface Sizes {
  /** In `npm test`: some seconds at most. */
  small: number;
  /** In `npm run test:laws`. */
  full: number;
}

const EVERY_RUN = 20261122;
const wanted = process.env['LAW_SEED'] ?? String(EVERY_RUN);
const FIRST_SEED = wanted === 'random' ? Math.floor(Math.random() * 2 ** 31) : Number(wanted);

/** How many times less than all of it `npm run test:long` tries, and `npm run test:laws` with `LAW_PART=<number>`. */
const PART = Number(process.env['LAW_PART'] ?? (process.env['TEST_LAWS'] ? 1 : 10));

/** How many scripts, pairs or answers this run tries. */
export function draws({ small, full }: Sizes): number {
  if (!process.env['TEST_LAWS'] && !process.env['TEST_LONG']) return small;
  const drawn = Math.ceil(full / PART);
  if (process.env['TEST_LAWS']) announce(String(drawn));
  return drawn;
}

/**
 * The most of what is right whatever happens, as an answer that a server is busy: a share that holds where a law runs by itself, and
 * half where other tests run beside it, for then the pace of the machine decides.
 */
export function mostOf(share: number, count: number): number {
  return count * (process.env['TEST_LAWS'] ? share : Math.max(share, 0.5));
}

/**
 * Seeds, one for each draw. `npm test` draws the same at each run; `LAW_SEED=random` draws anew and `LAW_SEED=<number>`
 * begins with the seed that a failure named.
 */
export function seeds(sizes: Sizes): number[] {
  const first = firstSeed();
  return Array.from({ length: draws(sizes) }, (_, index) => (first + index) >>> 0);
}

/** The first of them: of a law that is one script. */
export function firstSeed(): number {
  if (process.env['TEST_LAWS']) announce(`seed ${FIRST_SEED}`);
  return FIRST_SEED;
}

const announced = new Set<string>();

/** Says once what a law at full size tries, for `docs/reliability.md#the-laws-at-full-size`. */
function announce(what: string): void {
  if (announced.has(what)) return;
  announced.add(what);
  const file = relative(process.cwd(), expect.getState().testPath ?? '');
  process.stderr.write(`${file}: ${what}\n`);
}

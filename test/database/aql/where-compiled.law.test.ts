import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { afterAll, afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { queryParameters } from '../../../aql/semantics/bind/parameters.js';
import { CdrError } from '../../../openehr/base/errors.js';
import { Work } from '../../../openehr/base/work.js';
import { QueryCompiler } from '../../../query/compile.js';
import { closeTranslators } from '../../../workers/translation.js';
import { hostileQuery } from '../../support/attack/hostile-aql.js';
import { useDatabase } from '../../support/database.js';
import { draws, seeds } from '../../support/laws.js';
import { Random } from '../../support/random.js';
import { testSettings } from '../../support/settings.js';

/**
 * A step of a plan takes some 200 ns: 50,000 are the 10 ms that making a plan may take of the main thread, and 500,000, all that
 * it may take (`AQL_MAX_COMPILE_STEPS`), are 100 ms. Counted in steps, so that no machine is too slow for it.
 */
const MAIN_STEPS = 50_000;
const SIZES = { small: 40, full: 2_000 };

useDatabase();
afterAll(closeTranslators);

const settings = testSettings();
const compiler = new QueryCompiler(settings, () => Promise.resolve(new Map()));

/** Knows the parts of its work: first what was tried on the main thread, then what a thread used. */
class WatchedWork extends Work {
  readonly parts: number[] = [];

  override add(used: Parameters<Work['add']>[0]): void {
    this.parts.push(used.steps);
    super.add(used);
  }
}

let started = 0;
const onThread = (): void => {
  started += 1;
};
beforeEach(async () => {
  await closeTranslators();
  started = 0;
  subscribe('worker_threads', onThread);
});
afterEach(() => {
  unsubscribe('worker_threads', onThread);
});

interface Compiled {
  readonly mainSteps: number;
  /** null: no thread made the plan. */
  readonly threadSteps: number | null;
  readonly refusal: CdrError | null;
}

async function compiled(q: string): Promise<Compiled> {
  let refusal: CdrError | null = null;
  const work = new WatchedWork({ ...settings.work, timeMs: 60_000 }, () => performance.now());
  const request = {
    parameters: queryParameters('json', []),
    ehrId: null,
    fetch: null,
    offset: null,
    asOf: null,
    notesEhrs: true,
  };
  try {
    await compiler.compile(q, request, { work, signal: AbortSignal.timeout(120_000), user: 'a' });
  } catch (error) {
    if (!(error instanceof CdrError)) throw error;
    refusal = error;
  }
  const [, threadSteps = null] = work.parts;
  return { mainSteps: work.used.steps - (threadSteps ?? 0), threadSteps, refusal };
}

const FROM = 'FROM EHR e CONTAINS COMPOSITION c';
const conditions = (count: number): string =>
  Array.from(
    { length: count },
    (_, index) => `(c/name/value != 'n${index}' OR c/name/value LIKE '*${index}*')`,
  ).join(' AND ');

describe('the plan of a query', () => {
  it('is made on the main thread where that takes little, and no thread is started', async () => {
    for (const q of [`SELECT c/uid/value ${FROM}`, `SELECT c/name/value ${FROM} WHERE ${conditions(10)}`]) {
      const { mainSteps, threadSteps } = await compiled(q);
      expect({ q, threadSteps }).toEqual({ q, threadSteps: null });
      expect(mainSteps).toBeLessThan(MAIN_STEPS);
    }
    expect(started).toBe(0);
  });

  it('is made in a thread where it takes more, once begun, and the main thread does no more than it may', async () => {
    const { mainSteps, threadSteps, refusal } = await compiled(
      `SELECT c/uid/value ${FROM} WHERE ${conditions(249)}`,
    );
    expect(refusal).toBeNull();
    expect(threadSteps).toBeGreaterThan(MAIN_STEPS);
    expect(threadSteps).toBeLessThanOrEqual(settings.work.compileSteps);
    expect(mainSteps).toBeLessThan(2 * MAIN_STEPS);
    expect(started).toBe(1);
  });

  it(`takes the main thread from nobody, whatever the query is (${draws(SIZES)} queries)`, async () => {
    const wrong: object[] = [];
    let inThread = 0;
    for (const seed of seeds(SIZES)) {
      const { mainSteps, threadSteps } = await compiled(hostileQuery(new Random(seed)));
      if (threadSteps !== null) inThread += 1;
      if (mainSteps > 2 * MAIN_STEPS || (threadSteps ?? 0) > settings.work.compileSteps)
        wrong.push({ seed, mainSteps, threadSteps });
    }
    expect(wrong).toEqual([]);
    expect(inThread).toBeGreaterThan(draws(SIZES) / 20);
    expect(started).toBe(1);
  }, 7_200_000);
});

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { bindParameters } from '../../aql/semantics/bind/bind.js';
import { queryParameters, withEhrId } from '../../aql/semantics/bind/parameters.js';
import { checkScope } from '../../aql/semantics/check.js';
import { pageOf } from '../../aql/semantics/page.js';
import { resolveScope } from '../../aql/semantics/scope/scope.js';
import { resolveTerminology } from '../../aql/semantics/terminology.js';
import { parseAql } from '../../aql/syntax/parse.js';
import { CdrError } from '../../openehr/base/errors.js';
import { Work } from '../../openehr/base/work.js';
import { closeTranslators, translateInThread } from '../../workers/translation.js';
import { translation, type TranslationRequest } from '../../workers/translate.js';
import { hostileQuery } from '../support/attack/hostile-aql.js';
import { otherThreadsTime, processorMs, slowness } from '../support/process/processor-time.js';
import { Random } from '../support/random.js';
import { testSettings } from '../support/settings.js';

/**
 * What queries may cost to be compiled is limited in steps (`test/database/aql/where-compiled.law.test.ts`). Here is what a step costs:
 * the largest queries that pass, in processor time, against that of a fixed piece of work, so that no machine is too slow for it.
 */
const COMPILED_MS = 100;
const MAIN_MS = 10;
/** How far one machine may be from another in what it is quick at. */
const MARGIN = 2;
/** Of the generator's first thousand queries some that take the most steps. */
const SEEDS = [20261221, 20261436, 20261437, 20261893];
/** From so many on a step costs what it costs; in a small plan it is what goes to the thread and back. */
const MANY_STEPS = 200_000;
const TIMES = 6;

const settings = testSettings();
const parameters = queryParameters('json', []);

/** What is done before the plan is made: always on the main thread. */
function checked(q: string): TranslationRequest {
  const parsed = parseAql(q);
  const query = resolveTerminology(bindParameters(parsed, withEhrId(parameters, parsed, null)), new Map());
  const scope = resolveScope(query, { ehrId: null });
  checkScope(scope, { systemId: settings.systemId });
  const page = pageOf(query, { fetch: null, offset: null }, settings.aql);
  const { systemId, aql } = settings;
  const { subsumption, leafIndex } = aql;
  const context = { leafIndex, isCurrent: true, systemId, subsumption, asOf: null, notesEhrs: true };
  const budget = { ...settings.work, timeMs: 60_000 };
  return { query, ehrId: null, aliases: [], page, context, shapeIds: [], now: new Date(0), budget };
}

/** Steps of making the plan; null: the query does not pass. */
function stepsOf(q: string): number | null {
  try {
    return translation(checked(q)).used.steps;
  } catch (error) {
    if (error instanceof CdrError) return null;
    throw error;
  }
}

/** Milliseconds of the thread that makes the plan, when it is warm: what tests load on the main thread is slower there. */
async function translatedMs(q: string): Promise<number> {
  const { budget, ...request } = checked(q);
  let least = Infinity;
  for (let time = 0; time < TIMES; time += 1) {
    const work = new Work(budget, () => performance.now());
    const limits = { work, user: 'a', signal: AbortSignal.timeout(60_000) };
    const seconds = await otherThreadsTime(() => translateInThread(request, limits));
    least = Math.min(least, seconds * 1_000);
  }
  return least;
}

const FROM = 'FROM EHR e CONTAINS COMPOSITION c';
const times = (count: number, make: (index: number) => string, separator = ', '): string =>
  Array.from({ length: count }, (_, index) => make(index)).join(separator);

/** The largest of some shape that pass. */
const SHAPES: readonly (readonly [string, string])[] = [
  [
    'conditions',
    `SELECT c/uid/value ${FROM} WHERE ${times(249, (i) => `(c/name/value != 'n${i}' OR c/name/value LIKE '*${i}*')`, ' AND ')}`,
  ],
  ['columns', `SELECT ${times(200, (i) => `c/content[at${i % 9}]/name/value`)} ${FROM}`],
  ['arguments', `SELECT CONCAT(${times(1_400, () => 'c/uid')}) ${FROM} LIMIT 1`],
  ['values', `SELECT c/uid/value ${FROM} WHERE c/name/value MATCHES {${times(5_000, (i) => `'${i}'`)}}`],
  [
    'classes and orders',
    `SELECT e/ehr_id/value FROM EHR e CONTAINS (${times(49, (i) => `SECTION s${i}[openEHR-EHR-SECTION.x${i}.v1]`, ' OR ')})
     ORDER BY ${times(32, (i) => `s${i}/name/value`)}`,
  ],
];

afterAll(closeTranslators);

describe('in processor time', () => {
  const drawn = SEEDS.map((seed) => [`seed ${seed}`, hostileQuery(new Random(seed))] as const);
  const largest = [...SHAPES, ...drawn];
  let slow = 1;

  beforeAll(() => {
    slow = slowness();
  });

  /** What others do to the machine is no matter of a query: its pace is that of the moment. */
  const paceNow = (): number => Math.max(slow, slowness());

  it('the largest queries that pass are read and checked in what the main thread may take', () => {
    const ms = largest.map(
      ([name, q]) => [name, Math.round(processorMs(() => checked(q)) / paceNow())] as const,
    );
    expect(ms.filter(([, taken]) => taken > MARGIN * MAIN_MS)).toEqual([]);
  });

  it('the plans of the largest queries that pass are made in the time that is allowed', async () => {
    const made: { name: string; steps: number; ms: number }[] = [];
    for (const [name, q] of largest) {
      const steps = stepsOf(q);
      if (steps === null) continue;
      const taken = await translatedMs(q);
      made.push({ name, steps, ms: taken / paceNow() });
    }
    expect(made).toHaveLength(largest.length);
    expect(made.filter(({ ms }) => ms > MARGIN * COMPILED_MS)).toEqual([]);
    // Nor does one of all the steps that may be: where there are many, each costs the same.
    const { compileSteps } = settings.work;
    const slowest = made
      .filter(({ steps }) => steps > MANY_STEPS)
      .map(({ steps, ms }) => (ms * compileSteps) / steps);
    expect(slowest.length).toBeGreaterThan(1);
    expect(Math.max(...slowest)).toBeLessThan(MARGIN * COMPILED_MS);
  });
});

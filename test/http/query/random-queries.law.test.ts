import type { RequestListener } from 'node:http';
import { beforeAll, expect, it } from '@jest/globals';
import request from 'supertest';
import { evaluateQuery } from '../../../aql/evaluate/evaluate.js';
import type { ReferenceData } from '../../../aql/evaluate/data.js';
import { checkScope } from '../../../aql/semantics/check.js';
import { pageOf } from '../../../aql/semantics/page.js';
import { resolveScope } from '../../../aql/semantics/scope/scope.js';
import { renderAql } from '../../../aql/syntax/render.js';
import { CdrError } from '../../../openehr/base/errors.js';
import type { JsonValue } from '../../../openehr/base/json.js';
import { testApp } from '../../support/app.js';
import { boundQuery } from '../../support/aql/bound-query.js';
import { differenceOf } from '../../support/aql/compare.js';
import { randomData } from '../../support/aql/differential/random-data.js';
import { randomQuery, type RandomQuery } from '../../support/aql/differential/random-query.js';
import { LAWS, type Ask } from '../../support/aql/laws/laws.js';
import { inOtherLetters, withExtremeLiterals } from '../../support/aql/laws/letters.js';
import { plainQuery, type Tree } from '../../support/aql/laws/trees.js';
import { loadReferenceData } from '../../support/aql/load-reference.js';
import { useDatabase } from '../../support/database.js';
import { draws, seeds } from '../../support/laws.js';
import { Random } from '../../support/random.js';
import { givenTemplate, V1, type Json } from '../../support/resources.js';
import { testSettings } from '../../support/settings.js';

/**
 * Random queries as users ask them: over HTTP, recorded, warned of and explained. Each is answered as the evaluator answers
 * it, and each keeps one of the laws, which needs no second implementation. A failure names its seed: `LAW_SEED=<seed>`.
 */
useDatabase();

/** Each law once at least, since one is drawn with each query. */
const SIZES = { small: 12, full: 5_000 };
const PER_DATA = 50;
const NAMES = Object.keys(LAWS);
/** How often something was really compared, so that a generator that makes nothing but refusals is seen. */
const count = { answers: 0, rows: 0, laws: 0 };
const apps = new Map<boolean, RequestListener>();

beforeAll(async () => {
  for (const subsumption of [false, true])
    apps.set(subsumption, testApp({ aql: { ...testSettings().aql, subsumption }, auditReads: true }));
  await givenTemplate(appOf(false));
});

function appOf(subsumption: boolean): RequestListener {
  const app = apps.get(subsumption);
  if (app === undefined) throw new TypeError('both servers are there');
  return app;
}

/** What the server has a right to refuse: sizes and times, and values that no sum can have. */
class Refused extends Error {}

/** How it says so. Any other refusal of what the evaluator answers, or of what keeps the meaning of a query, is a fault. */
const RIGHTLY = /too large|budget|at most|time/;

async function asked(path: string, body: object, { subsumption }: RandomQuery): Promise<Json> {
  const answer = await request(appOf(subsumption)).post(`${V1}/query/aql${path}`).send(body);
  if ([400, 408, 422].includes(answer.status) && RIGHTLY.test(String(answer.body.message)))
    throw new Refused(String(answer.body.message));
  if (answer.status !== 200) throw new Error(`${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body as Json;
}

/** The answer of the evaluator; null where it refuses the query. */
function reference(query: RandomQuery, aql: string, data: ReferenceData) {
  const { ehrId, asOf, subsumption } = query;
  try {
    const bound = boundQuery(aql);
    const scope = resolveScope(bound, { ehrId });
    checkScope(scope, { systemId: 'local.cdr' });
    const page = pageOf(bound, { fetch: null, offset: null }, { defaultFetch: null, maxFetch: null });
    const options = { systemId: 'local.cdr', asOf, subsumption, ehrId, now: new Date() };
    return { page, result: evaluateQuery(scope, data, options) };
  } catch (error) {
    if (error instanceof CdrError) return null;
    throw error;
  }
}

const paramsOf = ({ ehrId, asOf }: RandomQuery): object => ({
  ...(ehrId !== null && { ehr_id: ehrId.toUpperCase() }),
  ...(asOf !== null && { as_of: asOf.toISOString() }),
});

/** What is wrong with one answer, beside the evaluator's. */
async function faultOf(query: RandomQuery, aql: string, data: ReferenceData): Promise<string | null> {
  const expected = reference(query, aql, data);
  if (expected === null) return null;
  try {
    const { rows, meta } = await asked('', { q: aql, ...paramsOf(query) }, query);
    const again = await asked('/explain', { q: aql, ...paramsOf(query) }, query);
    count.answers++;
    if (expected.result.ordered.length > 0) count.rows++;
    const isWarned = (meta as Json).warnings === undefined || Array.isArray(again.hints);
    return isWarned ? differenceOf(expected.result, expected.page, rows as JsonValue[][]) : 'no hints';
  } catch (error) {
    // What the evaluator takes may be too large for the database, never wrong.
    return error instanceof Refused ? null : String(error);
  }
}

async function brokenLaw(
  name: string,
  query: RandomQuery,
  tree: Tree,
  { random, data }: { readonly random: Random; readonly data: ReferenceData },
): Promise<string | null> {
  if (reference(query, query.aql, data) === null) return null;
  const ask: Ask = async (q, more = {}) =>
    (await asked('', { q, ...paramsOf({ ...query, ehrId: null }), ...more }, query)).rows as JsonValue[][];
  try {
    const broken = (await LAWS[name]?.(tree, ask, random)) ?? null;
    count.laws++;
    return broken;
  } catch (error) {
    return error instanceof Refused ? null : String(error);
  }
}

it('has each of the laws of the documents', () => {
  expect(NAMES).toHaveLength(24);
});

it(
  `answers ${draws(SIZES)} random queries as it must`,
  async () => {
    const faults: string[] = [];
    let loaded: { seed: number; data: ReferenceData } = { seed: -1, data: { ehrs: [], versions: [] } };
    for (const seed of seeds(SIZES)) {
      const dataSeed = seed - (seed % PER_DATA);
      if (loaded.seed !== dataSeed) {
        loaded = { seed: dataSeed, data: randomData(new Random(dataSeed)) };
        await loadReferenceData(loaded.data, 'all');
      }
      const { data } = loaded;
      const random = new Random(seed ^ 0x5eed);
      const query = randomQuery(random);
      const tree = plainQuery(query.aql);
      const extreme = tree === null ? query.aql : renderAql(withExtremeLiterals(tree, random));
      const name = NAMES[seed % NAMES.length] ?? '';
      const texts = [inOtherLetters(query.aql, random), inOtherLetters(extreme, random)];
      for (const aql of texts) {
        const fault = await faultOf(query, aql, data);
        if (fault !== null)
          faults.push(`seed ${seed}: ${fault}\n  ${aql} ${JSON.stringify(paramsOf(query))}`);
      }
      const broken = tree === null ? null : await brokenLaw(name, query, tree, { random, data });
      if (broken !== null) faults.push(`seed ${seed}, ${name}: ${broken}\n  ${query.aql}`);
      if (faults.length >= 20) break;
    }
    expect(faults.join('\n')).toBe('');
    // Extreme values refuse more, and find less, than others do.
    expect(count.answers).toBeGreaterThan(draws(SIZES) * 0.8);
    expect(count.rows).toBeGreaterThan(draws(SIZES) * 0.3);
    expect(count.laws).toBeGreaterThan(draws(SIZES) * 0.4);
  },
  120_000 + draws(SIZES) * 2_000,
);

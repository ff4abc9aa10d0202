import { expect, it } from '@jest/globals';
import { CdrError, type ErrorCode } from '../../../openehr/base/errors.js';
import { evaluateQuery } from '../../../aql/evaluate/evaluate.js';
import { prepareCase } from '../../support/aql/cases/prepare.js';
import { differenceOf } from '../../support/aql/compare.js';
import { pipelineRows } from '../../support/aql/pipeline.js';
import { randomCasesOverOneData, type RandomCase } from '../../support/aql/random.js';
import { RANDOM_SYSTEM_ID } from '../../support/aql/random-data.js';
import { useDatabase } from '../../support/database.js';
import { draws, seeds } from '../../support/laws.js';
import { loadReferenceData } from '../../support/aql/load-reference.js';

useDatabase();

const SIZES = { small: 30, full: 5_000 };
const PAIRS = draws(SIZES);
const [SEED] = seeds(SIZES) as [number];
const PER_DATA = 25;

/** A product of everything with everything may be refused: not compared, and only rarely made. */
const TOO_LARGE = 'too large';
const TOO_MUCH: ReadonlySet<ErrorCode> = new Set(['timeout', 'query-too-large']);

/** What differs between pipeline and evaluator, null when nothing does. */
async function faultOf(random: RandomCase): Promise<string | null> {
  const options = random.ehrId === null ? {} : { ehrId: random.ehrId };
  const aqlCase = { group: 86, title: '', aql: random.aql, options, expect: { count: 0 } };
  const { scope, page } = prepareCase(aqlCase, RANDOM_SYSTEM_ID);
  const { ehrId, asOf, subsumption } = random;
  const rules = { systemId: RANDOM_SYSTEM_ID, asOf, subsumption, now: new Date(0) };
  const reference = evaluateQuery(scope, random.data, { ...rules, page, ehrId });
  const told = `seed ${random.seed}, ehr_id ${String(ehrId)}, as_of ${asOf?.toISOString() ?? 'none'}, subsumption ${subsumption}\n  ${random.aql}`;
  try {
    const difference = differenceOf(reference, page, await pipelineRows(scope, page, rules));
    return difference === null ? null : `${told}\n${difference}`;
  } catch (error) {
    if (error instanceof CdrError && TOO_MUCH.has(error.code)) return TOO_LARGE;
    return `${told}\n${String(error)}`;
  }
}

it(
  `answers ${PAIRS} random queries over Hilltop archetypes as the evaluator does (seed ${SEED})`,
  async () => {
    const faults: string[] = [];
    let tooLarge = 0;
    for (let round = 0; round * PER_DATA < PAIRS; round++) {
      const cases = randomCasesOverOneData(SEED + round, 3, Math.min(PER_DATA, PAIRS - round * PER_DATA));
      if (cases[0] !== undefined) await loadReferenceData(cases[0].data);
      for (const random of cases) {
        const fault = await faultOf(random);
        if (fault === TOO_LARGE) tooLarge++;
        else if (fault !== null) faults.push(fault);
      }
    }
    expect(faults.join('\n\n')).toBe('');
    expect(tooLarge).toBeLessThanOrEqual(PAIRS * 0.02);
  },
  60_000 + PAIRS * 300,
);

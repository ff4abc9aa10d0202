import { describe, expect, it } from '@jest/globals';
import { shapeCatalogue } from '../../../../aql/index/shapes.js';
import { logicalPlan, type TranslationContext } from '../../../../aql/mongo/translate.js';
import type { Step } from '../../../../aql/plan/steps.js';
import { CdrError } from '../../../../openehr/base/errors.js';
import { prepareCase } from '../../../support/aql/cases/prepare.js';
import { randomQuery } from '../../../support/aql/differential/random-query.js';
import { randomCasesOverOneData } from '../../../support/aql/random.js';
import { Random } from '../../../support/random.js';

const CONTEXT: TranslationContext = {
  ...{ shapes: shapeCatalogue([]), leafIndex: 'all', isCurrent: true, systemId: 'local.cdr' },
  ...{ subsumption: false, asOf: null, clock: { now: new Date(0), offsetMinutes: 0 } },
};

/** The steps of a query; null for one that is refused. */
function stepsOf(aql: string): readonly Step[] | null {
  try {
    const { scope, page } = prepareCase({ group: 0, title: '', aql, expect: { count: 0 } }, CONTEXT.systemId);
    return logicalPlan(scope, page, CONTEXT).steps;
  } catch (error) {
    if (error instanceof CdrError) return null;
    throw error;
  }
}

function madeBy(step: Step): string[] {
  if (step.kind === 'set' || step.kind === 'merge' || step.kind === 'count') return [step.field];
  if (step.kind === 'lookup') return [step.as];
  return step.kind === 'unwind' && step.index !== null ? [step.index] : [];
}

/** Fields that two steps make, at any level: what is read of the first would be the second's. */
function madeTwice(steps: readonly Step[]): string[] {
  const inner = steps.flatMap((step) => (step.kind === 'lookup' ? madeTwice(step.steps) : []));
  const made = steps.flatMap(madeBy);
  return [...inner, ...made.filter((field, index) => made.indexOf(field) !== index)];
}

describe('the steps of a query', () => {
  it('make a field of a part of FROM and one of a column, each by a name of its own', () => {
    const aql = 'SELECT s, o FROM (CONTENT_ITEM o) AND EHR_STATUS s';
    expect(madeTwice(stepsOf(aql) ?? [])).toEqual([]);
  });

  it('make each field once, in random queries', () => {
    const random = new Random(20261127);
    const texts = [
      ...Array.from({ length: 300 }, () => randomQuery(random).aql),
      ...randomCasesOverOneData(20261127, 1, 300).map(({ aql }) => aql),
    ];
    const plans = texts.map((aql) => ({ aql, steps: stepsOf(aql) }));
    const found = plans.map(({ aql, steps }) => ({ aql, fields: madeTwice(steps ?? []) }));
    expect(found.filter(({ fields }) => fields.length > 0)).toEqual([]);
    expect(plans.filter(({ steps }) => steps !== null).length).toBeGreaterThan(400);
  });
});

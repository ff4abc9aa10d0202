import { shapeCatalogue } from '../../../../aql/index/shapes.js';
import { emitPlan } from '../../../../aql/mongo/pipeline/emit.js';
import type { QueryPlan } from '../../../../aql/plan/query-plan.js';
import { logicalPlan, passContext } from '../../../../aql/mongo/translate.js';
import type { LogicalPlan } from '../../../../aql/plan/logical-plan.js';
import { optimize } from '../../../../aql/plan/passes/passes.js';
import { CdrError } from '../../../../openehr/base/errors.js';
import { COLLECTIONS } from '../../../../models/access/layout.js';
import type { AqlCase } from '../cases/aql-case.js';
import { CASE_NOW, prepareCase } from '../cases/prepare.js';
import { HILLTOP, SYSTEM_ID } from '../../hilltop/hilltop.js';
import { documentsOf } from '../load-reference.js';

const shapes = shapeCatalogue(
  (documentsOf(HILLTOP).get(COLLECTIONS.aqlShapes) ?? []).map(({ _id }) => String(_id)),
);

/** What a case is compiled to: its plan before any pass, and what runs. */
export interface CasePlans {
  readonly logical: LogicalPlan;
  readonly query: QueryPlan;
}

/** Compiles a case as the server does over the Hilltop data, without a database; the error where it is refused. */
export function plansOfCase(aqlCase: AqlCase): CasePlans | CdrError {
  const { asOf, subsumption = false } = aqlCase.options ?? {};
  try {
    const { scope, page } = prepareCase(aqlCase, SYSTEM_ID);
    const context = {
      shapes,
      leafIndex: 'all' as const,
      isCurrent: true,
      systemId: SYSTEM_ID,
      subsumption,
      asOf: asOf === undefined ? null : new Date(asOf),
      clock: { now: CASE_NOW, offsetMinutes: 0 },
    };
    const logical = logicalPlan(scope, page, context);
    return { logical, query: emitPlan(optimize(logical, passContext(scope, context))) };
  } catch (error) {
    if (error instanceof CdrError) return error;
    throw error;
  }
}

import { shapeCatalogue } from '../../../aql/index/shapes.js';
import type { QueryPlan } from '../../../aql/mongo/plan.js';
import { translate } from '../../../aql/mongo/translate.js';
import { CdrError } from '../../../openehr/base/errors.js';
import { COLLECTIONS } from '../../../models/layout.js';
import type { AqlCase } from '../aql-cases/aql-case.js';
import { CASE_NOW, prepareCase } from '../aql-cases/prepare.js';
import { HILLTOP, SYSTEM_ID } from '../hilltop/hilltop.js';
import { documentsOf } from '../load-reference.js';

const shapes = shapeCatalogue(
  (documentsOf(HILLTOP).get(COLLECTIONS.aqlShapes) ?? []).map(({ _id }) => String(_id)),
);

/** Compiles a case as the server does over the Hilltop data, without a database; the error where it is refused. */
export function planOfCase(aqlCase: AqlCase): QueryPlan | CdrError {
  const { asOf, subsumption = false } = aqlCase.options ?? {};
  try {
    const { scope, page } = prepareCase(aqlCase, SYSTEM_ID);
    return translate(scope, page, {
      shapes,
      leafIndex: 'all',
      isCurrent: true,
      systemId: SYSTEM_ID,
      subsumption,
      asOf: asOf === undefined ? null : new Date(asOf),
      clock: { now: CASE_NOW, offsetMinutes: 0 },
    });
  } catch (error) {
    if (error instanceof CdrError) return error;
    throw error;
  }
}

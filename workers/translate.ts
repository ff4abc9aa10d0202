import { shapeCatalogue } from '../aql/index/shapes.js';
import { translate, type TranslationContext } from '../aql/mongo/translate.js';
import type { QueryPlan } from '../aql/plan/query-plan.js';
import type { Page } from '../aql/semantics/page.js';
import { WatchedClock } from '../aql/semantics/present-time.js';
import { resolveScope } from '../aql/semantics/scope/scope.js';
import type { BoundQuery } from '../aql/syntax/ast.js';
import type { PathAlias } from '../openehr/template/upgrade/path-alias.js';
import { compileWork, within, type Counted, type WorkBudget } from '../openehr/base/work.js';

/** A checked query that is to be translated for the database. */
export interface TranslationRequest {
  readonly query: BoundQuery;
  readonly ehrId: string | null;
  /** Paths that templates have moved. */
  readonly aliases: readonly PathAlias[];
  readonly page: Page;
  readonly context: Omit<TranslationContext, 'shapes' | 'clock'>;
  readonly shapeIds: readonly string[];
  readonly now: Date;
  readonly budget: WorkBudget;
}

/** A plan, whether it depends on the present time, and what making it used. */
export interface Translation {
  readonly plan: QueryPlan;
  readonly isClockRead: boolean;
  readonly used: Readonly<Record<Counted, number>>;
}

/** Translates a query within its budget. @throws CdrError of a budget that is used up; as `translate` */
export function translation(request: TranslationRequest): Translation {
  const { query, ehrId, aliases, page, context, shapeIds, now, budget } = request;
  const work = compileWork(budget, () => performance.now());
  const clock = new WatchedClock(now);
  const plan = within(work, () => {
    const scope = resolveScope(query, { ehrId, aliases });
    return translate(scope, page, { ...context, shapes: shapeCatalogue(shapeIds), clock });
  });
  return { plan, isClockRead: clock.isRead, used: work.used };
}

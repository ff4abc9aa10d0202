import type { BoundQuery } from '../aql/syntax/ast.js';
import { bindParameters } from '../aql/semantics/bind.js';
import { checkScope } from '../aql/semantics/check.js';
import { executedAql } from '../aql/result/executed.js';
import { pageOf, type Page } from '../aql/result/paging.js';
import type { QueryWarning } from '../aql/result/warning.js';
import { refuseUnusedParameters, withEhrId, type QueryParameters } from '../aql/semantics/parameters.js';
import { parseAql } from '../aql/syntax/parse.js';
import type { Clock } from '../aql/semantics/present-time.js';
import { resolveScope } from '../aql/semantics/scope.js';
import type { Scope } from '../aql/semantics/scope-types.js';
import {
  resolveTerminology,
  terminologyQuestions,
  type TerminologyAnswer,
  type TerminologyQuestion,
} from '../aql/semantics/terminology.js';
import type { QueryPlan } from '../aql/mongo/pipeline/plan.js';
import { needsShapes, shapeCatalogue } from '../aql/index/shapes.js';
import { translate } from '../aql/mongo/translate.js';
import type { Settings } from '../config/settings.js';
import { derivedState, shapeIds } from '../models/access/run-pipeline.js';
import { queryWarnings } from './warnings.js';

/** Asks a terminology service the questions of a query. */
export type AskTerminology = (
  questions: readonly TerminologyQuestion[],
) => Promise<ReadonlyMap<string, TerminologyAnswer>>;

/** A query ready to run. */
export interface CompiledQuery {
  readonly plan: QueryPlan;
  readonly page: Page;
  readonly executedAql: string;
  readonly query: BoundQuery;
  readonly scope: Scope;
  readonly request: QueryRequest;
  readonly clock: Clock;
  readonly warnings: readonly QueryWarning[];
}

/**
 * Text to plan: parse, parameters, terminology, scope, checks, paging, translation.
 * docs/spec/aql.md#evaluation-order, steps 1 to 4.
 * @throws invalid for what the query or a parameter gets wrong; unprocessable for paging given twice
 * (docs/spec/aql.md#paging)
 */
export async function compileQuery(
  q: string,
  request: QueryRequest,
  settings: Settings,
  ask: AskTerminology,
): Promise<CompiledQuery> {
  const parsed = parseAql(q);
  if (settings.strictParameters && request.parameters.source === 'text')
    refuseUnusedParameters(parsed, request.parameters);
  const bound = bindParameters(parsed, withEhrId(request.parameters, parsed, request.ehrId));
  const questions = terminologyQuestions(bound);
  const query = resolveTerminology(bound, questions.length === 0 ? new Map() : await ask(questions));
  const scope = resolveScope(query, { ehrId: request.ehrId });
  checkScope(scope, { systemId: settings.systemId });
  const page = pageOf(query, request, settings.aql);
  const shapes = shapeCatalogue(needsShapes(scope.from) ? await shapeIds(null) : []);
  const clock = serverClock();
  const plan = translate(scope, page, {
    shapes,
    ...(await derivedState(settings.aql.leafIndex)),
    systemId: settings.systemId,
    subsumption: settings.aql.subsumption,
    asOf: request.asOf,
    notesEhrs: request.notesEhrs,
    clock,
  });
  const warnings = await queryWarnings(scope, settings.aql.subsumption);
  return { plan, page, executedAql: executedAql(query, page), query, scope, request, clock, warnings };
}

function serverClock(): Clock {
  const now = new Date();
  return { now, offsetMinutes: -now.getTimezoneOffset() };
}

/** What a request asks of a query, wherever it stood in it. */
export interface QueryRequest {
  readonly parameters: QueryParameters;
  readonly ehrId: string | null;
  readonly fetch: number | null;
  readonly offset: number | null;
  readonly asOf: Date | null;
  /** Whether the rows must tell which EHRs they are of. */
  readonly notesEhrs: boolean;
}

import { bindParameters } from '../../../../aql/semantics/bind/bind.js';
import { checkScope } from '../../../../aql/semantics/check.js';
import { pageOf, type Page } from '../../../../aql/semantics/page.js';
import { queryParameters } from '../../../../aql/semantics/bind/parameters.js';
import type { BoundQuery } from '../../../../aql/syntax/ast.js';
import { parseAql } from '../../../../aql/syntax/parse.js';
import { resolveScope } from '../../../../aql/semantics/scope/scope.js';
import type { Scope } from '../../../../aql/semantics/scope-types.js';
import { resolveTerminology, terminologyQuestions } from '../../../../aql/semantics/terminology.js';
import { CdrError } from '../../../../openehr/base/errors.js';
import type { AqlCase } from './aql-case.js';

/** The present time of the cases: functions of the present time are compared in length and order only. */
export const CASE_NOW = new Date('2021-04-01T12:00:00.500Z');

/** A case ready to run: what both the evaluator and the pipeline start from. */
export interface PreparedCase {
  readonly scope: Scope;
  readonly page: Page;
}

/** Parses, binds, resolves and checks a case as the query route does. @throws as the route */
export function prepareCase(aqlCase: AqlCase, systemId: string): PreparedCase {
  const { options = {} } = aqlCase;
  const parsed = parseAql(aqlCase.aql);
  const bound = bindParameters(
    parsed,
    aqlCase.textParameters === undefined
      ? queryParameters('json', Object.entries(aqlCase.parameters ?? {}))
      : queryParameters('text', Object.entries(aqlCase.textParameters)),
  );
  const query = answered(bound, options.terminology);
  const scope = resolveScope(query, { ehrId: options.ehrId ?? null });
  checkScope(scope, { systemId });
  const page = pageOf(
    query,
    { fetch: options.fetch ?? null, offset: options.offset ?? null },
    { defaultFetch: options.defaultFetch ?? null, maxFetch: options.maxFetch ?? null },
  );
  return { scope, page };
}

function answered(
  bound: ReturnType<typeof bindParameters>,
  answers: NonNullable<AqlCase['options']>['terminology'],
): BoundQuery {
  const questions = terminologyQuestions(bound);
  if (questions.length > 0 && answers === undefined)
    throw new CdrError('invalid', 'no terminology service is configured');
  for (const { key } of questions)
    if (answers?.[key] === undefined)
      throw new CdrError('bad-gateway', 'the terminology service gave no answer');
  return resolveTerminology(bound, new Map(Object.entries(answers ?? {})));
}

import { expect, it } from '@jest/globals';
import { bindParameters } from '../../../aql/semantics/bind/bind.js';
import { queryParameters } from '../../../aql/semantics/bind/parameters.js';
import { parseAql } from '../../../aql/syntax/parse.js';
import type { BoundQuery, Query, Unanswered } from '../../../aql/syntax/ast.js';

/* Each `@ts-expect-error` is a proof that `npx tsc` checks: were the line below it correct, the comment would be the error. */
it('takes the query of an earlier phase nowhere for one of a later phase', () => {
  const parsed = parseAql('SELECT e/ehr_id/value FROM EHR e WHERE e/ehr_id/value = $ehr');
  const half = bindParameters(parsed, queryParameters('json', [['ehr', 'x']]));
  const bound = (query: BoundQuery): Query => query;
  const unanswered = (query: Query<Unanswered>): Query<Unanswered> => query;
  // @ts-expect-error -- parameters are not bound
  expect(bound(parsed)).toBe(parsed);
  // @ts-expect-error -- terminology is not resolved
  expect(bound(half)).toBe(half);
  // @ts-expect-error -- parameters are not bound
  expect(unanswered(parsed)).toBe(parsed);
});

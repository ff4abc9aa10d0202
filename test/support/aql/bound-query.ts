import { bindParameters } from '../../../aql/semantics/bind/bind.js';
import { queryParameters, type QueryParameters } from '../../../aql/semantics/bind/parameters.js';
import {
  resolveTerminology,
  terminologyQuestions,
  type TerminologyAnswer,
} from '../../../aql/semantics/terminology.js';
import type { BoundQuery } from '../../../aql/syntax/ast.js';
import { parseAql } from '../../../aql/syntax/parse.js';

/** Fits wherever TERMINOLOGY or a URI may stand. */
const ANSWER: TerminologyAnswer = { kind: 'text', value: 'x' };

/** A query from its text, each question to a terminology service answered with `x`. @throws as its phases */
export function boundQuery(
  aql: string,
  parameters: QueryParameters = queryParameters('json', []),
): BoundQuery {
  const query = bindParameters(parseAql(aql), parameters);
  return resolveTerminology(query, new Map(terminologyQuestions(query).map(({ key }) => [key, ANSWER])));
}

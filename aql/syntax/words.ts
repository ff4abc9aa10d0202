import type { AggregateName } from './ast.js';
import { FUNCTION_NAMES } from './functions.js';

/** Words that are never a variable, an alias or a class. AQL 1.1 lexer. */
export const KEYWORDS: ReadonlySet<string> = new Set([
  ...['SELECT', 'AS', 'FROM', 'WHERE', 'ORDER', 'BY', 'DESC', 'DESCENDING', 'ASC', 'ASCENDING', 'LIMIT'],
  ...['OFFSET', 'DISTINCT', 'VERSION', 'LATEST_VERSION', 'ALL_VERSIONS', 'NULL', 'TOP', 'FORWARD'],
  ...['BACKWARD', 'CONTAINS', 'AND', 'OR', 'NOT', 'EXISTS', 'LIKE', 'MATCHES', 'TRUE', 'FALSE'],
]);

/** Names of the aggregate functions. */
const AGGREGATES: ReadonlySet<string> = new Set<AggregateName>(['COUNT', 'MIN', 'MAX', 'SUM', 'AVG']);

/** Reserved words that name functions; inside a path they are attribute names. */
export const FUNCTION_WORDS: ReadonlySet<string> = new Set([...FUNCTION_NAMES, ...AGGREGATES, 'TERMINOLOGY']);

/** Whether a word, in any case, is a keyword or names a function: what an editor colours. */
export function isAqlWord(word: string): boolean {
  const upper = word.toUpperCase();
  return KEYWORDS.has(upper) || FUNCTION_WORDS.has(upper);
}

/** Whether an upper-cased word is the name of an aggregate function. */
export function isAggregateName(word: string): word is AggregateName {
  return AGGREGATES.has(word);
}

const AT_CODE = /^(?:at|id)\d+(?:\.\d+)*$/;
const ARCHETYPE_ID =
  /^(?:[A-Za-z][\w.-]*::)?[A-Za-z]\w*-\w+-\w+\.[A-Za-z][\w-]*\.v\d+(?:\.\d+){0,2}(?:-(?:rc|alpha)(?:\.\d+)?)?$/;

/** Whether the text is an at-code or id-code (`at0004.1`). */
export function isNodeCode(text: string): boolean {
  return AT_CODE.test(text);
}

/** Whether the text is an archetype id (`openEHR-EHR-OBSERVATION.blood_pressure.v2`, maybe with namespace). */
export function isArchetypeId(text: string): boolean {
  return ARCHETYPE_ID.test(text);
}

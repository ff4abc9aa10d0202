import type { AggregateName, FunctionName } from './ast.js';

/** Words that are never a variable, an alias or a class. AQL 1.1 lexer. */
export const KEYWORDS: ReadonlySet<string> = new Set([
  ...['SELECT', 'AS', 'FROM', 'WHERE', 'ORDER', 'BY', 'DESC', 'DESCENDING', 'ASC', 'ASCENDING', 'LIMIT'],
  ...['OFFSET', 'DISTINCT', 'VERSION', 'LATEST_VERSION', 'ALL_VERSIONS', 'NULL', 'TOP', 'FORWARD'],
  ...['BACKWARD', 'CONTAINS', 'AND', 'OR', 'NOT', 'EXISTS', 'LIKE', 'MATCHES', 'TRUE', 'FALSE'],
]);

/** Fewest and most arguments of each function (docs/spec/aql.md#functions). */
export const FUNCTION_ARITY: Readonly<Record<FunctionName, readonly [number, number]>> = {
  LENGTH: [1, 1],
  CONTAINS: [2, 2],
  POSITION: [2, 2],
  SUBSTRING: [2, 3],
  CONCAT: [1, Infinity],
  CONCAT_WS: [2, Infinity],
  ABS: [1, 1],
  MOD: [2, 2],
  CEIL: [1, 1],
  FLOOR: [1, 1],
  ROUND: [1, 2],
  CURRENT_DATE: [0, 0],
  CURRENT_TIME: [0, 0],
  CURRENT_DATE_TIME: [0, 0],
  NOW: [0, 0],
  CURRENT_TIMEZONE: [0, 0],
};

/** Names of the aggregate functions. */
const AGGREGATES: ReadonlySet<string> = new Set<AggregateName>(['COUNT', 'MIN', 'MAX', 'SUM', 'AVG']);

/** Reserved words that name functions; inside a path they are attribute names. */
export const FUNCTION_WORDS: ReadonlySet<string> = new Set([
  ...Object.keys(FUNCTION_ARITY),
  ...AGGREGATES,
  'TERMINOLOGY',
]);

/** Whether an upper-cased word is the name of a function. */
export function isFunctionName(word: string): word is FunctionName {
  return Object.hasOwn(FUNCTION_ARITY, word);
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

import { compareKeys } from '../../../aql/evaluate/value.js';
import type { Stage } from '../../../aql/index/stage.js';

type Test = (value: unknown, operand: unknown) => boolean;

const ordered =
  (isWanted: (order: number) => boolean): Test =>
  (value, operand) => {
    const [a, b] = [keyOf(value), keyOf(operand)];
    return a !== null && b !== null && typeof a === typeof b && isWanted(compareKeys(a, b));
  };

const OPERATORS: Readonly<Record<string, Test>> = {
  $eq: ordered((order) => order === 0),
  $gt: ordered((order) => order > 0),
  $gte: ordered((order) => order >= 0),
  $lt: ordered((order) => order < 0),
  $lte: ordered((order) => order <= 0),
  $in: (value, operand) => (operand as unknown[]).includes(value),
  $elemMatch: (value, operand) => matches(value as Readonly<Record<string, unknown>>, operand as Stage),
};

/** Times by milliseconds; MongoDB orders them among themselves only, as no other value of the index is compared with one. */
function keyOf(value: unknown): string | number | boolean | null {
  if (value instanceof Date) return value.getTime();
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? value : null;
}

/** Whether MongoDB's `find` has a document for a filter of the few operators that the first match of a query has. */
export function matches(document: Readonly<Record<string, unknown>>, filter: Stage): boolean {
  return Object.entries(filter).every(([field, condition]) => {
    if (field === '$and') return (condition as Stage[]).every((each) => matches(document, each));
    if (field === '$or') return (condition as Stage[]).some((each) => matches(document, each));
    return matchesField(document[field], condition);
  });
}

function matchesField(value: unknown, condition: unknown): boolean {
  const isOperator = typeof condition === 'object' && condition !== null && !(condition instanceof Date);
  const tests = isOperator ? Object.entries(condition) : [['$eq', condition] as const];
  const candidates: readonly unknown[] = Array.isArray(value) ? value : [value];
  return tests.every(([operator, operand]) => {
    if (operator === '$nin') return !candidates.some((each) => (operand as unknown[]).includes(each));
    if (operator === '$all') return (operand as unknown[]).every((each) => candidates.includes(each));
    const test = OPERATORS[operator];
    if (test === undefined) throw new Error(`${operator} is not known here`);
    return candidates.some((each) => test(each, operand));
  });
}

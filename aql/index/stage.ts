import type { ComparisonOperator } from '../syntax/ast.js';
import { counted } from '../../openehr/base/work.js';

/** A piece of MongoDB's language as plain data. */
export type MongoValue =
  string | number | boolean | null | Date | readonly MongoValue[] | { readonly [name: string]: MongoValue };

/** A stage, or a native match document, as plain data. */
export type Stage = Readonly<Record<string, MongoValue>>;

/** The operator of MongoDB for one of AQL. */
export const MONGO_OPERATOR = {
  '=': '$eq',
  '!=': '$ne',
  '<': '$lt',
  '<=': '$lte',
  '>': '$gt',
  '>=': '$gte',
} as const satisfies Record<ComparisonOperator, string>;

const LOGICAL: ReadonlySet<string> = new Set(['$and', '$or', '$nor']);

/** Dotted fields that a match document reads. */
export function fieldsOfMatch(match: MongoValue, found: Set<string> = new Set()): Set<string> {
  for (const [name, part] of counted(valueMembers(match))) {
    if (LOGICAL.has(name)) for (const [, each] of counted(valueMembers(part))) fieldsOfMatch(each, found);
    else if (!name.startsWith('$')) found.add(name);
  }
  return found;
}

function valueMembers(value: MongoValue): readonly (readonly [string, MongoValue])[] {
  if (typeof value !== 'object' || value === null || value instanceof Date) return [];
  return isValueList(value) ? counted(value).map((part) => ['', part]) : Object.entries(value);
}

function isValueList(value: MongoValue): value is readonly MongoValue[] {
  return Array.isArray(value);
}

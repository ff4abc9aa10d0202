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
    else if (name === '$expr') addFieldsOf(part, found);
    else if (!name.startsWith('$')) addField(name, part, found);
  }
  return found;
}

/** A field of which something is asked, and what is asked of its members. */
function addField(name: string, asked: MongoValue, found: Set<string>): void {
  found.add(name);
  for (const [operator, match] of counted(valueMembers(asked)))
    if (operator === '$elemMatch')
      for (const inner of counted([...fieldsOfMatch(match)])) found.add(`${name}.${inner}`);
}

/** Dotted fields that an expression in MongoDB's language reads. */
function addFieldsOf(expression: MongoValue, found: Set<string>): void {
  if (typeof expression === 'string' && /^\$[^$]/.test(expression)) found.add(expression.slice(1));
  for (const [name, part] of counted(valueMembers(expression)))
    if (name !== '$literal') addFieldsOf(part, found);
}

function valueMembers(value: MongoValue): readonly (readonly [string, MongoValue])[] {
  if (typeof value !== 'object' || value === null || value instanceof Date) return [];
  return isValueList(value) ? counted(value).map((part) => ['', part]) : Object.entries(value);
}

function isValueList(value: MongoValue): value is readonly MongoValue[] {
  return Array.isArray(value);
}

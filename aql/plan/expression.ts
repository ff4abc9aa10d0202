/** A piece of MongoDB's expression or match language as plain data. */
export type Expression =
  string | number | boolean | null | Date | readonly Expression[] | { readonly [name: string]: Expression };

/** One aggregation stage. */
export type Stage = Readonly<Record<string, Expression>>;

/** A value of the query as a constant: the only way values enter an expression. */
export function literal(value: string | number | boolean | null | Date): Expression {
  return { $literal: value };
}

/** Conjunction without needless nesting; `true` when empty. */
export function and(...parts: Expression[]): Expression {
  return conjunction(parts);
}

/** As `and`, for parts that are as many as the query likes: too many arguments would overflow the stack. */
export function conjunction(parts: readonly Expression[]): Expression {
  const needed = parts.filter((part) => part !== true);
  if (needed.includes(false)) return false;
  const [only] = needed;
  if (only === undefined) return true;
  return needed.length === 1 ? only : { $and: needed };
}

/** Disjunction without needless nesting; `false` when empty. */
export function or(...parts: Expression[]): Expression {
  return disjunction(parts);
}

/** As `or`, for parts that are as many as the query likes: too many arguments would overflow the stack. */
export function disjunction(parts: readonly Expression[]): Expression {
  const needed = parts.filter((part) => part !== false);
  if (needed.includes(true)) return true;
  const [only] = needed;
  if (only === undefined) return false;
  return needed.length === 1 ? only : { $or: needed };
}

/** Negation. */
export function not(part: Expression): Expression {
  return typeof part === 'boolean' ? !part : { $not: [part] };
}

/** Whether a value is there: missing and null sort before everything else. */
export function present(value: Expression): Expression {
  return { $gt: [value, null] };
}

/** Equality of two expressions. */
export function equal(left: Expression, right: Expression): Expression {
  return { $eq: [left, right] };
}

/** Whether a value is one of constants. */
export function isOneOf(value: Expression, constants: readonly (string | number | boolean)[]): Expression {
  const [only] = constants;
  if (only === undefined) return false;
  if (constants.length === 1) return equal(value, literal(only));
  return { $in: [value, { $literal: [...constants] }] };
}

/** `then` where the condition holds, else `otherwise` (null). */
export function when(condition: Expression, then: Expression, otherwise: Expression = null): Expression {
  if (condition === true) return then;
  if (condition === false) return otherwise;
  return { $cond: [condition, then, otherwise] };
}

/** The members for which `condition` (about `$$<name>`) holds. */
export function filter(input: Expression, name: string, condition: Expression): Expression {
  return condition === true ? input : { $filter: { input, as: name, cond: condition } };
}

/** `each` (about `$$<name>`) for every member. */
export function map(input: Expression, name: string, each: Expression): Expression {
  return each === `$$${name}` ? input : { $map: { input, as: name, in: each } };
}

/** `body` about `$$<name>`, which is `value`. */
export function bind(name: string, value: Expression, body: Expression): Expression {
  return { $let: { vars: { [name]: value }, in: body } };
}

/** An array, the empty one in place of a missing value. */
export function listOf(value: Expression): Expression {
  return { $ifNull: [value, []] };
}

/** The arrays one after another. */
export function concatenate(parts: readonly Expression[]): Expression {
  const [only] = parts;
  if (only === undefined) return [];
  return parts.length === 1 ? only : { $concatArrays: [...parts] };
}

/** One level of an array of arrays taken out. */
export function flatten(value: Expression): Expression {
  return { $reduce: { input: value, initialValue: [], in: { $concatArrays: ['$$value', '$$this'] } } };
}

/** Whether `condition` (about `$$<name>`) holds for any member. */
export function any(input: Expression, name: string, condition: Expression): Expression {
  return { $anyElementTrue: [map(input, name, condition)] };
}

/** Whether an array has no member. */
export function isEmpty(value: Expression): Expression {
  return equal(value, []);
}

/** `array`, or `[null]` in place of an empty one: an absent operand of OR. */
export function orNull(array: Expression): Expression {
  return { $cond: [isEmpty(array), [null], array] };
}

const FIELDS = new WeakMap<object, ReadonlySet<string>>();

/** Dotted fields (`x1.o`) that an expression reads, variables left out. */
export function fieldsOf(expression: Expression): ReadonlySet<string> {
  const isObject = typeof expression === 'object' && expression !== null;
  const known = isObject ? FIELDS.get(expression) : undefined;
  if (known !== undefined) return known;
  const found = new Set<string>();
  addFields(expression, found);
  if (isObject) FIELDS.set(expression, found);
  return found;
}

function addFields(expression: Expression, found: Set<string>): void {
  if (typeof expression === 'string') {
    if (expression.startsWith('$') && !expression.startsWith('$$')) found.add(expression.slice(1));
  } else if (isList(expression)) for (const part of expression) addFields(part, found);
  else if (typeof expression === 'object' && expression !== null && !(expression instanceof Date)) {
    for (const name in expression) if (name !== '$literal') addFields(expression[name] ?? null, found);
  }
}

/** Dotted fields that a match document reads. */
export function fieldsOfMatch(match: Expression, found: Set<string> = new Set()): Set<string> {
  for (const [name, part] of membersOf(match)) {
    if (name === '$expr') addFields(part, found);
    else if (LOGICAL.has(name)) for (const [, each] of membersOf(part)) fieldsOfMatch(each, found);
    else if (!name.startsWith('$')) found.add(name);
  }
  return found;
}

const LOGICAL: ReadonlySet<string> = new Set(['$and', '$or', '$nor']);

function membersOf(expression: Expression): readonly (readonly [string, Expression])[] {
  if (typeof expression !== 'object' || expression === null || expression instanceof Date) return [];
  return isList(expression) ? expression.map((part) => ['', part]) : Object.entries(expression);
}

function isList(value: Expression): value is readonly Expression[] {
  return Array.isArray(value);
}

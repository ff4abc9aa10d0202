import { counted, step } from '../../openehr/base/work.js';
/** An expression over one document: what MongoDB's aggregation language is made of. `aql/mongo/pipeline/emit.ts` writes it. */
export type Expression =
  | Constant
  | Reference
  | LiteralValue
  | Call
  | readonly Expression[]
  /** A document made of its members. */
  | { readonly [name: string]: Expression };

/** A constant of this program, never one of a query: a text that begins with `$` is refused. */
type Constant = string | number | boolean | null;

/** A field of the document or a variable, or something inside it. */
export type Reference = Field | Variable;

/** A dotted field of the document. */
export interface Field {
  readonly kind: 'field';
  readonly path: string;
}

/** A variable that a surrounding call binds, or one of MongoDB's own; `path` is dotted, '' for the whole value. */
export interface Variable {
  readonly kind: 'variable';
  readonly name: string;
  readonly path: string;
}

/** A value of the query: never read as a part of the language. */
export interface LiteralValue {
  readonly kind: 'literal';
  readonly value: LiteralScalar | readonly LiteralScalar[];
}

type LiteralScalar = string | number | boolean | null | Date;

/** An operator of MongoDB with its argument, list of arguments, or arguments by name. */
export interface Call {
  readonly kind: 'call';
  readonly operator: Operator;
  readonly args: Expression;
}

/** Name of an operator. */
export type Operator = `$${string}`;

/** A dotted field of the document. */
export function fieldRef(path: string): Field {
  return { kind: 'field', path };
}

/** A variable, or something inside it. */
export function variable(name: string, path = ''): Variable {
  return { kind: 'variable', name, path };
}

/** Something inside what a reference names. */
export function member<R extends Reference>(reference: R, path: string): R {
  const whole = reference.path === '' ? path : `${reference.path}.${path}`;
  return { ...reference, path: whole };
}

/** An operator with its arguments. */
export function call(operator: Operator, args: Expression): Call {
  return { kind: 'call', operator, args };
}

/** A value of the query as a constant: the only way values enter an expression. */
export function literal(value: LiteralScalar): LiteralValue {
  return { kind: 'literal', value };
}

/** Several values as a constant list. */
export function literalList(values: readonly LiteralScalar[]): LiteralValue {
  return { kind: 'literal', value: values };
}

/** Conjunction without nesting and repeats; `true` when empty. */
export function and(...parts: Expression[]): Expression {
  return conjunction(parts);
}

/** As `and`, for parts that are as many as the query likes: too many arguments would overflow the stack. */
export function conjunction(parts: readonly Expression[]): Expression {
  return joinExpressions('$and', parts, true);
}

/** Disjunction without nesting and repeats; `false` when empty. */
export function or(...parts: Expression[]): Expression {
  return disjunction(parts);
}

/** As `or`, for parts that are as many as the query likes: too many arguments would overflow the stack. */
export function disjunction(parts: readonly Expression[]): Expression {
  return joinExpressions('$or', parts, false);
}

/** More parts than these are not compared with each other: nothing that is built here repeats itself so often. */
const MOST_COMPARED = 16;

/** `neutral` is left out, and its opposite decides alone. */
function joinExpressions(
  operator: '$and' | '$or',
  parts: readonly Expression[],
  neutral: boolean,
): Expression {
  const flat = counted(counted(parts).flatMap((part) => operandsOf(operator, part))).filter(
    (part) => part !== neutral,
  );
  if (flat.includes(!neutral)) return !neutral;
  const different =
    flat.length > MOST_COMPARED
      ? flat
      : counted(flat).filter(
          (part, index) => !counted(flat.slice(0, index)).some((before) => isSameExpression(before, part)),
        );
  const [only] = different;
  if (only === undefined) return neutral;
  return different.length === 1 ? only : call(operator, different);
}

/** What an expression joins by the operator: itself where it is anything else. */
function operandsOf(operator: Operator, part: Expression): readonly Expression[] {
  if (!isNode(part) || part.kind !== 'call' || part.operator !== operator) return [part];
  return isList(part.args) ? part.args : [part];
}

function isSameExpression(left: unknown, right: unknown): boolean {
  if (Object.is(left, right)) return true;
  if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null) return false;
  if (left instanceof Date || right instanceof Date)
    return left instanceof Date && right instanceof Date && left.getTime() === right.getTime();
  const names = Object.keys(left);
  return (
    Array.isArray(left) === Array.isArray(right) &&
    names.length === Object.keys(right).length &&
    counted(names).every((name) => isSameExpression(Reflect.get(left, name), Reflect.get(right, name)))
  );
}

/** Negation. */
export function not(part: Expression): Expression {
  return typeof part === 'boolean' ? !part : call('$not', [part]);
}

/** Whether a value is there: missing and null sort before everything else. */
export function present(value: Expression): Expression {
  return call('$gt', [value, null]);
}

/** Equality of two expressions. */
export function equal(left: Expression, right: Expression): Expression {
  return call('$eq', [left, right]);
}

/** Whether a value is one of constants. */
export function isOneOf(value: Expression, constants: readonly (string | number | boolean)[]): Expression {
  const [only] = constants;
  if (only === undefined) return false;
  if (constants.length === 1) return equal(value, literal(only));
  return call('$in', [value, literalList(constants)]);
}

/** `then` where the condition holds, else `otherwise` (null). */
export function when(condition: Expression, then: Expression, otherwise: Expression = null): Expression {
  if (condition === true) return then;
  if (condition === false) return otherwise;
  return call('$cond', [condition, then, otherwise]);
}

/** The members for which `condition` (about `$$<name>`) holds. */
export function filter(input: Expression, name: string, condition: Expression): Expression {
  return condition === true ? input : call('$filter', { input, as: name, cond: condition });
}

/** `each` (about `$$<name>`) for every member. */
export function map(input: Expression, name: string, each: Expression): Expression {
  return isVariable(each, name) ? input : call('$map', { input, as: name, in: each });
}

/** `body` about `$$<name>`, which is `value`. */
export function bind(name: string, value: Expression, body: Expression): Expression {
  return call('$let', { vars: { [name]: value }, in: body });
}

/** An array, the empty one in place of a missing value. */
export function listOf(value: Expression): Expression {
  return call('$ifNull', [value, []]);
}

/** The arrays one after another. */
export function concatenate(parts: readonly Expression[]): Expression {
  const [only] = parts;
  if (only === undefined) return [];
  return parts.length === 1 ? only : call('$concatArrays', [...parts]);
}

/** One level of an array of arrays taken out. */
export function flatten(value: Expression): Expression {
  return call('$reduce', {
    input: value,
    initialValue: [],
    in: call('$concatArrays', [variable('value'), variable('this')]),
  });
}

/** Whether `condition` (about `$$<name>`) holds for any member. */
export function any(input: Expression, name: string, condition: Expression): Expression {
  return call('$anyElementTrue', [map(input, name, condition)]);
}

/** Whether an array has no member. */
export function isEmpty(value: Expression): Expression {
  return equal(value, []);
}

/** `array`, or `[null]` in place of an empty one: an absent operand of OR. */
export function orNull(array: Expression): Expression {
  return call('$cond', [isEmpty(array), [null], array]);
}

function isVariable(expression: Expression, name: string): boolean {
  return (
    isNode(expression) && expression.kind === 'variable' && expression.name === name && expression.path === ''
  );
}

/** Whether an expression is a reference, a literal or a call, and no list, document or constant. */
export function isNode(expression: Expression): expression is Reference | LiteralValue | Call {
  if (typeof expression !== 'object' || expression === null || isList(expression)) return false;
  return typeof expression.kind === 'string' && NODES.has(expression.kind);
}

const NODES: ReadonlySet<string> = new Set(['field', 'variable', 'literal', 'call'] satisfies (
  Reference | LiteralValue | Call
)['kind'][]);

/** Whether an expression is a list of expressions. */
export function isList(expression: Expression): expression is readonly Expression[] {
  return Array.isArray(expression);
}

/** The expression with others in place of some whole fields, by their paths. */
export function withFields(expression: Expression, others: ReadonlyMap<string, Expression>): Expression {
  step();
  if (isNode(expression)) {
    if (expression.kind === 'call') return { ...expression, args: withFields(expression.args, others) };
    return expression.kind === 'field' ? (others.get(expression.path) ?? expression) : expression;
  }
  if (isList(expression)) return counted(expression).map((part) => withFields(part, others));
  if (typeof expression !== 'object' || expression === null) return expression;
  return Object.fromEntries(
    counted(Object.entries(expression)).map(([name, part]) => [name, withFields(part, others)]),
  );
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
  if (isNode(expression)) {
    if (expression.kind === 'field') found.add(expression.path);
    else if (expression.kind === 'call') addFields(expression.args, found);
  } else if (isList(expression)) for (const part of counted(expression)) addFields(part, found);
  else if (typeof expression === 'object' && expression !== null)
    for (const name in expression) {
      step();
      addFields(expression[name] ?? null, found);
    }
}

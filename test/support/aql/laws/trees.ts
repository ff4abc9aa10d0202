import type {
  ClassExpression,
  ColumnExpression,
  Condition,
  FromExpression,
  IdentifiedPath,
  ParsedQuery,
  Predicate,
  PredicateCondition,
  Test,
  Unbound,
  ValueExpression,
} from '../../../../aql/syntax/ast.js';
import { mapCondition } from '../../../../aql/syntax/walk.js';
import { parseAql } from '../../../../aql/syntax/parse.js';
import { renderAql, renderValue } from '../../../../aql/syntax/render.js';

/** A query as the laws change it. */
export type Tree = ParsedQuery;
type Where = Condition<Unbound>;

/** Rows of paths: what a random query selects, without functions, aggregates, order and page. Null when it has no path. */
export function plainQuery(aql: string): Tree | null {
  const query = parseAql(aql);
  const paths = new Map<string, Tree['select']['columns'][number]>();
  for (const column of query.select.columns)
    if (column.expression.kind === 'path')
      paths.set(renderValue(column.expression), { ...column, alias: null });
  if (paths.size === 0) return null;
  const select = { distinct: false, top: null, columns: [...paths.values()] };
  return { ...query, select, orderBy: [], limit: null };
}

/** The same query with other columns. */
export function selecting(
  query: Tree,
  columns: readonly ColumnExpression<Unbound>[],
  distinct = false,
): Tree {
  const at = AT;
  const select = {
    distinct,
    top: null,
    columns: columns.map((expression) => ({ expression, alias: null, text: '', at })),
  };
  return { ...query, select };
}

/** Where laws say nothing about. */
export const AT = { line: 1, column: 1 };

/** The condition of a text. */
export function conditionOf(text: string): Where {
  const { where } = parseAql(`SELECT e FROM EHR e WHERE ${text}`);
  if (where === null) throw new TypeError('a condition was asked for');
  return where;
}

/** NOT of a condition. */
export const not = (operand: Where): Where => ({ kind: 'not', operand, at: AT });

/** AND or OR of conditions. */
export const joined = (kind: 'and' | 'or', ...operands: Where[]): Where => ({ kind, operands, at: AT });

/** All AND and OR with their operands the other way round. */
export function commuted(condition: Where): Where {
  if (condition.kind === 'not') return { ...condition, operand: commuted(condition.operand) };
  if (condition.kind !== 'and' && condition.kind !== 'or') return condition;
  return { ...condition, operands: condition.operands.map(commuted).reverse() };
}

/** All AND as NOT of OR of NOT, and all OR as NOT of AND of NOT. */
export function deMorgan(condition: Where): Where {
  if (condition.kind === 'not') return { ...condition, operand: deMorgan(condition.operand) };
  if (condition.kind !== 'and' && condition.kind !== 'or') return condition;
  const operands = condition.operands.map((each) => not(deMorgan(each)));
  return not(joined(condition.kind === 'and' ? 'or' : 'and', ...operands));
}

/** FROM with the operands of AND and OR the other way round. */
export function swapped(from: Tree['from']): Tree['from'] {
  if (from.kind !== 'class') return { ...from, operands: from.operands.map(swapped).reverse() };
  const { contains } = from;
  return contains === null ? from : { ...from, contains: { ...contains, child: swapped(contains.child) } };
}

/** A query with other predicates, wherever they stand. */
export function withPredicates(query: Tree, change: (predicate: Predicate) => Predicate): Tree {
  // Predicates are the only objects of their kind, so a copy of the tree finds them all.
  return parseAql(
    renderAql(
      JSON.parse(JSON.stringify(query), (_, value: unknown) =>
        isPredicate(value) ? change(value) : value,
      ) as Tree,
    ),
  );
}

function isPredicate(value: unknown): value is Predicate {
  return typeof value === 'object' && value !== null && (value as { kind?: unknown }).kind === 'predicate';
}

/** `[a, 'n']` as `[a and name/value='n']`. */
export function spelledOut(predicate: Predicate): Predicate {
  const alternatives = predicate.alternatives.map((group) =>
    group.flatMap((condition): PredicateCondition[] =>
      condition.kind === 'node' && condition.name?.kind === 'string'
        ? [{ ...condition, name: null }, nameIs(condition.name.value)]
        : [condition],
    ),
  );
  return { ...predicate, alternatives };
}

function nameIs(name: string): PredicateCondition {
  const steps = ['name', 'value'].map((attribute) => ({ attribute, predicate: null, at: AT }));
  const operand = { kind: 'string', value: name, at: AT } as const;
  return {
    kind: 'predicate-comparison',
    path: { kind: 'object-path', steps, at: AT },
    operator: '=',
    operand,
    at: AT,
  };
}

/** Every test of WHERE as `change` makes it. */
export function withTests(query: Tree, change: (test: Test<Unbound>) => Where): Tree {
  return query.where === null ? query : { ...query, where: mapCondition(query.where, change) };
}

/** Every literal that WHERE compares a value with as `change` makes it. */
export function withLiterals(
  query: Tree,
  change: (literal: ValueExpression<Unbound>) => ValueExpression<Unbound>,
): Tree {
  return withTests(query, (test) =>
    test.kind === 'comparison' && isValue(test.right) ? { ...test, right: change(test.right) } : test,
  );
}

/** Whether a value is a literal other than NULL. */
export function isValue(value: ValueExpression<Unbound>): boolean {
  return ['string', 'integer', 'real', 'boolean'].includes(value.kind);
}

/** The classes of FROM from the first down, as far as one CONTAINS one. */
export function chainOf(from: FromExpression): readonly ClassExpression[] {
  if (from.kind !== 'class') return [];
  const { contains } = from;
  return contains === null || contains.negated ? [from] : [from, ...chainOf(contains.child)];
}

/** FROM with one class of its chain changed. */
export function withClass(
  from: Tree['from'],
  old: ClassExpression,
  change: (old: ClassExpression) => ClassExpression,
): Tree['from'] {
  if (from === old) return change(old);
  if (from.kind !== 'class' || from.contains === null) return from;
  return { ...from, contains: { ...from.contains, child: withClass(from.contains.child, old, change) } };
}

/** A path from a variable. */
export function pathOf(variable: string, ...attributes: string[]): IdentifiedPath {
  const steps = attributes.map((attribute) => ({ attribute, predicate: null, at: AT }));
  return { kind: 'path', variable, predicate: null, steps, at: AT };
}

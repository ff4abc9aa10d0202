import { isList, isNode } from '../../plan/expression.js';
import type { Expression } from '../../plan/expression.js';
import type { MongoValue } from '../../index/stage.js';
import { counted, step } from '../../../openehr/base/work.js';

/** An expression in MongoDB's language: the only place that writes `$x` and `$$x`. */
export function emit(expression: Expression): MongoValue {
  if (isNode(expression))
    switch (expression.kind) {
      case 'field':
        return `$${expression.path}`;
      case 'variable':
        return `$$${expression.name}${expression.path === '' ? '' : `.${expression.path}`}`;
      case 'literal':
        return { $literal: expression.value };
      case 'call':
        return { [expression.operator]: emit(expression.args) };
    }
  if (isList(expression)) return counted(expression).map(emit);
  if (typeof expression === 'object' && expression !== null) return emitAll(expression);
  if (typeof expression === 'string' && expression.startsWith('$'))
    throw new TypeError(`the constant ${expression} would be read as a reference`);
  return expression;
}

/** The members of a document, each an expression. */
export function emitAll(members: Readonly<Record<string, Expression>>): Record<string, MongoValue> {
  const emitted: Record<string, MongoValue> = {};
  for (const name in members) {
    step();
    emitted[name] = emit(members[name] ?? null);
  }
  return emitted;
}

import type { JsonObject } from '../openehr/base/json.js';

/** An expression of Cedar as JSON: one operator with its operands. */
export type Expression = JsonObject;

/** A policy of Cedar as JSON, as far as it is read here. */
export interface PolicyJson {
  readonly effect: 'permit' | 'forbid';
  readonly principal: JsonObject;
  readonly action: JsonObject;
  readonly resource: JsonObject;
  readonly conditions: readonly { readonly kind: 'when' | 'unless'; readonly body: Expression }[];
  readonly annotations?: Readonly<Record<string, string | null>>;
}

/** The operator of an expression and what it is applied to. */
export function operatorOf(expression: Expression): [name: string, operands: unknown] {
  const [name] = Object.keys(expression);
  if (name === undefined) throw new TypeError('an expression of Cedar has an operator');
  return [name, expression[name]];
}

/** The expressions inside an expression, in the order in which they are written. */
export function partsOf(expression: Expression): Expression[] {
  const [, operands] = operatorOf(expression);
  return expressionsIn(operands);
}

/** Names of operands in the order in which they are written. */
const ORDER = ['if', 'then', 'else', 'arg', 'left', 'right', 'in'];

function expressionsIn(operands: unknown): Expression[] {
  if (Array.isArray(operands)) return operands.filter((each) => isExpression(each));
  if (typeof operands !== 'object' || operands === null) return [];
  const named = operands as Record<string, unknown>;
  const found: Expression[] = [];
  for (const name of ORDER) {
    const operand = named[name];
    if (isExpression(operand)) found.push(operand);
  }
  return found;
}

function isExpression(value: unknown): value is Expression {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

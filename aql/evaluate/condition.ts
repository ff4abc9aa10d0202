import { unreachable } from '../../openehr/base/errors.js';
import { counted, patternSteps, step } from '../../openehr/base/work.js';
import type {
  CodeItem,
  Comparison,
  ComparisonOperator,
  Condition,
  Literal,
  MatchesTest,
  ValueExpression,
} from '../syntax/ast.js';
import { isLike, likeSteps } from '../semantics/like-pattern.js';
import type { Scope } from '../semantics/scope-types.js';
import { presentTime, type Clock } from '../semantics/present-time.js';
import { isPresentTime } from '../syntax/functions.js';
import { callFunction } from './functions.js';
import { compareIdentifier, type Rules } from './predicate.js';
import { valueInRow } from './fallbacks.js';
import { isThere, type Row } from './rows.js';
import { compareReadings, compareWithLiteral, plain, readingOf, textForm, type Found } from './value.js';

/** True, false, or null = unknown. */
export type Truth = boolean | null;

/** Evaluates values and conditions in rows of one query. */
export class RowEvaluator {
  constructor(
    private readonly scope: Scope,
    private readonly rules: Rules,
    private readonly clock: Clock,
  ) {}

  /** WHERE in three-valued logic (docs/spec/aql.md#null). */
  truth(condition: Condition, row: Row): Truth {
    step();
    switch (condition.kind) {
      case 'and':
        return allTrue(counted(condition.operands).map((each) => this.truth(each, row)));
      case 'or':
        return not(allTrue(counted(condition.operands).map((each) => not(this.truth(each, row)))));
      case 'not':
        return not(this.truth(condition.operand, row));
      case 'exists':
        return isThere(this.scope.existenceOf(condition.path), row, this.rules);
      case 'comparison':
        return this.comparison(condition, row);
      case 'like':
        return negateIf(condition.negated, this.like(condition.left, condition.pattern.value, row));
      case 'matches':
        return negateIf(condition.negated, this.matches(condition, row));
      default:
        return unreachable(condition);
    }
  }

  /** The value of an expression in a row, null = NULL. */
  value(expression: ValueExpression, row: Row): Found | null {
    step();
    switch (expression.kind) {
      case 'path':
        return valueInRow(this.scope.useOf(expression), row);
      case 'function': {
        const args = counted(expression.args).map((arg) => this.value(arg, row));
        const result = callFunction(expression, args, this.clock);
        return result === null ? null : plain(result);
      }
      case 'null':
        return null;
      default:
        return plain(expression.value);
    }
  }

  private comparison(condition: Comparison, row: Row): Truth {
    const { left, operator, right } = condition;
    if (right.kind === 'null') {
      const isPresent =
        left.kind === 'path'
          ? isThere(this.scope.existenceOf(left), row, this.rules)
          : this.value(left, row) !== null;
      return isPresent === (operator === '!=');
    }
    const [leftLiteral, rightLiteral] = [this.literal(left), this.literal(right)];
    if (rightLiteral !== null) return this.withLiteral(left, operator, rightLiteral, row);
    if (leftLiteral !== null) return this.withLiteral(right, turned(operator), leftLiteral, row);
    const [leftValue, rightValue] = [this.value(left, row), this.value(right, row)];
    if (leftValue === null || rightValue === null) return null;
    return compareReadings(readingOf(leftValue), operator, readingOf(rightValue));
  }

  /** The literal that a value is in every row: the present time is one too, so that it can be a time. */
  private literal(value: ValueExpression): Exclude<Literal, { kind: 'null' }> | null {
    if (value.kind === 'function')
      return isPresentTime(value.name)
        ? { kind: 'string', value: presentTime(value.name, this.clock), at: value.at }
        : null;
    const isLiteral =
      value.kind === 'string' ||
      value.kind === 'integer' ||
      value.kind === 'real' ||
      value.kind === 'boolean';
    return isLiteral ? value : null;
  }

  private withLiteral(
    value: ValueExpression,
    operator: ComparisonOperator,
    literal: Literal | CodeItem,
    row: Row,
  ): Truth {
    const found = this.value(value, row);
    if (found === null) return null;
    const kind = value.kind === 'path' ? this.scope.useOf(value).type.identifier : null;
    if (literal.kind === 'string' && kind !== null)
      return compareIdentifier(found, operator, literal.value, { kind, rules: this.rules });
    return compareWithLiteral(readingOf(found), operator, literal);
  }

  private like(left: ValueExpression, pattern: string, row: Row): Truth {
    const found = this.value(left, row);
    if (found === null) return null;
    const text = textForm(found);
    if (text !== null) patternSteps(likeSteps(text, pattern));
    return text !== null && isLike(text, pattern);
  }

  private matches({ left, set }: MatchesTest, row: Row): Truth {
    if (this.value(left, row) === null) return null;
    step(set.items.length);
    return counted(set.items).some((item) => this.withLiteral(left, '=', item, row) === true);
  }
}

const TURNED: Readonly<Record<ComparisonOperator, ComparisonOperator>> = {
  '=': '=',
  '!=': '!=',
  '<': '>',
  '<=': '>=',
  '>': '<',
  '>=': '<=',
};

function turned(operator: ComparisonOperator): ComparisonOperator {
  return TURNED[operator];
}

function allTrue(parts: readonly Truth[]): Truth {
  if (parts.includes(false)) return false;
  return parts.includes(null) ? null : true;
}

function not(truth: Truth): Truth {
  return truth === null ? null : !truth;
}

function negateIf(isNegated: boolean, truth: Truth): Truth {
  return isNegated ? not(truth) : truth;
}

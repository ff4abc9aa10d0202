import { parseDate, parseDateTime } from '../../../openehr/base/iso8601.js';
import type { CodeItem, ComparisonOperator, Literal } from '../../syntax/ast.js';
import { MONGO_OPERATOR } from '../../index/stage.js';
import { literalIn } from '../../semantics/literal-value.js';
import { and, call, conjunction, disjunction, isOneOf, literal, not, or } from '../../plan/expression.js';
import type { Expression } from '../../plan/expression.js';
import type { DomainValue } from './values.js';
import { counted } from '../../../openehr/base/work.js';

/**
 * A condition in three-valued logic: when it is true and when it is false; neither is unknown. NOT swaps both.
 */
export interface Truth {
  readonly yes: Expression;
  readonly no: Expression;
}

/** An operand of a comparison. */
export interface Operand {
  /** Readings that exclude each other. */
  readonly values: readonly DomainValue[];
  /** Whether there is a value of any kind. */
  readonly present: Expression;
}

const BASIC = { basic: true };

/** Truth of a condition that is false wherever `known` holds and it is not true. */
export function truth(yes: Expression, known: Expression): Truth {
  return { yes: and(known, yes), no: and(known, not(yes)) };
}

/** `value operator item` where the guard holds; false when the literal is of another domain. */
function compareWithLiteral(
  value: DomainValue,
  operator: Exclude<ComparisonOperator, '!='>,
  item: Literal | CodeItem,
): Expression {
  const constant = literalIn(value.domain, item);
  if (constant === null) return compareDateWithTime(value, operator, item);
  const plain: Expression = call(MONGO_OPERATOR[operator], [value.value, literal(constant)]);
  const coded =
    value.codedValue !== null && operator === '=' && typeof constant === 'string' && constant.includes('::')
      ? call('$eq', [value.codedValue, literal(constant)])
      : false;
  return and(value.guard, or(plain, coded));
}

/** A DV_DATE never equals a literal that has a time; the order looks at the literal's date. */
function compareDateWithTime(
  value: DomainValue,
  operator: Exclude<ComparisonOperator, '!='>,
  item: Literal | CodeItem,
): Expression {
  if (value.domain !== 'date' || item.kind !== 'string' || operator === '=') return false;
  if (parseDateTime(item.value, BASIC) === null) return false;
  const day = parseDate(item.value.slice(0, item.value.indexOf('T')), BASIC);
  if (day === null) return false;
  return and(value.guard, call(MONGO_OPERATOR[operator], [value.value, literal(day.lower)]));
}

/** `operand operator item` in three-valued logic (docs/spec/aql.md#null). */
export function literalTruth(
  operand: Operand,
  operator: ComparisonOperator,
  item: Literal | CodeItem,
): Truth {
  const each = operator === '!=' ? '=' : operator;
  const matches = disjunction(counted(operand.values).map((value) => compareWithLiteral(value, each, item)));
  if (operator !== '!=') return truth(matches, operand.present);
  return truth(not(matches), operand.present);
}

/** `operand` is one of some literals, in three-valued logic: one look-up for each reading, however many they are. */
export function literalListTruth(operand: Operand, items: readonly Literal[]): Truth {
  const matches = counted(operand.values).map(({ domain, guard, value, codedValue }) => {
    const constants = counted(items)
      .map((item) => literalIn(domain, item))
      .filter((each) => each !== null);
    const codes = codedValue === null ? [] : counted(constants).filter(isCode);
    return and(
      guard,
      or(isOneOf(value, constants), codedValue === null ? false : isOneOf(codedValue, codes)),
    );
  });
  return truth(disjunction(matches), operand.present);
}

function isCode(constant: string | number | boolean): boolean {
  return typeof constant === 'string' && constant.includes('::');
}

/** `left operator right` for two operands that both depend on the document. */
export function operandTruth(left: Operand, operator: ComparisonOperator, right: Operand): Truth {
  const each = MONGO_OPERATOR[operator === '!=' ? '=' : operator];
  const matches = disjunction(
    counted(left.values).flatMap((l) =>
      counted(right.values)
        .filter((r) => r.domain === l.domain)
        .map((r) => and(l.guard, r.guard, call(each, [l.value, r.value]))),
    ),
  );
  const known = and(left.present, right.present);
  return truth(operator === '!=' ? not(matches) : matches, known);
}

/** All true; unknown as in SQL. */
export function allOf(parts: readonly Truth[]): Truth {
  return {
    yes: conjunction(counted(parts).map(({ yes }) => yes)),
    no: disjunction(counted(parts).map(({ no }) => no)),
  };
}

/** Any true; unknown as in SQL. */
export function anyOf(parts: readonly Truth[]): Truth {
  return {
    yes: disjunction(counted(parts).map(({ yes }) => yes)),
    no: conjunction(counted(parts).map(({ no }) => no)),
  };
}

/** NOT. */
export function opposite({ yes, no }: Truth): Truth {
  return { yes: no, no: yes };
}

import { aqlError } from '../syntax/aql-error.js';
import type {
  Aggregate,
  ColumnExpression,
  Comparison,
  FunctionCall,
  MatchesTest,
  MatchItem,
  Predicate,
  PredicateComparison,
  PredicateRegex,
  Test,
  ValueExpression,
} from '../syntax/ast.js';
import { requireVersionOperand, type KnownSystems } from './identifier-operand.js';
import { checkLikePattern } from './like-pattern.js';
import { misfits, type Misfit } from './literal-fit.js';
import { isPlainPath } from './node-identity.js';
import { compiledRegex } from './regex.js';
import { renderValue } from '../syntax/render.js';
import { DURATION, isSummable } from './summable.js';
import type { Alias, Domain, PathType, Scope } from './scope-types.js';
import { classSet, pathType } from './typing.js';
import { functionArity } from '../syntax/functions.js';
import { testsOf } from '../syntax/walk.js';
import { counted } from '../../openehr/base/work.js';

/**
 * Refuses what reads well but makes no sense: aggregates, ORDER BY beside DISTINCT or aggregates, function
 * arguments, LIKE patterns, NULL and version ids as operands, regular expressions, literals that are no time for a time.
 * @throws invalid
 */
export function checkScope(scope: Scope, systems: KnownSystems): void {
  const checker = new Checker(scope, systems);
  for (const { expression } of counted(scope.columns)) checker.column(expression);
  for (const test of testsOf(scope.query.where)) checker.test(test);
  checker.orderBy();
  for (const alias of counted(scope.aliases)) checker.aliasPredicate(alias);
  for (const { path } of counted(scope.paths))
    for (const step of counted(path.steps)) checker.predicate(step.predicate);
  for (const { path } of counted(scope.paths)) checker.predicate(path.predicate);
  const impossible = counted(misfits(scope)).find(({ isImpossible }) => isImpossible);
  if (impossible !== undefined) throw impossibleLiteral(impossible);
}

const WORDS: Readonly<Record<Domain, string>> = {
  instant: "a date and time, as '2021-03-01T08:00:00Z'",
  date: "a date, as '2021-03-01'",
  time: "a time, as '08:00:00'",
  duration: "a duration, as 'PT1H'",
  number: 'a number',
  text: 'a text',
  boolean: 'true or false',
};

function impossibleLiteral({ at, literal, path, domains }: Misfit): Error {
  const wanted = counted([...domains])
    .map((domain) => WORDS[domain])
    .join(' or ');
  return aqlError(at, `${literal} cannot be compared with ${path}, which is ${wanted}`);
}

class Checker {
  constructor(
    private readonly scope: Scope,
    private readonly systems: KnownSystems,
  ) {}

  column(expression: ColumnExpression): void {
    if (expression.kind === 'aggregate') this.aggregate(expression);
    else this.value(expression);
  }

  orderBy(): void {
    const { select } = this.scope.query;
    const isGrouped = counted(select.columns).some(({ expression }) => expression.kind === 'aggregate');
    for (const { expression, column } of counted(this.scope.orderBy)) {
      if (column !== null) continue;
      if (expression.kind === 'aggregate')
        throw aqlError(expression.at, 'an aggregate in ORDER BY must be a selected column');
      if (select.distinct || isGrouped)
        throw aqlError(
          expression.at,
          `with ${select.distinct ? 'DISTINCT' : 'aggregates'} ORDER BY must name a selected column`,
        );
      this.value(expression);
    }
  }

  test(test: Test): void {
    switch (test.kind) {
      case 'exists':
        for (const step of counted(test.path.steps)) this.predicate(step.predicate);
        this.predicate(test.path.predicate);
        break;
      case 'comparison':
        this.comparison(test);
        break;
      case 'like':
        this.value(test.left);
        checkLikePattern(test.pattern.value);
        break;
      case 'matches':
        this.matches(test);
        break;
    }
  }

  aliasPredicate({ predicate, classes }: Alias): void {
    this.predicate(predicate, classSet(classes));
  }

  /** `owner`: classes of the alias that the predicate stands at, for `uid/value`. */
  predicate(predicate: Predicate | null, owner?: ReadonlySet<string>): void {
    for (const condition of counted(predicate?.alternatives.flat() ?? [])) {
      if (condition.kind === 'predicate-regex') checkRegex(condition);
      else if (condition.kind === 'predicate-comparison') this.predicateComparison(condition, owner);
    }
  }

  private predicateComparison(condition: PredicateComparison, owner?: ReadonlySet<string>): void {
    const { operator, operand, at } = condition;
    if (operand.kind === 'null') refuseNullOrder(operator, at);
    if (owner === undefined || operand.kind !== 'string' || !isPlainPath(condition, ['uid', 'value'])) return;
    if (pathType(owner, condition.path.steps)?.identifier === 'version')
      requireVersionOperand(operand.value, this.systems);
  }

  private comparison({ left, operator, right, at }: Comparison): void {
    if (right.kind === 'null') {
      refuseNullOrder(operator, at);
      // The path is asked for existence and takes no part in rows.
      if (left.kind !== 'path') this.value(left);
      return;
    }
    this.value(left);
    this.value(right);
    if (right.kind === 'string') this.operand(left, right.value);
  }

  private matches({ left, set }: MatchesTest): void {
    this.value(left);
    for (const item of counted(set.items)) this.matchItem(left, item);
  }

  private matchItem(left: ValueExpression, item: MatchItem): void {
    if (item.kind === 'null') throw aqlError(item.at, 'NULL cannot stand in MATCHES; use NOT EXISTS');
    if (item.kind === 'string') this.operand(left, item.value);
  }

  /** A text that `left` is compared with must be a version id where `left` is one. */
  private operand(left: ValueExpression, text: string): void {
    if (left.kind === 'path' && this.typeOf(left)?.identifier === 'version')
      requireVersionOperand(text, this.systems);
  }

  private value(value: ValueExpression): void {
    if (value.kind === 'function') this.call(value);
  }

  private call(call: FunctionCall): void {
    const [least, most] = functionArity(call.name);
    const { length } = call.args;
    if (length < least || length > most) {
      const wanted =
        least === most ? `${least}` : most === Infinity ? `${least} or more` : `${least} to ${most}`;
      throw aqlError(call.at, `${call.name} takes ${wanted} arguments, not ${length}`);
    }
    for (const arg of counted(call.args)) this.value(arg);
  }

  private aggregate({ name, argument, at }: Aggregate): void {
    if (argument === null || name === 'COUNT') {
      if (argument !== null) this.value(argument);
      return;
    }
    this.value(argument);
    const type = argument.kind === 'path' ? this.typeOf(argument) : null;
    if (type === null) return;
    const text = renderValue(argument);
    if ((name === 'SUM' || name === 'AVG') && !hasSummable(type))
      throw aqlError(at, `${name} needs numbers or durations, and ${text} has none`);
    if (type.domains.size === 0)
      throw aqlError(at, `${name} needs values with an order, and ${text} has none`);
  }

  private typeOf(path: Extract<ValueExpression, { kind: 'path' }>): PathType | null {
    return this.scope.useOf(path).type;
  }
}

function hasSummable({ classes }: PathType): boolean {
  return counted([...classes]).some((name) => isSummable(name) || name === DURATION);
}

function refuseNullOrder(operator: Comparison['operator'], at: Comparison['at']): void {
  if (operator !== '=' && operator !== '!=') throw aqlError(at, 'NULL can be compared with = and != only');
}

/** MongoDB runs patterns with PCRE; refused is what the engine of the evaluator cannot, so that both answer alike. */
function checkRegex({ pattern, at }: PredicateRegex): void {
  compiledRegex(pattern, at);
}

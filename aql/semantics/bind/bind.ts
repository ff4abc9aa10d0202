import { CdrError } from '../../../openehr/base/errors.js';
import type {
  ClassExpression,
  ColumnExpression,
  Comparison,
  Condition,
  FromExpression,
  IdentifiedPath,
  LimitClause,
  Literal,
  MatchItem,
  MatchList,
  NumberLiteral,
  OrderItem,
  Parameter,
  PathStep,
  Query,
  Test,
  TerminologyCall,
  ValueExpression,
  ParsedQuery,
  Unanswered,
  Unbound,
  FunctionCall,
  Placeholder,
} from '../../syntax/ast.js';
import { classesOf, mapCondition, mapPredicates } from '../../syntax/walk.js';
import { bindPredicate, bindSteps } from './path.js';
import { fromClass } from '../classes.js';
import { argumentDomain, functionDomain } from '../../syntax/functions.js';
import { templateIdReadings } from './template-id.js';
import { ListBudget } from './list-budget.js';
import {
  allReadingsOf,
  partnerOf,
  partnerOfClasses,
  readingsOf,
  stringParameter,
  type Partner,
  type QueryParameters,
} from './parameters.js';
import { classSet, typesAlong } from '../typing.js';
import { writtenName } from '../written-name.js';
import { counted, expressionNodes } from '../../../openehr/base/work.js';

/**
 * Puts the parameters of a request into a query, on the tree, never on text (docs/spec/aql.md#parameters).
 * @throws invalid when a parameter has no value, or one that cannot stand where it is used
 */
export function bindParameters(query: ParsedQuery, parameters: QueryParameters): Query<Unanswered> {
  const binder = new Binder(parameters, classesByVariable(query.from));
  return {
    select: {
      ...query.select,
      columns: counted(query.select.columns).map((column) => ({
        ...column,
        expression: binder.column(column.expression),
      })),
    },
    from: mapPredicates(query.from, (each) => bindPredicate(each.predicate, matchedBy(each), parameters)),
    where: query.where === null ? null : mapCondition(query.where, (test) => binder.test(test)),
    orderBy: counted(query.orderBy).map((item) => ({ ...item, expression: binder.order(item.expression) })),
    limit: query.limit === null ? null : binder.limit(query.limit),
  };
}

type Classes = ReadonlySet<string>;
const NO_CLASSES: readonly string[] = [];
const NONE: Classes = classSet(NO_CLASSES);

function classesByVariable(from: FromExpression<Placeholder>): ReadonlyMap<string, Classes> {
  const found = new Map<string, Classes>();
  for (const each of classesOf(from)) if (each.variable !== null) found.set(each.variable, matchedBy(each));
  return found;
}

function matchedBy({ className }: ClassExpression<Placeholder>): Classes {
  return classSet(fromClass(className)?.classes ?? NO_CLASSES);
}

function valueSteps(value: ValueExpression<Unbound>): readonly PathStep<Placeholder>[] {
  return value.kind === 'path' ? value.steps : [];
}

function isNamePath({ predicate, steps }: IdentifiedPath<Placeholder>): boolean {
  return predicate === null && steps.length === 0;
}

class Binder {
  private readonly lists = new ListBudget();

  constructor(
    private readonly parameters: QueryParameters,
    private readonly classes: ReadonlyMap<string, Classes>,
  ) {}

  column(expression: ColumnExpression<Unbound>): ColumnExpression<Unanswered> {
    switch (expression.kind) {
      case 'path':
        return this.path(expression);
      case 'aggregate':
      case 'function':
        return this.order(expression);
      case 'terminology':
        return this.terminology(expression);
      default:
        return expression;
    }
  }

  order(expression: OrderItem<Unbound>['expression']): OrderItem<Unanswered>['expression'] {
    // A name alone may be that of a column, which is looked for first.
    if (expression.kind === 'path')
      return isNamePath(expression) ? this.pathOf(expression, expression.variable) : this.path(expression);
    if (expression.kind === 'function') return this.call(expression);
    const { argument } = expression;
    if (argument === null) return { ...expression, argument };
    return { ...expression, argument: argument.kind === 'path' ? this.path(argument) : this.call(argument) };
  }

  test(test: Test<Unbound>): Condition<Unanswered> {
    switch (test.kind) {
      case 'exists':
        return { ...test, path: this.path(test.path) };
      case 'comparison':
        return this.comparison(test);
      case 'like': {
        const { pattern } = test;
        const value =
          pattern.kind === 'string'
            ? pattern.value
            : stringParameter(pattern, this.parameters, 'a text as pattern of LIKE');
        return {
          ...test,
          left: this.value(test.left),
          pattern: { kind: 'string', value, at: pattern.at },
        };
      }
      case 'matches': {
        const { left, set } = test;
        return {
          ...test,
          left: this.value(left),
          set: set.kind === 'list' ? this.list(set, left) : set,
        };
      }
    }
  }

  /** A text that may be a number or not is compared both ways: `=` holds if either does, `!=` if both do. */
  private comparison(comparison: Comparison<Unbound>): Condition<Unanswered> {
    const left = this.value(comparison.left);
    const { operator, right, at } = comparison;
    const readings =
      right.kind === 'parameter'
        ? readingsOf(right, this.parameters, this.partner(comparison.left))
        : [this.value(right)];
    const meant = counted(readings).flatMap((each) => templateIdReadings(valueSteps(left), operator, each));
    const operands = counted(meant).map((reading): Comparison<Unanswered> => ({
      ...comparison,
      left,
      right: reading,
    }));
    const [only, ...others] = operands;
    if (only !== undefined && others.length === 0) return only;
    expressionNodes(others.length);
    return { kind: operator === '!=' ? 'and' : 'or', operands, at };
  }

  private list(list: MatchList<Unbound>, left: ValueExpression<Unbound>): MatchList<Unanswered> {
    this.lists.add(list, this.parameters);
    const partner = this.partner(left);
    const items = counted(list.items).flatMap((item) => this.matchItem(item, partner));
    const steps = valueSteps(left);
    return { ...list, items: counted(items).flatMap((item) => templateIdReadings(steps, '=', item)) };
  }

  private matchItem(item: MatchItem<Unbound>, partner: Partner): readonly MatchItem<Unanswered>[] {
    if (item.kind === 'parameter') return allReadingsOf(item, this.parameters, partner);
    return [item.kind === 'terminology' ? this.terminology(item) : item];
  }

  /** A value outside a comparison, where a text stays a text unless `partner` says otherwise. */
  private value(
    value: ValueExpression<Unbound>,
    partner: Partner = partnerOf('text'),
  ): ValueExpression<Unanswered> {
    switch (value.kind) {
      case 'parameter':
        return this.only(value, partner);
      case 'path':
        return this.path(value);
      case 'function':
        return this.call(value);
      case 'terminology':
        return this.terminology(value);
      default:
        return value;
    }
  }

  private only(parameter: Parameter, partner: Partner): Literal {
    const [first] = readingsOf(parameter, this.parameters, partner);
    if (first === undefined) throw new TypeError('a parameter has a reading');
    return first;
  }

  private call(call: FunctionCall<Unbound>): FunctionCall<Unanswered> {
    const args = counted(call.args).map((arg, index) =>
      this.value(arg, partnerOf(argumentDomain(call.name, index))),
    );
    return { ...call, args };
  }

  private terminology(call: TerminologyCall): TerminologyCall {
    const text = (arg: TerminologyCall['args'][number]): TerminologyCall['args'][number] =>
      arg.kind === 'string'
        ? arg
        : { kind: 'string', value: stringParameter(arg, this.parameters, 'a text'), at: arg.at };
    const [operation, service, parameters] = call.args;
    return { ...call, args: [text(operation), text(service), text(parameters)] };
  }

  private path(path: IdentifiedPath<Placeholder>): IdentifiedPath {
    return this.pathOf(path, writtenName(path.variable, this.classes.keys(), path.at) ?? path.variable);
  }

  private pathOf(path: IdentifiedPath<Placeholder>, variable: string): IdentifiedPath {
    const classes = this.classes.get(variable) ?? NONE;
    return {
      ...path,
      variable,
      predicate: bindPredicate(path.predicate, classes, this.parameters),
      steps: bindSteps(path.steps, classes, this.parameters),
    };
  }

  /** What a value compared with `left` can be. */
  private partner(left: ValueExpression<Unbound>): Partner {
    if (left.kind === 'function') return partnerOf(functionDomain(left.name));
    if (left.kind !== 'path') return partnerOf('text', 'boolean');
    const variable = writtenName(left.variable, this.classes.keys(), left.at);
    const classes = this.classes.get(variable ?? '') ?? NONE;
    const along = typesAlong(classes, left.steps);
    return partnerOfClasses(along[along.length - 1]?.classes ?? NONE);
  }

  limit(clause: LimitClause<Placeholder>): LimitClause {
    const { limit, offset } = clause;
    return {
      ...clause,
      limit: limit === null ? null : this.count(limit, 'LIMIT', 1),
      offset: offset === null ? null : this.count(offset, 'OFFSET', 0),
    };
  }

  private count(count: NumberLiteral | Parameter, word: string, least: number): NumberLiteral {
    const literal = count.kind === 'parameter' ? this.only(count, partnerOf('number')) : count;
    const isCount =
      literal.kind === 'integer' && Number.isSafeInteger(literal.value) && literal.value >= least;
    if (!isCount) throw new CdrError('invalid', `${word} must be a whole number of ${least} or more`);
    return literal;
  }
}

import type {
  ColumnExpression,
  Literal,
  MatchItem,
  MatchList,
  MatchSet,
  Position,
  Query,
  TerminologyCall,
  ValueExpression,
  Aggregate,
  BoundQuery,
  FunctionCall,
  OrderItem,
  Test,
  Unanswered,
} from '../syntax/ast.js';
import { aqlError } from '../syntax/aql-error.js';
import { MAX_ALL_LIST_VALUES } from '../syntax/limits.js';
import { renderValue } from '../syntax/render.js';
import { mapCondition } from '../syntax/walk.js';
import { counted } from '../../openehr/base/work.js';

/** One question of a query to a terminology service; equal questions are asked once. */
export type TerminologyQuestion =
  | { readonly kind: 'uri'; readonly key: string; readonly uri: string }
  | {
      readonly kind: 'call';
      readonly key: string;
      /** Lower-cased: expand, validate, subsumes, lookup, map. */
      readonly operation: string;
      readonly service: string;
      readonly parameters: string;
    };

/** What a service answers: codes of a value set, yes or no, or one text. */
export type TerminologyAnswer =
  | { readonly kind: 'codes'; readonly codes: readonly string[] }
  | { readonly kind: 'boolean'; readonly value: boolean }
  | { readonly kind: 'text'; readonly value: string | null };

/** The questions of a query, in the order of the text; empty for most queries. */
export function terminologyQuestions(query: Query<Unanswered>): readonly TerminologyQuestion[] {
  const found = new Map<string, TerminologyQuestion>();
  const resolver = new Resolver((question, isList) => {
    found.set(question.key, question);
    return isList ? { kind: 'codes', codes: [] } : { kind: 'text', value: null };
  });
  resolver.query(query);
  return [...found.values()];
}

/**
 * Replaces TERMINOLOGY and `{URI}` by the answers: code items in MATCHES, literals elsewhere.
 * @throws invalid when an answer does not fit its place (a list of codes as a value)
 */
export function resolveTerminology(
  query: Query<Unanswered>,
  answers: ReadonlyMap<string, TerminologyAnswer>,
): BoundQuery {
  const resolver = new Resolver(({ key }) => {
    const answer = answers.get(key);
    if (answer === undefined) throw new TypeError(`no answer to ${key}`);
    return answer;
  });
  return resolver.query(query);
}

/** `isList`: whether the answer becomes items of a list. */
type Ask = (question: TerminologyQuestion, isList: boolean) => TerminologyAnswer;

class Resolver {
  constructor(private readonly ask: Ask) {}

  query(query: Query<Unanswered>): BoundQuery {
    const columns = counted(query.select.columns).map((column) => ({
      ...column,
      expression: this.column(column.expression),
    }));
    const where = query.where === null ? null : mapCondition(query.where, (test) => this.test(test));
    const orderBy = counted(query.orderBy).map((item) => ({
      ...item,
      expression: this.key(item.expression),
    }));
    return { ...query, select: { ...query.select, columns }, where, orderBy };
  }

  private column(expression: ColumnExpression<Unanswered>): ColumnExpression {
    return expression.kind === 'aggregate' ? this.aggregate(expression) : this.value(expression);
  }

  private key(expression: OrderItem<Unanswered>['expression']): OrderItem['expression'] {
    if (expression.kind === 'aggregate') return this.aggregate(expression);
    return expression.kind === 'function' ? this.call(expression) : expression;
  }

  private aggregate(aggregate: Aggregate<Unanswered>): Aggregate {
    const { argument } = aggregate;
    return { ...aggregate, argument: argument?.kind === 'function' ? this.call(argument) : argument };
  }

  private value(value: ValueExpression<Unanswered>): ValueExpression {
    if (value.kind === 'terminology') return this.literal(value);
    return value.kind === 'function' ? this.call(value) : value;
  }

  private call(call: FunctionCall<Unanswered>): FunctionCall {
    return { ...call, args: counted(call.args).map((arg) => this.value(arg)) };
  }

  private test(test: Test<Unanswered>): Test {
    switch (test.kind) {
      case 'exists':
        return test;
      case 'comparison':
        return { ...test, left: this.value(test.left), right: this.value(test.right) };
      case 'like':
        return { ...test, left: this.value(test.left) };
      case 'matches':
        return { ...test, left: this.value(test.left), set: this.matchSet(test.set) };
    }
  }

  private matchSet(set: MatchSet<Unanswered>): MatchSet {
    if (set.kind === 'list') {
      const items = counted(set.items).flatMap((item) => this.matchItem(item));
      return items.length === set.items.length ? { ...set, items } : matchList(items, set.at);
    }
    const answer = this.ask({ kind: 'uri', key: `{${set.uri}}`, uri: set.uri }, true);
    return matchList(answeredItems(answer, set.at), set.at);
  }

  private matchItem(item: MatchItem<Unanswered>): readonly MatchItem[] {
    return item.kind === 'terminology'
      ? answeredItems(this.ask(terminologyQuestion(item), true), item.at)
      : [item];
  }

  private literal(call: TerminologyCall): Literal {
    const answer = this.ask(terminologyQuestion(call), false);
    const { at } = call;
    if (answer.kind === 'boolean') return { kind: 'boolean', value: answer.value, at };
    if (answer.kind === 'text')
      return answer.value === null ? { kind: 'null', at } : { kind: 'string', value: answer.value, at };
    throw aqlError(at, 'TERMINOLOGY gives a list of codes here; use it in MATCHES');
  }
}

function terminologyQuestion(call: TerminologyCall): TerminologyQuestion {
  const [operation, service, parameters] = call.args.map((arg) => (arg.kind === 'string' ? arg.value : ''));
  return {
    kind: 'call',
    key: renderValue(call),
    operation: (operation ?? '').toLowerCase(),
    service: service ?? '',
    parameters: parameters ?? '',
  };
}

/** A service may answer with any number of codes. */
function matchList(items: readonly MatchItem[], at: Position): MatchList {
  if (items.length > MAX_ALL_LIST_VALUES)
    throw aqlError(
      at,
      `a list of MATCHES can have at most ${MAX_ALL_LIST_VALUES} codes of a terminology, here are ${items.length}`,
    );
  return { kind: 'list', items, at };
}

function answeredItems(answer: TerminologyAnswer, at: Position): readonly MatchItem[] {
  switch (answer.kind) {
    case 'codes':
      return counted(answer.codes).map((code) => ({ kind: 'code', code, at }));
    case 'text':
      return answer.value === null ? [] : [{ kind: 'code', code: answer.value, at }];
    case 'boolean':
      throw aqlError(at, 'TERMINOLOGY gives true or false here; compare it with = true');
  }
}

import type {
  ColumnExpression,
  Comparison,
  Condition,
  Literal,
  MatchItem,
  MatchList,
  MatchSet,
  Position,
  Query,
  TerminologyCall,
  ValueExpression,
} from '../syntax/ast.js';
import { aqlError } from '../syntax/aql-error.js';
import { MAX_ALL_LIST_VALUES } from '../syntax/limits.js';
import { renderValue } from '../syntax/render.js';

/** One question of a bound query to a terminology service; equal questions are asked once. */
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

/** The questions of a bound query, in the order of the text; empty for most queries. */
export function terminologyQuestions(query: Query): readonly TerminologyQuestion[] {
  const found = new Map<string, TerminologyQuestion>();
  const resolver = new Resolver((question) => {
    found.set(question.key, question);
    return null;
  });
  resolver.query(query);
  return [...found.values()];
}

/**
 * Replaces TERMINOLOGY and `{URI}` by the answers: code items in MATCHES, literals elsewhere.
 * @throws invalid when an answer does not fit its place (a list of codes as a value)
 */
export function resolveTerminology(query: Query, answers: ReadonlyMap<string, TerminologyAnswer>): Query {
  return new Resolver(({ key }) => answers.get(key) ?? null).query(query);
}

type Ask = (question: TerminologyQuestion) => TerminologyAnswer | null;

class Resolver {
  constructor(private readonly ask: Ask) {}

  query(query: Query): Query {
    const columns = query.select.columns.map((column) => ({
      ...column,
      expression: this.column(column.expression),
    }));
    const where = query.where === null ? null : this.condition(query.where);
    return { ...query, select: { ...query.select, columns }, where };
  }

  private column(expression: ColumnExpression): ColumnExpression {
    if (expression.kind === 'terminology') return this.literal(expression);
    if (expression.kind === 'function')
      return { ...expression, args: expression.args.map((arg) => this.value(arg)) };
    return expression;
  }

  private value(value: ValueExpression): ValueExpression {
    if (value.kind === 'terminology') return this.literal(value);
    if (value.kind === 'function') return { ...value, args: value.args.map((arg) => this.value(arg)) };
    return value;
  }

  private condition(condition: Condition): Condition {
    switch (condition.kind) {
      case 'and':
      case 'or':
        return { ...condition, operands: condition.operands.map((each) => this.condition(each)) };
      case 'not':
        return { ...condition, operand: this.condition(condition.operand) };
      case 'exists':
        return condition;
      case 'comparison':
        return this.comparison(condition);
      case 'like':
        return { ...condition, left: this.value(condition.left) };
      case 'matches':
        return { ...condition, left: this.value(condition.left), set: this.matchSet(condition.set) };
    }
  }

  private comparison(condition: Comparison): Comparison {
    return { ...condition, left: this.value(condition.left), right: this.value(condition.right) };
  }

  private matchSet(set: MatchSet): MatchSet {
    if (set.kind === 'list')
      return listOf(
        set.items.flatMap((item) => this.matchItem(item)),
        set.at,
      );
    const answer = this.ask({ kind: 'uri', key: `{${set.uri}}`, uri: set.uri });
    return answer === null ? set : listOf(itemsOf(answer, set.at), set.at);
  }

  private matchItem(item: MatchItem): readonly MatchItem[] {
    if (item.kind !== 'terminology') return [item];
    const answer = this.ask(questionOf(item));
    return answer === null ? [item] : itemsOf(answer, item.at);
  }

  private literal(call: TerminologyCall): Literal | TerminologyCall {
    const answer = this.ask(questionOf(call));
    if (answer === null) return call;
    const { at } = call;
    if (answer.kind === 'boolean') return { kind: 'boolean', value: answer.value, at };
    if (answer.kind === 'text')
      return answer.value === null ? { kind: 'null', at } : { kind: 'string', value: answer.value, at };
    throw aqlError(at, 'TERMINOLOGY gives a list of codes here; use it in MATCHES');
  }
}

function questionOf(call: TerminologyCall): TerminologyQuestion {
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
function listOf(items: readonly MatchItem[], at: Position): MatchList {
  if (items.length > MAX_ALL_LIST_VALUES)
    throw aqlError(
      at,
      `a list of MATCHES can have at most ${MAX_ALL_LIST_VALUES} codes of a terminology, here are ${items.length}`,
    );
  return { kind: 'list', items, at };
}

function itemsOf(answer: TerminologyAnswer, at: Position): readonly MatchItem[] {
  switch (answer.kind) {
    case 'codes':
      return answer.codes.map((code) => ({ kind: 'code', code, at }));
    case 'text':
      return answer.value === null ? [] : [{ kind: 'code', code: answer.value, at }];
    case 'boolean':
      throw aqlError(at, 'TERMINOLOGY gives true or false here; compare it with = true');
  }
}

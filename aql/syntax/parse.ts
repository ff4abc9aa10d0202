import type {
  ColumnExpression,
  LimitClause,
  NumberLiteral,
  OrderItem,
  Parameter,
  ParsedQuery,
  SelectClause,
  SelectColumn,
  TopClause,
  Unbound,
  Placeholder,
} from './ast.js';
import { syntaxError } from './aql-error.js';
import { Cursor } from './cursor.js';
import { parseFrom } from './from.js';
import { expectNumber, takeLiteral, takeParameter } from './literal.js';
import { parsePath } from './path.js';
import { takeCall } from './value.js';
import { parseWhere } from './where.js';

/**
 * Reads one query of AQL 1.1 with the accepted extensions (docs/spec/aql.md#grammar).
 * @throws invalid with line and column, what was expected and what was found
 */
export function parseAql(text: string): ParsedQuery {
  const cursor = new Cursor(text);
  const select = parseSelect(cursor);
  cursor.expectWord('FROM');
  const from = parseFrom(cursor);
  const where = cursor.takeWord('WHERE') === null ? null : parseWhere(cursor);
  const orderBy = parseOrderBy(cursor);
  const limit = parseLimit(cursor);
  if (limit !== null && select.top !== null)
    throw syntaxError(limit.at, 'TOP and LIMIT cannot stand in one query');
  const read = limit !== null ? 'LIMIT' : orderBy.length > 0 ? 'ORDER BY' : where !== null ? 'WHERE' : 'FROM';
  expectEnd(cursor, read);
  return { select, from, where, orderBy, limit };
}

/** What may follow the last clause that was read. */
const FOLLOWING = {
  FROM: ['CONTAINS', 'AND', 'OR', 'WHERE', 'ORDER BY', 'LIMIT', 'OFFSET'],
  WHERE: ['AND', 'OR', 'ORDER BY', 'LIMIT', 'OFFSET'],
  'ORDER BY': ["','", 'LIMIT', 'OFFSET'],
  LIMIT: [],
} as const;

function expectEnd(cursor: Cursor, read: keyof typeof FOLLOWING): void {
  cursor.takeSymbol(';');
  const { kind, upper, at } = cursor.token;
  if (kind === 'end') return;
  if (upper === 'GROUP')
    throw syntaxError(
      at,
      'AQL has no GROUP BY: the columns beside the aggregates are the groups, so leave it out',
    );
  if (upper === 'ORDER' && read === 'LIMIT') throw syntaxError(at, 'ORDER BY must stand before LIMIT');
  if (upper === 'WHERE' && (read === 'LIMIT' || read === 'ORDER BY'))
    throw syntaxError(at, 'WHERE must stand before ORDER BY and LIMIT');
  if (upper === 'TIMEWINDOW') throw syntaxError(at, 'TIMEWINDOW is not supported');
  const words = FOLLOWING[read];
  cursor.fail([...words, 'the end of the query'].join(', '), [...words, 'ORDER']);
}

function parseSelect(cursor: Cursor): SelectClause<Unbound> {
  cursor.expectWord('SELECT');
  const distinct = cursor.takeWord('DISTINCT') !== null;
  const top = parseTop(cursor);
  const columns = [parseColumn(cursor)];
  while (cursor.takeSymbol(',') !== null) columns.push(parseColumn(cursor));
  if (!cursor.isWord('FROM')) cursor.fail("AS, ',' or FROM", ['AS', 'FROM']);
  return { distinct, top, columns };
}

function parseTop(cursor: Cursor): TopClause | null {
  const { at } = cursor.token;
  if (cursor.takeWord('TOP') === null) return null;
  if (cursor.token.kind !== 'integer') cursor.fail('a whole number after TOP');
  const count = expectNumber(cursor).value;
  if (count < 1) throw syntaxError(at, 'the number after TOP must be 1 or more');
  const word = cursor.takeWord('FORWARD', 'BACKWARD');
  return { count, direction: word?.upper === 'BACKWARD' ? 'backward' : 'forward', at };
}

function parseColumn(cursor: Cursor): SelectColumn<Unbound> {
  cursor.count('columns');
  const first = cursor.token;
  if (first.text === '*')
    throw syntaxError(
      first.at,
      'AQL has no SELECT *: name paths as c/uid/value, or a variable for the whole object',
    );
  const expression = parseColumnExpression(cursor);
  const text = cursor.textSince(first);
  const alias = cursor.takeWord('AS') === null ? null : cursor.expectName('a column alias').text;
  return { expression, alias, text, at: first.at };
}

function parseColumnExpression(cursor: Cursor): ColumnExpression<Unbound> {
  return (
    takeLiteral(cursor) ?? takeCall(cursor) ?? parsePath(cursor, 'a column: a path, a value or a function')
  );
}

function parseOrderBy(cursor: Cursor): readonly OrderItem<Unbound>[] {
  if (cursor.takeWord('ORDER') === null) return [];
  cursor.expectWord('BY');
  const items = [parseOrderItem(cursor)];
  while (cursor.takeSymbol(',') !== null) items.push(parseOrderItem(cursor));
  return items;
}

function parseOrderItem(cursor: Cursor): OrderItem<Unbound> {
  cursor.count('orderKeys');
  const { at } = cursor.token;
  const expression = takeCall(cursor) ?? parsePath(cursor, 'a path, a column alias or a function');
  if (expression.kind === 'terminology') throw syntaxError(at, 'TERMINOLOGY cannot stand in ORDER BY');
  const word = cursor.takeWord('ASC', 'ASCENDING', 'DESC', 'DESCENDING');
  return { expression, descending: word?.upper.startsWith('DESC') ?? false, at };
}

function parseLimit(cursor: Cursor): LimitClause<Placeholder> | null {
  const { at } = cursor.token;
  const limit = cursor.takeWord('LIMIT') === null ? null : parseCount(cursor, 'LIMIT', 1);
  const offset = cursor.takeWord('OFFSET') === null ? null : parseCount(cursor, 'OFFSET', 0);
  return limit === null && offset === null ? null : { limit, offset, at };
}

function parseCount(cursor: Cursor, word: string, least: number): NumberLiteral | Parameter {
  const parameter = takeParameter(cursor);
  if (parameter !== null) return parameter;
  if (cursor.token.kind !== 'integer') cursor.fail(`a whole number after ${word}`);
  const number = expectNumber(cursor);
  if (number.value < least) throw syntaxError(number.at, `the number after ${word} must be ${least} or more`);
  return number;
}

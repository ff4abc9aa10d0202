import type { Condition, MatchItem, MatchSet, Unbound } from './ast.js';
import { parseChain } from './chain.js';
import { syntaxError } from './aql-error.js';
import type { Cursor } from './cursor.js';
import { expectStringOrParameter, takeLiteralOrParameter } from './literal.js';
import { parsePath, takeOperator } from './path.js';
import { expressionNodes } from '../../openehr/base/work.js';
import { parseOperandPath, parseTerminology, parseValue } from './value.js';

/** What follows WHERE: NOT binds tighter than AND, AND tighter than OR. AQL 1.1: whereExpr. @throws invalid */
export function parseWhere(cursor: Cursor): Condition<Unbound> {
  return parseChain(cursor, 'or', 'OR', () => parseChain(cursor, 'and', 'AND', () => parseNot(cursor)));
}

function parseNot(cursor: Cursor): Condition<Unbound> {
  const not = cursor.takeWord('NOT');
  if (not !== null) {
    expressionNodes();
    return { kind: 'not', operand: cursor.nested(() => parseNot(cursor)), at: not.at };
  }
  if (!cursor.isSymbol('(')) return parseTest(cursor);
  return cursor.nested(() => {
    cursor.advance();
    const inner = parseWhere(cursor);
    cursor.expectSymbol(')', ['AND', 'OR']);
    return inner;
  });
}

const TEST_WORDS = ['LIKE', 'MATCHES'] as const;

function parseTest(cursor: Cursor): Condition<Unbound> {
  cursor.count('conditions');
  const { at } = cursor.token;
  if (cursor.takeWord('EXISTS') !== null) return { kind: 'exists', path: parsePath(cursor), at };
  const left = parseOperandPath(cursor, 'a condition that starts with a path, a function, EXISTS, NOT or (');
  const operator = takeOperator(cursor);
  if (operator !== null) return { kind: 'comparison', left, operator, right: parseValue(cursor), at };
  const negated = cursor.takeWord('NOT') !== null;
  if (cursor.takeWord('LIKE') !== null) {
    const pattern = expectStringOrParameter(cursor, 'a string or parameter as pattern of LIKE', true);
    return { kind: 'like', left, pattern, negated, at };
  }
  if (cursor.takeWord('MATCHES') !== null)
    return { kind: 'matches', left, set: parseMatchSet(cursor), negated, at };
  return cursor.fail('a comparison sign, LIKE or MATCHES', TEST_WORDS);
}

function parseMatchSet(cursor: Cursor): MatchSet<Unbound> {
  const { kind, text, at } = cursor.token;
  if (kind === 'uri') {
    cursor.count('literals');
    cursor.advance();
    return { kind: 'uri', uri: text.slice(1, -1).trim(), at };
  }
  if (cursor.isWord('TERMINOLOGY')) return { kind: 'list', items: [parseTerminology(cursor)], at };
  cursor.expectSymbol('{', ['TERMINOLOGY']);
  if (cursor.isSymbol('}')) throw syntaxError(cursor.token.at, 'the list of MATCHES is empty');
  const items = cursor.list(() => {
    const all = [parseMatchItem(cursor)];
    while (cursor.takeSymbol(',') !== null) all.push(parseMatchItem(cursor));
    return all;
  });
  cursor.expectSymbol('}', ["','"]);
  return { kind: 'list', items, at };
}

function parseMatchItem(cursor: Cursor): MatchItem<Unbound> {
  const literal = takeLiteralOrParameter(cursor);
  if (literal !== null) return literal;
  if (!cursor.isWord('TERMINOLOGY')) cursor.fail('a literal, a parameter or TERMINOLOGY', ['TERMINOLOGY']);
  return parseTerminology(cursor);
}

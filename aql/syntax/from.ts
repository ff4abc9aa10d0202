import type { ClassExpression, Containment, FromExpression, Predicate, Placeholder } from './ast.js';
import { FUNCTION_WORDS, KEYWORDS } from './words.js';
import { parseChain } from './chain.js';
import type { Cursor } from './cursor.js';
import { parsePredicateBody, takePredicate } from './path.js';

/** Classes of VERSION, whose brackets hold LATEST_VERSION, ALL_VERSIONS or a standard predicate. */
const VERSION_CLASSES: ReadonlySet<string> = new Set(['VERSION', 'ORIGINAL_VERSION', 'IMPORTED_VERSION']);

/**
 * What follows FROM. AND binds tighter than OR; CONTAINS takes all that follows
 * (docs/spec/aql.md#precedence). @throws invalid
 */
export function parseFrom(cursor: Cursor): FromExpression<Placeholder> {
  return parseChain(cursor, 'from-or', 'OR', () =>
    parseChain(cursor, 'from-and', 'AND', () => parseFromOperand(cursor)),
  );
}

function parseFromOperand(cursor: Cursor): FromExpression<Placeholder> {
  if (!cursor.isSymbol('(')) return parseClass(cursor);
  return cursor.nested(() => {
    cursor.advance();
    const inner = parseFrom(cursor);
    cursor.expectSymbol(')', ['AND', 'OR', 'CONTAINS']);
    return inner;
  });
}

function parseClass(cursor: Cursor): ClassExpression<Placeholder> {
  cursor.count('classes');
  const { at, upper } = cursor.token;
  const className = isVersionWord(upper)
    ? cursor.advance().upper
    : cursor.expectName('an RM class').text.toUpperCase();
  const variable = takeVariable(cursor);
  const { versions, predicate } = VERSION_CLASSES.has(className)
    ? takeVersionPredicate(cursor)
    : { versions: null, predicate: takePredicate(cursor) };
  return {
    kind: 'class',
    className,
    variable,
    versions,
    predicate,
    contains: takeContainment(cursor),
    at,
  };
}

function isVersionWord(upper: string): boolean {
  return upper === 'VERSION';
}

function takeVariable(cursor: Cursor): string | null {
  const { kind, upper } = cursor.token;
  if (kind === 'word' && (KEYWORDS.has(upper) || FUNCTION_WORDS.has(upper))) {
    // A reserved word directly before a bracket can only have been meant as a variable.
    const next = cursor.peek(1);
    if (FUNCTION_WORDS.has(upper) && upper !== 'CONTAINS') cursor.expectName('a variable');
    if (next.kind === 'symbol' && next.text === '[') cursor.expectName('a variable');
    return null;
  }
  if (kind !== 'word' && kind !== 'node-code') return null;
  return cursor.expectName('a variable').text;
}

function takeVersionPredicate(cursor: Cursor): {
  versions: ClassExpression<Placeholder>['versions'];
  predicate: Predicate<Placeholder> | null;
} {
  if (!cursor.isSymbol('[')) return { versions: null, predicate: null };
  const { at } = cursor.advance();
  const word = cursor.takeWord('LATEST_VERSION', 'ALL_VERSIONS');
  const versions = word === null ? null : word.upper === 'ALL_VERSIONS' ? 'all' : 'latest';
  const predicate = word === null ? cursor.nested(() => parsePredicateBody(cursor)) : null;
  cursor.expectSymbol(']', word === null ? ['AND', 'OR'] : []);
  return { versions, predicate: predicate === null ? null : { ...predicate, at } };
}

function takeContainment(cursor: Cursor): Containment<Placeholder> | null {
  const negated = cursor.takeWord('NOT') !== null;
  if (!negated && !cursor.isWord('CONTAINS')) return null;
  cursor.expectWord('CONTAINS');
  return { negated, child: cursor.nested(() => parseFrom(cursor)) };
}

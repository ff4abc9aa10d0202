import type {
  ComparisonOperator,
  IdentifiedPath,
  NodeId,
  NodePredicate,
  ObjectPath,
  PathStep,
  Predicate,
  PredicateComparison,
  PredicateCondition,
  PredicateOperand,
  PredicateRegex,
  TermCode,
  Placeholder,
} from './ast.js';
import type { Token } from './lexer.js';
import { MAX_PATH_STEPS } from './limits.js';
import { decodeString } from './string-literal.js';
import { KEYWORDS } from './words.js';
import { syntaxError } from './aql-error.js';
import type { Cursor } from './cursor.js';
import { takeLiteralOrParameter, takeParameter } from './literal.js';
import { required } from '../../openehr/base/required.js';

const OPERATORS: ReadonlyMap<string, ComparisonOperator> = new Map<string, ComparisonOperator>([
  ['=', '='],
  ['!=', '!='],
  ['<>', '!='],
  ['<', '<'],
  ['<=', '<='],
  ['>', '>'],
  ['>=', '>='],
]);

/** A comparison sign when one stands here, else null; `<>` is `!=`. */
export function takeOperator(cursor: Cursor): ComparisonOperator | null {
  const { kind, text } = cursor.token;
  const operator = kind === 'symbol' ? OPERATORS.get(text) : undefined;
  if (operator === undefined) return null;
  cursor.advance();
  return operator;
}

/** `variable[predicate]/…`. AQL 1.1: identifiedPath. @throws invalid */
export function parsePath(cursor: Cursor, what = 'a path'): IdentifiedPath<Placeholder> {
  cursor.count('operands');
  const { text: variable, at } = cursor.expectName(what);
  const predicate = takePredicate(cursor);
  const steps: PathStep<Placeholder>[] = [];
  while (cursor.takeSymbol('/') !== null) pushStep(steps, parseStep(cursor));
  return { kind: 'path', variable, predicate, steps, at };
}

/** `[…]` when it stands here, else null. AQL 1.1: pathPredicate. @throws invalid */
export function takePredicate(cursor: Cursor): Predicate<Placeholder> | null {
  if (!cursor.isSymbol('[')) return null;
  return cursor.nested(() => {
    const { at } = cursor.advance();
    const predicate = parsePredicateBody(cursor);
    cursor.expectSymbol(']', ['AND', 'OR']);
    return { ...predicate, at };
  });
}

/** What stands between the brackets: OR of ANDs. */
export function parsePredicateBody(cursor: Cursor): Predicate<Placeholder> {
  const { at } = cursor.token;
  const alternatives = [parseAlternative(cursor)];
  while (cursor.takeWord('OR') !== null) {
    // A node id is no comparison, but a further one is a further test.
    if (isNodeStart(cursor)) cursor.count('conditions');
    alternatives.push(parseAlternative(cursor));
  }
  return { kind: 'predicate', alternatives, at };
}

function parseAlternative(cursor: Cursor): readonly PredicateCondition<Placeholder>[] {
  const conditions = [takeNodePredicate(cursor) ?? parseCondition(cursor)];
  while (cursor.takeWord('AND') !== null) conditions.push(parseCondition(cursor));
  return conditions;
}

function isNodeStart({ token: { kind } }: Cursor): boolean {
  return kind === 'parameter' || kind === 'node-code' || kind === 'archetype-id';
}

function takeNodePredicate(cursor: Cursor): PredicateCondition<Placeholder> | null {
  const { at } = cursor.token;
  const parameter = takeParameter(cursor);
  if (parameter !== null) return { kind: 'node-parameter', parameter, at };
  const id = takeNodeId(cursor);
  if (id === null) return null;
  const name = cursor.takeSymbol(',') === null ? null : parseNodeName(cursor);
  return { kind: 'node', id, name, at };
}

function parseNodeName(cursor: Cursor): NodePredicate<Placeholder>['name'] {
  const { kind, text, at } = cursor.token;
  if (kind === 'string') {
    cursor.count('literals');
    cursor.advance();
    return { kind: 'string', value: decodeString(text, false), at };
  }
  if (kind === 'term-code') return termCode(cursor.advance());
  if (kind === 'node-code') return takeNodeId(cursor);
  return takeParameter(cursor) ?? cursor.fail('a name, a parameter, a term code or an at-code');
}

function takeNodeId(cursor: Cursor): NodeId | null {
  const { kind, text, at } = cursor.token;
  if (kind !== 'node-code' && kind !== 'archetype-id') return null;
  cursor.advance();
  return { kind: 'node-id', value: text, isArchetypeId: kind === 'archetype-id', at };
}

const TERM_CODE = /^([^(:]+)(?:\(([^)]*)\))?::([^|]*)(?:\|([^|]*)\|)?$/;

function termCode(token: Token): TermCode {
  const [, terminology = '', version, code = '', text] = TERM_CODE.exec(token.text) ?? [];
  return { kind: 'term-code', terminology, version: version ?? null, code, text: text ?? null, at: token.at };
}

function parseCondition(cursor: Cursor): PredicateComparison<Placeholder> | PredicateRegex<Placeholder> {
  cursor.count('conditions');
  const { at } = cursor.token;
  const path = parseObjectPath(cursor);
  if (cursor.takeWord('MATCHES') !== null) return { ...parseRegex(cursor), path, at };
  const operator = takeOperator(cursor) ?? cursor.fail('a comparison sign or MATCHES', ['MATCHES']);
  return { kind: 'predicate-comparison', path, operator, operand: parseOperand(cursor), at };
}

const REGEX = /^\{\s*\/([\s\S]*)\/\s*(?:;\s*['"]([\s\S]*)['"])?\s*\}$/;

function parseRegex(cursor: Cursor): Omit<PredicateRegex<Placeholder>, 'path' | 'at'> {
  const { kind, text } = cursor.token;
  const found = kind === 'regex' ? REGEX.exec(text) : null;
  if (found === null) cursor.fail('a regular expression {/…/}');
  cursor.count('literals');
  cursor.advance();
  const assumed = found[2] === undefined ? null : decodeString(found[2], false);
  return { kind: 'predicate-regex', pattern: required(found[1], 'pattern'), assumed };
}

function parseOperand(cursor: Cursor): PredicateOperand<Placeholder> {
  return (
    takeLiteralOrParameter(cursor) ??
    (cursor.token.kind === 'node-code' ? takeNodeId(cursor) : null) ??
    parseObjectPath(cursor, 'a value or a relative path')
  );
}

function parseObjectPath(cursor: Cursor, what = 'an attribute path'): ObjectPath<Placeholder> {
  const { at } = cursor.token;
  const steps = [parseStep(cursor, what)];
  while (cursor.takeSymbol('/') !== null) pushStep(steps, parseStep(cursor));
  return { kind: 'object-path', steps, at };
}

function pushStep(steps: PathStep<Placeholder>[], step: PathStep<Placeholder>): void {
  if (steps.length === MAX_PATH_STEPS)
    throw syntaxError(step.at, `a path can have at most ${MAX_PATH_STEPS} steps, here starts one more`);
  steps.push(step);
}

/** After a slash every word is an attribute name; the first of a relative path must not be a keyword. */
function parseStep(cursor: Cursor, what = 'an attribute name'): PathStep<Placeholder> {
  cursor.count('steps');
  const { kind, upper, at } = cursor.token;
  const isFirst = cursor.peek(-1).text !== '/';
  if (kind !== 'word' || (isFirst && KEYWORDS.has(upper))) cursor.fail(what);
  const attribute = cursor.advance().text;
  return { attribute, predicate: takePredicate(cursor), at };
}

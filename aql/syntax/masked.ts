import { CdrError } from '../../openehr/base/errors.js';
import { tokenize, type Token } from './lexer.js';
import { parseAql } from './parse.js';

/**
 * The text of a query on one line with `?` for every literal: string, number, boolean, pattern, term code, URI, and
 * an id that a value is compared with. Names, parameter names, and the archetype ids and at-codes of node predicates
 * stay; comments go. Null for a text that is no query: nobody knows what in it is a value.
 */
export function maskedAql(text: string): string | null {
  try {
    parseAql(text);
  } catch (error) {
    if (error instanceof CdrError) return null;
    throw error;
  }
  const tokens = tokenize(text);
  return tokens
    .map((token, index) => gap(token, tokens[index - 1]) + maskedToken(token, tokens[index - 1]))
    .join('');
}

/** What stands between two tokens can be a comment, which may say anything. */
function gap(token: Token, before: Token | undefined): string {
  return before === undefined || before.end === token.start || token.kind === 'end' ? '' : ' ';
}

function maskedToken(token: Token, before: Token | undefined): string {
  switch (token.kind) {
    case 'symbol':
    case 'end':
      return token.text;
    case 'parameter':
      return `$${token.text}`;
    case 'word':
      return isBoolean(token, before) ? '?' : token.text;
    case 'node-code':
    case 'archetype-id':
      return isNodeId(before) ? token.text : '?';
    case 'regex':
    case 'uri':
      return '{?}';
    default:
      return '?';
  }
}

function isBoolean(token: Token, before: Token | undefined): boolean {
  return (token.upper === 'TRUE' || token.upper === 'FALSE') && before?.text !== '/';
}

/** At the start of a predicate, or of one of its alternatives; after a sign it is a value. */
function isNodeId(before: Token | undefined): boolean {
  return before?.text === '[' || before?.kind === 'word';
}

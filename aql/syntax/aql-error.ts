import { CdrError } from '../../openehr/base/errors.js';
import { syntaxViolation } from '../../openehr/base/violation.js';
import type { Position } from './ast.js';

/** A query that reads well but means nothing we can answer: `invalid` with line and column. */
export function aqlError(at: Position, what: string): CdrError {
  return errorAt('AQL error', at, what);
}

/** An AQL text that cannot be read: `invalid` with line and column. */
export function syntaxError(at: Position, what: string): CdrError {
  return errorAt('AQL syntax error', at, what);
}

function errorAt(kind: string, at: Position, what: string): CdrError {
  const message = `${kind} at line ${at.line}:${at.column}: ${what}`;
  return new CdrError('invalid', message, { problems: [syntaxViolation(at, what)] });
}

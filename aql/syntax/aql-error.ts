import { CdrError } from '../../openehr/base/errors.js';
import type { Position } from './ast.js';

/** A query that reads well but means nothing we can answer: `invalid` with line and column. */
export function aqlError(at: Position, what: string): CdrError {
  return new CdrError('invalid', `AQL error at line ${at.line}:${at.column}: ${what}`);
}

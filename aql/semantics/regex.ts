import { linearPattern, type LinearPattern } from '../../openehr/base/linear-pattern.js';
import { aqlError } from '../syntax/aql-error.js';
import type { Position } from '../syntax/ast.js';

/** The pattern of `matches {/…/}` for the whole value; `.` matches line breaks too. @throws invalid with line and column */
export function compiledRegex(pattern: string, at: Position): LinearPattern {
  return linearPattern(pattern, { dotAll: true, ecmaScript: false }, (reason) =>
    aqlError(at, `invalid regular expression /${shortenedPattern(pattern)}/ (${reason})`),
  );
}

function shortenedPattern(pattern: string): string {
  return pattern.length > 200 ? `${pattern.slice(0, 200)}…` : pattern;
}

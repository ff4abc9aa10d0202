import { linearPattern, type LinearPattern } from '../../base/linear-pattern.js';
import { invalidTemplate } from './opt-xml.js';

/**
 * A pattern of a C_STRING or of the assertion of a slot, with or without slashes around it, for the whole text.
 * @throws invalid when it is no regular expression, or one that needs backtracking
 */
export function wholeTextPattern(pattern: string): LinearPattern {
  return linearPattern(withoutSlashes(pattern), { dotAll: false, ecmaScript: true }, (reason) => {
    const shown = pattern.length > 200 ? `${pattern.slice(0, 200)}…` : pattern;
    return invalidTemplate(`the pattern ${shown} is not a regular expression that can be used (${reason})`);
  });
}

/** The pattern itself: ADL writes `/…/`. */
export function withoutSlashes(pattern: string): string {
  return pattern.length > 1 && pattern.startsWith('/') && pattern.endsWith('/')
    ? pattern.slice(1, -1)
    : pattern;
}

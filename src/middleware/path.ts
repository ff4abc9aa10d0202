import type { Context, Middleware, Next } from 'koa';
import { CdrError } from '../../openehr/base/errors.js';

/** Characters of a path: no operation needs a tenth of it, and whatever looks at it later may take its time. */
export const MAX_PATH_CHARACTERS = 2_000;

/**
 * Refuses a request by the length of its path, before anything reads it: docs/spec/rest.md#addresses. The query string does
 * not count. @throws uri-too-long
 */
export function shortPaths(): Middleware {
  return async (ctx: Context, next: Next) => {
    if (ctx.path.length > MAX_PATH_CHARACTERS)
      throw new CdrError('uri-too-long', `the path has more than ${MAX_PATH_CHARACTERS} characters`);
    await next();
  };
}

const SLASH = 0x2f;

/** A path without the slashes around it. By index: an expression for those at the end looks at each run of them again. */
export function withoutOuterSlashes(path: string): string {
  let start = 0;
  let end = path.length;
  while (end > start && path.charCodeAt(end - 1) === SLASH) end -= 1;
  while (start < end && path.charCodeAt(start) === SLASH) start += 1;
  return path.slice(start, end);
}

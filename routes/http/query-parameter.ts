import type { Context } from 'koa';

import { CdrError } from '../../base/errors.js';

/** One query parameter as text, null when it is absent. @throws invalid when it is given more than once. */
export function queryParameter(ctx: Context, name: string): string | null {
  const values = queryParameters(ctx, name);
  if (values.length > 1) throw new CdrError('invalid', `the query parameter ${name} may be given only once`);
  return values[0] ?? null;
}

/** All values of a repeatable query parameter, in the order given. */
export function queryParameters(ctx: Context, name: string): readonly string[] {
  const value = Object.hasOwn(ctx.query, name) ? ctx.query[name] : undefined;
  if (value === undefined) return [];
  return Array.isArray(value) ? value : [value];
}

/**
 * A query parameter that is one word of a list, any letter case; `fallback` when it is absent or empty.
 * @throws invalid for another word
 */
export function queryWord<T extends string>(ctx: Context, name: string, words: readonly T[], fallback: T): T {
  const text = queryParameter(ctx, name);
  if (text === null || text === '') return fallback;
  const word = words.find((known) => known.toLowerCase() === text.toLowerCase());
  if (word === undefined) throw new CdrError('invalid', `${name} must be one of ${words.join(', ')}`);
  return word;
}

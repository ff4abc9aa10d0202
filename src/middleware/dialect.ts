import type { Context, Middleware, Next } from 'koa';
import type { Dialect } from '../../openehr/base/dialect.js';
import { CdrError } from '../../openehr/base/errors.js';
import { isStandard, makesNew } from '../../routes/http/dialect.js';
import type { RequestState } from '../../routes/http/request/request-state.js';

/**
 * Writes the headers of the standard API as a dialect has them: `ETag` weak, `Location` where something new is, `Preference-Applied`
 * wherever there is a `Prefer`. Around everything that can answer; null where nothing is to be changed.
 */
export function headersIn({
  isTagWeak,
  isLocationOfNewOnly,
  isPreferenceAlwaysTold,
}: Dialect): Middleware | null {
  if (!isTagWeak && !isLocationOfNewOnly && !isPreferenceAlwaysTold) return null;
  return async (ctx: Context, next: Next) => {
    await next();
    const { matched } = ctx.state as Partial<RequestState>;
    if (!matched || !isStandard(matched.operation)) return;
    const tag = ctx.res.getHeader('ETag');
    if (isTagWeak && typeof tag === 'string' && tag.startsWith('"')) ctx.set('ETag', `W/${tag}`);
    if (isLocationOfNewOnly && !(makesNew(ctx.method) && ctx.status < 300)) ctx.remove('Location');
    if (isPreferenceAlwaysTold && ctx.get('Prefer') !== '') tellPreference(ctx);
  };
}

/** Says beside what was honoured how much the answer has: what the write says, else all where there is a body, as of an error. */
function tellPreference(ctx: Context): void {
  const honoured = ctx.res.getHeader('Preference-Applied');
  const applied = typeof honoured === 'string' ? honoured : '';
  if (/\breturn=/.test(applied)) return;
  const isEmpty = ctx.body === undefined || ctx.body === null || ctx.body === '';
  const returned =
    (ctx.status < 300 ? ctx.state.returns : undefined) ?? (isEmpty ? 'minimal' : 'representation');
  ctx.set('Preference-Applied', [`return=${returned}`, ...(applied === '' ? [] : [applied])].join(', '));
}

/**
 * Gives refusals the code that a dialect has for what they are about. Within everything that looks at the code, as the audit
 * does; null where all keep theirs.
 */
export function refusalsIn({ refusals }: Dialect): Middleware | null {
  if (Object.keys(refusals).length === 0) return null;
  return async (ctx: Context, next: Next) => {
    try {
      await next();
    } catch (error) {
      if (!(error instanceof CdrError)) throw error;
      const { about } = error.details;
      const code = about === undefined ? undefined : refusals[about];
      if (
        code === undefined ||
        code === error.code ||
        !isStandard(ctx.state.matched?.operation ?? { path: '' })
      )
        throw error;
      throw new CdrError(code, error.message, { ...error.details, cause: error });
    }
  };
}

import type { Context } from 'koa';

/** The address of the page behind this one: the same request with another `after`. */
export function nextPage(ctx: Context, after: string): string {
  const query = new URLSearchParams(ctx.querystring);
  query.delete('offset');
  query.set('after', after);
  return `${ctx.state.origin}${ctx.path}?${query.toString()}`;
}

import type { Context } from 'koa';
import type { ChangeContext, ParsedCanonical } from '../../../change/commit/context.js';
import type { LargeComposition } from '../../../change/composition/large-composition.js';
import { readLargeComposition } from '../../../workers/large-body.js';
import { bodyOwner } from '../request/request-body.js';

/** At most so many warnings are sent for one request; further ones say no more than that there are some. */
const MAX_WARNINGS = 10;
const MAX_LENGTH = 200;

/** Says in the `Warning` headers of the answer (RFC 7234, section 5.5: 299) what was ignored or replaced. */
export function addWarnings(ctx: Context, texts: readonly string[]): void {
  const before = ctx.res.getHeader('Warning');
  const sent = before === undefined ? 0 : [before].flat().length;
  const room = Math.max(0, MAX_WARNINGS - sent);
  for (const text of texts.slice(0, room)) ctx.append('Warning', warningValue(text));
  const others = texts.length - room;
  if (others > 0 && sent <= MAX_WARNINGS) ctx.append('Warning', warningValue(`and ${others} more`));
}

/** The context of a change whose answer names what of the request was ignored, and which counts on the request's budget. */
export function warning(ctx: Context, context: ChangeContext): ChangeContext {
  const readElsewhere = (parsed: ParsedCanonical): Promise<LargeComposition> =>
    readLargeComposition(parsed, bodyOwner(ctx));
  return {
    ...context,
    warn: (text) => addWarnings(ctx, [text]),
    work: { budget: ctx.state.work, readElsewhere },
  };
}

/** What clients wrote stays inside the quotes: only printable ASCII, quotes and backslashes escaped. */
function warningValue(text: string): string {
  const short = text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH)}...` : text;
  const ascii = short.replace(/[^\x20-\x7e]/g, (character) => `%${character.charCodeAt(0).toString(16)}`);
  return `299 everchart "${ascii.replace(/["\\]/g, '\\$&')}"`;
}

import type { Context } from 'koa';
import { publishIgnored, type IgnoredEvent } from '../../../database/events.js';
import type { ChangeContext, ParsedCanonical } from '../../../change/commit/context.js';
import type { LargeComposition } from '../../../change/content/large-composition.js';
import { readLargeComposition } from '../../../workers/large-body.js';
import type { QuestionTime } from '../../../change/terminology/value-sets.js';
import { answerEnd } from '../failure/slow-reader.js';
import { bodyOwner, compilingFor } from '../request/request-body.js';

/** At most so many warnings are sent for one request; further ones say no more than that there are some. */
const MAX_WARNINGS = 10;
const MAX_LENGTH = 200;

/** What of a request was ignored or replaced: the event, and the sentence about it. */
export interface Ignored extends IgnoredEvent {
  readonly text: string;
}

/** Says in the `Warning` headers of the answer (RFC 7234, section 5.5: 299) what was ignored or replaced, and counts it. */
export function addWarnings(ctx: Context, ignored: readonly Ignored[]): void {
  for (const { kind, name } of ignored) publishIgnored({ kind, name });
  const texts = ignored.map(({ text }) => text);
  const before = ctx.res.getHeader('Warning');
  const sent = before === undefined ? 0 : [before].flat().length;
  const room = Math.max(0, MAX_WARNINGS - sent);
  for (const text of texts.slice(0, room)) ctx.append('Warning', warningValue(text));
  const others = texts.length - room;
  if (others > 0 && sent <= MAX_WARNINGS) ctx.append('Warning', warningValue(`and ${others} more`));
}

/** Says in a `Warning` header what whoever uses the answer must know; nothing was ignored. */
export function addNotice(ctx: Context, text: string): void {
  ctx.append('Warning', warningValue(text));
}

/** The context of a change whose answer names what of the request was ignored, and which counts on the request's budget. */
export function warning(ctx: Context, context: ChangeContext): ChangeContext {
  const readElsewhere = (parsed: ParsedCanonical): Promise<LargeComposition> =>
    readLargeComposition(parsed, bodyOwner(ctx));
  let time: QuestionTime | null = null;
  const questionTime = (): QuestionTime =>
    (time ??= { end: answerEnd(ctx), time: AbortSignal.timeout(ctx.state.work.budget.bodyTimeMs) });
  return {
    ...context,
    warn: (ignored) => addWarnings(ctx, [ignored]),
    work: { budget: ctx.state.work, readElsewhere, compile: compilingFor(ctx), questionTime },
  };
}

/** What clients wrote stays inside the quotes: only printable ASCII, quotes and backslashes escaped. */
function warningValue(text: string): string {
  const short = text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH)}...` : text;
  const ascii = short.replace(/[^\x20-\x7e]/g, (character) => `%${character.charCodeAt(0).toString(16)}`);
  return `299 everchart "${ascii.replace(/["\\]/g, '\\$&')}"`;
}

const EMPTY_LIST = /"([a-z_]{1,64})"\s*:\s*\[\s*\]/g;

/** Names the empty lists of a canonical body in JSON: they are left out, for an empty list says the same as none. */
export function warnOfEmptyLists(ctx: Context, text: string): void {
  const names = new Set(Array.from(text.matchAll(EMPTY_LIST), ([, name = '']) => name));
  addWarnings(
    ctx,
    [...names].map((name) => ({
      ...{ kind: 'empty-list', name },
      text: `the empty list ${name} was left out: a list that is there has members`,
    })),
  );
}

/** The keys of `ctx/` that a simplified body has and nobody knows. */
export function warnOfContextKeys(ctx: Context, texts: readonly string[]): void {
  addWarnings(
    ctx,
    texts.map((text) => ({ kind: 'ctx', name: text.slice(0, text.indexOf(' ')), text })),
  );
}

import { Readable } from 'node:stream';
import type { Context, Middleware, Next } from 'koa';
import type { Logger } from 'pino';
import { CdrError, type BudgetDetail, type ErrorDetails } from '../../openehr/base/errors.js';
import type { JsonObject } from '../../openehr/base/json.js';
import { publishBudget } from '../../database/events.js';
import { isUnavailable } from '../../database/mongo-error.js';
import { toXml } from '../../openehr/format/canonical-xml.js';
import {
  errorAnswer,
  errorBody,
  NOT_IMPLEMENTED_MESSAGE,
  failureRecord,
} from '../../routes/http/failure/error-status.js';
import { withoutOuterSlashes } from './path.js';
import { pathHint } from './path-hint.js';
import { discardRest } from './rest-of-body.js';
import { STANDARD_API } from '../../routes/http/request/request-state.js';

/**
 * Turns everything that is thrown, and Koa's own 404, 405 and 501, into an error body:
 * docs/spec/rest.md#error-body
 */
export function errors(log: Logger): Middleware {
  return async (ctx: Context, next: Next) => {
    try {
      await next();
      answerUnmatched(ctx);
      // An answer that has begun can only be broken off.
      if (ctx.body instanceof Readable)
        ctx.body.once('error', (error: Error) => {
          if (error instanceof CdrError) tellOfBudget(ctx, log, error.details.budget);
        });
    } catch (error) {
      if (error instanceof CdrError) {
        tellOfBudget(ctx, log, error.details.budget);
        answerKnown(ctx, error);
        return;
      }
      const { requestId } = ctx.state;
      if (isUnavailable(error)) {
        log.warn({ request_id: requestId, err: error }, 'the database is not available');
        answerKnown(
          ctx,
          new CdrError('unavailable', 'the database is not available', { retryAfterSeconds: 2 }),
        );
        return;
      }
      log.error({ request_id: requestId, err: error }, 'internal error');
      writeErrorAnswer(ctx, 500, errorBody(500, `Internal error, reference ${requestId}`, 'internal'));
    }
  };
}

function tellOfBudget(ctx: Context, log: Logger, budget: BudgetDetail | undefined): void {
  if (budget === undefined) return;
  const { requestId } = ctx.state;
  publishBudget({ ...budget, requestId });
  log.warn({ request_id: requestId, budget }, 'a budget of the request is used up');
}

function answerKnown(ctx: Context, error: CdrError): void {
  const { status, body } = errorAnswer(error);
  setDetailHeaders(ctx, error.details);
  discardRest(ctx);
  writeErrorAnswer(ctx, status, body);
}

function setDetailHeaders(ctx: Context, details: ErrorDetails): void {
  const { baseUrl } = ctx.state;
  const { latestVersionUid, latestVersionPath, mergedInto, retryAfterSeconds, allow, challenge } = details;
  if (latestVersionUid !== undefined) ctx.set('ETag', `"${latestVersionUid}"`);
  if (latestVersionPath !== undefined) {
    ctx.set('Location', `${baseUrl}${STANDARD_API}${latestVersionPath}`);
  }
  if (mergedInto !== undefined) {
    ctx.set(
      'Link',
      `<${baseUrl}${STANDARD_API}/ehr/${encodeURIComponent(mergedInto)}>; rel="successor-version"`,
    );
  }
  if (retryAfterSeconds !== undefined) ctx.set('Retry-After', String(retryAfterSeconds));
  if (allow !== undefined) ctx.set('Allow', allow.join(', '));
  if (challenge !== undefined) ctx.set('WWW-Authenticate', [...challenge]);
}

/** Koa leaves these without a body when no route or no method matched. */
function answerUnmatched(ctx: Context): void {
  if (ctx.body !== undefined && ctx.body !== null) return;
  if (ctx.status === 404) {
    const path = withoutOuterSlashes(ctx.path);
    writeErrorAnswer(
      ctx,
      404,
      errorBody(404, `No resource found at path: ${path}${pathHint(ctx.path)}`, 'not-found'),
    );
  }
  if (ctx.status === 405)
    writeErrorAnswer(
      ctx,
      405,
      errorBody(405, `Method ${ctx.method} is not supported on this path`, 'method-not-allowed'),
    );
  if (ctx.status === 501)
    writeErrorAnswer(ctx, 501, errorBody(501, NOT_IMPLEMENTED_MESSAGE, 'not-implemented'));
}

function writeErrorAnswer(ctx: Context, status: number, error: JsonObject): void {
  const record = failureRecord(ctx);
  const message = typeof error.message === 'string' ? error.message : '';
  const fields = typeof record?.fields === 'function' ? record.fields(message) : record?.fields;
  const body = { ...fields, ...error, request_id: ctx.state.requestId };
  ctx.status = status;
  if (record?.isText === true && asksForText(ctx)) {
    ctx.type = 'text/plain; charset=utf-8';
    ctx.body = message;
  } else if (prefersXml(ctx)) {
    ctx.type = 'application/xml; charset=utf-8';
    ctx.body = toXml(body, record?.root ?? 'error');
  } else {
    ctx.type = 'application/json; charset=utf-8';
    ctx.body = JSON.stringify(body);
  }
}

function prefersXml(ctx: Context): boolean {
  return (
    ctx.get('Accept') !== '' &&
    ctx.accepts('application/json', 'application/xml', 'text/xml') !== 'application/json' &&
    ctx.accepts('application/xml', 'text/xml') !== false
  );
}

/** Named by the client, not merely allowed by a wildcard. */
function asksForText(ctx: Context): boolean {
  return (
    ctx.get('Accept').includes('text/') && ctx.accepts('text/plain', 'application/json') === 'text/plain'
  );
}

import { createHash } from 'node:crypto';
import type { Context, Next } from 'koa';

import { isUnavailable } from '../../database/mongo-error.js';
import { CdrError } from '../../openehr/base/errors.js';
import { withIdempotencyClaim, type IdempotencyClaim } from '../../change/commit/idempotency.js';
import type { AuditSubject } from '../../models/audit.js';
import type { IdempotencyDoc, IdempotentResult } from '../../models/idempotency.js';
import { completedRequest, idempotencyId, removeIfExpired } from '../../models/idempotency.js';
import { auditAbout } from './audit-trail.js';
import { successStatus } from './operation/operation.js';
import { filledPath } from './operation-table.js';
import { currentOperation } from './request/request-state.js';

const KEY = /^[\x20-\x7e]{1,255}$/;

/** Renders the answer anew from what the first request made. */
type Replay = (ctx: Context, result: IdempotentResult) => Promise<void> | void;

/** Keys of the requests that this process is carrying out now. */
const running = new Set<string>();

/**
 * Carries out a request with `Idempotency-Key` once only: docs/spec/rest.md#idempotency. `replay` renders the answer
 * anew from what the first request made; it must set status, headers and body as the first answer had them.
 * @throws invalid for a malformed key, unprocessable for the key of another body, conflict while the first runs
 */
export function idempotent(replay: Replay): (ctx: Context, next: Next) => Promise<void> {
  return async (ctx, next) => {
    const header = ctx.headers['idempotency-key'];
    if (header === undefined) {
      await next();
      return;
    }
    const { user } = ctx.state;
    // By the identity that never changes: two issuers may give one name to two users. As JSON, since both may hold blanks.
    const owner = user === null ? '' : JSON.stringify([user.issuer, user.subject]);
    const matched = currentOperation(ctx);
    const path = filledPath(matched);
    // The operations of one path have keys of their own.
    const target = ctx.method === 'POST' ? path : `${ctx.method} ${path}`;
    const id = idempotencyId(owner, target, keyOf(header));
    const bodyHash = hashOf(ctx.request.body, ctx.get('If-Match'));
    const completed = await takenRequest(id, bodyHash);
    if (completed !== null) await answerAgain(ctx, completed, replay);
    else await runOnce(ctx, { id, bodyHash, status: successStatus(matched.operation) }, next, replay);
  };
}

async function runOnce(ctx: Context, claim: IdempotencyClaim, next: Next, replay: Replay): Promise<void> {
  if (running.has(claim.id))
    throw new CdrError('conflict', 'the first request with this Idempotency-Key is still running');
  running.add(claim.id);
  try {
    await withIdempotencyClaim(claim, next);
  } catch (error) {
    // Another process may have completed the same key; its commit made this one fail, in whatever way.
    // Where that cannot be asked, what went wrong before says more.
    const completed = await takenRequest(claim.id, claim.bodyHash).catch((later: unknown) => {
      throw isUnavailable(later) ? error : later;
    });
    if (completed === null) throw error;
    await answerAgain(ctx, completed, replay);
  } finally {
    running.delete(claim.id);
  }
}

async function takenRequest(id: string, bodyHash: string): Promise<IdempotencyDoc | null> {
  const now = new Date();
  const completed = await completedRequest(id, now);
  if (completed === null) {
    await removeIfExpired(id, now);
    return null;
  }
  if (completed.body_hash !== bodyHash)
    throw new CdrError('unprocessable', 'this Idempotency-Key was used with another body or If-Match');
  return completed;
}

async function answerAgain(ctx: Context, completed: IdempotencyDoc, replay: Replay): Promise<void> {
  ctx.status = completed.status;
  auditAbout(ctx, replayedSubject(completed.result));
  await replay(ctx, completed.result);
}

/** What was made by the first request; by this one nothing. */
function replayedSubject({ uids }: IdempotentResult): AuditSubject {
  const { source_ehr: source, target_ehr: target, ehr_id: ehrId = source } = uids;
  const pair = source === undefined || target === undefined ? {} : { ehr_ids: [source, target], target };
  return { ...(ehrId !== undefined && { ehr_id: ehrId }), ...pair, outcome: 'replayed' };
}

function keyOf(header: string | string[]): string {
  if (typeof header !== 'string' || !KEY.test(header) || header.trim() === '')
    throw new CdrError('invalid', 'Idempotency-Key must be 1 to 255 printable ASCII characters');
  return header;
}

/** What a request asks for beside its path: of a PUT or DELETE the version that it changes is a part. */
function hashOf(body: unknown, ifMatch: string): string {
  const hash = createHash('sha256').update(typeof body === 'string' ? body : '');
  if (ifMatch !== '') hash.update(`\n${ifMatch}`);
  return hash.digest('hex');
}

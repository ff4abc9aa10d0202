import type { Context, Middleware, Next } from 'koa';
import type { Logger } from 'pino';
import { observe } from '../../change/access/observation.js';
import { Viewer, withObserver } from '../../change/access/viewer.js';
import { livePolicies } from '../../change/policy/live-policies.js';
import type { Settings } from '../../config/settings.js';
import type { Action } from '../../policy/subject.js';
import { draftOf } from '../../routes/http/audit-trail.js';
import type { ParameterName } from '../../routes/http/operation/parameters.js';
import type { Operation } from '../../routes/http/operation/operation.js';
import { currentOperation } from '../../routes/http/request/request-state.js';
import { viewRequest } from './view-request.js';
import { parseEhrId } from '../../openehr/base/object-version-id.js';
import { CdrError } from '../../openehr/base/errors.js';
import { askedActions } from './viewing.js';

/** Parameters of paths that name an object in the EHR of the path. */
const OBJECTS: readonly ParameterName[] = ['uid_based_id', 'version_uid', 'versioned_object_uid'];

/**
 * Runs operations as without policies, and tells the audit what they would hide: of what the path names, of what is committed, and the
 * EHRs of the rows of a query. That it cannot be told is logged, and refuses nothing either. docs/access.md#observed
 */
export function observedPolicies(
  { systemId }: Pick<Settings, 'systemId'>,
  operations: readonly Operation[],
  log: Logger,
): Middleware {
  const asked = askedActions(operations);
  return async (ctx: Context, next: Next) => {
    const actions = asked.get(currentOperation(ctx).operation.id) ?? null;
    const quietly: Quietly = async (work) => {
      try {
        return await work();
      } catch (error) {
        log.warn({ err: error, request_id: ctx.state.requestId }, 'what policies would hide is not known');
        return null;
      }
    };
    const observer = actions === null ? null : await quietly(() => observerOf(ctx, actions, systemId));
    await (observer === null ? next() : observed(ctx, observer, { next, quietly }));
  };
}

/** Does what must not fail the request; null: it failed. */
type Quietly = <T>(work: () => Promise<T>) => Promise<T | null>;

interface Observed {
  readonly next: Next;
  readonly quietly: Quietly;
}

async function observed(ctx: Context, observer: Viewer, { next, quietly }: Observed): Promise<void> {
  ctx.state.judgement = () => observer.judgement;
  await quietly(() => observePath(ctx, observer));
  await withObserver(observer, next);
  await quietly(() => observe(observer, draftOf(ctx)?.ehrIds ?? []));
}

/** null: policies restrict nothing, or the token would be refused, which is noted. */
async function observerOf(
  ctx: Context,
  actions: readonly [Action, ...Action[]],
  systemId: string,
): Promise<Viewer | null> {
  const { set, isRestricting } = await livePolicies();
  if (!isRestricting) return null;
  const { user } = ctx.state;
  try {
    const asked = await viewRequest(ctx);
    if (user?.claims?.unreadable === undefined) return new Viewer({ ...asked, set, actions, systemId });
  } catch (error) {
    if (!(error instanceof CdrError) || error.code !== 'unauthenticated') throw error;
  }
  ctx.state.judgement = () => ({ hidden: true });
  return null;
}

async function observePath(ctx: Context, observer: Viewer): Promise<void> {
  const { params } = currentOperation(ctx);
  const ehrId = params.ehr_id === undefined ? null : parseEhrId(params.ehr_id);
  if (ehrId === null) return;
  await observe(
    observer,
    [ehrId],
    OBJECTS.flatMap((name) => params[name] ?? []),
  );
}

import type { Context, Middleware, Next } from 'koa';
import { withAccessTags } from '../../change/item-tag/access-tags.js';
import { Viewer, withViewer } from '../../change/access/viewer.js';
import { livePolicies } from '../../change/policy/live-policies.js';
import { CdrError } from '../../openehr/base/errors.js';
import type { Settings } from '../../config/settings.js';
import type { RuleSource } from '../../policy/policy-set.js';
import { ScopedRules } from '../../policy/scoped-rules.js';
import type { Action } from '../../policy/subject.js';
import type { Disclosure, Operation } from '../../routes/http/operation/operation.js';
import { currentOperation } from '../../routes/http/request/request-state.js';
import { subjectOf } from '../../routes/http/request/subject.js';
import { askedQuery } from './token-scopes.js';

type Actions = readonly [Action, ...Action[]];

/** What policies are asked for; whoever may change something, or read it, sees what he changes. null: they are not asked. */
const ASKED: Readonly<Record<Disclosure, Actions | null>> = {
  nothing: null,
  whole: null,
  read: ['read'],
  query: ['query'],
  export: ['export'],
  create: ['create', 'read'],
  update: ['update', 'read'],
  delete: ['delete', 'read'],
  contribution: ['create', 'update', 'delete', 'read'],
};

/** What policies are asked for by the id of an operation. @throws as `actionsOf` */
export function askedActions(operations: readonly Operation[]): ReadonlyMap<string, Actions | null> {
  return new Map(operations.map((operation) => [operation.id, actionsOf(operation)]));
}

/** @throws TypeError for a row that does not say what it discloses */
function actionsOf({ id, discloses }: Operation): Actions | null {
  if (!Object.hasOwn(ASKED, discloses))
    throw new TypeError(`the operation ${id} does not say what it discloses`);
  return ASKED[discloses];
}

/** Operations that change nothing: whoever asks again is answered. */
const READING: ReadonlySet<Disclosure> = new Set<Disclosure>(['read', 'query', 'export']);

/** What was read while a merge took place is of one EHR by its tags, and of another by its content. @throws unavailable */
async function requireSameTags(viewer: Viewer): Promise<void> {
  if (!(await viewer.hasOtherTags())) return;
  const message = 'tags that policies of access ask for were changed while this was answered: ask again';
  throw new CdrError('unavailable', message, { retryAfterSeconds: 1 });
}

/** What is said instead of 404 where that is said. */
function refusal(error: unknown, { refusedBy }: Viewer): unknown {
  if (!(error instanceof CdrError) || error.code !== 'not-found') return error;
  return new CdrError('forbidden', `${refusedBy} permits you to see this`, { cause: error });
}

/** What restricts a request: policies that are enforced, and the scopes of its token; null: nothing does. */
async function rulesOf(ctx: Context, accessMode: Settings['accessMode']): Promise<RuleSource | null> {
  const policies = accessMode === 'enforce' ? await livePolicies() : null;
  const base = policies === null || policies.count === 0 ? null : policies.set;
  const smart = ctx.state.user?.smart;
  return smart === undefined ? base : new ScopedRules(smart, askedQuery(ctx), base);
}

/**
 * Runs operations for who asks, as policies of access, where they are enforced, and the scopes of his token are when his request begins.
 * A success of which nothing was judged is not answered: whatever forgets to ask tells nothing. docs/access.md#enforced
 */
export function enforcedPolicies(
  { systemId, accessRefused, accessMode }: Pick<Settings, 'systemId' | 'accessRefused' | 'accessMode'>,
  operations: readonly Operation[],
): Middleware {
  const asked = askedActions(operations);
  return async (ctx: Context, next: Next) => {
    const { operation } = currentOperation(ctx);
    const actions = asked.get(operation.id) ?? null;
    const set = actions === null ? null : await rulesOf(ctx, accessMode);
    if (actions === null || set === null) {
      await next();
      return;
    }
    const viewer = new Viewer({
      set,
      subject: await subjectOf(ctx.state.user),
      actions,
      systemId,
    });
    // What policies would hide is what the audit tells where they are observed.
    ctx.state.judgement ??= () => viewer.judgement;
    try {
      await withViewer(viewer, next);
    } catch (error) {
      throw accessRefused === '403' && viewer.hasRefused ? refusal(error, viewer) : error;
    }
    if (!viewer.isAsked)
      throw new TypeError(`the operation ${operation.id} was answered without a judgement`);
    if (READING.has(operation.discloses)) await requireSameTags(viewer);
  };
}

/** Lets nobody but administrators, where users are known, change the tags of EHRs that policies of access see. docs/access.md#tags */
export function accessTags({ auth }: Pick<Settings, 'auth'>): Middleware {
  return async (ctx: Context, next: Next) => {
    const { access } = currentOperation(ctx).operation;
    if (access !== 'write') await next();
    else {
      const mayChange = auth === 'none' || ctx.state.user?.permissions.has('admin') === true;
      await withAccessTags(mayChange ? 'change' : 'leave', next);
    }
  };
}

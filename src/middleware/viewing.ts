import { setTimeout } from 'node:timers/promises';
import type { Context, Middleware, Next } from 'koa';
import { withAccessTags } from '../../change/item-tag/access-tags.js';
import { Viewer, withViewer, type ViewRequest } from '../../change/access/viewer.js';
import { livePolicies, type LivePolicies } from '../../change/policy/live-policies.js';
import { CdrError } from '../../openehr/base/errors.js';
import type { Settings } from '../../config/settings.js';
import type { RuleSource } from '../../policy/policy-set.js';
import { ScopedRules } from '../../policy/scoped-rules.js';
import type { Action } from '../../policy/subject.js';
import type { Disclosure, Operation } from '../../routes/http/operation/operation.js';
import { currentOperation } from '../../routes/http/request/request-state.js';
import { readAhead, NOTHING_AHEAD } from './read-ahead.js';
import { viewRequest } from './view-request.js';
import { withEmergencyRecord } from './emergency.js';
import { mindingRestrictions } from '../../change/mark/restriction.js';
import { restrictedAsTold, restrictedRefusal, type Refused } from './restricted.js';
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

/** Tells who could break the glass that something is withheld from him, and not what. docs/access.md#emergency-access */
const WITHHELD_HEADER = 'Everchart-Withheld';

/** Operations that change nothing: whoever asks again is answered. */
const READING: ReadonlySet<Disclosure> = new Set<Disclosure>(['read', 'query', 'export']);

/** Of a request that nothing restricts. */
const UNRESTRICTED = { set: null } as const;

/** What was read while a merge took place is of one EHR by its tags, and of another by its content. @throws unavailable */
async function requireSameFacts(viewer: Viewer): Promise<void> {
  if (!(await viewer.hasOtherFacts())) return;
  const message =
    'marks, or tags that policies of access ask for, were changed while this was answered: ask again';
  throw new CdrError('unavailable', message, { retryAfterSeconds: 1 });
}

/** What is said instead of 404 where that is said. */
function refusal(error: unknown, { refusedBy }: Viewer): unknown {
  if (!(error instanceof CdrError) || error.code !== 'not-found') return error;
  return new CdrError('forbidden', `${refusedBy} permits you to see this`, { cause: error });
}

/** What restricts a request, with what was read meanwhile: policies that are enforced, and the scopes of its token; null: nothing does. */
async function begun(
  ctx: Context,
  { accessMode, systemId }: Pick<Settings, 'accessMode' | 'systemId'>,
): Promise<{ readonly set: RuleSource | null } & Pick<ViewRequest, 'ahead'>> {
  if (accessMode !== 'enforce') return { set: rulesOf(ctx, null) };
  const isRead = READING.has(currentOperation(ctx).operation.discloses);
  const { numbers, ...ahead } = isRead ? await readAhead(ctx, systemId) : NOTHING_AHEAD;
  return { set: rulesOf(ctx, await livePolicies(numbers)), ...ahead };
}

function rulesOf(
  ctx: Context,
  policies: Pick<LivePolicies, 'isRestricting' | 'set'> | null,
): RuleSource | null {
  const base = policies?.isRestricting === true ? policies.set : null;
  const smart = ctx.state.user?.smart;
  if (smart === undefined) return base;
  return new ScopedRules(smart, askedQuery(ctx), base, { mindsMarks: policies === null });
}

/** What is said of a failure: what restricts it, to who may know; that something is there, where that is said; else what it was. */
function saidOf(
  error: unknown,
  { accessRefused, ...refused }: Refused & Pick<Settings, 'accessRefused'>,
): unknown {
  const said = accessRefused === '403' && refused.viewer.hasRefused ? refusal(error, refused.viewer) : error;
  return restrictedRefusal(error, refused) ?? said;
}

/**
 * Waits until a multiple of `ms` after `start`: what is hidden is looked at, what is not there is not, and one look at the database more is
 * a tenth of the time that a refusal takes. docs/access.md#what-time-tells
 */
async function untilMultiple(ms: number, start: number): Promise<void> {
  if (ms === 0) return;
  const end = start + Math.ceil((performance.now() - start) / ms) * ms;
  // A timer counts whole milliseconds, and may be one early.
  while (performance.now() < end) await setTimeout(Math.ceil(end - performance.now()));
}

/**
 * Runs operations for who asks, as policies of access, where they are enforced, and the scopes of his token are when his request begins.
 * A success of which nothing was judged is not answered: whatever forgets to ask tells nothing. docs/access.md#enforced
 */
export function enforcedPolicies(
  settings: Pick<Settings, 'systemId' | 'accessRefused' | 'accessRefusedMs' | 'accessMode'>,
  operations: readonly Operation[],
): Middleware {
  const { systemId, accessRefused, accessRefusedMs } = settings;
  const asked = askedActions(operations);
  return async (ctx: Context, next: Next) => {
    const start = performance.now();
    const { operation } = currentOperation(ctx);
    const actions = asked.get(operation.id) ?? null;
    const isRead = READING.has(operation.discloses);
    const { set, ...ahead } = actions === null ? UNRESTRICTED : await begun(ctx, settings);
    if (actions === null || set === null) {
      await unjudged(ctx, settings.accessMode, next);
      return;
    }
    const viewer = new Viewer({ ...(await viewRequest(ctx)), set, actions, systemId, ...ahead });
    // What policies would hide is what the audit tells where they are observed.
    ctx.state.judgement ??= () => viewer.judgement;
    try {
      await withEmergencyRecord(ctx, () => withViewer(viewer, next));
    } catch (error) {
      await untilMultiple(accessRefusedMs, start);
      throw saidOf(error, { viewer, isRead, user: ctx.state.user, accessRefused });
    } finally {
      if (viewer.isWithheld) ctx.set(WITHHELD_HEADER, 'emergency');
    }
    if (!viewer.isAsked)
      throw new TypeError(`the operation ${operation.id} was answered without a judgement`);
    if (isRead) await requireSameFacts(viewer);
  };
}

/** Runs what is of all that is there, or of no record: of policies and marks a restriction of processing alone holds for it. */
async function unjudged(ctx: Context, accessMode: Settings['accessMode'], next: Next): Promise<void> {
  if (accessMode === 'enforce') await recordWholeRead(ctx);
  try {
    await mindingRestrictions(accessMode, next);
  } catch (error) {
    throw restrictedAsTold(error, ctx.state.user);
  }
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

/** Where policies hold, what gives something of records is recorded, though none is asked about it. */
async function recordWholeRead(ctx: Context): Promise<void> {
  const isOptional = ctx.state.auditDraft?.wishes.isOptional === true;
  if (!isOptional || currentOperation(ctx).operation.discloses !== 'whole') return;
  if ((await livePolicies()).isRestricting) ctx.state.judgement ??= () => ({});
}

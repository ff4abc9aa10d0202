import type { Context, Middleware, Next } from 'koa';
import { Viewer, withViewer } from '../../change/access/viewer.js';
import { livePolicies } from '../../change/policy/live-policies.js';
import { CdrError } from '../../openehr/base/errors.js';
import type { Settings } from '../../config/settings.js';
import type { Action } from '../../policy/subject.js';
import type { Disclosure, Operation } from '../../routes/http/operation/operation.js';
import { currentOperation } from '../../routes/http/request/request-state.js';
import { subjectOf } from '../../routes/http/request/subject.js';

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

/** @throws TypeError for a row that does not say what it discloses */
function actionsOf({ id, discloses }: Operation): Actions | null {
  if (!Object.hasOwn(ASKED, discloses))
    throw new TypeError(`the operation ${id} does not say what it discloses`);
  return ASKED[discloses];
}

/** @throws unavailable: nobody may guess what a policy that cannot be enforced would hide */
function requireEnforceable([first]: readonly string[]): void {
  if (first === undefined) return;
  throw new CdrError(
    'unavailable',
    `the policy ${first} asks for tags, which cannot be enforced yet: change it`,
  );
}

/**
 * Runs operations for who asks, as policies of access are when his request begins. A success of which nothing was judged is not
 * answered: whatever forgets to ask tells nothing. docs/access.md#enforced
 */
export function enforcedPolicies(
  { systemId }: Pick<Settings, 'systemId'>,
  operations: readonly Operation[],
): Middleware {
  const asked = new Map(operations.map((operation) => [operation.id, actionsOf(operation)]));
  return async (ctx: Context, next: Next) => {
    const { operation } = currentOperation(ctx);
    const actions = asked.get(operation.id) ?? null;
    const policies = actions === null ? null : await livePolicies();
    if (actions === null || policies === null || policies.count === 0) {
      await next();
      return;
    }
    requireEnforceable(policies.askingTags);
    const viewer = new Viewer({
      set: policies.set,
      subject: await subjectOf(ctx.state.user),
      actions,
      systemId,
    });
    await withViewer(viewer, next);
    if (!viewer.isAsked)
      throw new TypeError(`the operation ${operation.id} was answered without a judgement`);
  };
}

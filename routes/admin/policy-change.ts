import type { Context } from 'koa';
import { CdrError } from '../../openehr/base/errors.js';
import { formatUtc } from '../../openehr/base/iso8601.js';
import type { JsonObject } from '../../openehr/base/json.js';
import type { Settings } from '../../config/settings.js';
import type { Gate } from '../../change/approval/gate.js';
import { removePolicy, storePolicy, type PolicyChange } from '../../change/policy/policy.js';
import type { PolicyDoc } from '../../models/policy.js';
import type { Administrator, PolicyAct } from '../../models/waiting-request.js';
import type { Subject } from '../../policy/subject.js';
import { subjectOf } from '../http/request/subject.js';
import type { KnownUsers } from './permissions.js';

/** Who changes a policy or the categories, and by which rules. */
export interface PolicyChanging extends Omit<PolicyChange, 'id'> {
  readonly settings: Pick<Settings, 'accessMode' | 'policiesMax'>;
  /** Of categories: the version that the request follows; absent: whichever it is. */
  readonly follows?: number;
}

/** A change by the user of the request; `requester`: it was asked for by another person, and is confirmed by the user. */
export async function policyChanging(
  ctx: Context,
  settings: Settings,
  users: KnownUsers,
  requester?: Administrator,
): Promise<PolicyChanging> {
  const { user } = ctx.state;
  const { name = 'anonymous', subject, issuer } = user ?? {};
  const asking = user === null ? [] : [await subjectOf(user)];
  return {
    settings,
    by:
      requester === undefined
        ? { by: name, ...(subject !== undefined && { sub: subject }), ...(issuer != null && { iss: issuer }) }
        : {
            by: requester.name,
            sub: requester.sub,
            ...(requester.iss !== undefined && { iss: requester.iss }),
            confirmed_by: name,
          },
    administrators: [...asking, ...knownAdministrators(settings, users)],
  };
}

/** Users with passwords who may administrate; those of tokens are known to their issuer alone. */
function knownAdministrators({ rolePermissions }: Settings, users: KnownUsers): Subject[] {
  return (users() ?? [])
    .filter(({ roles }) => roles.some((role) => rolePermissions[role]?.includes('admin')))
    .map(({ name, roles }) => ({ sub: name, iss: 'basic', roles, scopes: [] }));
}

/** Changes a policy, and gives what that answers. @throws as the change; conflict while there are no policies */
export async function changePolicy(
  act: PolicyAct,
  changing: PolicyChanging | undefined,
  gate?: Gate,
): Promise<JsonObject> {
  if (changing === undefined) throw new TypeError('who changes a policy says by which rules');
  const { settings, by, administrators } = changing;
  // It may have been asked for before the mode was changed.
  if (settings.accessMode === 'off')
    throw new CdrError('conflict', 'there are no policies of access here (ACCESS_MODE is off)');
  const change = { id: act.policy_id, by, administrators };
  if (act.operation === 'putPolicy')
    return policyView(await storePolicy(act.policy, settings.policiesMax, change, gate));
  await removePolicy(change, gate);
  return { id: act.policy_id, removed: true };
}

/** AccessPolicy, as it is answered. */
export function policyView({ _id: id, policy, version, time, by }: PolicyDoc): JsonObject {
  return { id, policy, version, time: formatUtc(time), by };
}

/** What tells a version of an AccessPolicy from all others. */
export function policyVersionId({ id, version }: JsonObject): string {
  return `${id as string}::${version as number}`;
}

import { cedar } from './cedar.js';
import type { Subject } from './subject.js';

/** What is judged when somebody is to change policies: the whole set, which is no EHR and has no attributes. */
const SET = { type: 'Policies', id: 'policies' };
const CHANGE = { type: 'Action', id: 'change_policies' };
const OTHERWISE = 'permit (principal, action, resource is Policies);';

/**
 * Whether one of these users could still change policies. Only what forbids can take that from an administrator, where it names
 * no action and no object: what asks about an EHR says nothing of the set of policies. `policies`: texts that forbid, by id.
 */
export async function mayChangePolicies(
  policies: Readonly<Record<string, string>>,
  administrators: readonly Subject[],
): Promise<boolean> {
  const { isAuthorized } = await cedar();
  return administrators.some(({ roles, scopes, ...subject }) => {
    const principal = { type: 'User', id: subject.sub };
    const answer = isAuthorized({
      principal,
      action: CHANGE,
      resource: SET,
      context: {},
      policies: { staticPolicies: { ...policies, ' otherwise': OTHERWISE } },
      entities: [
        { uid: principal, attrs: { ...subject, roles: [...roles], scopes: [...scopes] }, parents: [] },
        { uid: SET, attrs: {}, parents: [] },
      ],
    });
    return answer.type === 'success' && answer.response.decision === 'allow';
  });
}

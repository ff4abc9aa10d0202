import { CdrError } from '../../openehr/base/errors.js';
import { policyEhr, policyVersion } from '../../models/cross-collection/policy-objects.js';
import { versionsById } from '../../models/version.js';
import { containersById } from '../../models/versioned-object.js';
import type { Request } from '../../policy/known.js';
import type { AccessObject } from '../../policy/object.js';
import type { Decision } from '../../policy/policy-set.js';
import { readableEhr } from '../commit/ehr-access.js';
import { livePolicies } from './live-policies.js';

/** Something that is stored: an EHR, or a VERSION in it by its own uid or, the latest, by that of its container. */
export interface StoredObject {
  readonly ehr_id: string;
  readonly uid?: string;
}

/** A decision and what it comes of, in words. */
interface ExplainedDecision extends Decision {
  readonly reasons: readonly string[];
}

/** What the stored policies say of a request for an object, whoever asks that. */
export async function decideAccess(request: Request, object: AccessObject): Promise<ExplainedDecision> {
  const { set, count } = await livePolicies();
  if (count === 0)
    return {
      isPermitted: true,
      policies: [],
      reasons: ['there is no policy, so that nothing is restricted'],
    };
  const { isPermitted, policies } = set.rulesFor(request).decide(object);
  const verb = isPermitted ? 'permits' : 'forbids';
  const reasons =
    policies.length === 0 ? ['no policy permits it'] : policies.map((id) => `the policy ${id} ${verb} it`);
  return { isPermitted, policies, reasons };
}

/** A stored object as policies see it now. @throws not-found */
export async function storedObject(
  { ehr_id: ehrId, uid }: StoredObject,
  systemId: string,
): Promise<AccessObject> {
  const ehr = await readableEhr(ehrId);
  const { object, tags } = await policyEhr(ehr);
  if (uid === undefined) return object;
  const [container] = await containersById([uid]);
  const [version] = await versionsById(ehrId, [container?.latest_version_uid ?? uid]);
  if (version === undefined) throw new CdrError('not-found', `the EHR ${ehrId} has no ${uid}`);
  return policyVersion(version, tags, systemId);
}

import { CdrError } from '../../openehr/base/errors.js';
import { marksOfEhr } from '../../models/cross-collection/marked-ehrs.js';
import { policyEhr, policyVersion } from '../../models/cross-collection/policy-objects.js';
import { versionsById } from '../../models/version.js';
import { containersById } from '../../models/versioned-object.js';
import type { Request } from '../../policy/known.js';
import { marked, marksFor } from '../../policy/marks.js';
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
  const { set, isRestricting } = await livePolicies();
  if (!isRestricting)
    return {
      isPermitted: true,
      policies: [],
      marks: [],
      isBarredByMarks: false,
      reasons: ['there is no policy and no mark, so that nothing is restricted'],
    };
  const decision = set.rulesFor(request).decide(object);
  const { isPermitted, policies, marks, isBarredByMarks } = decision;
  const verb = isPermitted ? 'permits' : 'forbids';
  const said = policies.map((id) => `the policy ${id} ${verb} it`);
  const unsaid = isPermitted ? 'there is no policy' : 'no policy permits it';
  const reasons = [
    ...(policies.length === 0 && !isBarredByMarks ? [unsaid] : said),
    ...marks.map((kind) => `the mark ${kind} forbids it`),
  ];
  return { ...decision, reasons };
}

/** A stored object as policies see it now, with the marks that hold for somebody of an organisation. @throws not-found */
export async function storedObject(
  { ehr_id: ehrId, uid }: StoredObject,
  systemId: string,
  organisation: string | undefined,
): Promise<AccessObject> {
  const ehr = await readableEhr(ehrId);
  const { object, tags } = await policyEhr(ehr);
  const marks = marksFor(await marksOfEhr(ehrId), organisation);
  if (uid === undefined) return marked(object, marks);
  const [container] = await containersById([uid]);
  const [version] = await versionsById(ehrId, [container?.latest_version_uid ?? uid]);
  if (version === undefined) throw new CdrError('not-found', `the EHR ${ehrId} has no ${uid}`);
  return marked(await policyVersion(version, tags, systemId), marks);
}

import { rootOfUid } from '../../openehr/base/object-version-id.js';
import { belongsTo } from '../../models/access/merge-job.js';
import { containersById, type VersionedObjectDoc } from '../../models/versioned-object.js';
import { viewing } from '../access/viewer.js';
import { writableEhr } from '../commit/ehr-access.js';
import type { ContributionEnvelope } from './contribution-envelope.js';

/** The containers that a CONTRIBUTION changes, and of them those that policies hide from who asks. */
interface Referred {
  readonly known: VersionedObjectDoc[];
  readonly unseen: ReadonlySet<string>;
}

/** The containers that a CONTRIBUTION changes, as far as they are there. @throws not-found for an EHR that policies hide */
export async function referredContainers(ehrId: string, envelope: ContributionEnvelope): Promise<Referred> {
  const uids = envelope.versions.flatMap((version) => version.precedingVersionUid ?? []);
  const versionedObjectUids = [...new Set(uids.map(rootOfUid))];
  const known = versionedObjectUids.length === 0 ? [] : await containersById(versionedObjectUids);
  const viewer = viewing.getStore()?.viewer;
  if (viewer === undefined) return { known, unseen: new Set() };
  await writableEhr(ehrId);
  const unseen = new Set<string>();
  for (const container of known)
    if (belongsTo(container.ehr_id) !== ehrId) {
      // Nobody has it here: whether it may be seen elsewhere is not asked, nor told.
      await viewer.lookForVersion(ehrId);
      unseen.add(container._id);
    } else if (!(await viewer.seesLatest(container))) unseen.add(container._id);
  return { known: known.filter(({ _id }) => !unseen.has(_id)), unseen };
}

import { violationAt } from '../../openehr/base/violation.js';
import { versionsByUid, type VersionDoc } from '../../models/version.js';
import { viewing } from '../access/viewer.js';
import { validationError } from '../content/content.js';
import type { ContributionEnvelope } from './contribution-envelope.js';

/**
 * `other_input_version_uids` tell of a merge: what names no version here is taken from administrators only, who bring
 * over what another system merged. @throws invalid
 */
export async function requireKnownInputs({ versions }: ContributionEnvelope): Promise<void> {
  const named = [...new Set(versions.flatMap((version) => version.otherInputVersionUids))];
  if (named.length === 0) return;
  const known = new Set((await seenOnes(await versionsByUid(named))).map(({ _id }) => _id));
  const unknown = versions.flatMap(({ otherInputVersionUids }, version) =>
    otherInputVersionUids.flatMap((uid, input) =>
      known.has(uid)
        ? []
        : [
            violationAt(
              `/versions[${version}]/other_input_version_uids[${input}]`,
              `No version here has the uid ${uid}`,
            ),
          ],
    ),
  );
  if (unknown.length > 0) throw validationError('invalid', unknown);
}

/** Those that are there for who asks. */
async function seenOnes(versions: readonly VersionDoc[]): Promise<readonly VersionDoc[]> {
  const viewer = viewing.getStore()?.viewer;
  if (viewer === undefined) return versions;
  const seen: VersionDoc[] = [];
  for (const version of versions)
    if ((await viewer.seesEhrId(version.ehr_id)) && (await viewer.sees(version.ehr_id, version)))
      seen.push(version);
  return seen;
}

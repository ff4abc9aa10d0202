import { rootOfUid } from '../openehr/base/object-version-id.js';
import { contributionOf, contributionRefs, type ContributionRefs } from '../models/contribution.js';
import { ehrBySubject, finalEhrId, type EhrDoc } from '../models/ehr.js';
import { archivedBodies, archivedMoves } from '../models/merge-archive.js';
import { inSteps } from '../models/access/in-steps.js';
import { tagsOn } from '../models/item-tag.js';
import type { MergeRecordDoc } from '../models/merge-record.js';
import { latestVersions } from '../models/version.js';
import { containersById, liveDirectory, type VersionedObjectDoc } from '../models/versioned-object.js';
import { contentOf } from './plan.js';
import type { UnmergeSnapshot } from './unmerge-plan.js';
import type { Session } from '../models/access/write.js';

/** Reads what an unmerge looks at, in the caller's transaction. */
export async function unmergeSnapshot(
  session: Session,
  record: MergeRecordDoc,
  target: EhrDoc,
): Promise<UnmergeSnapshot> {
  const moved = await archivedMoves(record._id);
  const [source] = await archivedBodies(record._id, 'ehr');
  const contribution = await contributionOf(target._id, record.contribution_uid ?? '');
  const made = contribution?.versions ?? [];
  const joined = record.joined.map((pair) => pair.source);
  const ids = new Set([...moved.composition, ...joined, ...made.map(({ uid }) => rootOfUid(uid))]);
  const known = new Set([...moved.contribution, record.contribution_uid ?? '']);
  return {
    record,
    target,
    targetMergedInto: target.state === 'merged' ? await finalEhrId(target) : null,
    source: source ?? null,
    subjectHolder: await subjectHolder(source, record),
    moved: { contributions: moved.contribution, compositions: moved.composition },
    containers: await containersIn(target._id, [...ids]),
    made,
    since: await contributionsSince(session, target._id, { known, ids }),
    tags: await tagsOn(session, target._id, [...ids]),
    droppedTags: await archivedBodies(record._id, 'tag'),
    directory: await directoryOf(target._id),
  };
}

async function subjectHolder(source: EhrDoc | undefined, record: MergeRecordDoc): Promise<string | null> {
  if (source?.subject === undefined) return null;
  const holder = await ehrBySubject(source.subject);
  return holder === null || holder._id === record.source_ehr ? null : holder._id;
}

async function containersIn(
  ehrId: string,
  versionedObjectUids: readonly string[],
): Promise<Map<string, VersionedObjectDoc>> {
  const found = new Map<string, VersionedObjectDoc>();
  for (const part of inSteps(versionedObjectUids)) {
    for (const container of await containersById(part)) {
      if (container.ehr_id === ehrId) found.set(container._id, container);
    }
  }
  return found;
}

/** By what they name, not by their time: a clock may have been turned back. */
async function contributionsSince(
  session: Session,
  ehrId: string,
  { known, ids }: { readonly known: ReadonlySet<string>; readonly ids: ReadonlySet<string> },
): Promise<ContributionRefs[]> {
  const found: ContributionRefs[] = [];
  for await (const contribution of contributionRefs(session, ehrId)) {
    if (known.has(contribution._id)) continue;
    if (contribution.versions.some(({ uid }) => ids.has(rootOfUid(uid)))) found.push(contribution);
  }
  return found;
}

async function directoryOf(ehrId: string): Promise<UnmergeSnapshot['directory']> {
  const container = await liveDirectory(ehrId);
  if (container === null) return null;
  const version = (await latestVersions([container])).get(container._id);
  return version === undefined ? null : { container, root: contentOf(version) };
}

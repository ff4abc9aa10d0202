import { createHash } from 'node:crypto';
import { CdrError } from '../../openehr/base/errors.js';
import { formatUtc } from '../../openehr/base/iso8601.js';
import type { JsonObject } from '../../openehr/base/json.js';
import { objectsAt } from '../../openehr/rm/access.js';
import { subjectOf } from '../../change/commit/ehr-flags.js';
import type { Subject } from '../../models/ehr.js';
import type { VersionedObjectDoc } from '../../models/versioned-object.js';
import { originOf, type ChosenPair, type PairFacts } from './choices.js';
import { contentOf, requiredVersion, stateOf } from '../content.js';
import type { MergePlan, MergeSnapshot } from './plan.js';
import type { MergeRequest, Side } from '../request.js';
import { sizeOf } from '../size.js';
import type { MergeWay } from '../steps.js';

/** Ids, pairs and tags that a plan lists; the numbers beside them count all. */
const LISTED = 1_000;

/**
 * The plan of a merge as its answer shows it. docs/spec/merge.md#approval
 * @throws conflict with it when another one was agreed on
 */
export function agreedPlan(
  snapshot: MergeSnapshot,
  plan: MergePlan,
  { request, way }: { readonly request: MergeRequest; readonly way: MergeWay },
): JsonObject {
  const details = planDetails(snapshot, plan, way);
  const agreed = request.approval?.digest;
  if (agreed === undefined || agreed === details.digest) return details;
  const message = 'the data have changed since the merge was asked for; confirm the digest of the new plan';
  throw new CdrError('conflict', message, { plan: details });
}

/**
 * The plan of a merge as its answer shows it. Pure. docs/spec/merge.md#plan
 * `digest` is the same for plans that do the same to the same data.
 */
function planDetails(snapshot: MergeSnapshot, plan: MergePlan, way: MergeWay): JsonObject {
  const { counts, pairs, unmatched, droppedTags } = plan;
  return {
    digest: digestOf(snapshot, plan),
    compositions: {
      moved: counts.compositions,
      ids: movedIds(snapshot, plan).slice(0, LISTED),
    },
    pairs: pairs.slice(0, LISTED).map((pair) => pairDetails(pair, snapshot)),
    not_paired: unmatched.slice(0, LISTED).map(({ templateId, source, target }) => ({
      template_id: templateId,
      source: source.length,
      target: target.length,
    })),
    folders: foldersOf(snapshot, plan),
    contributions: { moved: counts.contributions },
    item_tags: {
      moved: counts.movedTags,
      deleted: counts.droppedTags,
      deleted_ids: droppedTags.slice(0, LISTED).map(({ _id }) => _id),
    },
    subjects: subjectsOf(snapshot, plan),
    ehr_status: plan.statusDifferences.map((difference) => ({ ...difference })),
    size: { ...sizeOf(snapshot, way) },
  };
}

/** Of a merge in steps some of those that live. */
function movedIds({ source }: MergeSnapshot, { moves, joins }: MergePlan): readonly string[] {
  if (source.counts === undefined) return moves.compositions;
  const joined = new Set(joins.map((pair) => pair.source));
  return source.counts.compositionIds.filter((id) => !joined.has(id));
}

function pairDetails(pair: ChosenPair, facts: PairFacts): JsonObject {
  const { templateId, choice, reason } = pair;
  const side = (name: Side): JsonObject => ({ side: name, ...versionDetails(pair[name], facts) });
  if (choice === 'both')
    return { template_id: templateId, choice, reason, source: side('source'), target: side('target') };
  const winner = side(choice);
  const loser = side(choice === 'source' ? 'target' : 'source');
  return { template_id: templateId, choice, reason, winner, loser };
}

function versionDetails(container: VersionedObjectDoc, { latest, origins }: PairFacts): JsonObject {
  const content = originOf(container, origins);
  return {
    versioned_object_uid: container._id,
    version_uid: container.latest_version_uid,
    time_committed: formatUtc(container.latest_time_committed),
    content: { version_uid: content.versionUid, time_committed: formatUtc(content.time) },
    lifecycle_state: stateOf(requiredVersion(latest, container)),
  };
}

function foldersOf(snapshot: MergeSnapshot, { folderCopy }: MergePlan): JsonObject {
  const directory = sourceDirectory(snapshot);
  const copied =
    folderCopy === null || directory === undefined
      ? { folders: 0, items: 0 }
      : countsOf(contentOf(requiredVersion(snapshot.latest, directory)));
  return {
    action: folderCopy?.kind ?? 'none',
    source: directory?.latest_version_uid ?? null,
    target: snapshot.target.directory?.latest_version_uid ?? null,
    ...copied,
  };
}

function sourceDirectory({ source }: MergeSnapshot): VersionedObjectDoc | undefined {
  return source.containers.find(({ type, deleted }) => type === 'FOLDER' && !deleted);
}

/** FOLDERs of a tree, its root included, and their items. */
function countsOf(folder: JsonObject): { readonly folders: number; readonly items: number } {
  let folders = 1;
  let items = objectsAt(folder, 'items').length;
  for (const child of objectsAt(folder, 'folders')) {
    const below = countsOf(child);
    folders += below.folders;
    items += below.items;
  }
  return { folders, items };
}

/** Both identities, and whose the target has afterwards; the other one stays reserved. */
function subjectsOf(
  { source, target }: MergeSnapshot,
  { entries, statusDifferences }: MergePlan,
): JsonObject {
  const chosen = statusDifferences.find(({ field }) => field === 'subject')?.survivor ?? 'target';
  const status = entries.find((entry) => 'object' in entry && entry.type === 'EHR_STATUS');
  const after = status !== undefined && 'object' in status ? subjectOf(status.object) : target.ehr.subject;
  return {
    source: subjectJson(source.ehr.subject),
    target: subjectJson(target.ehr.subject),
    survivor: chosen,
    after: subjectJson(after ?? undefined),
  };
}

function subjectJson(subject: Subject | undefined): JsonObject | null {
  return subject === undefined ? null : { namespace: subject.namespace, id: subject.id };
}

/** Hexadecimal SHA-256 of everything that the merge does, and of what it does it to. */
function digestOf(snapshot: MergeSnapshot, plan: MergePlan): string {
  const { moves, pairs, droppedTags, folderCopy, ended } = plan;
  const heads = new Map(snapshot.source.containers.map((one) => [one._id, one.latest_version_uid]));
  const everything = [
    moves.compositions.map((id) => heads.get(id)).sort(),
    [...moves.contributions].sort(),
    [plan.counts, snapshot.source.counts?.newestContribution],
    [...moves.tags].sort(),
    pairs.map((pair) => [pair.choice, pair.source.latest_version_uid, pair.target.latest_version_uid]).sort(),
    droppedTags.map(({ _id }) => _id).sort(),
    ended.map((one) => one.latest_version_uid).sort(),
    [folderCopy?.kind, snapshot.target.directory?.latest_version_uid],
    snapshot.target.status.latest_version_uid,
    plan.statusDifferences,
  ];
  return createHash('sha256').update(JSON.stringify(everything)).digest('hex');
}

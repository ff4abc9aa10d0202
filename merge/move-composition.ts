import { randomUUID } from 'node:crypto';
import type { JsonObject } from '../openehr/base/json.js';
import { CdrError } from '../openehr/base/errors.js';
import { rootOfUid } from '../openehr/base/object-version-id.js';
import { nameOf, objectsAt, textAt } from '../openehr/rm/access.js';
import { digestOf, stateOf as objectState, type Gate } from '../change/approval/gate.js';
import { auditCommitted, writeAudit } from '../change/commit/audit-draft.js';
import { CHANGE_TYPE, LIFECYCLE } from '../change/commit/codes.js';
import { writeContribution } from '../change/commit/commit.js';
import { readableEhr } from '../change/commit/ehr-access.js';
import { requireUnrestricted } from '../change/mark/restriction.js';
import { mergedMessage, notModifiable, objectNotFound } from '../change/commit/refusal.js';
import type { CommitRequest, VersionEntry } from '../change/commit/request.js';
import { contributionRefs } from '../models/contribution.js';
import {
  moveContainers,
  moveContributions,
  moveItemTags,
} from '../models/cross-collection/owned-documents.js';
import { noteOwner, noteStates } from '../models/cross-collection/state-note.js';
import { PERSISTENT } from '../models/access/layout.js';
import { ehrById, ehrsSharing, finalEhrId, type EhrDoc } from '../models/ehr.js';
import { sharesContributions } from '../models/merge/history.js';
import { movedOnNote } from '../models/merge/record.js';
import { countTagsOn, tagsOn } from '../models/item-tag.js';
import { latestVersions, type VersionDoc } from '../models/version.js';
import {
  containerOf,
  livePersistentCompositions,
  liveDirectory,
  ownersOf,
  type VersionedObjectDoc,
} from '../models/versioned-object.js';
import type { ActPlan } from '../models/waiting-request.js';
import { runWrites, type Session } from '../models/access/write.js';
import { holdBoth } from './check.js';
import { contentOf, stateOf } from './content.js';
import { mergeAudit } from './plan/plan.js';
import { moveMarks } from './move-marks.js';
import { broughtBy, standingInto } from './replay/story.js';
import { rederiveDuringReindex } from './rederive.js';
import type { MergeContext } from './request.js';
import { inMergeTransaction } from './transaction.js';

/** A COMPOSITION that belongs to another patient. */
export interface MoveRequest {
  readonly sourceEhr: string;
  readonly targetEhr: string;
  /** Object id. */
  readonly versionedObjectUid: string;
  readonly dryRun: boolean;
  /** Name of the administrator. */
  readonly committer: string;
}

/** What a move did, or would do. */
export interface MoveResult {
  readonly versions: number;
  /** CONTRIBUTIONs that went along. */
  readonly contributions: number;
  /** Those that stay, since they hold other objects too. */
  readonly kept: readonly string[];
  /** Made for them: of the source, of the target. */
  readonly made: readonly string[];
  readonly tags: number;
  /** Items of the source's directory that point to it. */
  readonly folderItems: readonly { readonly folder: string; readonly item: string }[];
}

/**
 * Moves one COMPOSITION with all its versions and item tags to another EHR, in one transaction, or returns what that would do.
 * See docs/spec/merge.md#moving-one-composition. `gate`: of a move that takes two persons.
 * @throws not-found; conflict when an EHR was merged away or is locked, or the target has such a persistent one already;
 * unavailable while one of them is merged in steps
 */
export async function moveComposition(
  context: MergeContext,
  request: MoveRequest,
  gate?: Gate,
): Promise<MoveResult> {
  const uids = [randomUUID(), randomUUID()] as const;
  const moves = !request.dryRun && gate?.opens !== false;
  const result = await inMergeTransaction(context.retries, async (session) => {
    if (moves) await holdBoth(request, 'active');
    const { source, target, container } = await checkMove(request);
    for (const ehr of [source, target]) await requireUnrestricted(ehr._id, [request.versionedObjectUid]);
    const plan = await planMove(session, request, container);
    await gate?.pass(session, await actPlan(session, request, plan));
    const made = moves ? await apply(session, context, { request, plan, source, target, uids }) : [];
    if (!request.dryRun) await writeAudit({ objects: [request.versionedObjectUid, ...made] });
    return { ...plan.result, made };
  });
  if (!request.dryRun) auditCommitted();
  return result;
}

/** What a second person sees, and agrees on. */
async function actPlan(
  session: Session,
  { sourceEhr, targetEhr, versionedObjectUid }: MoveRequest,
  { container, contributions, result }: MovePlan,
): Promise<ActPlan> {
  const { versions, kept, folderItems } = result;
  const tags = (await tagsOn(session, sourceEhr, [versionedObjectUid])).map(({ _id }) => _id).sort();
  const items = folderItems.map(({ folder, item }) => ({ folder, item }));
  const state = await objectState(container);
  return {
    digest: digestOf([targetEhr, state, [...contributions].sort(), [...kept].sort(), tags, items]),
    summary: `COMPOSITION ${versionedObjectUid} with all its versions moves from EHR ${sourceEhr} to ${targetEhr}`,
    ehr_ids: [sourceEhr, targetEhr],
    versions,
    contributions: result.contributions,
    contributions_kept: [...kept],
    item_tags: result.tags,
    folder_items: items,
  };
}

async function checkMove({
  sourceEhr,
  targetEhr,
  versionedObjectUid,
}: MoveRequest): Promise<Pick<PlannedMove, 'source' | 'target'> & Pick<MovePlan, 'container'>> {
  const source = await readableEhr(sourceEhr);
  const target = await ehrById(targetEhr);
  if (target?.state === 'merged')
    throw new CdrError('conflict', mergedMessage(targetEhr, await finalEhrId(target)));
  await readableEhr(targetEhr);
  if (target === null) throw new TypeError('an EHR that can be read is there');
  const container = await containerOf(sourceEhr, 'COMPOSITION', versionedObjectUid);
  if (container === null) throw objectNotFound(sourceEhr, 'COMPOSITION', versionedObjectUid);
  for (const ehr of [source, target]) if (!ehr.is_modifiable) throw notModifiable(ehr._id);
  const { category, deleted, template_id: templateId } = container;
  if (category === PERSISTENT && !deleted) {
    const persistent = await livePersistentCompositions(targetEhr);
    const same = persistent.find((one) => one.template_id === templateId);
    if (same !== undefined)
      throw new CdrError(
        'conflict',
        `EHR ${targetEhr} has a persistent composition of template ${String(templateId)} already: ${same._id}`,
      );
  }
  return { source, target, container };
}

interface MovePlan {
  readonly container: VersionedObjectDoc;
  readonly latest: VersionDoc;
  /** Uids of CONTRIBUTIONs that go along. */
  readonly contributions: readonly string[];
  readonly result: MoveResult;
}

async function planMove(
  session: Session,
  request: MoveRequest,
  container: VersionedObjectDoc,
): Promise<MovePlan> {
  const { sourceEhr, versionedObjectUid } = request;
  const { whole, mixed } = await contributionsOf(session, sourceEhr, versionedObjectUid);
  const tags = await countTagsOn(session, sourceEhr, [versionedObjectUid]);
  const latest = (await latestVersions([container])).get(versionedObjectUid);
  if (latest === undefined) throw new TypeError(`container ${versionedObjectUid} has no version`);
  const made = mixed.length > 0 && !container.deleted ? 1 : 0;
  const result = {
    versions: container.latest_version + 2 * made,
    contributions: whole.length,
    kept: mixed,
    made: [],
    tags,
    folderItems: await folderItems(sourceEhr, versionedObjectUid),
  };
  return { container, latest, contributions: whole, result };
}

/** CONTRIBUTIONs that name the object: those of nothing else that still exists, and those of others too. */
async function contributionsOf(
  session: Session,
  ehrId: string,
  versionedObjectUid: string,
): Promise<{ readonly whole: string[]; readonly mixed: string[] }> {
  const whole: string[] = [];
  const mixed: string[] = [];
  for await (const { _id, versions } of contributionRefs(session, ehrId)) {
    const named = new Set(versions.map(({ uid }) => rootOfUid(uid)));
    if (!named.delete(versionedObjectUid)) continue;
    const others = await ownersOf([...named]);
    (others.size === 0 ? whole : mixed).push(_id);
  }
  return { whole, mixed };
}

/** FOLDERs of the live directory with an item that points to the object or one of its versions. */
async function folderItems(ehrId: string, versionedObjectUid: string): Promise<MoveResult['folderItems']> {
  const directory = await liveDirectory(ehrId);
  const version = directory === null ? undefined : (await latestVersions([directory])).get(directory._id);
  if (version === undefined) return [];
  const found: { folder: string; item: string }[] = [];
  const visit = (folder: JsonObject, path: string): void => {
    for (const item of objectsAt(folder, 'items')) {
      const id = textAt(item, 'id', 'value') ?? '';
      if (rootOfUid(id) === versionedObjectUid) found.push({ folder: path, item: id });
    }
    for (const inner of objectsAt(folder, 'folders')) visit(inner, `${path}/${nameOf(inner)}`);
  };
  const root = contentOf(version);
  visit(root, nameOf(root));
  return found;
}

interface PlannedMove {
  readonly request: MoveRequest;
  readonly plan: MovePlan;
  readonly source: EhrDoc;
  readonly target: EhrDoc;
  /** Of the CONTRIBUTIONs that may be made: of the source, of the target. */
  readonly uids: readonly [string, string];
}

/** Writes it; gives the CONTRIBUTIONs made. */
async function apply(
  session: Session,
  context: MergeContext,
  { request, plan, source, target, uids }: PlannedMove,
): Promise<string[]> {
  const { sourceEhr, targetEhr, versionedObjectUid } = request;
  const isSplit = plan.result.kept.length > 0;
  const ended =
    isSplit && !plan.container.deleted
      ? await writeContribution(session, context.change, leaving(request, plan, uids[0]))
      : null;
  const owners = { from: sourceEhr, to: targetEhr };
  const isQueryable = target.is_queryable;
  await moveContainers(session, { ...owners, isQueryable }, [versionedObjectUid]);
  await moveContributions(session, owners, plan.contributions);
  await moveItemTags(session, owners, [versionedObjectUid]);
  const { contributions } = plan;
  const objects = [versionedObjectUid];
  await noteOwner(session, { reason: 'move', from: sourceEhr, to: targetEhr, objects, contributions });
  await noteMovedOn(session, sourceEhr, versionedObjectUid);
  await moveMarks(session, sourceEhr);
  const moved = { ehrId: targetEhr, isQueryable, versionedObjectUids: [versionedObjectUid] };
  await rederiveDuringReindex(session, moved, context.change.settings.aql.leafIndex);
  // What came to the source without its CONTRIBUTIONs goes on without them.
  if (isSplit || (await sharesContributions(source, { session })))
    await runWrites(session, ehrsSharing([sourceEhr, targetEhr]));
  const last = ended?.versions[0]?.versionUid;
  if (ended === null || last === undefined) return [];
  await writeContribution(
    session,
    context.change,
    arriving(request, { plan, last, contributionUid: uids[1] }),
  );
  return [...uids];
}

/** What merges brought to the source, one behind the other, is not theirs any more: an unmerge leaves it where a person put it. */
async function noteMovedOn(session: Session, sourceEhr: string, versionedObjectUid: string): Promise<void> {
  const into = await standingInto(sourceEhr);
  const brought = (await broughtBy(into, [versionedObjectUid])).get(versionedObjectUid) ?? [];
  if (brought.length === 0) return;
  const ids = brought.map(({ _id }) => _id);
  await runWrites(
    session,
    brought.map((merge) => movedOnNote(merge, versionedObjectUid)),
  );
  await noteStates(session, { collection: 'merge_records', ids, reason: 'move' });
}

/** In the source the object ends: what stays there says so. */
function leaving(request: MoveRequest, { container }: MovePlan, contributionUid: string): CommitRequest {
  const entry: VersionEntry = {
    kind: 'delete',
    type: 'COMPOSITION',
    versionedObjectUid: container._id,
    precedingVersionUid: container.latest_version_uid,
    staleCode: 'conflict',
    audit: mergeAudit(CHANGE_TYPE.deleted, request.committer, descriptionOf(request)),
    lifecycleState: LIFECYCLE.deleted,
  };
  return commitOf(request, request.sourceEhr, entry, contributionUid);
}

/** In the target it goes on with what it held. */
function arriving(
  request: MoveRequest,
  { plan, last, contributionUid }: { plan: MovePlan; last: string; contributionUid: string },
): CommitRequest {
  const entry: VersionEntry = {
    kind: 'update',
    type: 'COMPOSITION',
    versionedObjectUid: plan.container._id,
    precedingVersionUid: last,
    object: contentOf(plan.latest),
    audit: mergeAudit(CHANGE_TYPE.creation, request.committer, descriptionOf(request)),
    lifecycleState: stateOf(plan.latest),
    templateDigest: plan.latest.template_digest,
  };
  return commitOf(request, request.targetEhr, entry, contributionUid);
}

function commitOf(
  request: MoveRequest,
  ehrId: string,
  entry: VersionEntry,
  contributionUid: string,
): CommitRequest {
  const audit = mergeAudit(CHANGE_TYPE.modification, request.committer, descriptionOf(request));
  return { ehrId, contributionUid, audit, entries: [entry] };
}

function descriptionOf({ sourceEhr, targetEhr, versionedObjectUid }: MoveRequest): string {
  return `Move of COMPOSITION ${versionedObjectUid} from EHR ${sourceEhr} to ${targetEhr}`;
}

import { CdrError, type ErrorObstacle } from '../../openehr/base/errors.js';
import { groupBy } from '../../openehr/base/maps.js';
import type { LeafIndex } from '../../aql/index/document.js';
import { byCollection } from '../../change/commit/plan.js';
import { inAuditedTransaction } from '../../change/commit/audit-draft.js';
import { readableEhr, writableEhr } from '../../change/commit/ehr-access.js';
import { requireUnrestricted } from '../../change/mark/restriction.js';
import { aqlInsert, aqlRemovalOf, recomputedDocuments } from '../../models/aql-document.js';
import {
  contributionRemoval,
  hasContributionsBeside,
  type ContributionDoc,
} from '../../models/contribution.js';
import { objectErasure } from '../../models/cross-collection/erase.js';
import { broughtBy, contributionsAbout, type Brought } from '../../models/cross-collection/extract.js';
import { holdActive, type EhrDoc } from '../../models/ehr.js';
import { taggedBeside, tagsOn } from '../../models/item-tag.js';
import { removalWrites } from '../../models/removal.js';
import { versionsOfContainers, versionsRemovalByUid, type VersionDoc } from '../../models/version.js';
import {
  containerInsert,
  containerRemoval,
  containersById,
  headOf,
  type VersionedObjectDoc,
} from '../../models/versioned-object.js';
import { runWrites, type Session, type Write } from '../../models/access/write.js';
import { eraseEhr } from '../erase.js';

/** What taking an EXTRACT back came to. */
interface UndoneExtract {
  /** The EHR was made of it, and is gone. */
  readonly isErased: boolean;
  readonly contributions: number;
  readonly versions: number;
}

/** What stands in the EHR of an import, and beside it. */
interface UndoState extends Brought {
  readonly ehr: EhrDoc;
  readonly containers: readonly VersionedObjectDoc[];
  /** All versions of those. */
  readonly versions: readonly VersionDoc[];
}

/**
 * Removes what an EXTRACT brought into an EHR, and the EHR that it made, as long as nothing was done on top of it.
 * docs/spec/interchange.md#extract
 * @throws not-found when that import brought nothing here; conflict with all obstacles
 */
export async function undoExtract(
  { ehrId, batch }: { readonly ehrId: string; readonly batch: string },
  leafIndex: LeafIndex,
): Promise<UndoneExtract> {
  await readableEhr(ehrId);
  const before = await broughtBy(ehrId, batch);
  if (before.contributions.length === 0)
    throw new CdrError('not-found', `the import ${batch} brought nothing into EHR ${ehrId} that is left`);
  const counts = { contributions: before.contributions.length, versions: before.brought.length };
  if (!(await hasContributionsBeside(ehrId, [batch]))) {
    await eraseMade(ehrId, batch);
    return { isErased: true, ...counts };
  }
  await inAuditedTransaction(
    async (session) => {
      if ((await holdActive(ehrId)) === null) await writableEhr(ehrId);
      await requireUnrestricted(ehrId);
      const state = await undoState(session, await writableEhr(ehrId), batch);
      const obstacles = await obstaclesTo(session, state, batch);
      requireNone(obstacles);
      const writes = byCollection(await undoWrites(session, state, leafIndex));
      // Among writes of one run removals come last; here a shorter container takes the place of the one that goes.
      for (const isRemoval of [true, false])
        await runWrites(
          session,
          writes.filter((write) => 'remove' in write === isRemoval),
        );
    },
    () => ({ ehr_id: ehrId, target: batch }),
  );
  return { isErased: false, ...counts };
}

/** In the transaction that erases: whoever commits meanwhile is before it, or finds no EHR. */
function eraseMade(ehrId: string, batch: string): Promise<void> {
  const pass = async (): Promise<void> => {
    if (await hasContributionsBeside(ehrId, [batch]))
      throw new CdrError('conflict', `EHR ${ehrId} was used meanwhile`);
    // An EXTRACT brings no item tags: what has some got them on top of it.
    requireNone((await taggedBeside(ehrId, [batch])).map(taggedSince));
  };
  return eraseEhr(ehrId, { cascade: true, gate: { opens: true, pass } });
}

async function undoState(session: Session, ehr: EhrDoc, batch: string): Promise<UndoState> {
  const brought = await broughtBy(ehr._id, batch, session);
  const ids = [...new Set(brought.brought.map((version) => version.object_id))];
  return {
    ...brought,
    ehr,
    containers: (await containersById(ids)).filter((container) => container.ehr_id === ehr._id),
    versions: await versionsOfContainers(ehr._id, ids, session),
  };
}

async function obstaclesTo(session: Session, state: UndoState, batch: string): Promise<ErrorObstacle[]> {
  const { ehr, brought, containers, moved } = state;
  const found: ErrorObstacle[] = [];
  const uids = new Set(brought.map(({ _id }) => _id));
  if (brought.some(({ type }) => type === 'EHR_STATUS'))
    found.push(obstacle('ehr_in_use', `EHR ${ehr._id} was made by this import, and has been used since`));
  const changed = containers.filter((one) => !uids.has(one.latest_version_uid)).map(({ _id }) => _id);
  for (const id of changed) found.push(obstacle('changed_since', `${id} was changed since`, [id]));
  for (const id of moved)
    found.push(obstacle('moved_since', `${id} is in another EHR now: move it back first`, [id]));
  for (const { _id } of await contributionsAbout(session, ehr._id, [...uids], batch))
    found.push(
      obstacle('attested_since', `the CONTRIBUTION ${_id} is about a version that the import brought`, [_id]),
    );
  const tags = await tagsOn(
    session,
    ehr._id,
    containers.map(({ _id }) => _id),
  );
  found.push(...[...new Set(tags.map(({ target }) => target))].map(taggedSince));
  return found;
}

function taggedSince(id: string): ErrorObstacle {
  return obstacle('tagged_since', `${id} has item tags: remove them first`, [id]);
}

/** @throws conflict with all of them */
function requireNone(obstacles: readonly ErrorObstacle[]): void {
  if (obstacles.length === 0) return;
  const reasons = obstacles.map(({ message }) => message);
  throw new CdrError('conflict', reasons.join('; '), { reasons, obstacles });
}

async function undoWrites(session: Session, state: UndoState, leafIndex: LeafIndex): Promise<Write[]> {
  const { ehr, brought, containers, versions } = state;
  const uids = new Set(brought.map(({ _id }) => _id));
  const byObject = groupBy(versions, (version) => version.object_id);
  const writes: Write[] = [];
  for (const container of containers) {
    const left = (byObject.get(container._id) ?? []).filter(({ _id }) => !uids.has(_id));
    const gone = (byObject.get(container._id) ?? []).filter(({ _id }) => uids.has(_id)).map(({ _id }) => _id);
    writes.push(
      ...(left.length === 0
        ? await objectErasure(session, ehr._id, container._id)
        : shortened({ ehr, container, left, gone }, leafIndex)),
    );
  }
  return [...writes, ...contributionsGone(ehr._id, state.contributions)];
}

/** The container as it was before, with what queries read of it. */
function shortened(
  {
    ehr,
    container,
    left,
    gone,
  }: {
    readonly ehr: EhrDoc;
    readonly container: VersionedObjectDoc;
    readonly left: readonly VersionDoc[];
    readonly gone: readonly string[];
  },
  leafIndex: LeafIndex,
): Write[] {
  const last = left.at(-1);
  if (last === undefined) return [];
  const { documents } = recomputedDocuments(left, { isQueryable: ehr.is_queryable, leafIndex });
  return [
    containerRemoval(ehr._id, container._id),
    containerInsert({
      ...container,
      ...headOf(last),
      ...(last.template_id !== undefined && { template_id: last.template_id }),
    }),
    ...removalWrites({
      kind: 'removed',
      reason: 'erasure',
      collection: 'versions',
      ehr_id: ehr._id,
      ids: gone,
    }),
    versionsRemovalByUid(ehr._id, gone),
    aqlRemovalOf(ehr._id, [container._id]),
    ...documents.map(aqlInsert),
  ];
}

function contributionsGone(ehrId: string, contributions: readonly Pick<ContributionDoc, '_id'>[]): Write[] {
  const ids = contributions.map(({ _id }) => _id);
  return [
    ...removalWrites({ kind: 'removed', reason: 'erasure', collection: 'contributions', ehr_id: ehrId, ids }),
    ...ids.map((id) => contributionRemoval(ehrId, id)),
  ];
}

function obstacle(code: string, message: string, objectIds: readonly string[] = []): ErrorObstacle {
  return { code, message, object_ids: objectIds, choices: [] };
}

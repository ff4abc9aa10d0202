import type { ClientSession } from 'mongoose';
import { aqlRemoval } from '../aql-document.js';
import { contributionRemoval } from '../contribution.js';
import { draftRemoval, draftRemovalOf } from '../draft.js';
import { favouriteRemoval } from '../favourite.js';
import { clearDirectory, ehrRemoval, hideEhr, knownEhrIds, sourcesEndingIn } from '../ehr.js';
import { markIdsOf, markRemoval } from '../ehr-mark.js';
import { itemTagRemoval } from '../item-tag.js';
import { COLLECTIONS, type CollectionName } from '../access/layout.js';
import { archiveRemoval } from '../merge/archive.js';
import { distinctRemovals } from '../merge/distinct.js';
import { mergeHistoryRemoval, undoneMergesOf, type MergeHistoryDoc } from '../merge/history.js';
import { mergeIdsOfSources, mergeRecordRemovalOfSources } from '../merge/record.js';
import { mergeRequestRemovals } from '../merge/request.js';
import { waitingRequestRemovalOf, waitingRequestRemovals } from '../waiting-request.js';
import { exampleRemoval, exampleRemovalOf } from '../template-comparison.js';
import { leftRemoval, leftRemovalOf } from '../template-upgrade.js';
import { lastRemoval } from './state-note.js';
import { insertRemoval, notesOfTransaction, removalWrites, type RemovalDoc } from '../removal.js';
import { removalLeaf } from './seal-hash.js';
import { versionsRemoval } from '../version.js';
import { containerRemoval } from '../versioned-object.js';
import type { Documents, Filter, Write, WrittenCollection } from '../access/write.js';
import { documents } from '../access/documents.js';

/** Documents removed by one command of the steps outside a transaction. */
const STEP = 1_000;

/**
 * The writes that remove one object: versions, container, derived documents, item tags, drafts of it, a live directory's
 * mark, what waits about it, and that note it for `verify`.
 */
export async function objectErasure(
  session: ClientSession,
  ehrId: string,
  versionedObjectUid: string,
): Promise<Write[]> {
  return [
    ...(await erasureNotes(session, COLLECTIONS.versions, { ehr_id: ehrId, object_id: versionedObjectUid })),
    versionsRemoval(ehrId, [versionedObjectUid]),
    containerRemoval(ehrId, versionedObjectUid),
    aqlRemoval(ehrId, versionedObjectUid),
    itemTagRemoval(ehrId, versionedObjectUid),
    clearDirectory(ehrId, versionedObjectUid, 'any'),
    waitingRequestRemovalOf(versionedObjectUid),
    draftRemovalOf(versionedObjectUid),
    leftRemovalOf(versionedObjectUid),
    exampleRemovalOf(versionedObjectUid),
  ];
}

/** The writes that hide an active EHR from everyone and free its subject; the first matches nothing otherwise. */
export function ehrHiding(ehrId: string): Write[] {
  return [hideEhr(ehrId), aqlRemoval(ehrId)];
}

/** The writes that remove an active EHR and all it holds at once; the first matches nothing otherwise. */
export async function wholeErasure(session: ClientSession, ehrId: string): Promise<Write[]> {
  const sources = await sourcesEndingIn(ehrId);
  const mergeIds = await mergeIdsOfSources(sources, { session });
  return [
    ...ehrHiding(ehrId),
    ...(await erasureNotes(session, COLLECTIONS.versions, { ehr_id: ehrId })),
    ...(await erasureNotes(session, COLLECTIONS.contributions, { ehr_id: ehrId })),
    itemTagRemoval(ehrId),
    versionsRemoval(ehrId),
    ...[ehrId, ...sources].map((owner) => containerRemoval(owner)),
    contributionRemoval(ehrId),
    archiveRemoval(mergeIds),
    ...(await ehrErasure(session, ehrId)),
  ];
}

/** Removes versions, containers, contributions, tags and archives of a hidden EHR in steps; may be repeated. */
export async function eraseEhrContent(ehrId: string): Promise<void> {
  await eraseInSteps(COLLECTIONS.aql, { ehr: ehrId }, ehrId);
  await eraseInSteps(COLLECTIONS.itemTags, { owner_id: ehrId }, ehrId);
  await eraseInSteps(COLLECTIONS.versions, { ehr_id: ehrId }, ehrId);
  await eraseInSteps(COLLECTIONS.versionedObjects, { ehr_id: ehrId }, ehrId);
  await eraseInSteps(COLLECTIONS.contributions, { ehr_id: ehrId }, ehrId);
  const sources = await sourcesEndingIn(ehrId);
  for (const source of sources) await eraseInSteps(COLLECTIONS.versionedObjects, { ehr_id: source }, ehrId);
  for (const mergeId of await mergeIdsOfSources(sources, {})) {
    await eraseInSteps(COLLECTIONS.mergeArchive, { merge_id: mergeId }, ehrId);
  }
}

/** Removes audit records older than a time in steps; may be repeated. Gives how many. */
export function eraseAuditBefore(time: Date): Promise<number> {
  return eraseInSteps(COLLECTIONS.audit, { time: { $lt: time } });
}

/** The writes that end an erasure in steps, with a note that names those of all steps. */
export async function lastErasure(session: ClientSession, ehrId: string): Promise<Write[]> {
  const steps = await documents<RemovalDoc>(COLLECTIONS.removals)
    .find<RemovalDoc>({ kind: 'removed', reason: 'erasure', ehr_id: ehrId }, { session })
    .toArray();
  return ehrErasure(session, ehrId, steps);
}

/** The writes that end it all: the EHR document, the merges that ended in it, and their tombstones. `steps`: notes made before. */
async function ehrErasure(
  session: ClientSession,
  ehrId: string,
  steps?: readonly RemovalDoc[],
): Promise<Write[]> {
  const sources = await sourcesEndingIn(ehrId);
  const gone = [ehrId, ...sources];
  const history = await historyOnlyOf(session, gone);
  return [
    mergeRecordRemovalOfSources(sources),
    mergeHistoryRemoval(history),
    ...mergeRequestRemovals(gone),
    ...waitingRequestRemovals(gone),
    draftRemoval(gone),
    favouriteRemoval(gone),
    leftRemoval(gone),
    exampleRemoval(gone),
    ...distinctRemovals(gone),
    ...(await markErasure(session, gone)),
    ehrRemoval(gone),
    ...lastRemoval(COLLECTIONS.mergeRecords, await mergeIdsOfSources(sources, { session })),
    ...lastRemoval(COLLECTIONS.mergeHistory, history),
    ...ehrNotes(ehrId, sources, steps),
  ];
}

function ehrNotes(
  ehrId: string,
  sources: readonly string[],
  steps: readonly RemovalDoc[] | undefined,
): Write[] {
  const gone = {
    kind: 'removed',
    reason: 'erasure',
    collection: COLLECTIONS.ehrs,
    ehr_id: ehrId,
  } as const;
  const ofSources = removalWrites({ ...gone, ids: sources });
  // No audit record is of this transaction: that of the first one has the note of the last.
  const notes = steps && [...steps, ...notesOfTransaction()].map((note) => removalLeaf(note).toString('hex'));
  return [...ofSources, ...removalWrites({ ...gone, ids: [ehrId], ...(notes && { notes }) })];
}

/** Marks end with their EHR, and what was said in them; the audit keeps that there were some. */
async function markErasure(session: ClientSession, gone: readonly string[]): Promise<Write[]> {
  const marks = await markIdsOf(session, gone);
  return marks.length === 0 ? [] : [markRemoval(gone), ...lastRemoval(COLLECTIONS.ehrMarks, marks)];
}

/** Records of merges taken back, of which the other EHR is gone too: while it is there they explain its CONTRIBUTIONs. */
async function historyOnlyOf(session: ClientSession, gone: readonly string[]): Promise<string[]> {
  const records: MergeHistoryDoc[] = [];
  for (const ehrId of gone) records.push(...(await undoneMergesOf(ehrId, { session })));
  const known = await knownEhrIds(records.flatMap((record) => [record.source_ehr, record.target_ehr]));
  const isLeft = (ehrId: string): boolean => known.has(ehrId) && !gone.includes(ehrId);
  return records
    .filter((record) => !isLeft(record.source_ehr) && !isLeft(record.target_ehr))
    .map(({ _id }) => _id);
}

const NOTED = [COLLECTIONS.versions, COLLECTIONS.contributions, COLLECTIONS.audit] as const;

/** Collections whose records are sealed: that they go is noted. */
type Noted = (typeof NOTED)[number];

function isNoted(name: CollectionName): name is Noted {
  return NOTED.some((noted) => noted === name);
}

async function erasureNotes<Name extends Noted>(
  session: ClientSession,
  collection: Name,
  filter: Filter<Documents[Name]> & { readonly ehr_id: string },
): Promise<Write[]> {
  const untyped: object = filter;
  const docs = await documents<{ _id: string }>(collection)
    .find(untyped, { projection: { _id: 1 }, session })
    .toArray();
  const ids = docs.map(({ _id }) => _id);
  return removalWrites({ kind: 'removed', reason: 'erasure', collection, ehr_id: filter.ehr_id, ids });
}

async function eraseInSteps<Name extends WrittenCollection>(
  name: Name,
  filter: Filter<Documents[Name]>,
  ehrId?: string,
): Promise<number> {
  const reason = ehrId === undefined ? 'retention' : 'erasure';
  const note = { kind: 'removed', reason, ...(ehrId !== undefined && { ehr_id: ehrId }) } as const;
  const target = documents<{ _id: string }>(name);
  const untyped: object = filter;
  let removed = 0;
  for (;;) {
    const docs = await target
      .find(untyped, { projection: { _id: 1 } })
      .limit(STEP)
      .toArray();
    if (docs.length === 0) return removed;
    const ids = docs.map((doc) => doc._id);
    if (isNoted(name)) await insertRemoval({ ...note, collection: name, ids });
    removed += (await target.deleteMany({ ...untyped, _id: { $in: ids } })).deletedCount;
  }
}

import type mongoose from 'mongoose';
import { type ClientSession } from 'mongoose';
import type { JsonObject } from '../openehr/base/json.js';
import { isJsonObject } from '../openehr/base/json.js';
import { deriveAqlDocument } from '../aql/index/derive.js';
import { COLLECTIONS } from './access/layout.js';
import { FIELD, type AqlDocument, type LeafIndex } from '../aql/index/document.js';
import { identifierOf } from '../policy/attributes.js';
import type { VersionDoc } from './version.js';
import type { InsertWrite, RemoveWrite, UpdateWrite } from './access/write.js';
import { documents } from './access/documents.js';

/** What derived documents need beside the versions: the EHR's flag and which leaves to keep. */
export interface RecomputeInput {
  readonly isQueryable: boolean;
  readonly leafIndex: LeafIndex;
}

/** Derived documents with the shapes (`_id`s of `aql_shapes`) that must exist for them. */
export interface Recomputed {
  readonly documents: readonly AqlDocument[];
  readonly shapes: readonly string[];
}

/**
 * The `aql` documents that the versions of ONE container must have, from nothing but those versions. Pure.
 * `versions`: all of them, oldest first. Deletions have no document.
 */
export function recomputedDocuments(versions: readonly VersionDoc[], input: RecomputeInput): Recomputed {
  const documents: AqlDocument[] = [];
  const shapes = new Set<string>();
  for (const [index, version] of versions.entries()) {
    if (version.data === null) continue;
    const derived = deriveAqlDocument(
      {
        versionUid: version._id,
        ehrId: version.ehr_id,
        versionedObjectUid: version.object_id,
        version: version.version,
        type: version.type,
        timeCommitted: version.time_committed,
        contributionUid: version.contribution_uid,
        changeType: storedCode(version.commit_audit.change_type),
        lifecycleState: storedCode(version.lifecycle_state),
        committer: version.commit_audit.committer,
        isQueryable: input.isQueryable,
        isImported: version.item !== undefined,
        leafIndex: input.leafIndex,
      },
      JSON.parse(version.data) as JsonObject,
    );
    const next = versions[index + 1];
    const superseded = next === undefined ? {} : { latest: false, to: next.time_committed };
    documents.push({ ...derived.document, ...superseded });
    for (const shape of derived.shapes) shapes.add(shape);
  }
  return { documents, shapes: [...shapes] };
}

/** The code of a stored DV_CODED_TEXT. */
function storedCode(term: unknown): string {
  const code =
    isJsonObject(term) && isJsonObject(term.defining_code) ? term.defining_code.code_string : undefined;
  return typeof code === 'string' ? code : '';
}

/** All derived documents of these containers. */
export function aqlDocumentsOf(
  ehrId: string,
  versionedObjectUids: readonly string[],
): Promise<AqlDocument[]> {
  return derived()
    .find<AqlDocument>({ ehr: ehrId, vo: { $in: [...versionedObjectUids] } })
    .toArray();
}

/** Object ids that the derived documents of an EHR name. */
export async function versionedObjectUidsOfAql(ehrId: string): Promise<string[]> {
  const groups = await derived()
    .aggregate<{ _id: string }>([{ $match: { ehr: ehrId } }, { $group: { _id: '$vo' } }])
    .toArray();
  return groups.map(({ _id }) => _id);
}

/** Removes derived documents of an EHR whose container is gone; gives how many. */
export async function removeOrphans(
  session: ClientSession,
  ehrId: string,
  versionedObjectUids: readonly string[],
): Promise<number> {
  const orphans = { ehr: ehrId, vo: { $nin: [...versionedObjectUids] } };
  return (await derived().deleteMany(orphans, { session })).deletedCount;
}

/** The write that adds a derived document. */
export function aqlInsert(insert: AqlDocument): InsertWrite<'aql'> {
  return { collection: COLLECTIONS.aql, insert };
}

/**
 * The derived document of a version that is no longer the latest. `mayBeMissing`: after a crash of an older release
 * or during a reindex it may not exist, which is no reason to refuse a commit.
 */
export function supersede(
  versionUid: string,
  to: Date,
  { mayBeMissing }: { readonly mayBeMissing: boolean },
): UpdateWrite<'aql'> {
  return {
    collection: COLLECTIONS.aql,
    filter: { _id: versionUid },
    update: { $set: { latest: false, to } },
    matching: mayBeMissing ? 'any' : 'one',
  };
}

/** Every derived document of an EHR repeats its `is_queryable`. */
export function setQueryable(ehrId: string, isQueryable: boolean): UpdateWrite<'aql'> {
  return {
    collection: COLLECTIONS.aql,
    filter: { ehr: ehrId },
    update: { $set: { q: isQueryable } },
    matching: 'any',
  };
}

/** Removes the derived documents of one container, or of a whole EHR. */
export function aqlRemoval(ehrId: string, versionedObjectUid?: string): RemoveWrite<'aql'> {
  const one = versionedObjectUid === undefined ? {} : { vo: versionedObjectUid };
  return { collection: COLLECTIONS.aql, remove: { ehr: ehrId, ...one } };
}

/** Removes the derived documents of these containers of an EHR, without a look at any other: it may have a million. */
export function aqlRemovalOf(ehrId: string, versionedObjectUids: readonly string[]): RemoveWrite<'aql'> {
  return { collection: COLLECTIONS.aql, remove: { ehr: ehrId, vo: { $in: [...versionedObjectUids] } } };
}

/** About how many derived documents there are. */
export function derivedCount(): Promise<number> {
  return derived().estimatedDocumentCount();
}

/** What was done to some derived documents. */
interface NamedCommitters {
  /** The last of them; null: there are no more. */
  readonly last: string | null;
  readonly looked: number;
  /** Those that now name a committer and did not before. */
  readonly named: number;
}

/** Names the committers in the next derived documents after a VERSION, as `aqlDocument` does: those that older releases wrote lack them. */
export async function nameCommitters(after: string, count: number): Promise<NamedCommitters> {
  const found = await derived()
    .find({ _id: { $gt: after } }, { projection: { _id: 1, [FIELD.committer]: 1 } })
    .sort({ _id: 1 })
    .limit(count)
    .toArray();
  const lacking = found.filter((document) => document[FIELD.committer] === undefined).map(({ _id }) => _id);
  const audits = await documents<Pick<VersionDoc, '_id' | 'commit_audit'>>(COLLECTIONS.versions)
    .find({ _id: { $in: lacking } }, { projection: { commit_audit: 1 } })
    .toArray();
  const updates = audits.flatMap(({ _id, commit_audit: { committer } }) => {
    const name = identifierOf(committer);
    const filter = { _id, [FIELD.committer]: { $exists: false } };
    return name === undefined
      ? []
      : [{ updateOne: { filter, update: { $set: { [FIELD.committer]: name } } } }];
  });
  const named =
    updates.length === 0 ? 0 : (await derived().bulkWrite(updates, { ordered: false })).modifiedCount;
  return { last: found.at(-1)?._id ?? null, looked: found.length, named };
}

function derived(): mongoose.mongo.Collection<AqlDocument> {
  return documents<AqlDocument>(COLLECTIONS.aql);
}

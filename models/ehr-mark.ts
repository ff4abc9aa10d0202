import { trusted, type ClientSession } from 'mongoose';
import { namedCategory, type CategoryMap } from '../policy/categories.js';
import { MARK_KINDS, type AccessMark, type MarkKind } from '../policy/marks.js';
import {
  collection,
  date,
  listOf,
  mark,
  nested,
  oneOf,
  optional,
  text,
  type DocumentOf,
} from './access/collection.js';
import { documents } from './access/documents.js';
import { inSteps } from './access/in-steps.js';
import { COLLECTIONS } from './access/layout.js';
import { ownersOf } from './versioned-object.js';
import type { RemoveWrite } from './access/write.js';

const SAID = {
  time: date,
  by: text,
  sub: optional(text),
  iss: optional(text),
};

/** When somebody said something, and who. */
export type MarkSaid = DocumentOf<typeof SAID>;

const LIFTED = {
  ...SAID,
  /** Of which EHR it was said: one that merges took the mark to may go back without it. */
  ehr_id: text,
};

/** What a mark is about; absent: all of the EHR. */
const MARK_SCOPE = {
  /** Container of a COMPOSITION. */
  object_uid: optional(text),
  template_id: optional(text),
  category: optional(text),
  origin: optional(text),
  organisation: optional(text),
  from: optional(date),
  to: optional(date),
};

const EHR_MARK = {
  ...MARK_SCOPE,
  /** UUID. */
  _id: text,
  /** The EHR that it was set on; of an object the one that the object is in. */
  ehr_id: text,
  kind: oneOf<MarkKind>(),
  ground: text,
  placed: nested(SAID),
  lifted: listOf(nested(LIFTED)),
  /** true: it was not lifted from the EHR that it was set on. */
  open: optional(mark),
};

/** A mark on an EHR or an object in it. Fields: docs/spec/storage.md#other-collections. */
export type EhrMarkDoc = DocumentOf<typeof EHR_MARK>;

declare module './access/write.js' {
  interface Documents {
    readonly [COLLECTIONS.ehrMarks]: EhrMarkDoc;
  }
}

const EhrMark = collection(COLLECTIONS.ehrMarks, EHR_MARK);

/** Whether it is a kind of marks. */
export function isMarkKind(value: unknown): value is MarkKind {
  return MARK_KINDS.some((kind) => kind === value);
}

/** What a mark depends on that stands elsewhere. */
interface MarkContext {
  /** What its object has become. */
  readonly objects: readonly string[];
  readonly categories: CategoryMap;
}

/** A mark as policies see it. */
export function accessMark(doc: EhrMarkDoc, { objects, categories }: MarkContext): AccessMark {
  const { kind, organisation, template_id, category, origin, from, to } = doc;
  return {
    kind,
    ...(organisation !== undefined && { organisation }),
    scope: {
      ...(doc.object_uid !== undefined && { objects }),
      ...(template_id !== undefined && { template_id }),
      ...(category !== undefined && { category: namedCategory(category, categories) }),
      ...(origin !== undefined && { origin }),
      ...(from !== undefined && { from: from.getTime() }),
      ...(to !== undefined && { to: to.getTime() }),
    },
  };
}

/** Marks that were set on these EHRs, the oldest first, also those that were lifted. Joins the caller's transaction. */
export function marksSetOn(ehrIds: readonly string[]): Promise<EhrMarkDoc[]> {
  return EhrMark.find({ ehr_id: trusted({ $in: ehrIds }) })
    .sort({ 'placed.time': 1, _id: 1 })
    .exec();
}

/** Marks of these EHRs that were not lifted from them. */
export function openMarksOn(
  ehrIds: readonly string[],
  kinds: readonly MarkKind[] = MARK_KINDS,
): Promise<EhrMarkDoc[]> {
  return EhrMark.find({ ehr_id: trusted({ $in: ehrIds }), kind: trusted({ $in: kinds }), open: true }).exec();
}

/** Whether there are more than so many marks of these kinds that were not lifted. */
export async function hasMoreOpenMarks(kinds: readonly MarkKind[], most: number): Promise<boolean> {
  const marks = documents<Pick<EhrMarkDoc, '_id' | 'kind' | 'open'>>(COLLECTIONS.ehrMarks);
  const found = await marks.countDocuments({ kind: { $in: [...kinds] }, open: true }, { limit: most + 1 });
  return found > most;
}

/** Marks of these kinds on whatever EHR that were not lifted from it, at most `most` in no order. */
export function openMarks(kinds: readonly MarkKind[], most: number): Promise<EhrMarkDoc[]> {
  return EhrMark.find({ kind: trusted({ $in: kinds }), open: true })
    .limit(most)
    .exec();
}

/** Marks that were not lifted and are about one of these categories, at most `most`. Joins the caller's transaction. */
export function openMarksOfCategories(names: readonly string[], most: number): Promise<EhrMarkDoc[]> {
  return EhrMark.find({ kind: trusted({ $in: MARK_KINDS }), open: true, category: trusted({ $in: names }) })
    .limit(most)
    .exec();
}

/** Stores new marks. Joins the caller's transaction. */
export async function insertMarks(marks: readonly EhrMarkDoc[]): Promise<void> {
  if (marks.length > 0) await EhrMark.create([...marks]);
}

/** Stores a mark as it is, instead of the one with its id. Joins the caller's transaction. */
export async function putMark({ _id, ...mark }: EhrMarkDoc): Promise<void> {
  await EhrMark.replaceOne({ _id }, mark, { upsert: true }).exec();
}

/** Lifts a mark from an EHR, which may be one that a merge took it to. Joins the caller's transaction. */
export async function liftMark(doc: EhrMarkDoc, ehrId: string, said: MarkSaid): Promise<void> {
  const isOwn = doc.ehr_id === ehrId;
  const lift = {
    $push: { lifted: { $each: [{ ...said, ehr_id: ehrId }] } },
    ...(isOwn && { $unset: { open: 1 as const } }),
  };
  await EhrMark.updateOne({ _id: doc._id }, lift).exec();
}

/**
 * Marks of objects go with these: gives those of an EHR to the EHR that has the object now. Gives their ids. Joins the caller's
 * transaction, in which the objects have moved.
 */
export async function followObjects(ehrIds: readonly string[]): Promise<string[]> {
  const marks = (await openMarksOn(ehrIds)).filter(
    ({ object_uid: uid, lifted }) =>
      uid !== undefined && lifted.every((each) => !ehrIds.includes(each.ehr_id)),
  );
  if (marks.length === 0) return [];
  const owners = await ownersOf(marks.flatMap(({ object_uid: uid }) => uid ?? []));
  const moved: string[] = [];
  for (const { _id, object_uid: uid = '' } of marks) {
    const owner = owners.get(uid);
    if (owner === undefined || ehrIds.includes(owner)) continue;
    await EhrMark.updateOne({ _id }, { $set: { ehr_id: owner } }).exec();
    moved.push(_id);
  }
  return moved;
}

/** Ids of the marks that were ever set on these EHRs. */
export async function markIdsOf(session: ClientSession, ehrIds: readonly string[]): Promise<string[]> {
  const ids: string[] = [];
  for (const part of inSteps(ehrIds)) {
    const found = documents<{ _id: string }>(COLLECTIONS.ehrMarks).find(
      { ehr_id: { $in: part } },
      { session, projection: { _id: 1 } },
    );
    for await (const { _id } of found) ids.push(_id);
  }
  return ids;
}

/** The write that removes all marks of EHRs, with their history. */
export function markRemoval(ehrIds: readonly string[]): RemoveWrite<'ehr_marks'> {
  return { collection: COLLECTIONS.ehrMarks, remove: { ehr_id: { $in: ehrIds } } };
}

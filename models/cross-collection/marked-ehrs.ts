import { CdrError } from '../../openehr/base/errors.js';
import { NO_CATEGORIES, type CategoryMap } from '../../policy/categories.js';
import { any, FALSE, type Condition, type Permitted } from '../../policy/condition.js';
import {
  marksAsked,
  marksFor,
  placedCondition,
  scopesOf,
  withMarksNamed,
  type AccessMark,
  type MarkKind,
  type PlacedMark,
} from '../../policy/marks.js';
import type { ObjectType } from '../../policy/schema.js';
import { belongsTo, movingMerges } from '../access/merge-job.js';
import { inSteps } from '../access/in-steps.js';
import {
  accessMark,
  hasMoreOpenMarks,
  marksSetOn,
  openMarks,
  openMarksOn,
  type EhrMarkDoc,
} from '../ehr-mark.js';
import { storedCategories } from '../category.js';
import { mergedWithMarks, mergesInto, mergesOutOf } from '../ehr-marking.js';
import { joinedPairsOf } from '../merge/record.js';

/** Marks whose EHRs stand in a list or query, and parts of EHRs that these are about; more are asked of each document. */
export const MOST_MARKS = 20_000;
export const MOST_SCOPES = 200;

/** Parts of EHRs whose marks came with merges; of these the ids always stand in a query. */
export const MOST_MERGED_SCOPES = 2_000;

/** By the EHR that a mark was set on the EHRs that merges took it to, that one first. */
type Ways = ReadonlyMap<string, readonly string[]>;

/** A mark that holds for an EHR, with what is said of it. */
export interface HeldMark extends AccessMark {
  readonly doc: EhrMarkDoc;
}

/** These EHRs, and those that merges took to them, with the ways. */
async function waysInto(ehrIds: readonly string[]): Promise<Ways> {
  const targets = new Map<string, string>();
  const known = new Set(ehrIds);
  const moving = [...movingMerges().targets];
  for (let ids = [...known]; ids.length > 0;) {
    const found = moving.filter(([, target]) => ids.includes(target));
    for (const part of inSteps(ids)) found.push(...(await mergesInto(part)));
    ids = [];
    for (const [source, target] of found) {
      targets.set(source, target);
      if (known.has(source)) continue;
      known.add(source);
      ids.push(source);
    }
  }
  return new Map([...known].map((id) => [id, wayOf(id, targets)]));
}

/** The EHRs that merges took these to, with the ways. */
async function waysFrom(ehrIds: readonly string[]): Promise<Ways> {
  const targets = new Map<string, string>();
  for (let ids = [...new Set(ehrIds)]; ids.length > 0;) {
    const next = new Set<string>();
    const moving = ids.map((id): [string, string] => [id, belongsTo(id)]).filter(([id, to]) => to !== id);
    const merged: [string, string][] = [];
    for (const part of inSteps(ids)) merged.push(...(await mergesOutOf(part)));
    for (const [source, target] of [...moving, ...merged]) {
      if (!targets.has(target)) next.add(target);
      targets.set(source, target);
    }
    ids = [...next].filter((id) => !targets.has(id));
  }
  return new Map(ehrIds.map((id) => [id, wayOf(id, targets)]));
}

/** From one on to where it leads, itself first. */
function wayOf(first: string, targets: ReadonlyMap<string, string>): string[] {
  const way = [first];
  for (let next = targets.get(first); next !== undefined && !way.includes(next); next = targets.get(next))
    way.push(next);
  return way;
}

/** Whether a mark holds at the end of its way: nowhere on it was it lifted. */
function isHeld({ lifted }: EhrMarkDoc, way: readonly string[]): boolean {
  return lifted.every(({ ehr_id: ehrId }) => !way.includes(ehrId));
}

/** By the container of a mark what merges joined it to, itself first. */
async function joinedObjects(marks: readonly EhrMarkDoc[], ways: Ways): Promise<Map<string, string[]>> {
  const ofObjects = marks.flatMap(({ object_uid: uid, ehr_id: ehrId }) =>
    uid === undefined ? [] : [{ uid, merged: (ways.get(ehrId) ?? []).slice(0, -1) }],
  );
  const joined = new Map<string, string>();
  for (const part of inSteps([...new Set(ofObjects.flatMap(({ merged }) => merged))]))
    for (const { source, target } of await joinedPairsOf(part)) joined.set(source, target);
  return new Map(ofObjects.map(({ uid }) => [uid, wayOf(uid, joined)]));
}

/** Marks that hold for an EHR now: its own, and those of all that was merged into it. */
export async function marksOfEhr(ehrId: string): Promise<readonly HeldMark[]> {
  const ways = await waysInto([ehrId]);
  return heldOn(await openMarksOn([...ways.keys()]), ways);
}

async function heldOn(marks: readonly EhrMarkDoc[], ways: Ways): Promise<HeldMark[]> {
  const held = marks.filter((doc) => isHeld(doc, ways.get(doc.ehr_id) ?? []));
  if (held.length === 0) return [];
  const objects = await joinedObjects(held, ways);
  const categories = await categoriesFor(held);
  return held.map((doc) => ({
    ...accessMark(doc, { objects: objects.get(doc.object_uid ?? '') ?? [], categories }),
    doc,
  }));
}

/** What is of the categories that marks are about, as it is now; of marks about none nothing is read. */
async function categoriesFor(marks: readonly EhrMarkDoc[]): Promise<CategoryMap> {
  return marks.some(({ category }) => category !== undefined) ? storedCategories() : NO_CATEGORIES;
}

/** A mark of an EHR's history. `lifted`: from this EHR; null: it holds. */
export interface MarkEvent {
  readonly doc: EhrMarkDoc;
  readonly lifted: EhrMarkDoc['lifted'][number] | null;
}

/** All marks that ever were on an EHR, and those of all that was merged into it, the oldest first. */
export async function markHistory(ehrId: string): Promise<readonly MarkEvent[]> {
  const ways = await waysInto([ehrId]);
  const marks = await marksSetOn([...ways.keys()]);
  return marks.map((doc) => {
    const way = ways.get(doc.ehr_id) ?? [];
    return { doc, lifted: doc.lifted.find(({ ehr_id: at }) => way.includes(at)) ?? null };
  });
}

/** Who is asked for, and what of marks. */
interface Asked {
  readonly kinds: readonly MarkKind[];
  readonly organisation: string | undefined;
}

/** Marks of these kinds, of all EHRs; null: they are too many to be named. */
async function placedMarks(asked: Asked): Promise<readonly PlacedMark[] | null> {
  if (await hasMoreOpenMarks(asked.kinds, MOST_MARKS)) return null;
  const open = await openMarks(asked.kinds, MOST_MARKS + 1);
  // More were set meanwhile.
  if (open.length > MOST_MARKS) return null;
  const placed = await placedAnywhere(open, asked);
  return placedParts(placed) > MOST_SCOPES ? null : placed;
}

/** Where of these marks those hold that hold for who asks. */
async function placedAnywhere(open: readonly EhrMarkDoc[], { organisation }: Asked): Promise<PlacedMark[]> {
  const marks = marksFor(open, organisation);
  const ways = await waysFrom(marks.map(({ ehr_id: ehrId }) => ehrId));
  const held = await heldOn(marks, ways);
  return held.map((mark) => placedAt(mark, ways.get(mark.doc.ehr_id) ?? []));
}

/** The same of those alone that merges took to other EHRs. @throws unprocessable where even these are too many */
async function placedByMerges(asked: Asked): Promise<readonly PlacedMark[]> {
  const { kinds } = asked;
  const sources = await mergedWithMarks(kinds);
  const open: EhrMarkDoc[] = [];
  for (const part of inSteps(sources)) open.push(...(await openMarksOn(part, kinds)));
  const placed = await placedAnywhere(open, asked);
  if (placed.length > MOST_MARKS || placedParts(placed) > MOST_MERGED_SCOPES) throw tooManyMarks(kinds);
  return placed;
}

/** A mark without what is said of it. */
function placedAt({ kind, scope, organisation }: HeldMark, ehrIds: readonly string[]): PlacedMark {
  return { kind, scope, ehrIds, ...(organisation !== undefined && { organisation }) };
}

/** How many parts of EHRs a condition names; objects are one by one, and cost as little as EHRs. */
function placedParts(marks: readonly PlacedMark[]): number {
  return scopesOf(marks.filter(({ scope }) => scope.objects === undefined)).length;
}

function tooManyMarks(kinds: readonly MarkKind[]): CdrError {
  return new CdrError(
    'unprocessable',
    `more EHRs have marks (${kinds.join(', ')}) that came with merges than a query over all of them can leave out: ask about one EHR`,
  );
}

/** Whose marks are named, and for whom. */
interface Naming {
  /** The only EHRs that are asked about; null: all. */
  readonly ehrIds: readonly string[] | null;
  /** Of who asks. */
  readonly organisation: string | undefined;
  /** false: not those that have marks by merges, where these and others are too many. */
  readonly byMerges: boolean;
}

/**
 * What is permitted, with the EHRs and objects that are marked now in place of what it asks of marks. Of all EHRs it still asks for marks
 * (`marked`) where they are too many to be named.
 * @throws unprocessable where more than can be named came with merges
 */
export async function withMarkedEhrs(
  permitted: Permitted,
  { ehrIds, organisation, byMerges }: Naming,
): Promise<Permitted> {
  const kinds = [...new Set([...marksAsked(permitted.ehr), ...marksAsked(permitted.version)])];
  if (kinds.length === 0) return withMarks(permitted, []);
  const asked = { kinds, organisation };
  if (ehrIds !== null) return withMarks(permitted, await placedOn(ehrIds, asked));
  const marks = await placedMarks(asked);
  if (marks !== null) return withMarks(permitted, marks);
  const categories = [...(await storedCategories()).values()];
  return withMarks(permitted, byMerges ? await placedByMerges(asked) : [], (mark) => ({
    kind: 'marked',
    mark,
    ...(organisation !== undefined && { organisation }),
    ...(categories.length > 0 && { categories }),
  }));
}

/** What is permitted, with these marks. `others`: what asks for those that are not among them. */
function withMarks(
  permitted: Permitted,
  marks: readonly PlacedMark[],
  others: (kind: MarkKind) => Condition = () => FALSE,
): Permitted {
  const named = (kind: MarkKind, type: ObjectType): Condition => {
    const ofKind = marks.filter((mark) => mark.kind === kind);
    return any([placedCondition(ofKind, type), others(kind)]);
  };
  return {
    ehr: withMarksNamed(permitted.ehr, (kind) => named(kind, 'Ehr')),
    version: withMarksNamed(permitted.version, (kind) => named(kind, 'Version')),
  };
}

async function placedOn(ehrIds: readonly string[], { kinds, organisation }: Asked): Promise<PlacedMark[]> {
  const ways = await waysInto(ehrIds);
  const open: EhrMarkDoc[] = [];
  for (const part of inSteps([...ways.keys()])) open.push(...(await openMarksOn(part, kinds)));
  const held = await heldOn(marksFor(open, organisation), ways);
  const isAsked = new Set(ehrIds);
  return held.map((mark) =>
    placedAt(
      mark,
      (ways.get(mark.doc.ehr_id) ?? []).filter((id) => isAsked.has(id)),
    ),
  );
}

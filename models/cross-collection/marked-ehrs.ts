import { CdrError } from '../../openehr/base/errors.js';
import type { Permitted } from '../../policy/condition.js';
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
import { belongsTo, movingMerges } from '../access/merge-job.js';
import { inSteps } from '../access/in-steps.js';
import { accessMark, marksSetOn, openMarks, openMarksOn, type EhrMarkDoc } from '../ehr-mark.js';
import { mergesInto, mergesOutOf } from '../ehr-marking.js';
import { joinedPairsOf } from '../merge/record.js';

/** Marks that one list or query is narrowed by, and parts of EHRs that these are about: they stand in it. */
export const MOST_MARKS = 20_000;
export const MOST_SCOPES = 200;

/** By the EHR that a mark was set on the EHRs that merges took it to, that one first. */
type Ways = ReadonlyMap<string, readonly string[]>;

/** A mark that holds for an EHR, with what is said of it. */
export interface HeldMark extends AccessMark {
  readonly doc: EhrMarkDoc;
}

/** The EHR, and those that merges took to it, with the ways. */
async function waysInto(ehrId: string): Promise<Ways> {
  const ways = new Map<string, readonly string[]>([[ehrId, [ehrId]]]);
  const moving = [...movingMerges().targets];
  for (let targets = [ehrId]; targets.length > 0;) {
    const found = [
      ...(await mergesInto(targets)),
      ...moving.filter(([, target]) => targets.includes(target)),
    ];
    targets = [];
    for (const [source, target] of found) {
      if (ways.has(source)) continue;
      ways.set(source, [source, ...(ways.get(target) ?? [])]);
      targets.push(source);
    }
  }
  return ways;
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
  const ways = await waysInto(ehrId);
  return heldOn(await openMarksOn([...ways.keys()]), ways);
}

async function heldOn(marks: readonly EhrMarkDoc[], ways: Ways): Promise<HeldMark[]> {
  const held = marks.filter((doc) => isHeld(doc, ways.get(doc.ehr_id) ?? []));
  if (held.length === 0) return [];
  const objects = await joinedObjects(held, ways);
  return held.map((doc) => ({ ...accessMark(doc, objects.get(doc.object_uid ?? '') ?? []), doc }));
}

/** A mark of an EHR's history. `lifted`: from this EHR; null: it holds. */
export interface MarkEvent {
  readonly doc: EhrMarkDoc;
  readonly lifted: EhrMarkDoc['lifted'][number] | null;
}

/** All marks that ever were on an EHR, and those of all that was merged into it, the oldest first. */
export async function markHistory(ehrId: string): Promise<readonly MarkEvent[]> {
  const ways = await waysInto(ehrId);
  const marks = await marksSetOn([...ways.keys()]);
  return marks.map((doc) => {
    const way = ways.get(doc.ehr_id) ?? [];
    return { doc, lifted: doc.lifted.find(({ ehr_id: at }) => way.includes(at)) ?? null };
  });
}

/** Marks of these kinds, of all EHRs. @throws unprocessable where there are too many */
async function placedMarks(
  kinds: readonly MarkKind[],
  organisation: string | undefined,
): Promise<readonly PlacedMark[]> {
  const open = await openMarks(kinds, MOST_MARKS + 1);
  if (open.length > MOST_MARKS) throw tooManyMarks(kinds);
  const marks = marksFor(open, organisation);
  const ways = await waysFrom(marks.map(({ ehr_id: ehrId }) => ehrId));
  const held = await heldOn(marks, ways);
  const placed = held.map((mark) => placedAt(mark, ways.get(mark.doc.ehr_id) ?? []));
  if (placedParts(placed) > MOST_SCOPES) throw tooManyMarks(kinds);
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
    `more EHRs are marked (${kinds.join(', ')}) than a list or query over all of them can leave out: ask about one EHR`,
  );
}

/**
 * What is permitted, with the EHRs and objects that are marked now in place of what it asks of marks. `ehrId`: the only EHR that it is
 * asked about; null: all.
 * @throws unprocessable where more than can be named are marked
 */
export async function withMarkedEhrs(
  permitted: Permitted,
  ehrId: string | null,
  organisation: string | undefined,
): Promise<Permitted> {
  const kinds = [...new Set([...marksAsked(permitted.ehr), ...marksAsked(permitted.version)])];
  const marks =
    kinds.length === 0
      ? []
      : ehrId === null
        ? await placedMarks(kinds, organisation)
        : await placedOn(ehrId, organisation);
  const ofKind = (kind: MarkKind): readonly PlacedMark[] => marks.filter((mark) => mark.kind === kind);
  return {
    ehr: withMarksNamed(permitted.ehr, (kind) => placedCondition(ofKind(kind), 'Ehr')),
    version: withMarksNamed(permitted.version, (kind) => placedCondition(ofKind(kind), 'Version')),
  };
}

async function placedOn(ehrId: string, organisation: string | undefined): Promise<readonly PlacedMark[]> {
  const held = marksFor(await marksOfEhr(ehrId), organisation);
  return held.map((mark) => placedAt(mark, [ehrId]));
}

import mongoose from 'mongoose';
import { accessTags, tagValues, type AccessTags } from '../../../policy/attributes.js';
import {
  all,
  any,
  not,
  tagFits,
  type Condition,
  type Permitted,
  type TagLeaf,
} from '../../../policy/condition.js';
import { placedCondition, type PlacedMark } from '../../../policy/marks.js';
import { withEhrsNamed } from '../../../policy/tags.js';
import { rootOfUid } from '../../../openehr/base/object-version-id.js';
import { attributeOf, type AccessObject } from '../../../policy/object.js';
import type { Random } from '../random.js';
import { drawnCategories } from './random-categories.js';
import { randomMarks } from './random-marks.js';

type Doc = Record<string, unknown>;

/** What is permitted as each document is asked for it, and the tags and marks that it is asked by. */
export interface Beside {
  readonly permitted: Permitted;
  readonly marks: readonly Doc[];
  readonly tags: readonly Doc[];
}

/** Who asks is of this organisation. */
const ORGANISATION = 'house';
const KEYS = ['access.ward', 'access.team'];
const TEXTS = [null, '', ' , ', '3B', '3B,4A', ' 4A\u00a0', '13B', 'a.c', 'abc,4A'];
const VALUES = ['3B', '4A', 'a.c', 'b', ''];

/** Tags of some EHRs, some of keys that policies see. */
export function randomTags(random: Random, ehrIds: readonly string[]): readonly Doc[] {
  return ehrIds.flatMap((ehrId) => random.list(0, 2, () => randomTag(random, ehrId)));
}

/** Those of one EHR as policies see them. */
export function tagsOf(ehrId: string, tags: readonly Doc[]): AccessTags {
  const own = tags.filter((tag) => tag['owner_id'] === ehrId && tag['target_type'] === 'EHR_STATUS');
  return accessTags(own as unknown as Parameters<typeof accessTags>[0]);
}

/** The same condition with the ids of EHRs where it asks for tags. */
export function withTagsNamed(
  condition: Condition,
  ehrIds: readonly string[],
  tags: readonly Doc[],
): Condition {
  return withEhrsNamed(condition, (leaf) => ehrIds.filter((ehrId) => fits(leaf, ehrId, tags)));
}

/** The same, restricted by tags and random marks: as who knows all ids names it, and as documents are asked. */
export function drawnBeside(
  random: Random,
  { ehr, version }: Permitted,
  { versions, tags }: { readonly versions: readonly AccessObject[]; readonly tags: readonly Doc[] },
): { readonly permitted: Permitted; readonly beside: Beside } {
  const ehrIds = [...new Set(versions.map((each) => ehrOf(each)))];
  const map = drawnCategories(random, versions);
  const marks = randomMarks(random, versions, map);
  const leaf = randomTagLeaf(random);
  const shape = random.below(5);
  const known = (condition: Condition): Condition => withTagsNamed(condition, ehrIds, tags);
  const restricted = (base: Condition, isMarked: Condition): Condition =>
    [
      all([base, not(isMarked)]),
      all([base, leaf]),
      any([all([base, not(isMarked)]), all([leaf, not(isMarked)])]),
      all([base, not(leaf), not(isMarked)]),
      any([isMarked, all([base, leaf])]),
    ][shape] ?? base;
  const ofKinds = (kinds: readonly PlacedMark['kind'][]): Condition =>
    any(
      kinds.map((mark): Condition => ({
        kind: 'marked',
        mark,
        organisation: ORGANISATION,
        categories: [...map.values()],
      })),
    );
  const kinds = [...new Set(marks.map(({ kind }) => kind))];
  return {
    permitted: {
      ehr: known(restricted(ehr, placedCondition(marks, 'Ehr'))),
      version: known(restricted(version, placedCondition(marks, 'Version'))),
    },
    beside: {
      permitted: { ehr: restricted(ehr, ofKinds(kinds)), version: restricted(version, ofKinds(kinds)) },
      marks: [...marks.flatMap((mark) => stored(random, mark, versions)), ...idle(random, marks, versions)],
      tags,
    },
  };
}

function ehrOf(version: AccessObject): string {
  return String(attributeOf(version, 'ehr_id'));
}

function randomTag(random: Random, ehrId: string): Doc {
  const isOther = random.chance(0.2);
  return {
    ...{
      _id: idOf(random),
      owner_id: ehrId,
      target: idOf(random),
      key: random.pick(KEYS),
      value: random.pick(TEXTS),
    },
    // Of another target it says nothing of the EHR.
    ...{ target_type: isOther ? 'COMPOSITION' : 'EHR_STATUS', target_version: null, target_path: null },
  };
}

/** What may be asked of such a tag. */
export function randomTagLeaf(random: Random): TagLeaf {
  const key = random.pick(KEYS);
  const among = random.list(1, 3, () => random.pick(VALUES));
  return random.pick<TagLeaf>([
    { kind: 'tag', key, among },
    { kind: 'tag', key, among },
    { kind: 'tagged', key },
    { kind: 'emptyTag', key },
  ]);
}

function fits(leaf: TagLeaf, ehrId: string, tags: readonly Doc[]): boolean {
  const own = tags.filter(
    (tag) => tag['owner_id'] === ehrId && tag['key'] === leaf.key && tag['target_type'] === 'EHR_STATUS',
  );
  const values = own.flatMap(({ value }) => tagValues(value as string | null));
  return tagFits(leaf, own.length === 0 ? undefined : values);
}

/** The documents of a mark: one for each EHR or object. */
function stored(
  random: Random,
  { kind, ehrIds, scope }: PlacedMark,
  versions: readonly AccessObject[],
): Doc[] {
  const { objects, from, to, category, ...rest } = scope;
  const said = { kind, open: true, lifted: [], ground: 'drawn', placed: {} };
  const organisation = random.chance(0.3) ? { organisation: ORGANISATION } : {};
  if (objects !== undefined)
    return objects.map((uid) => {
      const ehr = ehrOf(versions.find((each) => rootOfUid(each.uid) === uid) as AccessObject);
      return { _id: idOf(random), ehr_id: ehr, object_uid: uid, ...said, ...organisation };
    });
  const parts = {
    ...(category !== undefined && { category: category.name }),
    ...(from !== undefined && { from: new Date(from) }),
    ...(to !== undefined && { to: new Date(to) }),
  };
  return ehrIds.map((ehr) => ({
    _id: idOf(random),
    ehr_id: ehr,
    ...rest,
    ...parts,
    ...said,
    ...organisation,
  }));
}

/** Marks on the same EHRs that hold for nobody here: lifted, or of another organisation. */
function idle(random: Random, marks: readonly PlacedMark[], versions: readonly AccessObject[]): Doc[] {
  return marks
    .flatMap((mark) =>
      stored(random, { ...mark, ehrIds: [ehrOf(random.pick(versions))], scope: {} }, versions),
    )
    .map((doc, index) => {
      if (index % 2 === 0) return { ...doc, organisation: 'another' };
      const closed: Doc = { ...doc, lifted: [{ ehr_id: doc['ehr_id'] }] };
      delete closed['open'];
      return closed;
    });
}

function idOf(random: Random): string {
  return `drawn ${random.below(1_000_000_000)} ${random.below(1_000_000_000)}`;
}

/** Stores tags and marks instead of those that there were; none: nothing is stored. */
export async function storeBeside(beside: Beside | undefined): Promise<void> {
  for (const [name, docs] of [
    ['ehr_marks', beside?.marks ?? []],
    ['item_tags', beside?.tags ?? []],
  ] as const) {
    const collection = mongoose.connection.collection<{ _id: string }>(name);
    await collection.deleteMany({ _id: { $regex: '^drawn ' } });
    if (docs.length > 0) await collection.insertMany(docs as unknown as { _id: string }[]);
  }
}

import { ACCESS_TAG, tagValues, type AccessTags } from '../../policy/attributes.js';
import { tagFits, type Permitted, type TagLeaf } from '../../policy/condition.js';
import { tagLeaves, withEhrsNamed, withoutImpliedTags } from '../../policy/tags.js';
import { accessTagsAmong, tagsOfKey } from '../access-tag.js';

/** EHRs with one tag whose ids stand in a list or query; where more have it, it is asked of each document. */
export const MOST_TAGGED = 20_000;

/** Values, and characters of them, that are looked for by the database; of more all EHRs with the tag are read. */
const MOST_VALUES = 20;
const MOST_CHARACTERS = 5_000;

/**
 * What is permitted, with the EHRs that have the tags now in place of what it asks of tags. `ehrIds`: the only ones that it is asked about,
 * of which it then asks nothing of tags; null: all, of which it still asks for tags that more have than can be named.
 */
export async function withTaggedEhrs(
  permitted: Permitted,
  ehrIds: readonly string[] | null,
): Promise<Permitted> {
  const [ehr, version] = [withoutImpliedTags(permitted.ehr), withoutImpliedTags(permitted.version)];
  const leaves = [...tagLeaves(ehr), ...tagLeaves(version)];
  const found = ehrIds === null ? await allFitting(leaves) : await fittingAmong(leaves, ehrIds);
  const ehrsOf = (leaf: TagLeaf): readonly string[] | null => {
    const ofLeaf = found.get(nameOf(leaf));
    return ofLeaf === undefined ? [] : ofLeaf;
  };
  return { ehr: withEhrsNamed(ehr, ehrsOf), version: withEhrsNamed(version, ehrsOf) };
}

/** Ids of EHRs by what is asked of tags; null: too many. */
type Found = ReadonlyMap<string, readonly string[] | null>;

function nameOf(leaf: TagLeaf): string {
  return JSON.stringify(leaf);
}

async function fittingAmong(leaves: readonly TagLeaf[], ehrIds: readonly string[]): Promise<Found> {
  const tags = await accessTagsAmong(leaves.length === 0 ? [] : ehrIds);
  const fits = (leaf: TagLeaf, ehrId: string): boolean => {
    const ofEhr: AccessTags = tags.get(ehrId) ?? {};
    return tagFits(leaf, Object.hasOwn(ofEhr, leaf.key) ? ofEhr[leaf.key] : undefined);
  };
  return new Map(leaves.map((leaf) => [nameOf(leaf), ehrIds.filter((ehrId) => fits(leaf, ehrId))]));
}

async function allFitting(leaves: readonly TagLeaf[]): Promise<Found> {
  const found = new Map<string, readonly string[] | null>();
  for (const key of new Set(leaves.map((leaf) => leaf.key))) {
    if (!key.startsWith(ACCESS_TAG)) continue;
    const ofKey = leaves.filter((leaf) => leaf.key === key);
    const tagged = await ehrsTagged(key, valuesOf(ofKey));
    for (const leaf of ofKey) found.set(nameOf(leaf), tagged === null ? null : fittingOf(leaf, tagged));
  }
  return found;
}

function fittingOf(leaf: TagLeaf, tagged: ReadonlyMap<string, readonly string[]>): readonly string[] {
  const fitting = [...tagged].filter(([, values]) => tagFits(leaf, values));
  return fitting.map(([ehrId]) => ehrId).sort();
}

/** The values of a tag by EHR; merges may have brought more of one. null: too many have it. */
async function ehrsTagged(
  key: string,
  among: readonly string[] | undefined,
): Promise<ReadonlyMap<string, readonly string[]> | null> {
  const tags = await tagsOfKey(key, MOST_TAGGED + 1, among);
  if (tags.length > MOST_TAGGED) return null;
  const tagged = new Map<string, string[]>();
  for (const { ehrId, value } of tags) tagged.set(ehrId, [...(tagged.get(ehrId) ?? []), ...tagValues(value)]);
  return tagged;
}

/** The values that all of them ask for; undefined where one asks for the tag, whatever its value. */
function valuesOf(leaves: readonly TagLeaf[]): readonly string[] | undefined {
  const values = new Set<string>();
  for (const leaf of leaves) {
    if (leaf.kind !== 'tag') return undefined;
    for (const value of leaf.among) values.add(value);
  }
  const isLong = values.size > MOST_VALUES || [...values].join('').length > MOST_CHARACTERS;
  return isLong ? undefined : [...values];
}

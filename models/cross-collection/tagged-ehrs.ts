import { CdrError } from '../../openehr/base/errors.js';
import { ACCESS_TAG, tagValues } from '../../policy/attributes.js';
import { tagFits, type Permitted, type TagLeaf } from '../../policy/condition.js';
import { tagLeaves, withEhrsNamed, withoutImpliedTags } from '../../policy/tags.js';
import { accessTagsOf, tagsOfKey } from '../access-tag.js';

/** EHRs that a list or query is narrowed to by one tag: their ids stand in it. */
export const MOST_TAGGED = 20_000;

/** Values, and characters of them, that are looked for by the database; of more all EHRs with the tag are read. */
const MOST_VALUES = 20;
const MOST_CHARACTERS = 5_000;

/**
 * What is permitted, with the EHRs that have the tags now in place of what it asks of tags. `ehrId`: the only EHR that it is asked
 * about; null: all.
 * @throws unprocessable where more EHRs than can be named have a tag
 */
export async function withTaggedEhrs(permitted: Permitted, ehrId: string | null): Promise<Permitted> {
  const [ehr, version] = [withoutImpliedTags(permitted.ehr), withoutImpliedTags(permitted.version)];
  const leaves = [...tagLeaves(ehr), ...tagLeaves(version)];
  const found = ehrId === null ? await allFitting(leaves) : await oneFitting(leaves, ehrId);
  const ehrsOf = (leaf: TagLeaf): readonly string[] => found.get(nameOf(leaf)) ?? [];
  return { ehr: withEhrsNamed(ehr, ehrsOf), version: withEhrsNamed(version, ehrsOf) };
}

/** Ids of EHRs by what is asked of tags. */
type Found = ReadonlyMap<string, readonly string[]>;

function nameOf(leaf: TagLeaf): string {
  return JSON.stringify(leaf);
}

async function oneFitting(leaves: readonly TagLeaf[], ehrId: string): Promise<Found> {
  const tags = await accessTagsOf(ehrId);
  const textsOf = (key: string) => (Object.hasOwn(tags, key) ? tags[key] : undefined);
  return new Map(leaves.map((leaf) => [nameOf(leaf), tagFits(leaf, textsOf(leaf.key)) ? [ehrId] : []]));
}

async function allFitting(leaves: readonly TagLeaf[]): Promise<Found> {
  const found = new Map<string, readonly string[]>();
  for (const key of new Set(leaves.map((leaf) => leaf.key))) {
    if (!key.startsWith(ACCESS_TAG)) continue;
    const ofKey = leaves.filter((leaf) => leaf.key === key);
    const tagged = await ehrsTagged(key, valuesOf(ofKey));
    for (const leaf of ofKey) {
      const fitting = [...tagged].filter(([, values]) => tagFits(leaf, values));
      found.set(nameOf(leaf), fitting.map(([ehrId]) => ehrId).sort());
    }
  }
  return found;
}

/** The values of a tag by EHR; merges may have brought more of one. @throws as `withTaggedEhrs` */
async function ehrsTagged(
  key: string,
  among: readonly string[] | undefined,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const tags = await tagsOfKey(key, MOST_TAGGED + 1, among);
  if (tags.length > MOST_TAGGED) throw tooManyTagged(key);
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

function tooManyTagged(key: string): CdrError {
  return new CdrError(
    'unprocessable',
    `policies of access ask for the tag ${key}, which more than ${MOST_TAGGED} EHRs have: ask about one EHR`,
  );
}

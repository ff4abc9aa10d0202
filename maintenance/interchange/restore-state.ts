import { rootOfUid } from '../../openehr/base/object-version-id.js';
import { subjectOf } from '../../change/commit/ehr-flags.js';
import { ehrBySubject } from '../../models/ehr.js';
import { storedBeside } from '../../models/cross-collection/interchange.js';
import { tagsOnTargets, type ItemTagDoc } from '../../models/item-tag.js';
import type { EhrPart, RestoreState } from './part.js';

/**
 * What the database holds of everything that parts touch, for each of them. `expected`: of EHRs that are not here it is taken to hold
 * nothing, for whatever it holds refuses the write.
 */
export async function readState(
  parts: readonly EhrPart[],
  reading: 'expected' | 'whole',
): Promise<RestoreState[]> {
  const ehrs = await storedBeside('ehrs', parts.flatMap(ehrIdsOf));
  const asked = parts.filter(({ ehrId }) => reading === 'whole' || ehrs.has(ehrId));
  const shared = {
    ehrs,
    contributions: await storedBeside(
      'contributions',
      asked.flatMap(({ contributions }) => contributions.map(({ _id }) => _id)),
    ),
    versions: await storedBeside(
      'versions',
      asked.flatMap(({ versions }) => versions.map(({ doc }) => doc._id)),
    ),
    containers: await storedBeside('versioned_objects', asked.flatMap(objectIdsOf)),
    tags: await tagsBeside(asked),
  };
  const states: RestoreState[] = [];
  for (const part of parts)
    states.push({ ...shared, subjectHolder: asked.includes(part) ? await holderOf(part) : null });
  return states;
}

function ehrIdsOf({ ehrId, tombstones, undoneMerges = [] }: EhrPart): string[] {
  const merged = undoneMerges.map(({ source_ehr: source }) => source);
  return [ehrId, ...tombstones.map((one) => one.ehr._id), ...merged];
}

function objectIdsOf({ versions, tags, tagSets = [] }: EhrPart): string[] {
  const tagged = [...tags, ...tagSets.flatMap(({ targets }) => targets)].map(({ target }) => target);
  return [...new Set([...versions.map(({ doc }) => rootOfUid(doc._id)), ...tagged])];
}

/** Item tags with the ids of those of the parts, and all on the targets of sets. */
async function tagsBeside(parts: readonly EhrPart[]): Promise<Map<string, ItemTagDoc>> {
  const sets = parts.flatMap(({ tagSets = [] }) => tagSets);
  const tags = [...parts, ...sets].flatMap((one) => one.tags);
  const found = await storedBeside(
    'item_tags',
    tags.map(({ _id }) => _id),
  );
  for (const { ehrId, targets } of sets)
    for (const tag of await tagsOnTargets(ehrId, [...new Set(targets.map(({ target }) => target))]))
      found.set(tag._id, tag);
  return found;
}

/** The EHR that has the subject of the latest EHR_STATUS of the part. */
async function holderOf({ versions }: EhrPart): Promise<string | null> {
  const status = versions.findLast(({ doc, content }) => doc.type === 'EHR_STATUS' && content !== null);
  const subject = status?.content == null ? null : subjectOf(status.content);
  return subject === null ? null : ((await ehrBySubject(subject))?._id ?? null);
}

import { rootOfUid } from '../../openehr/base/object-version-id.js';
import { subjectOf } from '../../change/commit/ehr-flags.js';
import { ehrBySubject } from '../../models/ehr.js';
import { storedBeside } from '../../models/cross-collection/interchange.js';
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
    tags: await storedBeside(
      'item_tags',
      asked.flatMap(({ tags }) => tags.map(({ _id }) => _id)),
    ),
  };
  const states: RestoreState[] = [];
  for (const part of parts)
    states.push({ ...shared, subjectHolder: asked.includes(part) ? await holderOf(part) : null });
  return states;
}

function ehrIdsOf({ ehrId, tombstones }: EhrPart): string[] {
  return [ehrId, ...tombstones.map((one) => one.ehr._id)];
}

function objectIdsOf({ versions, tags }: EhrPart): string[] {
  return [
    ...new Set([...versions.map(({ doc }) => rootOfUid(doc._id)), ...tags.map(({ target }) => target)]),
  ];
}

/** The EHR that has the subject of the latest EHR_STATUS of the part. */
async function holderOf({ versions }: EhrPart): Promise<string | null> {
  const status = versions.findLast(({ doc, content }) => doc.type === 'EHR_STATUS' && content !== null);
  const subject = status?.content == null ? null : subjectOf(status.content);
  return subject === null ? null : ((await ehrBySubject(subject))?._id ?? null);
}

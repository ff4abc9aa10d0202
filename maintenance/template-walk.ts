import { collapsedToken } from '../openehr/base/text.js';
import { ehrIdsAfter } from '../models/ehr.js';
import { latestVersions, type VersionDoc } from '../models/version.js';
import { compositionsOf, liveCompositionsOf, type VersionedObjectDoc } from '../models/versioned-object.js';
import type { WalkPosition } from '../models/template-upgrade.js';

const EHRS_AT_ONCE = 100;
/** COMPOSITIONs of one step that only reads. */
const AT_ONCE = 40;

/** The next COMPOSITIONs of a template, and where the walk stands behind them. */
export interface WalkStep {
  readonly containers: readonly VersionedObjectDoc[];
  readonly position: WalkPosition;
}

/** How a walk goes. */
interface Walking {
  /** COMPOSITIONs of the next step. */
  readonly size?: () => number;
  /** Those that are deleted too. */
  readonly withDeleted?: boolean;
}

/**
 * Walks over the live COMPOSITIONs of a template in all active EHRs, by EHR and object id, a step at a time, from behind a
 * position. What is committed beside it may be in it or not.
 */
export async function* walkTemplate(
  storedId: string,
  from: WalkPosition,
  { size = () => AT_ONCE, withDeleted = false }: Walking = {},
): AsyncGenerator<WalkStep> {
  const templateIds = storedIds(storedId);
  let { batch } = from;
  for (;;) {
    const ehrIds = await ehrIdsAfter(batch, EHRS_AT_ONCE);
    const last = ehrIds.at(-1);
    if (last === undefined) return;
    const all = await (withDeleted ? compositionsOf : liveCompositionsOf)(ehrIds, templateIds);
    const left = batch === from.batch ? all.filter((container) => isBehind(container, from)) : all;
    for (let start = 0; start < left.length;) {
      const containers = left.slice(start, start + size());
      start += containers.length;
      const end = containers.at(-1);
      if (end !== undefined) yield { containers, position: { batch, ehr: end.ehr_id, object: end._id } };
    }
    batch = last;
  }
}

/** Under which ids COMPOSITIONs of a template are stored. */
export function storedIds(storedId: string): string[] {
  return [...new Set([storedId, collapsedToken(storedId)])];
}

function isBehind(
  { ehr_id: ehrId, _id: objectId }: VersionedObjectDoc,
  { ehr, object }: WalkPosition,
): boolean {
  return ehrId > ehr || (ehrId === ehr && objectId > object);
}

/** A COMPOSITION with its latest VERSION. */
export interface LatestComposition {
  readonly container: VersionedObjectDoc;
  readonly version: VersionDoc;
}

/** The latest VERSIONs of containers, where they are still what the containers say. */
export async function latestOf(containers: readonly VersionedObjectDoc[]): Promise<LatestComposition[]> {
  const versions = await latestVersions(containers);
  return containers.flatMap((container) => {
    const version = versions.get(container._id);
    return version === undefined ? [] : [{ container, version }];
  });
}

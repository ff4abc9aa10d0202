import type { VersionedObjectDoc } from '../models/versioned-object.js';

/** openEHR terminology, group "composition category": persistent. */
export const PERSISTENT = '431';

/** Two compositions that a merge joins. */
interface ContainerPair {
  readonly source: VersionedObjectDoc;
  readonly target: VersionedObjectDoc;
}

/** Which persistent compositions of two EHRs belong together. */
export interface Pairing {
  readonly pairs: readonly ContainerPair[];
  /** For people: one text for each template of the source that found no partner. */
  readonly unmatched: readonly string[];
}

/**
 * Pairs live persistent compositions: a template of which each side has exactly one makes a pair. Pure; other
 * containers in the lists are passed over.
 */
export function pairPersistent(
  source: readonly VersionedObjectDoc[],
  target: readonly VersionedObjectDoc[],
): Pairing {
  const targets = candidates(target);
  const pairs: ContainerPair[] = [];
  const unmatched: string[] = [];
  for (const [templateId, mine] of candidates(source)) {
    const theirs = targets.get(templateId) ?? [];
    const [one] = mine;
    const [other] = theirs;
    if (mine.length === 1 && theirs.length === 1 && one !== undefined && other !== undefined) {
      pairs.push({ source: one, target: other });
    } else {
      unmatched.push(`${templateId} (${mine.length} in the source, ${theirs.length} in the target)`);
    }
  }
  return { pairs, unmatched };
}

function candidates(containers: readonly VersionedObjectDoc[]): Map<string, VersionedObjectDoc[]> {
  const byTemplate = new Map<string, VersionedObjectDoc[]>();
  for (const container of containers) {
    const { type, deleted, category, template_id: templateId } = container;
    if (type !== 'COMPOSITION' || deleted || category !== PERSISTENT || templateId === undefined) continue;
    byTemplate.set(templateId, [...(byTemplate.get(templateId) ?? []), container]);
  }
  return byTemplate;
}

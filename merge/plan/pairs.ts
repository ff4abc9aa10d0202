import { PERSISTENT } from '../../models/access/layout.js';
import type { VersionedObjectDoc } from '../../models/versioned-object.js';

/** Two compositions that a merge joins. */
export interface ContainerPair {
  readonly templateId: string;
  readonly source: VersionedObjectDoc;
  readonly target: VersionedObjectDoc;
}

/** A template of the source that found no partner, with the object ids of those of each side. */
export interface UnmatchedTemplate {
  readonly templateId: string;
  readonly source: readonly string[];
  readonly target: readonly string[];
}

/** Which persistent compositions of two EHRs belong together. */
export interface Pairing {
  readonly pairs: readonly ContainerPair[];
  readonly unmatched: readonly UnmatchedTemplate[];
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
  const unmatched: UnmatchedTemplate[] = [];
  for (const [templateId, mine] of candidates(source)) {
    const theirs = targets.get(templateId) ?? [];
    const [one] = mine;
    const [other] = theirs;
    if (mine.length === 1 && theirs.length === 1 && one !== undefined && other !== undefined) {
      pairs.push({ templateId, source: one, target: other });
    } else {
      unmatched.push({ templateId, source: mine.map(idOf), target: theirs.map(idOf) });
    }
  }
  return { pairs, unmatched };
}

function idOf({ _id }: VersionedObjectDoc): string {
  return _id;
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

import { counted } from '../../openehr/base/work.js';

/** Merges in steps that are moving documents. docs/spec/merge.md#in-steps */
export interface MovingMerges {
  /** Where the documents of an EHR that is being merged belong: source to target. */
  readonly targets: ReadonlyMap<string, string>;
  /** `is_queryable` of the target by the source, where that of the source's documents is another. */
  readonly queryable: ReadonlyMap<string, boolean>;
}

/** Nothing is being moved. */
export const NO_MERGES: MovingMerges = { targets: new Map(), queryable: new Map() };

/** What documents of an EHR name as their owner: nothing for a source, its sources too for a target. */
export function ownersOf(ehrId: string, { targets }: MovingMerges): string[] {
  if (targets.has(ehrId)) return [];
  const sources = counted([...targets])
    .filter(([, target]) => target === ehrId)
    .map(([source]) => source);
  return [ehrId, ...sources];
}

/** `ownersOf` each target. */
export function ownersByTarget(merges: MovingMerges): ReadonlyMap<string, readonly string[]> {
  const targets = [...merges.targets.values()];
  return new Map(counted(targets).map((target) => [target, ownersOf(target, merges)]));
}

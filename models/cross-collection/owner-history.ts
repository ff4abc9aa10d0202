import { COLLECTIONS } from '../access/layout.js';
import { documents } from '../access/documents.js';
import type { RemovalDoc } from '../removal.js';
import { listOf } from './seal-hash.js';

/** How documents of EHRs went to others and came back. */
export interface MergeGraph {
  /** The EHR in which the content of an EHR is, by the merges that stand. */
  final(ehrId: string): string;
  /** Whether content of the one was ever part of the other, by merges that stand or were taken back. */
  reaches(from: string, to: string): boolean;
  /** Whether content of the one came here as part of the other, by merges that an import restored. */
  cameIn(from: string, to: string): boolean;
}

interface Merge {
  readonly _id: string;
  readonly source_ehr: string;
  readonly target_ehr: string;
}

const EDGE = { projection: { source_ehr: 1, target_ehr: 1 } } as const;

/** The merges as they are now. Of those whose records are gone the notes tell. */
export async function mergeGraph(): Promise<MergeGraph> {
  const standing = new Map<string, string>();
  const [ever, restored] = [new Map<string, Set<string>>(), new Map<string, Set<string>>()];
  const add = (from: string, to: string, edges = ever): void => {
    edges.set(from, (edges.get(from) ?? new Set()).add(to));
  };
  for await (const { source_ehr: from, target_ehr: to } of documents<Merge>(COLLECTIONS.mergeRecords).find(
    {},
    EDGE,
  )) {
    standing.set(from, to);
    add(from, to);
  }
  for await (const { source_ehr: from, target_ehr: to } of documents<Merge>(COLLECTIONS.mergeHistory).find(
    {},
    EDGE,
  ))
    add(from, to);
  const notes = documents<RemovalDoc>(COLLECTIONS.removals).find<RemovalDoc>({
    collection: COLLECTIONS.mergeRecords,
  });
  for await (const { from, to, reason } of notes) {
    if (from === undefined || to === undefined) continue;
    add(from, to);
    if (reason === 'restore') add(from, to, restored);
  }
  return {
    final: (ehrId) => finalOf(standing, ehrId),
    reaches: (from, to) => isReached(ever, from, to),
    cameIn: (from, to) => isReached(restored, from, to),
  };
}

/** Damaged records may go round in circles. */
function finalOf(standing: ReadonlyMap<string, string>, ehrId: string): string {
  const seen = new Set<string>();
  let last = ehrId;
  for (let next = standing.get(last); next !== undefined && !seen.has(next); next = standing.get(last)) {
    seen.add(next);
    last = next;
  }
  return last;
}

function isReached(ever: ReadonlyMap<string, ReadonlySet<string>>, from: string, to: string): boolean {
  const seen = new Set([from]);
  for (const one of seen) {
    if (one === to) return true;
    for (const next of ever.get(one) ?? []) seen.add(next);
  }
  return false;
}

/** To which EHR objects and CONTRIBUTIONs were moved last, one by one, by their ids. */
export async function ownerNotes(): Promise<Map<string, string>> {
  const newest = new Map<string, { readonly to: string; readonly seq: number }>();
  const notes = documents<RemovalDoc>(COLLECTIONS.removals).find<RemovalDoc>({ kind: 'owner' });
  for await (const { ids, to, seq = 0 } of notes)
    for (const id of listOf(ids))
      if (to !== undefined && (newest.get(id)?.seq ?? -1) < seq) newest.set(id, { to, seq });
  return new Map([...newest].map(([id, { to }]) => [id, to]));
}

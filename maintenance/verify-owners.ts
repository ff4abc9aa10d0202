import { setTimeout } from 'node:timers/promises';
import { groupBy } from '../openehr/base/maps.js';
import { rootOfUid } from '../openehr/base/object-version-id.js';
import { inSteps } from '../models/access/in-steps.js';
import { contributionsByUid, listedUids } from '../models/contribution.js';
import { mergeGraph, ownerNotes, type MergeGraph } from '../models/cross-collection/owner-history.js';
import type { SealedRecord } from '../models/cross-collection/seal-record.js';
import { leavesNaming } from '../models/cross-collection/seal-record.js';
import { ownedRecords } from '../models/cross-collection/owned-documents.js';
import type { SealLeaf } from '../models/access/layout.js';
import { mergeJobs } from '../models/access/merge-job.js';
import { firstVersionUid } from '../models/version.js';
import { ownersOf } from '../models/versioned-object.js';
import type { Findings } from './verify-report.js';

/** Records that are looked at closely together. */
const AT_ONCE = 2_000;
/** How often and after how long records are looked at anew, for merges may be under way. */
const ATTEMPTS = 20;
const PAUSE_MS = 250;

/** Of which collections records have owners. */
type Owned = 'contributions' | 'versions';

/** A record whose owner needs a closer look, with the owners that blocks name. */
interface Suspect {
  readonly collection: Owned;
  readonly id: string;
  readonly sealed: Set<string>;
}

/**
 * Compares whose each record is with whose it was when it was sealed: the same EHR, the one that EHR was merged into, the one
 * to which a sealed note says it was moved, or the one that a merge was taken back to.
 */
export class OwnerCheck {
  readonly #found: Findings;
  readonly #suspects = new Map<string, Suspect>();
  #graph: MergeGraph | null = null;
  /** Ids that were moved one by one. */
  #noted: ReadonlyMap<string, string> = new Map();

  constructor(found: Findings) {
    this.#found = found;
  }

  /** Compares a record with a leaf of it. */
  async check(record: SealedRecord, { id, ehr }: SealLeaf): Promise<void> {
    if (ehr === undefined || (record.collection !== 'contributions' && record.collection !== 'versions'))
      return;
    const { collection, doc } = record;
    const graph = await this.#known();
    const noted = this.#noted.has(collection === 'versions' ? rootOfUid(id) : id);
    if (!noted && graph.final(ehr) === graph.final(doc.ehr_id)) return;
    const key = `${collection} ${id}`;
    const suspect = this.#suspects.get(key) ?? { collection, id, sealed: new Set<string>() };
    suspect.sealed.add(ehr);
    this.#suspects.set(key, suspect);
    if (this.#suspects.size >= AT_ONCE) await this.finish();
  }

  /** Reports those whose owner nothing explains. */
  async finish(): Promise<void> {
    let left = [...this.#suspects.values()];
    this.#suspects.clear();
    for (let attempts = 1; left.length > 0; attempts += 1) {
      this.#graph = null;
      const graph = await this.#known();
      left = await unexplained(graph, left);
      const isMoving = (await mergeJobs()).length > 0;
      if (left.length === 0 || (attempts >= 3 && !isMoving) || attempts === ATTEMPTS) break;
      await setTimeout(PAUSE_MS);
    }
    for (const { collection, id } of left)
      this.#found.add('changed', id, `${collection}: it belongs to another EHR than was sealed`);
  }

  async #known(): Promise<MergeGraph> {
    if (this.#graph !== null) return this.#graph;
    this.#noted = await ownerNotes();
    this.#graph = await mergeGraph();
    return this.#graph;
  }
}

async function unexplained(graph: MergeGraph, suspects: readonly Suspect[]): Promise<Suspect[]> {
  const notes = await ownerNotes();
  const left: Suspect[] = [];
  for (const [collection, some] of groupBy(suspects, (one) => one.collection)) {
    const owners = await ownedRecords(
      collection,
      some.map(({ id }) => id),
    );
    const explain = collection === 'versions' ? homesOf : listedBy;
    const explained = await explain(graph, some, owners);
    for (const one of some) {
      const owner = owners.get(one.id);
      // Gone meanwhile: that is told of elsewhere.
      if (owner === undefined) continue;
      const moved = notes.get(collection === 'versions' ? rootOfUid(one.id) : one.id);
      const isHis = (ehr: string): boolean => graph.final(ehr) === graph.final(owner);
      if (moved !== undefined ? isHis(moved) : [...one.sealed].every((ehr) => isHis(ehr) || cameBack(ehr)))
        continue;
      left.push(one);
      function cameBack(ehr: string): boolean {
        return graph.reaches(String(owner), ehr) && explained.has(one.id);
      }
    }
  }
  return left;
}

/**
 * VERSIONs of objects that were made in their EHR: they went back with them. Of what an old release made nobody knows; the first
 * leaf of it names no EHR. Of what was restored with a merge the first leaf names the EHR that it was merged into.
 */
async function homesOf(
  graph: MergeGraph,
  suspects: readonly Suspect[],
  owners: ReadonlyMap<string, string>,
): Promise<Set<string>> {
  const firsts = new Map<string, string>();
  for (const { id } of suspects)
    firsts.set(id, (await firstVersionUid(owners.get(id) ?? '', rootOfUid(id))) ?? id);
  const leaves = await leavesNaming('versions', new Set(firsts.values()));
  const explained = new Set<string>();
  for (const [id, first] of firsts) {
    const [home, owner] = [leaves.get(first)?.[0]?.ehr, owners.get(id) ?? ''];
    if (home === undefined || graph.final(home) === graph.final(owner) || graph.cameIn(owner, home))
      explained.add(id);
  }
  return explained;
}

/** CONTRIBUTIONs of what their EHR has, or of nothing that is left. */
async function listedBy(
  graph: MergeGraph,
  suspects: readonly Suspect[],
  owners: ReadonlyMap<string, string>,
): Promise<Set<string>> {
  const explained = new Set<string>();
  for (const part of inSteps(suspects.map(({ id }) => id)))
    for (const contribution of await contributionsByUid(part)) {
      const { _id } = contribution;
      const objects = await ownersOf([...new Set(listedUids(contribution).map(rootOfUid))]);
      const owner = graph.final(owners.get(_id) ?? '');
      if (objects.size === 0 || [...objects.values()].some((one) => graph.final(one) === owner))
        explained.add(_id);
    }
  return explained;
}

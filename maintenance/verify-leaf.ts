import { groupBy } from '../openehr/base/maps.js';
import { inSteps } from '../models/access/in-steps.js';
import { removalsOf, type RemovalDoc, type RemovalReason } from '../models/removal.js';
import type { SealedCollection, SealLeaf } from '../models/access/layout.js';
import { blocksAfter, type SealBlock } from '../models/cross-collection/seal-block.js';
import {
  attestationCount,
  idsInTail,
  recordHash,
  recordsById,
  type SealedRecord,
} from '../models/cross-collection/seal-record.js';
import { NoteCheck } from './verify-notes.js';
import { OwnerCheck } from './verify-owners.js';
import { mayReturn, ReturnedCheck } from './verify-returned.js';
import type { Findings } from './verify-report.js';

/** Records asked for together. */
const AT_ONCE = 500;

/** Ids memoized so that none is reported twice. */
const MAX_REPORTED = 100_000;

/** The verb of what took a record away. */
const REMOVED_BY = {
  erasure: 'erased',
  retention: 'removed at the end of its retention',
  merge: 'removed by a merge',
  unmerge: 'removed by an unmerge',
} as const satisfies Partial<Record<RemovalReason, string>>;

function removedBy({ reason }: RemovalDoc): string {
  return reason in REMOVED_BY ? REMOVED_BY[reason as keyof typeof REMOVED_BY] : 'removed';
}

/** Validates the records of blocks: each is there as it was sealed, or was removed as it should be. */
export class LeafCheck {
  readonly #found: Findings;
  /** VERSIONs with ATTESTATIONs: how many, less those that blocks cover. */
  readonly #attested = new Map<string, { count: number; covered: number }>();
  readonly #owners: OwnerCheck;
  readonly #notes: NoteCheck;
  readonly #returned: ReturnedCheck;
  /** Ids reported already: a record may be in several blocks. */
  readonly #reported = new Set<string>();

  constructor(found: Findings) {
    this.#found = found;
    this.#owners = new OwnerCheck(found);
    this.#notes = new NoteCheck(found);
    this.#returned = new ReturnedCheck(found);
  }

  /** Validates the records of the next block of the chain. */
  async check(block: SealBlock): Promise<void> {
    for (const [collection, leaves] of groupBy(block.leaves, (leaf) => leaf.collection)) {
      for (const part of inSteps(leaves, AT_ONCE)) await this.#checkPart(block, collection, part);
    }
  }

  /** Validates what only the end of the chain shows. `last`: the block that was checked last; later ones are looked at too. */
  async finish(last: number): Promise<void> {
    await this.#owners.finish();
    await this.#returned.finish();
    await this.#finishAttested(last);
  }

  async #finishAttested(last: number): Promise<void> {
    for (const [id, { count, covered }] of this.#attested) if (covered >= count) this.#attested.delete(id);
    const ids = [...this.#attested.keys()];
    for (const part of inSteps(ids, AT_ONCE)) {
      const waiting = await idsInTail('versions', part);
      for (const id of waiting) this.#attested.delete(id);
    }
    if (this.#attested.size > 0) await this.#lookInto(last);
    for (const id of this.#attested.keys())
      this.#report('changed', id, 'versions: it has an ATTESTATION that is in no block');
  }

  /** Takes out those that a later block covers. */
  async #lookInto(last: number): Promise<void> {
    // Asked after the tail: what no longer waits is in a block by now.
    for await (const { leaves } of blocksAfter(last))
      for (const { id, attestations = 0 } of leaves)
        if (attestations >= (this.#attested.get(id)?.count ?? Infinity)) this.#attested.delete(id);
  }

  async #checkPart(
    { _id: block, time }: SealBlock,
    collection: SealedCollection,
    leaves: readonly SealLeaf[],
  ): Promise<void> {
    const byId = groupBy(leaves, ({ id }) => id);
    const notes: RemovalDoc[] = [];
    for await (const record of recordsById(collection, [...byId.keys()])) {
      const own = byId.get(record.doc._id) ?? [];
      if (record.collection === 'removals') notes.push(record.doc);
      byId.delete(record.doc._id);
      for (const leaf of own) {
        this.#followAttestations(record, leaf);
        await this.#owners.check(record, leaf);
        if (isSealedAs(record, leaf)) continue;
        if (mayReturn(record)) await this.#returned.suspect(record);
        else this.#report('changed', leaf.id, `${collection}: it is not what block ${block} sealed`);
      }
    }
    if (notes.length > 0) await this.#notes.check({ _id: block, time }, notes);
    if (byId.size > 0) await this.#checkAbsent(block, collection, [...byId.keys()]);
  }

  #followAttestations(record: SealedRecord, { id, attestations = 0 }: SealLeaf): void {
    const count = attestationCount(record);
    if (count === 0) return;
    const covered = Math.max(attestations, this.#attested.get(id)?.covered ?? 0);
    this.#attested.set(id, { count, covered });
  }

  async #checkAbsent(block: number, collection: SealedCollection, ids: readonly string[]): Promise<void> {
    const removals = collection === 'removals' ? [] : await removalsOf(collection, ids);
    const unexplained: string[] = [];
    for (const id of ids) {
      const removal = lastRemoval(removals.filter((one) => one.ids.includes(id)));
      if (removal === null) unexplained.push(id);
      else if (this.#isNew(id)) this.#found.addErased(id, `${collection}: ${removedBy(removal)}`);
    }
    // An unmerge may have brought it back meanwhile.
    for await (const { doc } of recordsById(collection, unexplained))
      unexplained.splice(unexplained.indexOf(doc._id), 1);
    for (const id of unexplained) this.#report('missing', id, `${collection}: block ${block} sealed it`);
  }

  #report(kind: 'changed' | 'missing', id: string, message: string): void {
    if (this.#isNew(id)) this.#found.add(kind, id, message);
  }

  #isNew(id: string): boolean {
    if (this.#reported.has(id)) return false;
    if (this.#reported.size < MAX_REPORTED) this.#reported.add(id);
    return true;
  }
}

function isSealedAs(record: SealedRecord, { attestations = 0, hash }: SealLeaf): boolean {
  return recordHash(record, attestations).equals(hash);
}

/** What took a record away; null when nothing did, or when it was brought back since. */
function lastRemoval(removals: readonly RemovalDoc[]): RemovalDoc | null {
  const gone = removals.filter(({ kind }) => kind === 'removed');
  const back = removals.filter(({ kind }) => kind === 'restored');
  return gone.length > back.length ? (gone.at(-1) ?? null) : null;
}

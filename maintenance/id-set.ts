import { randomBytes } from 'node:crypto';
import { sha256 } from '../models/cross-collection/seal-hash.js';

const BYTES = 6;

/**
 * Ids by 48 bits of a salted hash, 16 bytes each, so that millions fit. An id that was never added is taken for one
 * with a chance of one in ten million or less, which nobody can work towards, for the salt is made anew each time.
 * With several passes each set keeps its share of the ids and takes the others for held.
 */
export class IdSet {
  readonly #slots: Float64Array;
  readonly #salt = randomBytes(16).toString('hex');
  readonly #share: { readonly pass: number; readonly passes: number };

  /** `size`: ids that the share holds, about. */
  constructor(size: number, share: { readonly pass: number; readonly passes: number }) {
    // With room for shares that are uneven.
    this.#slots = new Float64Array(Math.ceil(size * 2.2) + 16);
    this.#share = share;
  }

  /** Adds an id of the share; others are left out. */
  add(id: string): void {
    const mark = this.#mark(id);
    if (mark !== null) this.#slots[this.#slot(mark)] = mark;
  }

  /** false: it is of the share and was not added. */
  mayHold(id: string): boolean {
    const mark = this.#mark(id);
    return mark === null || this.#slots[this.#slot(mark)] === mark;
  }

  /** Never 0, which stands for an empty slot. */
  #mark(id: string): number | null {
    const mark = sha256(this.#salt + id).readUIntBE(0, BYTES) + 1;
    return mark % this.#share.passes === this.#share.pass ? mark : null;
  }

  /** The place of a mark, or the free one where it would be. */
  #slot(mark: number): number {
    let slot = Math.floor(mark / this.#share.passes) % this.#slots.length;
    while (this.#slots[slot] !== 0 && this.#slots[slot] !== mark) slot = (slot + 1) % this.#slots.length;
    return slot;
  }
}

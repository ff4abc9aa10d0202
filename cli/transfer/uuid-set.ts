/** Slots at first. */
const FIRST_SLOTS = 1_024;
const BYTES = 16;

/**
 * A set of UUIDs in about 32 bytes each: an export may have written a hundred million COMPOSITIONs, which a Set of texts
 * cannot hold.
 */
export class UuidSet {
  #slots = Buffer.alloc(FIRST_SLOTS * BYTES);
  #size = 0;

  /** How many it holds. */
  get size(): number {
    return this.#size;
  }

  has(uuid: string): boolean {
    const id = bytesOf(uuid);
    return isUsed(this.#slots, this.#slotOf(id));
  }

  add(uuid: string): void {
    const id = bytesOf(uuid);
    const slot = this.#slotOf(id);
    if (isUsed(this.#slots, slot)) return;
    id.copy(this.#slots, slot);
    this.#size += 1;
    if (this.#size * BYTES * 2 > this.#slots.length) this.#grow();
  }

  /** Where it is, or would be: open addressing. The nil UUID is never the id of an object. */
  #slotOf(id: Buffer): number {
    const count = this.#slots.length / BYTES;
    const hash = (id.readUInt32LE(0) ^ id.readUInt32LE(12)) >>> 0;
    let slot = (hash % count) * BYTES;
    while (isUsed(this.#slots, slot) && id.compare(this.#slots, slot, slot + BYTES) !== 0)
      slot = (slot + BYTES) % this.#slots.length;
    return slot;
  }

  #grow(): void {
    const before = this.#slots;
    this.#slots = Buffer.alloc(before.length * 2);
    for (let slot = 0; slot < before.length; slot += BYTES) {
      if (!isUsed(before, slot)) continue;
      const id = before.subarray(slot, slot + BYTES);
      id.copy(this.#slots, this.#slotOf(id));
    }
  }
}

function bytesOf(uuid: string): Buffer {
  const id = Buffer.from(uuid.replaceAll('-', ''), 'hex');
  if (id.length !== BYTES) throw new TypeError(`${uuid} is no UUID`);
  return id;
}

function isUsed(slots: Buffer, slot: number): boolean {
  return slots.readBigUInt64LE(slot) !== 0n || slots.readBigUInt64LE(slot + 8) !== 0n;
}

/** Keeps the `capacity` values that were used last; the one unused for longest goes first. */
export class LruCache<K, V> {
  readonly #entries = new Map<K, V>();
  #capacity: number;

  /** `capacity`: how many values are kept, 0 or more. */
  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /** How many values are kept now. */
  get size(): number {
    return this.#entries.size;
  }

  /** The value of `key`, which counts as a use. */
  get(key: K): V | undefined {
    const value = this.#entries.get(key);
    if (value === undefined) return undefined;
    this.#entries.delete(key);
    this.#entries.set(key, value);
    return value;
  }

  /** Keeps a value, as the one used last. */
  set(key: K, value: V): void {
    this.#entries.delete(key);
    this.#entries.set(key, value);
    this.#shrink();
  }

  /** Forgets a value. */
  delete(key: K): void {
    this.#entries.delete(key);
  }

  /** Forgets everything. */
  clear(): void {
    this.#entries.clear();
  }

  /** Changes how many values are kept; surplus ones go at once. */
  resize(capacity: number): void {
    this.#capacity = capacity;
    this.#shrink();
  }

  #shrink(): void {
    for (const key of this.#entries.keys()) {
      if (this.#entries.size <= this.#capacity) return;
      this.#entries.delete(key);
    }
  }
}

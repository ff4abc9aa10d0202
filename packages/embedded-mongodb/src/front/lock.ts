/**
 * A phase-fair lock: commands share it, a transaction owns it alone. A waiting owner goes after the sharers
 * that hold it now, and after an owner all sharers that wait by then go before the next owner, so neither kind
 * starves the other.
 */
export class PhaseFairLock {
  #sharers = 0;
  #isOwned = false;
  readonly #waitingOwners = new Set<Waiter>();
  readonly #waitingSharers = new Set<Waiter>();

  /** Whether somebody waits for it. */
  get isAwaited(): boolean {
    return this.#waitingOwners.size > 0 || this.#waitingSharers.size > 0;
  }

  /** Takes a share when nobody owns the lock or waits to own it. */
  tryShare(): boolean {
    if (this.#isOwned || this.#waitingOwners.size > 0) return false;
    this.#sharers += 1;
    return true;
  }

  /** Takes a share, waiting up to `timeoutMs`; false when the time is over. */
  share(timeoutMs: number): Promise<boolean> {
    return this.tryShare() ? Promise.resolve(true) : this.#wait(this.#waitingSharers, timeoutMs);
  }

  /** Gives a share back. */
  unshare(): void {
    this.#sharers -= 1;
    if (this.#sharers === 0) this.#admitOwner();
  }

  /** Takes the lock alone, waiting up to `timeoutMs`; false when the time is over. */
  own(timeoutMs: number): Promise<boolean> {
    if (!this.#isOwned && this.#sharers === 0 && this.#waitingOwners.size === 0) {
      this.#isOwned = true;
      return Promise.resolve(true);
    }
    return this.#wait(this.#waitingOwners, timeoutMs);
  }

  /** Ends sole ownership. */
  disown(): void {
    this.#isOwned = false;
    if (this.#waitingSharers.size > 0) this.#admitSharers();
    else this.#admitOwner();
  }

  #admitSharers(): void {
    const admitted = [...this.#waitingSharers];
    this.#waitingSharers.clear();
    this.#sharers += admitted.length;
    for (const waiter of admitted) waiter.settle(true);
  }

  #admitOwner(): void {
    const [next] = this.#waitingOwners;
    if (next === undefined) return;
    this.#waitingOwners.delete(next);
    this.#isOwned = true;
    next.settle(true);
  }

  #wait(queue: Set<Waiter>, timeoutMs: number): Promise<boolean> {
    return new Promise((resolve) => {
      const waiter: Waiter = {
        settle: (isGranted) => {
          clearTimeout(timer);
          resolve(isGranted);
        },
      };
      const timer = setTimeout(() => {
        queue.delete(waiter);
        this.#afterGivingUp();
        resolve(false);
      }, timeoutMs);
      queue.add(waiter);
    });
  }

  /** When the last waiting owner gives up, the sharers it held back go on. */
  #afterGivingUp(): void {
    if (!this.#isOwned && this.#waitingOwners.size === 0 && this.#waitingSharers.size > 0) {
      this.#admitSharers();
    }
  }
}

interface Waiter {
  readonly settle: (isGranted: boolean) => void;
}

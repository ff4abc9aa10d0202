import type { Logger } from 'pino';
import { insertAudit, type AuditDoc } from '../../models/audit.js';

/** Refusals of one address that are recorded one by one in a minute. */
export const REFUSALS_PER_MINUTE = 20;

/** Addresses that are counted apart; all others together are one. */
export const MAX_REFUSED_ADDRESSES = 1_000;

const MINUTE_MS = 60_000;
const OTHERS = 'others';

interface Minute {
  recorded: number;
  suppressed: number;
}

/**
 * Records requests that were refused. Anybody can send those without an identity, so of them each address gets a few
 * records in a minute, and at the end of the minute one that tells how many more there were. A refusal is answered
 * even when it cannot be recorded, for nothing is told by it; then there is a line in the log.
 */
export class Refusals {
  readonly #minutes = new Map<string, Minute>();

  constructor(
    private readonly log: Logger,
    private readonly insert: (record: AuditDoc) => Promise<void> = insertAudit,
  ) {}

  /** Notes a refusal. `record`: made only when it is written. */
  async note(isAnonymous: boolean, record: () => AuditDoc): Promise<void> {
    if (!isAnonymous) {
      await this.#write(record());
      return;
    }
    const made = record();
    const minute = this.#minuteOf(made);
    if (minute.recorded < REFUSALS_PER_MINUTE) {
      minute.recorded += 1;
      await this.#write(made);
    } else minute.suppressed += 1;
  }

  #minuteOf(made: AuditDoc): Minute {
    const { address = OTHERS } = made;
    const isCounted = this.#minutes.has(address) || this.#minutes.size < MAX_REFUSED_ADDRESSES;
    const key = isCounted ? address : OTHERS;
    const known = this.#minutes.get(key);
    if (known !== undefined) return known;
    const minute: Minute = { recorded: 0, suppressed: 0 };
    this.#minutes.set(key, minute);
    setTimeout(() => {
      this.#minutes.delete(key);
      if (minute.suppressed > 0) void this.#writeCount(made, minute.suppressed);
    }, MINUTE_MS).unref();
    return minute;
  }

  /** The count stands in a record like the first of its minute. */
  #writeCount(first: AuditDoc, suppressed: number): Promise<void> {
    return this.#write({ ...first, _id: `${first._id}-more`, time: new Date(), options: { suppressed } });
  }

  async #write(record: AuditDoc): Promise<void> {
    try {
      await this.insert(record);
    } catch (error) {
      this.log.error({ requestId: record.request_id, err: error }, 'a refusal could not be recorded');
    }
  }
}

import { randomUUID } from 'node:crypto';
import type { JsonObject } from '../openehr/base/json.js';
import { AuditDraft } from '../change/commit/audit-draft.js';
import { completeAudit, completeParts, insertAudit, MAX_AUDIT_IDS } from '../models/audit.js';
import { ehrIdsAfter } from '../models/ehr.js';

/** Of a record that is made before it is known what the command comes to. */
const SUCCESS = 200;

/** Who reads, and what was chosen. */
interface Reader {
  /** Of the shell. */
  readonly user: string;
  readonly options: JsonObject;
}

/**
 * The record of what somebody reads in the shell, past everything that judges requests: one before anything is read, and parts of it that
 * name each EHR, however many there are, as they fill. docs/access-log.md#in-the-shell
 */
export class ReadRecord {
  readonly #draft: AuditDraft;
  #named: string[] = [];
  #count = 0;

  private constructor(operation: string, { user, options }: Reader) {
    const sender = { user, operation, request_id: randomUUID() };
    this.#draft = new AuditDraft(() => ({ ...sender, options }), SUCCESS);
  }

  /** Writes that somebody begins to read. */
  static async begin(operation: string, reader: Reader): Promise<ReadRecord> {
    const record = new ReadRecord(operation, reader);
    await insertAudit(record.#draft.record(SUCCESS, { pending: true }));
    return record;
  }

  /** Names an EHR, each once. */
  async name(ehrId: string): Promise<void> {
    this.#named.push(ehrId);
    this.#count += 1;
    if (this.#named.length === MAX_AUDIT_IDS) await this.#writePart();
  }

  /** Names all active EHRs. */
  async nameAll(): Promise<void> {
    for (let last: string | undefined = ''; last !== undefined;) {
      const ids: string[] = await ehrIdsAfter(last, MAX_AUDIT_IDS);
      for (const id of ids) await this.name(id);
      last = ids.at(-1);
    }
  }

  /** Writes what it came to. */
  async end(): Promise<void> {
    if (this.#named.length > 0) await this.#writePart();
    const subject = { ehr_count: this.#count };
    await completeAudit(this.#draft.id, subject);
    if (this.#draft.parts > 0) await completeParts(this.#draft.id, subject, SUCCESS);
  }

  async #writePart(): Promise<void> {
    const part = this.#named;
    this.#named = [];
    await this.#draft.writePart(part);
  }
}

import type { Context } from 'koa';
import type { RawRow } from '../../aql/result/result-set.js';
import { completeAudit, MAX_AUDIT_IDS, type AuditSubject } from '../../models/audit.js';
import { draftOf } from '../http/audit-trail.js';

/** Different EHRs that are counted for one answer; where there are more, the record has this number. */
export const MAX_COUNTED_EHRS = 100_000;

/** The rows of an answer on their way to the client, and what the audit notes of them. */
export interface AnsweredRows {
  /** Passes on what the database finds, whose EHRs are noted. */
  found(rows: AsyncIterable<readonly RawRow[]>): AsyncIterable<readonly RawRow[]>;
  /** Passes on what the client gets. */
  answered(rows: AsyncIterable<readonly string[]>): AsyncIterable<readonly string[]>;
}

/** Notes the rows of an answer that is recorded when it is whole. `ehrIds`: those that the query names. */
export function answeredRows(ctx: Context, ehrIds: readonly string[]): AnsweredRows {
  const draft = draftOf(ctx);
  return draft === undefined ? UNNOTED : new NotedRows(ehrIds, (subject) => draft.about(subject));
}

/**
 * Notes the rows of a stream. Its record is written before the first of them, `pending`, and completed after the
 * last, before the stream ends; when the client leaves or something fails, with the rows so far.
 */
export function streamedRows(ctx: Context, ehrIds: readonly string[]): AnsweredRows {
  const draft = draftOf(ctx);
  if (draft === undefined) return UNNOTED;
  draft.about({ pending: true });
  const rows = new NotedRows(ehrIds, (subject) => completeAudit(draft.id, subject));
  // A stream that nobody began to read ends here alone. What cannot be completed stays pending, which shows it.
  ctx.res.once('close', () => void rows.end('incomplete').catch(() => undefined));
  return rows;
}

const UNNOTED: AnsweredRows = { found: (rows) => rows, answered: (rows) => rows };

class NotedRows implements AnsweredRows {
  #rows = 0;
  #ended: Promise<void> | null = null;
  readonly #ehrIds: Set<string>;

  constructor(
    private readonly named: readonly string[],
    private readonly note: (subject: AuditSubject) => Promise<void> | void,
  ) {
    this.#ehrIds = new Set(named);
  }

  async *found(rows: AsyncIterable<readonly RawRow[]>): AsyncGenerator<readonly RawRow[]> {
    for await (const batch of rows) {
      for (const { ehrs = [] } of batch) for (const id of ehrs) this.#add(id);
      yield batch;
    }
  }

  async *answered(rows: AsyncIterable<readonly string[]>): AsyncGenerator<readonly string[]> {
    let outcome: string | null = 'incomplete';
    try {
      for await (const batch of rows) {
        this.#rows += batch.length;
        yield batch;
      }
      outcome = null;
    } finally {
      await this.end(outcome);
    }
  }

  /** Once, however the rows end. */
  end(outcome: string | null): Promise<void> {
    this.#ended ??= Promise.resolve(this.note(this.#subject(outcome)));
    return this.#ended;
  }

  #add(id: string | null): void {
    if (id !== null && this.#ehrIds.size < MAX_COUNTED_EHRS) this.#ehrIds.add(id);
  }

  #subject(outcome: string | null): AuditSubject {
    const count = this.#ehrIds.size;
    const ids = [...this.#ehrIds].slice(0, MAX_AUDIT_IDS);
    // The one EHR that a query is fixed to stands in the record already.
    const isKnown = count === 0 || (count === 1 && this.named.length === 1);
    return {
      rows: this.#rows,
      ...(!isKnown && { ehr_ids: ids }),
      ...(count > MAX_AUDIT_IDS && { ehr_count: count }),
      ...(outcome !== null && { outcome }),
    };
  }
}

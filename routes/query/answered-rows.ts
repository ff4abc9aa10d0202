import type { Context } from 'koa';
import type { AuditDraft } from '../../change/commit/audit-draft.js';
import type { PlanColumn } from '../../aql/plan/logical-plan.js';
import type { RawRow } from '../../aql/result/result-set.js';
import { contentKinds, LOOKED_AT, MOST_TEXT } from '../../change/access/content-kinds.js';
import {
  completeAudit,
  completeParts,
  MAX_AUDIT_IDS,
  notePending,
  type AuditSubject,
} from '../../models/audit.js';
import { draftOf } from '../http/audit-trail.js';

/** EHRs of one answer that are remembered, so that none is noted twice; of more, one may stand in two parts of the record. */
export const MAX_REMEMBERED_EHRS = 100_000;

/** The rows of an answer on their way to the client, and what the audit notes of them. */
export interface AnsweredRows {
  /** Passes on what the database finds, whose EHRs are noted. */
  found(rows: AsyncIterable<readonly RawRow[]>): AsyncIterable<readonly RawRow[]>;
  /** Passes on what the client gets. */
  answered(rows: AsyncIterable<readonly string[]>): AsyncIterable<readonly string[]>;
}

/** What is known of the rows before there are any: the EHRs that the query names, and its columns. */
interface AskedRows {
  readonly ehrIds: readonly string[];
  readonly columns: readonly PlanColumn[];
}

/** Notes the rows of an answer that is recorded when it is whole. */
export function answeredRows(ctx: Context, asked: AskedRows): AnsweredRows {
  const draft = draftOf(ctx);
  return draft === undefined ? UNNOTED : new NotedRows(draft, asked, (subject) => draft.about(subject));
}

/**
 * Notes the rows of a stream. Its record is written before the first of them, `pending`, and completed after the
 * last, before the stream ends; when the client leaves or something fails, with the rows so far.
 */
export function streamedRows(ctx: Context, asked: AskedRows): AnsweredRows {
  const draft = draftOf(ctx);
  if (draft === undefined) return UNNOTED;
  draft.about({ pending: true });
  const rows = new NotedRows(draft, asked, (subject) => completeStream(draft, subject), keepFirst(draft));
  // A stream that nobody began to read ends here alone. What cannot be completed stays pending, which shows it.
  ctx.res.once('close', () => void rows.end('incomplete').catch(() => undefined));
  return rows;
}

/** Notes the EHRs of the first record before there is a second, whether it is written already or not. */
function keepFirst(draft: AuditDraft): (ehrIds: readonly string[]) => Promise<void> {
  return async (ehrIds) => {
    draft.about({ ehr_ids: ehrIds });
    await notePending(draft.id, { ehr_ids: ehrIds });
  };
}

/** The parts first: whoever finds the first one complete finds them all so. */
async function completeStream(draft: AuditDraft, subject: AuditSubject): Promise<void> {
  if (draft.parts > 0) await completeParts(draft.id, subject);
  await completeAudit(draft.id, subject);
}

const UNNOTED: AnsweredRows = { found: (rows) => rows, answered: (rows) => rows };

class NotedRows implements AnsweredRows {
  #rows = 0;
  #ended: Promise<void> | null = null;
  /** Each of them is in `#first`, `#next` or a part that is written. */
  readonly #remembered: Set<string>;
  readonly #first: string[];
  /** Those of the part that is not written yet. */
  #next: string[] = [];
  #count: number;
  /** Columns of whole objects, and the first texts in them: of what kind they are is told of a single EHR. */
  readonly #wholeColumns: readonly number[];
  readonly #wholes: string[] = [];
  #wholeText = 0;

  constructor(
    private readonly draft: AuditDraft,
    private readonly asked: AskedRows,
    private readonly note: (subject: AuditSubject) => Promise<void> | void,
    private readonly keepFirst: (ehrIds: readonly string[]) => Promise<void> | void = () => undefined,
  ) {
    this.#remembered = new Set(asked.ehrIds);
    this.#wholeColumns = asked.columns.flatMap(({ kind }, index) => (kind === 'text' ? index : []));
    this.#first = [...this.#remembered];
    this.#count = this.#first.length;
  }

  async *found(rows: AsyncIterable<readonly RawRow[]>): AsyncGenerator<readonly RawRow[]> {
    for await (const batch of rows) {
      for (const { ehrs = [], row } of batch) {
        for (const id of ehrs) this.#add(id);
        if (this.#count <= 1) this.#keepWholes(row);
      }
      while (this.#next.length >= MAX_AUDIT_IDS) await this.#writePart();
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
    this.#ended ??= this.#end(outcome);
    return this.#ended;
  }

  async #end(outcome: string | null): Promise<void> {
    if (this.#next.length > 0) await this.#writePart();
    await this.note(this.#subject(outcome));
  }

  #add(id: string | null): void {
    if (id === null || this.#remembered.has(id)) return;
    if (this.#remembered.size >= MAX_REMEMBERED_EHRS) this.#remembered.clear();
    this.#remembered.add(id);
    this.#count += 1;
    if (this.#first.length < MAX_AUDIT_IDS) this.#first.push(id);
    else this.#next.push(id);
  }

  #keepWholes(row: RawRow['row']): void {
    for (const index of this.#wholeColumns) {
      const text = row[index];
      if (typeof text !== 'string' || this.#wholes.length >= LOOKED_AT) continue;
      if (this.#wholeText + text.length > MOST_TEXT) continue;
      this.#wholeText += text.length;
      this.#wholes.push(text);
    }
  }

  async #writePart(): Promise<void> {
    const ids = this.#next.slice(0, MAX_AUDIT_IDS);
    this.#next = this.#next.slice(MAX_AUDIT_IDS);
    if (this.draft.parts === 0) await this.keepFirst(this.#first);
    await this.draft.writePart(ids);
  }

  #subject(outcome: string | null): AuditSubject {
    const count = this.#count;
    // The one EHR that a query is fixed to stands in the record already.
    const isKnown = count === 0 || (count === 1 && this.asked.ehrIds.length === 1);
    return {
      // Of rows of several patients it would be said in the report of each.
      ...(count === 1 && contentKinds(this.#wholes.map((data) => ({ data })))),
      rows: this.#rows,
      ...(!isKnown && { ehr_ids: this.#first }),
      ...(count > MAX_AUDIT_IDS && { ehr_count: count }),
      ...(outcome !== null && { outcome }),
    };
  }
}

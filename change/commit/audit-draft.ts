import { randomBytes, randomUUID } from 'node:crypto';
import { ambient, inTransaction, type TransactionOptions } from '../../database/transaction.js';
import {
  auditWrite,
  completeParts,
  insertAudit,
  partId,
  MAX_AUDIT_IDS,
  type AuditDoc,
  type AuditSender,
  type AuditSubject,
} from '../../models/audit.js';
import { inSteps } from '../../models/access/in-steps.js';
import { removalLeaf } from '../../models/cross-collection/seal-hash.js';
import { notesMade, notesOfTransaction } from '../../models/removal.js';
import type { Write } from '../../models/access/write.js';

/** What is wanted of a record beside who did what. */
export interface AuditWishes {
  /** It says of which template, category and origin content is, for which the content is parsed. */
  readonly tellsKinds?: boolean;
  /** It is written, and tells all this, only where somebody was judged by policies of access. */
  readonly isOptional?: boolean;
}

/** The audit record of one request, as long as it is not written. */
export class AuditDraft {
  readonly #sender: () => AuditSender & AuditSubject;
  readonly #successStatus: number;
  #subject: AuditSubject = {};
  #key: Pick<AuditDoc, '_id' | 'time'> | null = null;
  #isCommitted = false;
  /** EHRs that the request is about and that do not fit into its first record. */
  further: readonly string[] = [];
  /** Further parts that were written, each with EHRs that do not fit into the first; they are pending. */
  parts = 0;

  /**
   * `sender`: asked when the record is made, for who sends is known later than that something is sent.
   * `successStatus`: what the operation answers when its transaction was committed.
   */
  constructor(
    sender: () => AuditSender & AuditSubject,
    successStatus: number,
    readonly wishes: AuditWishes = {},
  ) {
    this.#sender = sender;
    this.#successStatus = successStatus;
  }

  /** Adds to what the record says of its subject. */
  about(subject: AuditSubject): void {
    this.#subject = { ...this.#subject, ...subject };
    const { ehr_ids: ehrIds = [] } = subject;
    if (ehrIds.length > MAX_AUDIT_IDS) this.further = ehrIds.slice(MAX_AUDIT_IDS);
  }

  /** EHRs that the request is about beside that of its path, and those of the rows of a query, as far as they are known. */
  get ehrIds(): readonly string[] {
    const { ehr_id: one, ehr_ids: rows = [] } = this.#subject;
    return one === undefined ? rows : [one, ...rows];
  }

  /** Id of the record that `record` makes. */
  get id(): string {
    this.#key ??= newKey();
    return this.#key._id;
  }

  /** Whether the record was written in a transaction that is committed. */
  get isCommitted(): boolean {
    return this.#isCommitted;
  }

  /** Whether what the request asks for is done, by itself or by an earlier one with its Idempotency-Key. */
  get isCarriedOut(): boolean {
    return this.#isCommitted || this.#subject.outcome === 'replayed';
  }

  /** To be called after the transaction. What the request does from now on needs a record of its own. */
  commit(): void {
    this.#isCommitted = true;
    this.#key = null;
  }

  /** For a record beside this one of the same request. */
  apart(): AuditDraft {
    return new AuditDraft(this.#sender, this.#successStatus, this.wishes);
  }

  /** The record with this status. Its id stays the same until it is committed, so it cannot be there twice. */
  record(status: number, subject: AuditSubject = {}): AuditDoc {
    this.#key ??= newKey();
    const sender = this.#sender();
    const all = { ...sender, ...this.#subject, ...subject };
    // What carries it out adds its own to what the request said.
    const options = { ...sender.options, ...this.#subject.options, ...subject.options };
    const { objects, ehr_ids: ehrIds, pending, ...rest } = all;
    const others = (objects ?? []).filter((id) => id !== rest.ehr_id).slice(0, MAX_AUDIT_IDS);
    return {
      ...this.#key,
      ...rest,
      ...(all.options !== undefined && { options }),
      ...(ehrIds !== undefined && { ehr_ids: ehrIds.slice(0, MAX_AUDIT_IDS) }),
      ...(others.length > 0 && { objects: others }),
      // Of what failed nothing more will be sent.
      ...(pending === true && status < 400 && { pending }),
      status,
    };
  }

  /** Writes a further part of the record with EHRs that do not fit into the ones before, pending as `completeParts` finds it. */
  async writePart(ehrIds: readonly string[]): Promise<void> {
    this.parts += 1;
    const part = this.parts + 1;
    const first = this.record(this.#successStatus, { ehr_ids: ehrIds, pending: true });
    await insertAudit({ ...first, _id: partId(first._id, part), part });
  }

  /** Writes parts for those that `about` was told and that do not fit into the first record. */
  async writeFurther(): Promise<void> {
    for (const part of inSteps(this.further, MAX_AUDIT_IDS)) await this.writePart(part);
    this.further = [];
  }

  /** Adds to the further parts what the answer came to; those of a stream are completed when it ends. */
  async completeParts(status: number): Promise<void> {
    if (this.#subject.pending !== true) await completeParts(this.id, this.#subject, status);
  }

  /** The record of a transaction that succeeds, and further parts of it with the EHRs that do not fit into it. */
  success(subject: AuditSubject): AuditDoc[] {
    const record = this.record(this.#successStatus, subject);
    const { attempt } = ambient.getStore() ?? {};
    const made = attempt === undefined ? undefined : notesMade.get(attempt);
    const notes = made?.map((note) => removalLeaf(note).toString('hex'));
    const first = { ...record, ...(notes !== undefined && { notes }) };
    const { ehr_ids: ehrIds = [] } = subject;
    if (ehrIds.length <= MAX_AUDIT_IDS) return [first];
    const parts = inSteps(ehrIds.slice(MAX_AUDIT_IDS), MAX_AUDIT_IDS);
    return [
      first,
      ...parts.map((ids, index) => ({
        ...record,
        _id: partId(first._id, index + 2),
        ehr_ids: ids,
        part: index + 2,
      })),
    ];
  }
}

function newKey(): Pick<AuditDoc, '_id' | 'time'> {
  const time = new Date();
  const start = time.getTime().toString(36).padStart(9, '0');
  return { _id: `${start}-${randomBytes(8).toString('hex')}`, time };
}

declare module '../../database/transaction.js' {
  interface Ambient {
    readonly draft?: AuditDraft;
  }
}

/** Runs the work of one request; the transaction that writes what it asks for also writes its audit record. */
export function withAuditDraft<T>(draft: AuditDraft, work: () => Promise<T>): Promise<T> {
  return ambient.run({ ...ambient.getStore(), draft }, work);
}

/** The audit record of the running request as a write of its transaction; none outside of a request. */
export function auditWrites(subject: AuditSubject): readonly Write[] {
  const draft = openDraft();
  return draft === null ? [] : draft.success(subject).map(auditWrite);
}

/** Writes the audit record of the running request in the caller's transaction. */
export async function writeAudit(subject: AuditSubject): Promise<void> {
  const draft = openDraft();
  for (const record of draft?.success(subject) ?? []) await insertAudit(record);
}

/** To be called when the transaction that wrote the audit record is committed. */
export function auditCommitted(): void {
  ambient.getStore()?.draft?.commit();
}

/** As `inTransaction`, with the audit record of the running request: `about` gives its subject from the result. */
export async function inAuditedTransaction<T>(
  work: Parameters<typeof inTransaction<T>>[0],
  about: (result: T) => AuditSubject,
  options: TransactionOptions = {},
): Promise<T> {
  const result = await inTransaction(async (session) => {
    const made = await work(session);
    await writeAudit(about(made));
    return made;
  }, options);
  auditCommitted();
  return result;
}

/**
 * As `inTransaction`, for work beside the transaction that records the request, or without one: it gets a record of its own where it
 * makes notes of what it removes or states, for `verify` asks for it. `operation`: of work that no request asked for.
 */
export async function inNotedTransaction<T>(
  operation: string,
  work: Parameters<typeof inTransaction<T>>[0],
  subject: AuditSubject,
): Promise<T> {
  const sender = { user: 'everchart', operation, request_id: randomUUID() };
  const draft = ambient.getStore()?.draft?.apart() ?? new AuditDraft(() => sender, 200);
  return withAuditDraft(draft, () =>
    inTransaction(async (session) => {
      const made = await work(session);
      if (notesOfTransaction().length > 0) await writeAudit(subject);
      return made;
    }),
  );
}

/** A request with several transactions is recorded in the first, and in each that makes notes of what it removes or states. */
function openDraft(): AuditDraft | null {
  const draft = ambient.getStore()?.draft;
  if (draft === undefined) return null;
  return draft.isCommitted && notesOfTransaction().length === 0 ? null : draft;
}

import type { AuditDoc } from '../audit.js';
import { documents } from '../access/documents.js';
import { COLLECTIONS } from '../access/layout.js';
import { ehrsBeingErased } from '../ehr.js';
import type { RemovalDoc } from '../removal.js';
import { listOf, removalLeaf } from './seal-hash.js';

/** The operation of `everchart audit prune`. */
export const AUDIT_PRUNE = 'pruneAudit';

/** The operation of an import that restores what was made elsewhere; its target is the batch. */
export const RESTORE = 'restore';

/** The operation that takes such an import back. */
export const UNDO_RESTORE = 'undoRestore';

/** Operations that bring what an EXTRACT has; their target is the import, as that of a restore. */
export const EXTRACT_CREATE = 'ehr_extract_create';
export const ADD_EXTRACT = 'addExtract';

/** The operation that takes one back. */
export const UNDO_EXTRACT = 'undoExtract';

const RESTORES: readonly string[] = [RESTORE, EXTRACT_CREATE, ADD_EXTRACT];

/** What a record of an erasure says whose steps follow its transaction. */
export const ERASED_IN_STEPS = { in_steps: true } as const;

/** A removal of records of the audit that was asked for. */
interface Prune {
  /** Older ones go. */
  readonly before: Date;
  readonly asked: Date;
}

/** What the audit says that was done here, as far as notes of removals tell of it. */
export interface AuditedRemovals {
  /** Hashes of the notes that records name: of each transaction its own. */
  readonly notes: ReadonlySet<string>;
  /** Imports that restored something, since when. */
  readonly restores: ReadonlyMap<string, Date>;
  readonly prunes: readonly Prune[];
  /** EHRs whose erasure is under way. */
  readonly beingErased: ReadonlySet<string>;
}

/** Reads all records of what was carried out that notes of removals are compared with. */
export async function auditedRemovals(): Promise<AuditedRemovals> {
  // Asked first: what ends meanwhile has its last note when those are read.
  const beingErased = new Set(await ehrsBeingErased());
  const notes = new Set<string>();
  const restores = new Map<string, Date>();
  const prunes: Prune[] = [];
  const erasures = new Map<string, Date[]>();
  const records = documents<AuditDoc>(COLLECTIONS.audit).find<AuditDoc>({
    $or: [
      { notes: { $exists: true } },
      { operation: { $in: [...RESTORES, AUDIT_PRUNE] } },
      { 'options.in_steps': true },
    ],
    status: { $lt: 400 },
    // What was asked for elsewhere explains nothing that is gone here.
    restored: { $exists: false },
  });
  for await (const record of records) {
    const { operation, target, time, ehr_id: ehrId, options } = record;
    for (const hash of listOf(record.notes)) notes.add(hash);
    if (RESTORES.includes(operation) && target !== undefined)
      restores.set(target, earlier(restores.get(target), time));
    if (operation === AUDIT_PRUNE) prunes.push(...pruneOf(time, options?.['before']));
    if (options?.['in_steps'] === true && ehrId !== undefined)
      erasures.set(ehrId, [...(erasures.get(ehrId) ?? []), time]);
  }
  for (const hash of await notesOfSteps(erasures)) notes.add(hash);
  return { notes, restores, prunes, beingErased };
}

/** Hashes of the last notes of erasures in steps, as many as the audit has of each EHR, and of those that they name. */
async function notesOfSteps(erasures: ReadonlyMap<string, readonly Date[]>): Promise<string[]> {
  const hashes: string[] = [];
  const waiting = new Map(erasures);
  const last = documents<RemovalDoc>(COLLECTIONS.removals)
    .find<RemovalDoc>({ collection: COLLECTIONS.ehrs, notes: { $exists: true } })
    .sort({ time: 1, _id: 1 });
  for await (const note of last) {
    const times = waiting.get(note.ehr_id ?? '') ?? [];
    const begun = times.find((time) => time <= note.time);
    if (begun === undefined || note.ehr_id === undefined) continue;
    waiting.set(
      note.ehr_id,
      times.filter((time) => time !== begun),
    );
    hashes.push(removalLeaf(note).toString('hex'), ...listOf(note.notes));
  }
  return hashes;
}

function pruneOf(asked: Date, before: unknown): Prune[] {
  const time = new Date(typeof before === 'string' ? before : Number.NaN);
  // What was to come nobody could ask for.
  return Number.isNaN(time.getTime()) ? [] : [{ before: time < asked ? time : asked, asked }];
}

function earlier(known: Date | undefined, time: Date): Date {
  return known === undefined || time < known ? time : known;
}

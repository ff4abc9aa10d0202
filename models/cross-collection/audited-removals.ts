import type { AuditDoc } from '../audit.js';
import { documents } from '../access/documents.js';
import { COLLECTIONS } from '../access/layout.js';
import type { RemovalDoc } from '../removal.js';
import { listOf } from './seal-hash.js';

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

/** Operations that replace or remove what is sealed, by what their records name. */
const ERASES_EHR = ['deleteEhr', 'admin_ehr_delete', 'admin_ehr_delete_all', UNDO_RESTORE, UNDO_EXTRACT];
const RESTORES = [RESTORE, EXTRACT_CREATE, ADD_EXTRACT];
const ERASES_OBJECT = ['deleteComposition', 'deleteDirectory'];
const ALL_TEMPLATES = 'deleteAllTemplates';
const DEFINES = [
  'updateTemplate',
  'deleteTemplate',
  'removeTemplateRevision',
  'template_adl1.4_upload',
  'query_store',
  'query_store_version',
  'deleteStoredQuery',
];
const MOVES = 'moveComposition';

/** What the audit says that somebody asked for. */
export interface AuditedRemovals {
  readonly ehrs: ReadonlySet<string>;
  readonly objects: ReadonlySet<string>;
  readonly defined: ReadonlySet<string>;
  readonly moved: ReadonlySet<string>;
  /** Imports that restored something. */
  readonly restores: ReadonlySet<string>;
  readonly hasAllTemplates: boolean;
  /** Records of the audit before this time were removed on demand. */
  readonly prunedBefore: Date | null;
  /** Merges of which a note tells, and the EHRs that they dissolved. */
  readonly merges: ReadonlySet<string>;
  readonly mergedFrom: ReadonlySet<string>;
}

/** Reads the records of all operations that notes of removals may be compared with. */
export async function auditedRemovals(): Promise<AuditedRemovals> {
  const sets = {
    ehrs: new Set<string>(),
    objects: new Set<string>(),
    defined: new Set<string>(),
    moved: new Set<string>(),
    restores: new Set<string>(),
  };
  let hasAllTemplates = false;
  let prunedBefore: Date | null = null;
  const operations = [
    ...ERASES_EHR,
    ...ERASES_OBJECT,
    ALL_TEMPLATES,
    ...DEFINES,
    MOVES,
    AUDIT_PRUNE,
    ...RESTORES,
  ];
  const records = documents<AuditDoc>(COLLECTIONS.audit).find<AuditDoc>({
    operation: { $in: operations },
    status: { $lt: 400 },
    // What was asked for elsewhere explains nothing that is gone here.
    restored: { $exists: false },
  });
  for await (const { operation, ehr_id: ehrId, objects, options, target } of records) {
    if (ERASES_EHR.includes(operation) && ehrId !== undefined) sets.ehrs.add(ehrId);
    hasAllTemplates ||= operation === ALL_TEMPLATES;
    if (RESTORES.includes(operation) && target !== undefined) sets.restores.add(target);
    if (operation === AUDIT_PRUNE) prunedBefore = later(prunedBefore, options?.['before']);
    for (const id of listOf(objects)) setOf(sets, operation)?.add(id);
  }
  const merged = await notedMerges();
  return { ...sets, ...merged, hasAllTemplates, prunedBefore };
}

async function notedMerges(): Promise<Pick<AuditedRemovals, 'merges' | 'mergedFrom'>> {
  const merges = new Set<string>();
  const mergedFrom = new Set<string>();
  const notes = documents<RemovalDoc>(COLLECTIONS.removals).find<RemovalDoc>({
    collection: COLLECTIONS.mergeRecords,
    kind: 'stated',
  });
  for await (const { ids, from } of notes) {
    for (const id of listOf(ids)) merges.add(id);
    if (from !== undefined) mergedFrom.add(from);
  }
  return { merges, mergedFrom };
}

function setOf(
  { objects, defined, moved }: Readonly<Record<'objects' | 'defined' | 'moved', Set<string>>>,
  operation: string,
): Set<string> | null {
  if (ERASES_OBJECT.includes(operation)) return objects;
  if (DEFINES.includes(operation)) return defined;
  return operation === MOVES ? moved : null;
}

function later(known: Date | null, text: unknown): Date | null {
  const time = new Date(typeof text === 'string' ? text : Number.NaN);
  if (Number.isNaN(time.getTime())) return known;
  return known === null || time > known ? time : known;
}

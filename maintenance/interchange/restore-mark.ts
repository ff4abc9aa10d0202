import { inRestore } from './restored-state.js';
import type { StoredDocument } from '../../models/access/documents.js';
import { notedByBatch, noteStates } from '../../models/cross-collection/state-note.js';
import { noteMarks } from '../../models/access-numbers.js';
import { isMarkKind, putMark, type EhrMarkDoc } from '../../models/ehr-mark.js';
import { raiseMarks } from '../../models/ehr-marking.js';
import type { Session } from '../../models/access/write.js';
import { malformed } from './line-parts.js';
import type { RestoreHow } from './part.js';
import { isSameDocument } from './same.js';

const TEXTS = ['object_uid', 'template_id', 'category', 'origin', 'organisation'] as const;
const TIMES = ['from', 'to'] as const;
const MEMBERS = new Set<string>([
  ...['_id', 'ehr_id', 'kind', 'ground', 'placed', 'lifted', 'open'],
  ...TEXTS,
  ...TIMES,
]);

/**
 * Restores a mark, before the EHR that it is on: nothing of that is there without it. One that is here goes on as it is in the file
 * where that says later what became of it. docs/spec/interchange.md#lines
 * @throws invalid for what is none, or is another one than that with its id here
 */
export async function restoreMark(
  how: RestoreHow,
  document: StoredDocument,
  known: StoredDocument | undefined,
): Promise<'imported' | 'unchanged'> {
  const doc = markOf(document);
  const before = known === undefined ? null : (known as unknown as EhrMarkDoc);
  if (before !== null && !isSameMark(before, doc))
    throw malformed(`another document ${doc._id} is in ehr_marks here`);
  if (before !== null && before.lifted.length >= doc.lifted.length) {
    // An import that knows the restriction may bring what was there before it.
    if (doc.kind === 'restriction_of_processing')
      await inRestore(how.batch, async (session) => {
        const isNoted = (await notedByBatch('ehr_marks', how.batch, [doc._id])).has(doc._id);
        if (!isNoted) await note(session, how, doc);
      });
    return 'unchanged';
  }
  await inRestore(how.batch, async (session) => {
    await putMark(doc);
    await raiseMarks(doc.ehr_id);
    await noteMarks(session);
    await note(session, how, doc);
  });
  return 'imported';
}

async function note(session: Session, { batch }: RestoreHow, { _id }: EhrMarkDoc): Promise<void> {
  await noteStates(session, { collection: 'ehr_marks', ids: [_id], reason: 'restore', batch });
}

/** Whether both are the same mark, whatever became of it. */
function isSameMark(one: EhrMarkDoc, other: EhrMarkDoc): boolean {
  const said = (doc: EhrMarkDoc): object => ({ ...doc, ehr_id: '', lifted: [], open: true });
  const shared = Math.min(one.lifted.length, other.lifted.length);
  return (
    isSameDocument(said(one), said(other)) &&
    isSameDocument(one.lifted.slice(0, shared), other.lifted.slice(0, shared))
  );
}

/** @throws invalid */
function markOf(document: StoredDocument): EhrMarkDoc {
  const { _id: id, ehr_id: ehrId, kind, ground, placed, lifted, open } = document;
  const isWhole =
    isMarkKind(kind) &&
    [ehrId, ground].every((each) => typeof each === 'string') &&
    TEXTS.every((name) => document[name] === undefined || typeof document[name] === 'string') &&
    TIMES.every((name) => document[name] === undefined || document[name] instanceof Date) &&
    isSaid(placed) &&
    Array.isArray(lifted) &&
    lifted.every((each) => isSaid(each) && typeof (each as { ehr_id?: unknown }).ehr_id === 'string') &&
    (open === undefined || open === true) &&
    Object.keys(document).every((name) => MEMBERS.has(name));
  if (!isWhole) throw malformed(`document ${id} is no mark of an EHR`);
  return document as unknown as EhrMarkDoc;
}

function isSaid(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const { time, by, sub = '', iss = '', ...rest } = value as Record<string, unknown>;
  const isKnown = Object.keys(rest).every((name) => name === 'ehr_id');
  return isKnown && time instanceof Date && [by, sub, iss].every((each) => typeof each === 'string');
}

import { randomUUID } from 'node:crypto';
import { CdrError } from '../../openehr/base/errors.js';
import type { Session } from '../../models/access/write.js';
import { markHistory, type MarkEvent } from '../../models/cross-collection/marked-ehrs.js';
import { noteStates } from '../../models/cross-collection/state-note.js';
import { holdCategories, noteMarks } from '../../models/access-numbers.js';
import { storedCategories } from '../../models/category.js';
import { insertMarks, liftMark, type EhrMarkDoc, type MarkSaid } from '../../models/ehr-mark.js';
import { holdForMarks } from '../../models/ehr-marking.js';
import { containerOf } from '../../models/versioned-object.js';
import { isCategory, noCategory, OWN_CATEGORIES } from '../../policy/categories.js';
import { violationAt } from '../../openehr/base/violation.js';
import { inAuditedTransaction } from '../commit/audit-draft.js';
import { readableEhr, writableEhr } from '../commit/ehr-access.js';

/** Marks that hold for one EHR. */
export const MAX_MARKS = 100;

/** A mark as it is asked for. */
export type MarkContent = Pick<
  EhrMarkDoc,
  'kind' | 'ground' | 'object_uid' | 'template_id' | 'category' | 'origin' | 'organisation' | 'from' | 'to'
>;

/** Who sets marks, and what of them he may change. */
export interface MarkSetter {
  readonly by: Omit<MarkSaid, 'time'>;
  /** false: those that an administrator sets he leaves as they are. */
  readonly isAdministrator: boolean;
}

/** All marks that ever were on an EHR, the oldest first. @throws not-found */
export async function marksOn(ehrId: string): Promise<readonly MarkEvent[]> {
  const ehr = await readableEhr(ehrId);
  return markHistory(ehr._id);
}

/**
 * Makes these the marks of an EHR: those that it has and that are not among them are lifted, and stay in its history. docs/access.md#marks
 * @throws not-found, conflict, unavailable as a write to the EHR; invalid for an object that is not in it; unprocessable for too many;
 * forbidden for a change of what only administrators may change
 */
export async function setMarks(
  ehrId: string,
  wanted: readonly MarkContent[],
  setter: MarkSetter,
): Promise<readonly MarkEvent[]> {
  if (wanted.length > MAX_MARKS) throw new CdrError('unprocessable', `an EHR has at most ${MAX_MARKS} marks`);
  return inAuditedTransaction(
    async (session) => {
      if ((await holdForMarks(ehrId)) === null) {
        await writableEhr(ehrId);
        throw new CdrError('conflict', `EHR ${ehrId} was changed meanwhile`);
      }
      await exchange(session, ehrId, wanted, setter);
      return markHistory(ehrId);
    },
    (events) => ({
      ehr_id: ehrId,
      options: { marks: events.flatMap(({ doc, lifted }) => (lifted === null ? [doc.kind] : [])) },
    }),
  );
}

async function exchange(
  session: Session,
  ehrId: string,
  wanted: readonly MarkContent[],
  { by, isAdministrator }: MarkSetter,
): Promise<void> {
  const said = { ...by, time: new Date() };
  const held = new Map<string, EhrMarkDoc[]>();
  for (const { doc, lifted } of await markHistory(ehrId))
    if (lifted === null) held.set(keyOf(doc), [...(held.get(keyOf(doc)) ?? []), doc]);
  const asked = new Map(wanted.map((content) => [keyOf(content), content]));
  const added = [...asked].filter(([key]) => !held.has(key)).map(([, content]) => content);
  const lifted = [...held].filter(([key]) => !asked.has(key)).flatMap(([, docs]) => docs);
  if (!isAdministrator && [...added, ...lifted].some(({ kind }) => kind === 'restriction_of_processing'))
    throw new CdrError(
      'forbidden',
      'a restriction of processing is set and lifted with the permission admin only: send it back as it is',
    );
  await requireCategories(session, wanted, added);
  for (const { object_uid: uid } of added) if (uid !== undefined) await requireComposition(ehrId, uid);
  const docs = added.map((content) => docOf(ehrId, content, said));
  await insertMarks(docs);
  for (const doc of lifted) await liftMark(doc, ehrId, said);
  await noteMarks(session);
  const ids = [...docs, ...lifted].map(({ _id }) => _id);
  if (ids.length > 0) await noteStates(session, { collection: 'ehr_marks', ids, reason: 'definition' });
}

/** What a mark says: one that says the same is the same. */
function keyOf(mark: MarkContent): string {
  const { kind, ground, object_uid, template_id, category, origin, organisation, from, to } = mark;
  return JSON.stringify([
    ...[kind, ground, object_uid, template_id, category, origin, organisation],
    ...[from?.getTime(), to?.getTime()],
  ]);
}

/** What is about a category that is not there would restrict nothing, and nobody would know. */
async function requireCategories(
  session: Session,
  wanted: readonly MarkContent[],
  added: readonly MarkContent[],
): Promise<void> {
  const asking = added.filter(({ category }) => category !== undefined && !OWN_CATEGORIES.includes(category));
  if (asking.length === 0) return;
  // Until this is stored none is taken out.
  await holdCategories(session);
  const map = await storedCategories();
  const problems = asking
    .filter(({ category = '' }) => !isCategory(category, map))
    .map((content) =>
      violationAt(`/marks/${wanted.indexOf(content)}/category`, noCategory(content.category ?? '', map)),
    );
  if (problems.length === 0) return;
  throw new CdrError('invalid', problems.map(({ message }) => message).join('; '), { problems });
}

async function requireComposition(ehrId: string, uid: string): Promise<void> {
  if ((await containerOf(ehrId, 'COMPOSITION', uid)) === null)
    throw new CdrError('invalid', `object_uid ${uid} names no COMPOSITION of EHR ${ehrId}`);
}

function docOf(ehrId: string, content: MarkContent, said: MarkSaid): EhrMarkDoc {
  const { kind, ground, ...scope } = content;
  return { _id: randomUUID(), ehr_id: ehrId, kind, ground, ...scope, placed: said, lifted: [], open: true };
}

import { CdrError } from '../../openehr/base/errors.js';
import { ambient } from '../../database/transaction.js';
import { marksOfEhr, type HeldMark } from '../../models/cross-collection/marked-ehrs.js';
import { openMarks } from '../../models/ehr-mark.js';
import { coversEhr, type MarkKind } from '../../policy/marks.js';
import { notedByBatch } from '../../models/cross-collection/state-note.js';
import { countOfBatch } from '../../models/contribution.js';
import { markView } from './mark-view.js';

/* A restriction of processing stops whoever administrates all that is there, too: docs/access.md#restriction-of-processing */

const RESTRICTION: MarkKind = 'restriction_of_processing';

declare module '../../database/transaction.js' {
  interface Ambient {
    /** true: restrictions of processing hold for what is under way. */
    readonly mindsRestrictions?: true;
  }
}

/** Runs work for which restrictions of processing hold: with `ACCESS_MODE=enforce` alone. */
export function mindingRestrictions<T>(accessMode: string, work: () => Promise<T>): Promise<T> {
  if (accessMode !== 'enforce') return work();
  return ambient.run({ ...ambient.getStore(), mindsRestrictions: true }, work);
}

/**
 * Refuses to change or erase what is restricted. To be called in the transaction that changes the document of the EHR: a mark that is
 * committed meanwhile changes it too, and one of both is tried again. `objects`: the containers that are written; absent: all that is there.
 * @throws restricted, with the marks
 */
export async function requireUnrestricted(ehrId: string, objects?: readonly string[]): Promise<void> {
  if (ambient.getStore()?.mindsRestrictions !== true) return;
  requireNone(ehrId, await restrictionsOn(ehrId, objects));
}

/**
 * The same for what an import brings. It goes on where the restriction came with it, or what it has brought into that EHR before: what was
 * there before the restriction is kept, and no more than kept. To be called as `requireUnrestricted`, for several EHRs, behind their writes.
 * `brought`: by EHR how many CONTRIBUTIONs these are of.
 * @throws restricted, with the marks
 */
export async function requireRestorable(brought: ReadonlyMap<string, number>, batch: string): Promise<void> {
  if (ambient.getStore()?.mindsRestrictions !== true) return;
  if ((await openMarks([RESTRICTION], 1)).length === 0) return;
  for (const [ehrId, contributions] of brought) {
    const marks = await restrictionsOn(ehrId);
    if (marks.length === 0) continue;
    const noted = await notedByBatch(
      'ehr_marks',
      batch,
      marks.map(({ doc }) => doc._id),
    );
    const others = marks.filter(({ doc }) => !noted.has(doc._id));
    const goesOn = others.length > 0 && (await countOfBatch(ehrId, batch)) > contributions;
    if (!goesOn) requireNone(ehrId, others);
  }
}

async function restrictionsOn(ehrId: string, objects?: readonly string[]): Promise<HeldMark[]> {
  const marks = await marksOfEhr(ehrId);
  return marks.filter((mark) => mark.kind === RESTRICTION && isAbout(mark, objects));
}

/** Whether a restriction is about the EHR, or one of these objects; absent: of any. */
function isAbout(mark: HeldMark, objects: readonly string[] | undefined): boolean {
  if (objects === undefined || coversEhr(mark)) return true;
  return mark.scope.objects?.some((uid) => objects.includes(uid)) === true;
}

function requireNone(ehrId: string, marks: readonly HeldMark[]): void {
  if (marks.length === 0) return;
  const message = `processing is restricted in EHR ${ehrId}, which restricts in place of erasing: lift the mark first`;
  throw new CdrError('restricted', message, { marks: marks.map(({ doc }) => markView(doc)) });
}

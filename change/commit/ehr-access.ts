import { CdrError } from '../../openehr/base/errors.js';
import { isUnavailable } from '../../database/mongo-error.js';
import { ehrById, finalEhrId, holdActive, type EhrDoc } from '../../models/ehr.js';
import { ehrWithStatusUid } from '../../models/cross-collection/ehr-with-status.js';
import { areStillMoving, learnOfMerges, movingMerges } from '../../models/access/merge-job.js';
import { latestVersion } from '../../models/version.js';
import { viewing, type Viewer } from '../access/viewer.js';
import { beingMerged, ehrNotFound, mergedConflict, mergedMessage, notModifiable } from './refusal.js';

/**
 * The EHR for a read.
 * @throws not-found when it is unknown, being deleted, or merged away (then naming its successor)
 */
export async function readableEhr(ehrId: string): Promise<EhrDoc> {
  const viewer = viewing.getStore()?.viewer;
  const ehr = await (viewer?.readEhr(ehrId) ?? ehrById(ehrId));
  if (ehr?.state === 'merged') throw await mergedAway(ehr);
  if (ehr?.state !== 'active') throw await absentEhr(ehrId, viewer);
  if ((await viewer?.seesEhr(ehr)) === false) throw ehrNotFound(ehrId);
  return ehr;
}

/** 404 for an EHR that is not there, of which as much is asked as of one that is hidden. */
async function absentEhr(ehrId: string, viewer: Viewer | undefined): Promise<CdrError> {
  await viewer?.asIfThere(ehrId);
  return ehrNotFound(ehrId);
}

/**
 * The EHR that a query is about. Gives a number that another merge or unmerge of the EHR changes.
 * @throws not-found when it never existed, or was merged away, naming its successor
 */
export async function requireQueriedEhr(ehrId: string): Promise<number> {
  const ehr = await ehrById(ehrId);
  if (ehr === null) throw await absentEhr(ehrId, viewing.getStore()?.viewer);
  if (ehr.state === 'merged') throw await mergedAway(ehr);
  if ((await viewing.getStore()?.viewer?.seesEhr(ehr)) === false) throw ehrNotFound(ehrId);
  return ehr.merge_seq ?? 0;
}

/**
 * The EHR for a read with the uid of the latest version of its EHR_STATUS, in one round trip when all goes well.
 * @throws as `readableEhr`
 */
export async function readableEhrWithStatus(
  ehrId: string,
): Promise<{ readonly ehr: EhrDoc; readonly statusUid: string }> {
  const viewer = viewing.getStore()?.viewer;
  const { ehr, statusUid } = await (viewer?.readEhrWithStatus(ehrId) ?? ehrWithStatusUid(ehrId));
  if (ehr?.state === 'active' && statusUid !== null) {
    if ((await viewer?.seesEhr(ehr)) !== false) return { ehr, statusUid };
  }
  // It says why, of what is hidden as of what is not there; or the EHR came, changed or is being taken out of another one between the two reads.
  return inOneState(
    ehrId,
    async (now) => {
      const status = await latestVersion(ehrId, 'EHR_STATUS', now.ehr_status_id);
      if (status === null) throw ehrNotFound(ehrId);
      return { ehr: now, statusUid: status._id };
    },
    'merge_seq',
  );
}

/** The EHR that merges took this one to; null: it is gone, or about to be, or not there for who asks. */
export async function mergesTookTo(ehrId: string): Promise<string | null> {
  const ehr = await ehrById(ehrId);
  const isThere = ehr?.state === 'merged' || ehr?.state === 'active';
  const now = ehr?.state === 'merged' ? await finalEhrId(ehr) : ehrId;
  if (!isThere || (await viewing.getStore()?.viewer?.seesEhrId(now)) === false) return null;
  return now;
}

/** 404 for a read of an EHR that was merged into another one, which is named to who may see it. */
export async function mergedAway(ehr: EhrDoc): Promise<CdrError> {
  const mergedInto = await finalEhrId(ehr);
  if ((await viewing.getStore()?.viewer?.seesEhrId(mergedInto)) === false) return ehrNotFound(ehr._id);
  return new CdrError('not-found', mergedMessage(ehr._id, mergedInto), { mergedInto });
}

/**
 * The EHR for a write.
 * @throws not-found when it is unknown or being deleted, conflict when it was merged away, unavailable while it is being
 * merged in steps
 */
export async function writableEhr(ehrId: string): Promise<EhrDoc> {
  const ehr = await ehrById(ehrId);
  const viewer = viewing.getStore()?.viewer;
  if (ehr?.state === 'merged') {
    const mergedInto = await finalEhrId(ehr);
    throw (await viewer?.seesEhrId(mergedInto)) === false
      ? ehrNotFound(ehrId)
      : mergedConflict(ehrId, mergedInto);
  }
  if (ehr?.state !== 'active' || (await viewer?.seesEhr(ehr)) === false) throw ehrNotFound(ehrId);
  if (ehr.merging !== undefined) throw beingMerged(ehrId);
  return ehr;
}

/**
 * Holds an EHR in the caller's transaction: none is left of what this writes about one that is erased or merged meanwhile.
 * @throws as `writableEhr`; conflict when it was changed between the two looks
 */
export async function holdWritable(ehrId: string): Promise<void> {
  const viewer = viewing.getStore()?.viewer;
  if (viewer !== undefined) {
    viewer.renew(ehrId);
    viewer.requireMinding(await writableEhr(ehrId));
  }
  if ((await holdActive(ehrId)) !== null) return;
  await writableEhr(ehrId);
  throw new CdrError('conflict', `EHR ${ehrId} was changed meanwhile`);
}

/** Where what was committed to an EHR is now: in itself, or in the EHR that merges took it to. */
export async function ownerNow(ehrId: string): Promise<string> {
  const ehr = await ehrById(ehrId);
  return ehr === null ? ehrId : finalEhrId(ehr);
}

/** Kind of content a write is about: all but EHR_STATUS needs `is_modifiable`. */
export type WriteKind = 'content' | 'ehr-status';

/**
 * Runs a write so that it is refused in the order of docs/spec/rest.md#order-of-checks without reading the EHR first
 * when all goes well: EHR unknown, merged away; container unknown; not modifiable; whatever else was thrown.
 */
export async function withEhrErrorFirst<T>(
  ehrId: string,
  kind: WriteKind,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    // What may have been carried out is no refusal: to read more could only hide that.
    if (!(error instanceof CdrError) || error.code === 'outcome-unknown') throw error;
    const ehr = await writableEhr(ehrId);
    if (error.code !== 'not-found' && kind === 'content' && !ehr.is_modifiable) throw notModifiable(ehrId);
    throw error;
  }
}

/**
 * As `withEhrErrorFirst`, for a read of one step: a missing EHR is reported before a missing resource. What is missing in an
 * EHR that is there is looked for again, in one state: an unmerge may have brought it back in between. So is what was read while a
 * merge in steps began or ended.
 */
export async function readWithEhrErrorFirst<T>(ehrId: string, work: () => Promise<T>): Promise<T> {
  // Where policies are enforced the EHR is judged before anything in it.
  if (viewing.getStore()?.viewer?.seesByIdAlone(ehrId) === false) return inOneState(ehrId, work, 'merge_seq');
  const merges = movingMerges();
  try {
    const found = await work();
    if (await areStillMoving(merges)) return found;
  } catch (error) {
    if (!(error instanceof CdrError)) throw error;
    if (error.code !== 'not-found') {
      await readableEhr(ehrId);
      throw error;
    }
  }
  return inOneState(ehrId, work, 'merge_seq');
}

/** How often a read is begun anew because the EHR was changed meanwhile. */
export const MAX_READS = 50;

/** A read gave up: nobody can be told of one moment. */
export function changedAgain(ehrId: string): CdrError {
  return new CdrError('unavailable', `EHR ${ehrId} is being changed again and again`, {
    retryAfterSeconds: 1,
  });
}

/**
 * Runs a read that takes several steps so that all of them see the EHR before or all of them after each change of it: it is
 * repeated when one was committed in between. See docs/spec/merge.md#atomicity.
 * `seq`: what tells of a change; `merge_seq` for a read of which one step alone reads what others may write.
 * @throws as `readableEhr`; unavailable when it is changed again and again; whatever `read` throws
 */
export async function inOneState<T>(
  ehrId: string,
  read: (ehr: EhrDoc) => Promise<T>,
  seq: 'write_seq' | 'merge_seq' = 'write_seq',
): Promise<T> {
  for (let reads = 1; reads <= MAX_READS; reads += 1) {
    await learnOfMerges();
    const merges = movingMerges();
    const ehr = await readableEhr(ehrId);
    const [outcome] = await Promise.allSettled([read(ehr)]);
    // Who waited for a database that is away waits for it once.
    if (outcome.status === 'rejected' && isUnavailable(outcome.reason)) throw outcome.reason;
    const after = await readableEhr(ehrId);
    if (after[seq] !== ehr[seq] || !(await areStillMoving(merges))) continue;
    if (outcome.status === 'rejected') throw outcome.reason;
    return outcome.value;
  }
  throw changedAgain(ehrId);
}

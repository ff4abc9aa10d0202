import { CdrError } from '../../openehr/base/errors.js';
import { ehrById, finalEhrId, type EhrDoc } from '../../models/ehr.js';
import { ehrNotFound, mergedMessage, notModifiable } from './refusal.js';

/**
 * The EHR for a read.
 * @throws not-found when it is unknown, being deleted, or merged away (then naming its successor)
 */
export async function readableEhr(ehrId: string): Promise<EhrDoc> {
  const ehr = await ehrById(ehrId);
  if (ehr?.state === 'merged') throw await mergedAway(ehr);
  if (ehr?.state !== 'active') throw ehrNotFound(ehrId);
  return ehr;
}

/** Lets pass an EHR that does not exist. @throws not-found when it was merged away, naming its successor */
export async function refuseMergedAway(ehrId: string): Promise<void> {
  const ehr = await ehrById(ehrId);
  if (ehr?.state === 'merged') throw await mergedAway(ehr);
}

/** 404 for a read of an EHR that was merged into another one. */
export async function mergedAway(ehr: EhrDoc): Promise<CdrError> {
  const mergedInto = await finalEhrId(ehr);
  return new CdrError('not-found', mergedMessage(ehr._id, mergedInto), { mergedInto });
}

/**
 * The EHR for a write.
 * @throws not-found when it is unknown or being deleted, conflict when it was merged away
 */
export async function writableEhr(ehrId: string): Promise<EhrDoc> {
  const ehr = await ehrById(ehrId);
  if (ehr?.state === 'merged') throw new CdrError('conflict', mergedMessage(ehrId, await finalEhrId(ehr)));
  if (ehr?.state !== 'active') throw ehrNotFound(ehrId);
  return ehr;
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
    if (!(error instanceof CdrError)) throw error;
    const ehr = await writableEhr(ehrId);
    if (error.code !== 'not-found' && kind === 'content' && !ehr.is_modifiable) throw notModifiable(ehrId);
    throw error;
  }
}

/** As `withEhrErrorFirst`, for a read: a missing EHR is told before a missing resource. */
export async function readWithEhrErrorFirst<T>(ehrId: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof CdrError) await readableEhr(ehrId);
    throw error;
  }
}

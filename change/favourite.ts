import { CdrError } from '../openehr/base/errors.js';
import {
  favouriteKey,
  favouritesOf,
  putFavourite,
  removeFavourites,
  type FavouriteDoc,
} from '../models/favourite.js';
import { holdOwnList } from '../models/own-list.js';
import { activeEhrsAmong } from '../models/ehr-identity.js';
import { shownEhrs, type ShownEhr } from './access/shown-ehrs.js';
import { viewing } from './access/viewer.js';
import { inAuditedTransaction } from './commit/audit-draft.js';
import { holdWritable, mergesTookTo, readableEhr } from './commit/ehr-access.js';

/** Favourites that one owner can have. */
const MOST = 200;

/** An EHR that somebody wants to find again. */
export interface FavouriteEhr {
  readonly ehr: ShownEhr;
  readonly since: Date;
}

/** The favourites of an owner, newest first, each the EHR that merges took it to, and none twice. */
export async function listFavourites(owner: string): Promise<FavouriteEhr[]> {
  viewing.getStore()?.viewer?.narrowed();
  const since = new Map<string, Date>();
  for (const { doc, ehrId } of await nowOf(owner))
    if (ehrId !== null && !since.has(ehrId)) since.set(ehrId, doc.since);
  const shown = await shownEhrs(await activeEhrsAmong([...since.keys()]));
  const ehrs = new Map(shown.map((ehr) => [ehr._id, ehr]));
  return [...since].flatMap(([ehrId, then]) => {
    const ehr = ehrs.get(ehrId);
    return ehr === undefined ? [] : [{ ehr, since: then }];
  });
}

/**
 * Makes an EHR a favourite. Holds it: none is left of one that is erased meanwhile.
 * @throws not-found for an unknown EHR; conflict for a merged one, and when the owner has as many as he can have
 */
export function saveFavourite(owner: string, ehrId: string): Promise<void> {
  return inAuditedTransaction(
    async () => {
      await holdWritable(ehrId);
      await holdOwnList('favourites', owner);
      const _id = favouriteKey(owner, ehrId);
      const known = await favouritesOf(owner, MOST);
      if (known.length === MOST && known.every((each) => each._id !== _id))
        throw new CdrError('conflict', `you have ${MOST} favourites: take one of them away first`);
      await putFavourite({ _id, owner, ehr_id: ehrId, since: new Date() });
    },
    () => ({ ehr_id: ehrId }),
  );
}

/** It is no favourite any more. @throws not-found for an unknown or merged EHR, and where it is none */
export async function deleteFavourite(owner: string, ehrId: string): Promise<void> {
  await readableEhr(ehrId);
  const keys = (await nowOf(owner)).flatMap((each) => (each.ehrId === ehrId ? [each.doc._id] : []));
  if (keys.length === 0) throw new CdrError('not-found', `EHR ${ehrId} is no favourite of yours`);
  await inAuditedTransaction(
    () => removeFavourites(keys),
    () => ({ ehr_id: ehrId }),
  );
}

/** Favourites of an owner with the EHR that each is now. */
async function nowOf(
  owner: string,
): Promise<{ readonly doc: FavouriteDoc; readonly ehrId: string | null }[]> {
  const docs = await favouritesOf(owner, MOST);
  return Promise.all(docs.map(async (doc) => ({ doc, ehrId: await mergesTookTo(doc.ehr_id) })));
}

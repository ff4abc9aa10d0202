import type { ClientSession } from 'mongoose';
import type { EhrDoc } from '../ehr.js';
import { COLLECTIONS } from '../access/layout.js';
import { documentsIn } from '../access/one-snapshot.js';

/** A text that every merge, unmerge and move of content changes. */
export async function movesOfContent(joined: { readonly session?: ClientSession } = {}): Promise<string> {
  const [moves] = await documentsIn<EhrDoc>(joined.session, COLLECTIONS.ehrs)
    .aggregate(
      [
        { $match: { merge_seq: { $gt: 0 } } },
        { $group: { _id: null, ehrs: { $sum: 1 }, moves: { $sum: '$merge_seq' } } },
      ],
      joined,
    )
    .toArray();
  return JSON.stringify(moves ?? null);
}

import { collapsedToken } from '../../openehr/base/text.js';
import { Version } from '../version.js';

/** What was judged by one revision of a template. */
export interface RevisionUse {
  /** VERSIONs with content. */
  readonly versions: number;
  /** COMPOSITIONs that have one of them. */
  readonly compositions: number;
}

interface CountedUse extends RevisionUse {
  readonly _id: string | null;
}

/**
 * How much was judged by each revision of a template, by digest; '' for VERSIONs that note none, which were stored while there
 * were no revisions. Looks at every VERSION of the template. Joins the
 * caller's transaction.
 */
export async function usesOfTemplate(storedId: string): Promise<Map<string, RevisionUse>> {
  const ofTemplate = { template_id: { $in: [storedId, collapsedToken(storedId)] }, data: { $ne: null } };
  const found = await Version.aggregate<CountedUse>([
    { $match: ofTemplate },
    { $group: { _id: { digest: '$template_digest', object: '$object_id' }, of_object: { $sum: 1 } } },
    { $group: { _id: '$_id.digest', versions: { $sum: '$of_object' }, compositions: { $sum: 1 } } },
  ]).exec();
  return new Map(
    found.map(({ _id: digest, versions, compositions }) => [digest ?? '', { versions, compositions }]),
  );
}

import { trusted } from 'mongoose';
import { inSteps } from '../access/in-steps.js';
import { Version, type VersionHead } from '../version.js';

/** The versions of these containers of an EHR without their content, by object id, oldest first. Joins the caller's transaction. */
export async function headsOfContainers(
  ehrId: string,
  versionedObjectUids: readonly string[],
): Promise<Map<string, VersionHead[]>> {
  const found = new Map<string, VersionHead[]>();
  for (const part of inSteps(versionedObjectUids)) {
    const heads = await Version.find({ ehr_id: ehrId, object_id: trusted({ $in: part }) }, { data: 0 })
      .sort({ object_id: 1, version: 1 })
      .exec();
    for (const head of heads) found.set(head.object_id, [...(found.get(head.object_id) ?? []), head]);
  }
  return found;
}

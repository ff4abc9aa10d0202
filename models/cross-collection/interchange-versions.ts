import type { ClientSession } from 'mongoose';
import { COLLECTIONS } from '../access/layout.js';
import { documentsIn } from '../access/one-snapshot.js';
import type { VersionDoc } from '../version.js';
import { versionOf, type StoredVersion } from '../version-text.js';
import { LARGE_AT_ONCE } from './interchange.js';

/** Characters of versions that are held together. */
const LARGE_TOGETHER = 4 * 1024 * 1024;

/**
 * All versions of these objects of an EHR, object by object in the order given, oldest first; as many at once as are small together. However many
 * versions an object has, and however large they are, no more than `LARGE_TOGETHER` characters of them are held, and one version.
 */
export async function* exportedVersions(
  session: ClientSession,
  ehrId: string,
  versionedObjectUids: readonly string[],
): AsyncGenerator<readonly VersionDoc[]> {
  const { small, isAll } = await smallObjects(versionsRead(session, ehrId, versionedObjectUids));
  if (isAll) yield versionedObjectUids.flatMap((id) => small.get(id) ?? []);
  else
    for (const id of versionedObjectUids) {
      const versions = small.get(id);
      small.delete(id);
      if (versions !== undefined) yield versions;
      else yield* largeParts(versionsRead(session, ehrId, [id]));
    }
}

/** Oldest first of each object; the order is that of an index, so that the database sorts nothing. */
async function* versionsRead(
  session: ClientSession,
  ehrId: string,
  versionedObjectUids: readonly string[],
): AsyncGenerator<VersionDoc> {
  const of = { ehr_id: ehrId, object_id: { $in: [...versionedObjectUids] } };
  const found = documentsIn<StoredVersion>(session, COLLECTIONS.versions)
    .find<StoredVersion>(of, { session, batchSize: LARGE_AT_ONCE })
    .sort({ object_id: -1, time_committed: 1 });
  for await (const version of found) yield versionOf(version);
}

/** The first objects of a read that are small together, each with all its versions. `isAll`: there are no others. */
async function smallObjects(
  read: AsyncIterable<VersionDoc>,
): Promise<{ readonly small: Map<string, VersionDoc[]>; readonly isAll: boolean }> {
  const small = new Map<string, VersionDoc[]>();
  let length = 0;
  for await (const version of read) {
    const { object_id: id } = version;
    length += lengthOf(version);
    if (length > LARGE_TOGETHER) {
      small.delete(id);
      return { small, isAll: false };
    }
    const versions = small.get(id);
    if (versions === undefined) small.set(id, [version]);
    else versions.push(version);
  }
  return { small, isAll: true };
}

async function* largeParts(read: AsyncIterable<VersionDoc>): AsyncGenerator<readonly VersionDoc[]> {
  let part: VersionDoc[] = [];
  let length = 0;
  for await (const version of read) {
    if (part.length > 0 && length + lengthOf(version) > LARGE_TOGETHER) {
      yield part;
      [part, length] = [[], 0];
    }
    part.push(version);
    length += lengthOf(version);
  }
  if (part.length > 0) yield part;
}

/** Characters of its content, which is nearly all of it. */
function lengthOf({ data }: VersionDoc): number {
  return data?.length ?? 0;
}

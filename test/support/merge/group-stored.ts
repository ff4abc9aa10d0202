import mongoose from 'mongoose';
import type { ContributionDoc } from '../../../models/contribution.js';
import type { EhrDoc } from '../../../models/ehr.js';
import type { VersionDoc } from '../../../models/version.js';
import type { VersionedObjectDoc } from '../../../models/versioned-object.js';
import { uidOf, type GroupState, type Held, type Side, SIDES, ownerOf } from './recorded.js';

/** The ids of the EHRs of a group. */
export type GroupIds = Readonly<Record<Side, string>>;

/** Changes of which all CONTRIBUTIONs are looked at; of more they are too many to be read after each. */
const MOST_CHANGES = 300;

const documents = <T extends object>(name: string): mongoose.mongo.Collection<T> =>
  mongoose.connection.collection<T>(name);

/**
 * The state after a change, as the store has it while nobody writes: which versions a merge or its undoing made is theirs to say, and
 * `may` names the COMPOSITIONs that may have new ones.
 * @throws Error where whose they are, or which versions others have, is not what the change was to make of them
 */
export async function stateStored(
  ehrIds: GroupIds,
  wanted: Pick<GroupState, 'after' | 'into' | 'held'>,
  before: Pick<GroupState, 'status' | 'directory'> & { readonly changes: number },
  may: (id: string) => boolean,
): Promise<GroupState> {
  const ids = SIDES.map((side) => ehrIds[side]);
  const [ehrs, containers] = await Promise.all([
    documents<EhrDoc>('ehrs')
      .find({ _id: { $in: ids } })
      .toArray(),
    documents<VersionedObjectDoc>('versioned_objects')
      .find({ ehr_id: { $in: ids } })
      .toArray(),
  ]);
  const byId = new Map(containers.map((container) => [container._id, container]));
  const own = containers.filter(({ type }) => type === 'COMPOSITION');
  if (own.length !== wanted.held.size)
    throw new Error(`${own.length} COMPOSITIONs are stored, not ${wanted.held.size}`);
  const changed = own.filter(({ _id, ehr_id: ehrId, latest_version_uid: uid }) => {
    const one = wanted.held.get(_id);
    if (one === undefined) throw new Error(`COMPOSITION ${_id} is stored and should not be`);
    if (ehrIds[ownerOf(one.home, wanted)] !== ehrId) throw new Error(`COMPOSITION ${_id} is in EHR ${ehrId}`);
    const isNew = one.versions.length === 0 || uidOf(one) !== uid;
    if (isNew && !may(_id)) throw new Error(`COMPOSITION ${_id} has the version ${uid}`);
    return isNew;
  });
  const held = await withVersions(wanted.held, changed);
  const [status, directory] = [{ ...before.status }, { ...before.directory }];
  for (const side of SIDES) {
    const ehr = ehrs.find(({ _id }) => _id === ehrIds[side]);
    if (ehr?.state !== 'active') continue;
    status[side] = byId.get(ehr.ehr_status_id)!.latest_version_uid;
    const folders = byId.get(ehr.directory_id ?? '');
    directory[side] = folders?.deleted === false ? folders.latest_version_uid : null;
  }
  const isFew = before.changes <= MOST_CHANGES;
  const contributions = await contributionsOf(ehrIds, isFew);
  return { after: wanted.after, into: wanted.into, held, status, directory, contributions };
}

/** COMPOSITIONs with those of their versions that were not known. */
async function withVersions(
  held: ReadonlyMap<string, Held>,
  changed: readonly VersionedObjectDoc[],
): Promise<ReadonlyMap<string, Held>> {
  if (changed.length === 0) return held;
  const all = new Map(held);
  const versions = await documents<VersionDoc>('versions')
    .find({ object_id: { $in: changed.map(({ _id }) => _id) } })
    .project<
      Pick<VersionDoc, 'object_id' | 'time_committed' | 'version' | 'lifecycle_state'> & { _id: string }
    >({
      object_id: 1,
      time_committed: 1,
      version: 1,
      lifecycle_state: 1,
    })
    .sort({ version: 1 })
    .toArray();
  for (const { _id } of changed) {
    const own = versions.filter(({ object_id: id }) => id === _id);
    all.set(_id, {
      ...held.get(_id)!,
      versions: own.map(({ _id: uid, time_committed: time, lifecycle_state: state }) => ({
        uid,
        time: time.getTime(),
        hasContent: !JSON.stringify(state).includes('"523"'),
      })),
    });
  }
  return all;
}

async function contributionsOf(ehrIds: GroupIds, isFew: boolean): Promise<GroupState['contributions']> {
  const ids = SIDES.map((side) => ehrIds[side]);
  const found = isFew
    ? await documents<ContributionDoc>('contributions')
        .find({ ehr_id: { $in: ids } })
        .project<Pick<ContributionDoc, '_id' | 'ehr_id' | 'versions'>>({ ehr_id: 1, versions: 1 })
        .toArray()
    : [];
  const of = (side: Side): ReadonlyMap<string, readonly string[]> =>
    new Map(
      found
        .filter(({ ehr_id: ehrId }) => ehrId === ehrIds[side])
        .map(({ _id, versions }) => [_id, versions.map(({ uid }) => uid)]),
    );
  return { source: of('source'), target: of('target'), third: of('third') };
}

import { describe, expect, it } from '@jest/globals';
import type { JsonObject } from '../../../openehr/base/json.js';
import { OPTIMISTIC_STATE } from '../../../change/commit/commit-state.js';
import { planCommit } from '../../../change/commit/plan.js';
import type { CommitRequest, CommitState, VersionEntry } from '../../../change/commit/request.js';
import type { EhrDoc } from '../../../models/ehr.js';
import type { VersionedObjectDoc } from '../../../models/versioned-object.js';
import { aMetadata } from '../../support/change.js';
import { testSettings } from '../../support/settings.js';

const settings = testSettings();
const EHR = 'aaaaaaaa-0000-4000-8000-000000000001';
const OBJECT = 'bbbbbbbb-0000-4000-8000-000000000002';
const NOW = new Date(Date.UTC(2030, 0, 1));
const V1 = `${OBJECT}::local.cdr::1`;

const ehr: EhrDoc = {
  _id: EHR,
  system_id: 'local.cdr',
  time_created: NOW,
  state: 'active',
  write_seq: 1,
  is_queryable: true,
  is_modifiable: true,
  ehr_status_id: 'x',
};
const container: VersionedObjectDoc = {
  _id: OBJECT,
  ehr_id: EHR,
  type: 'FOLDER',
  time_created: NOW,
  latest_version: 1,
  latest_version_uid: V1,
  latest_time_committed: NOW,
  deleted: false,
};
const folder: JsonObject = {
  _type: 'FOLDER',
  archetype_node_id: 'openEHR-EHR-FOLDER.generic.v1',
  name: { _type: 'DV_TEXT', value: 'root' },
};

function aState(more: Partial<CommitState> = {}): CommitState {
  return { ...OPTIMISTIC_STATE, ehr, ...more };
}

function aRequest(...entries: VersionEntry[]): CommitRequest {
  return { ehrId: EHR, contributionUid: 'c', audit: aMetadata().audit, entries };
}

const creation: VersionEntry = {
  kind: 'create',
  type: 'FOLDER',
  versionedObjectUid: OBJECT,
  isChosenId: false,
  object: folder,
  ...aMetadata(),
};
const update: VersionEntry = {
  kind: 'update',
  type: 'FOLDER',
  versionedObjectUid: OBJECT,
  precedingVersionUid: V1,
  object: folder,
  ...aMetadata('251'),
};
const deletion: VersionEntry = {
  kind: 'delete',
  versionedObjectUid: OBJECT,
  precedingVersionUid: V1,
  staleCode: 'conflict',
  ...aMetadata('523', '523'),
};
const known = aState({ containers: new Map([[OBJECT, container]]), directoryId: OBJECT });
const plan = (state: CommitState, ...entries: VersionEntry[]) =>
  planCommit(settings, state, aRequest(...entries), NOW);

describe('a plan', () => {
  it('of a creation holds the EHR first, then inserts', () => {
    const { writes, commit } = plan(aState(), creation);
    expect(writes.map((write) => write.collection)).toEqual([
      'ehrs',
      'contributions',
      'versioned_objects',
      'versions',
      'aql',
    ]);
    expect(writes[0]).toEqual({
      collection: 'ehrs',
      filter: { _id: EHR, state: 'active', is_queryable: true, is_modifiable: true, merging: null },
      update: { $inc: { write_seq: 1 }, $set: { directory_id: OBJECT } },
      matching: 'one',
    });
    expect(commit.versions[0]).toMatchObject({ versionUid: V1, type: 'FOLDER', timeCommitted: NOW });
    const text = commit.versions[0]?.doc?.data ?? '';
    expect(text.startsWith(`{"_type":"FOLDER","uid":{"_type":"OBJECT_VERSION_ID","value":"${V1}"}`)).toBe(
      true,
    );
  });

  it('of an update moves the container on from the version it was planned on, 1 ms later at least', () => {
    const { writes, commit } = plan(known, update);
    const time = new Date(NOW.getTime() + 1);
    expect(commit.versions[0]?.timeCommitted).toEqual(time);
    expect(writes).toContainEqual({
      collection: 'versioned_objects',
      filter: { _id: OBJECT, ehr_id: EHR, latest_version_uid: V1, has_item_tags: null },
      update: {
        $set: {
          latest_version: 2,
          latest_version_uid: `${OBJECT}::local.cdr::2`,
          latest_time_committed: time,
          deleted: false,
        },
      },
      matching: 'one',
    });
    expect(writes).toContainEqual({
      collection: 'aql',
      filter: { _id: V1 },
      update: { $set: { latest: false, to: time } },
      matching: 'one',
    });
  });

  it('does not count on a derived document that may be missing', () => {
    const { writes } = plan({ ...known, mayLackIndex: true }, update);
    expect(writes.find((write) => 'matching' in write && write.collection === 'aql')).toMatchObject({
      matching: 'any',
    });
  });

  it('of a deletion unsets the directory and has no derived document', () => {
    const { writes, commit } = plan(known, deletion);
    expect(writes[0]).toMatchObject({ update: { $unset: { directory_id: 1 } } });
    expect(writes.some((write) => write.collection === 'aql' && 'insert' in write)).toBe(false);
    expect(commit.versions[0]?.doc).toMatchObject({ data: null, version: 2, preceding_version_uid: V1 });
  });

  it('lets a later entry follow a version made by an earlier one, later in time', () => {
    const { commit } = plan(aState(), creation, update);
    expect(commit.versions.map((version) => version.versionUid)).toEqual([V1, `${OBJECT}::local.cdr::2`]);
    expect(commit.versions.map((version) => version.timeCommitted.getTime() - NOW.getTime())).toEqual([0, 1]);
    expect(commit.contribution.time_committed).toEqual(NOW);
  });

  it('refuses in the order of the contract', () => {
    const frozen = { ...ehr, is_modifiable: false };
    const merged: EhrDoc = { ...ehr, state: 'merged', merged_into: 'm' };
    const stale = { ...update, precedingVersionUid: `${OBJECT}::local.cdr::7` };
    const codeOf = (state: CommitState, entry: VersionEntry): unknown => {
      try {
        plan(state, entry);
        return 'planned';
      } catch (error) {
        return (error as { code?: string }).code;
      }
    };
    expect(codeOf({ ...known, ehr: null }, stale)).toBe('not-found');
    expect(codeOf({ ...known, ehr: merged, finalEhrId: 'm' }, stale)).toBe('conflict');
    expect(codeOf(aState({ ehr: frozen }), stale)).toBe('not-found');
    expect(codeOf({ ...known, ehr: frozen }, stale)).toBe('conflict');
    expect(codeOf(known, stale)).toBe('precondition-failed');
    expect(codeOf(known, { ...deletion, precedingVersionUid: stale.precedingVersionUid })).toBe('conflict');
    expect(codeOf(known, { ...creation, versionedObjectUid: 'new' })).toBe('conflict');
    expect(codeOf({ ...known, directoryId: null }, { ...creation, isChosenId: true })).toBe('conflict');
    expect(codeOf(known, { ...update, expectedUid: V1 })).toBe('precondition-failed');
  });

  it('names the entry that failed when asked', () => {
    const request = { ...aRequest(creation, { ...update, precedingVersionUid: 'x' }), namesEntries: true };
    expect(() => planCommit(settings, aState(), request, NOW)).toThrow(/^versions\[1\]: /);
  });

  it('believes an EHR it has not read to be modifiable and queryable, and says so in the hold', () => {
    const { writes } = plan(aState({ ehr: 'expected' }), creation);
    expect(writes[0]).toMatchObject({ filter: { is_queryable: true, is_modifiable: true } });
  });
});

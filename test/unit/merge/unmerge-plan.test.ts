import { describe, expect, it } from '@jest/globals';
import type { MergeRecordDoc } from '../../../models/merge-record.js';
import { planUnmerge, unmergeReasons, type UnmergeSnapshot } from '../../../merge/unmerge-plan.js';
import { inCamelCase } from '../../../merge/unmerge-data.js';
import { container, ehr, persistent, SOURCE, tag, TARGET, uidOf } from './fixtures.js';

const [MINE, THEIRS, MOVED, DIR] = [1, 2, 3, 4].map((n) => `cccccccc-0000-4000-8000-00000000000${n}`) as [
  string,
  string,
  string,
  string,
];
const record: MergeRecordDoc = {
  _id: 'merge',
  source_ehr: SOURCE,
  target_ehr: TARGET,
  merge_date: new Date(0),
  reversible: true,
  folder_merge: 'COPY',
  composition_merge: 'PERSISTENT',
  outcome: { level: 'FOLDER_COPY', summary: '' },
  contribution_uid: 'made',
  directory_version_uid: uidOf(DIR, 1),
  copied_folder_uid: DIR,
  joined: [{ source: MINE, target: THEIRS }],
  committer: 'root-admin',
};
const made: UnmergeSnapshot['made'] = [
  { uid: uidOf(THEIRS, 2), type: 'COMPOSITION' },
  { uid: uidOf(MINE, 2), type: 'COMPOSITION' },
  { uid: uidOf(DIR, 1), type: 'FOLDER' },
];
const containers = [
  container(MOVED, 'COMPOSITION'),
  persistent(MINE, { latest_version: 2, deleted: true }),
  persistent(THEIRS, { latest_version: 2 }),
  container(DIR, 'FOLDER'),
];

function snapshot(further: Partial<UnmergeSnapshot> = {}): UnmergeSnapshot {
  return {
    record,
    target: ehr(TARGET),
    targetMergedInto: null,
    source: ehr(SOURCE),
    subjectHolder: null,
    moved: { contributions: ['c1'], compositions: [MOVED] },
    containers: new Map(containers.map((doc) => [doc._id, doc])),
    made,
    since: [],
    tags: [],
    droppedTags: [],
    directory: null,
    ...further,
  };
}

const replaced = (...docs: readonly (typeof containers)[number][]): UnmergeSnapshot['containers'] =>
  new Map([...containers, ...docs].map((doc) => [doc._id, doc]));
const without = (versionedObjectUid: string): UnmergeSnapshot['containers'] =>
  new Map(containers.filter(({ _id }) => _id !== versionedObjectUid).map((doc) => [doc._id, doc]));
const since = (...uids: readonly string[]): UnmergeSnapshot['since'] => [
  { _id: 'since', versions: uids.map((uid) => ({ uid, type: 'COMPOSITION' })) },
];

describe('unmergeReasons', () => {
  it('finds none when nothing happened', () => {
    expect(unmergeReasons(snapshot())).toEqual([]);
  });

  const reasons: [string, Partial<UnmergeSnapshot>, (string | RegExp)[]][] = [
    [
      'not reversible',
      { source: null, record: { ...record, reversible: false } },
      ['the merge was not reversible'],
    ],
    ['merged on', { targetMergedInto: 'x', containers: new Map() }, [`EHR ${TARGET} was merged into x`]],
    [
      'target not modifiable',
      { target: ehr(TARGET, { is_modifiable: false }) },
      [/does not allow modification/],
    ],
    ['subject taken', { subjectHolder: TARGET }, [/subject of the source is now used/]],
    [
      'joined one changed',
      { containers: replaced(persistent(THEIRS, { latest_version: 3 })) },
      [`the joined composition ${THEIRS} was changed since`],
    ],
    [
      'joined one attested',
      { since: since(uidOf(MINE, 2)) },
      [`the joined composition ${MINE} was changed since`],
    ],
    ['joined one erased', { containers: without(MINE) }, [`the joined composition ${MINE} was erased since`]],
    ['joined version tagged', { tags: [tag('t', THEIRS, { target_version: 2 })] }, [/has item tags/]],
    [
      'made directory changed',
      { containers: replaced(container(DIR, 'FOLDER', { latest_version: 2 })) },
      [/directory that the merge created was changed/],
    ],
    [
      'mixed contribution',
      { since: since(uidOf(MOVED, 2), uidOf('other', 1)) },
      [/CONTRIBUTION since, made since/],
    ],
  ];
  it.each(reasons)('finds: %s', (_, further, expected) => {
    const found = unmergeReasons(snapshot(further));
    expect(found).toHaveLength(expected.length);
    found.forEach((reason, index) => expect(reason).toMatch(expected[index]!));
  });

  it('lists all of them', () => {
    const all = snapshot({
      containers: replaced(persistent(THEIRS, { latest_version: 3 })),
      subjectHolder: TARGET,
      target: ehr(TARGET, { is_modifiable: false }),
    });
    expect(unmergeReasons(all)).toHaveLength(3);
  });

  it.each([
    [
      'an earlier version of a joined one was attested or tagged',
      { since: since(uidOf(MINE, 1)), tags: [tag('t', THEIRS, { target_version: 1 })] },
    ],
    ['only moved objects were written to', { since: since(uidOf(MOVED, 2)) }],
    ['the made directory was erased', { containers: without(DIR) }],
    ['a moved composition was erased', { containers: without(MOVED) }],
  ])('finds none when %s', (_, further) => {
    expect(unmergeReasons(snapshot(further))).toEqual([]);
  });
});

describe('planUnmerge', () => {
  it('sends everything back and removes what the merge made', () => {
    const tags = [tag('t1', MOVED), tag('t2', THEIRS), tag('t3', MINE)];
    const plan = planUnmerge(
      snapshot({ tags, since: since(uidOf(MOVED, 2)), droppedTags: [tag('t4', 'status')] }),
      false,
    );
    expect(plan).toEqual({
      contributions: ['c1', 'since'],
      compositions: [MOVED, MINE],
      tags: ['t1', 't3'],
      restoredTags: [tag('t4', 'status')],
      removedVersions: made.map(({ uid }) => uid),
      remaining: [],
      directory: { kind: 'remove', versionUid: uidOf(DIR, 1) },
      summary:
        '1 compositions moved back, 1 separated, 1 folder removed, 2 contributions moved back, 2 item tags moved back, 1 item tags restored',
    });
  });

  it('leaves out what was erased, and does not overwrite a tag written since', () => {
    const plan = planUnmerge(
      snapshot({
        containers: without(MOVED),
        tags: [tag('new', MINE)],
        droppedTags: [tag('old', MINE)],
      }),
      true,
    );
    expect([plan.compositions, plan.restoredTags]).toEqual([[MINE], []]);
    expect(plan.summary).toMatch(/^DRY RUN: 0 compositions moved back/);
    expect(plan.summary).toContain('1 item tags not restored: written anew since');
    expect(plan.summary).toContain(`left out: composition ${MOVED}, erased since`);
  });

  describe('of a directory that was there before', () => {
    const before = { ...record, directory_version_uid: uidOf(DIR, 3), copied_folder_uid: 'copied' };
    const its = [...made.slice(0, 2), { uid: uidOf(DIR, 3), type: 'FOLDER' as const }];
    const live = container(DIR, 'FOLDER', { latest_version: 4 });
    const root = {
      name: { value: 'r' },
      folders: [{ uid: { value: 'copied' } }, { uid: { value: 'kept' } }],
    };

    it('takes the version away when nothing followed', () => {
      const unchanged = replaced(container(DIR, 'FOLDER', { latest_version: 3 }));
      const plan = planUnmerge(snapshot({ record: before, made: its, containers: unchanged }), false);
      expect(plan.directory).toEqual({ kind: 'remove', versionUid: uidOf(DIR, 3) });
    });

    it('makes a further version without the copy, and keeps the CONTRIBUTION for the one that stays', () => {
      const plan = planUnmerge(
        snapshot({
          record: before,
          made: its,
          containers: replaced(live),
          directory: { container: live, root },
        }),
        false,
      );
      expect(plan.directory).toEqual({
        kind: 'replace',
        container: live,
        root: { name: { value: 'r' }, folders: [{ uid: { value: 'kept' } }] },
      });
      expect(plan.remaining).toEqual([{ uid: uidOf(DIR, 3), type: 'FOLDER' }]);
    });

    it('does nothing when the copy was taken out already, or the directory is gone', () => {
      const other = { container: live, root: { name: { value: 'r' } } };
      const parts = { record: before, made: its, containers: replaced(live) };
      expect(planUnmerge(snapshot({ ...parts, directory: other }), false).directory).toEqual({
        kind: 'none',
      });
      expect(planUnmerge(snapshot(parts), false).directory).toEqual({ kind: 'none' });
    });
  });
});

describe('unmerge data', () => {
  it('has RM names in camel case, at any depth, values untouched', () => {
    expect(
      inCamelCase({
        _type: 'X',
        archetype_node_id: 'a_b',
        is_queryable: true,
        items: [{ other_details: { start_time: 1 } }],
      }),
    ).toEqual({
      _type: 'X',
      archetypeNodeId: 'a_b',
      isQueryable: true,
      items: [{ otherDetails: { startTime: 1 } }],
    });
  });
});

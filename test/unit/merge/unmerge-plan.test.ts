import { describe, expect, it } from '@jest/globals';
import type { MergeRecordDoc } from '../../../models/merge/record.js';
import { obstaclesTo } from '../../../merge/unmerge/obstacles.js';
import { resolve } from '../../../merge/unmerge/resolution.js';
import { planUnmerge, type UnmergePlan } from '../../../merge/unmerge/plan.js';
import type { MadeVersion, UnmergeSnapshot } from '../../../merge/unmerge/snapshot.js';
import type { VersionedObjectDoc } from '../../../models/versioned-object.js';
import { inCamelCase } from '../../../merge/unmerge/data.js';
import { container, ehr, latest, SOURCE, tag, TARGET, uidOf } from './fixtures.js';

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

/** A version of a container as content of this name; null: a deletion. */
function version(of: VersionedObjectDoc, name: string | null): MadeVersion['version'] {
  const doc = latest(of, { name: { _type: 'DV_TEXT', value: name ?? '' } });
  return name === null ? { ...doc, data: null } : doc;
}

function madeOf(
  versionedObjectUid: string,
  names: { readonly before: string | null; readonly made: string | null; readonly now?: string | null },
): [string, MadeVersion] {
  const type = versionedObjectUid === DIR ? 'FOLDER' : 'COMPOSITION';
  const at = (number: number, name: string | null) =>
    version(container(versionedObjectUid, type, { latest_version: number }), name);
  const isFirst = names.before === null;
  const made = at(isFirst ? 1 : 2, names.made);
  const now = names.now === undefined ? made : at(made.version + 1, names.now);
  return [versionedObjectUid, { before: isFirst ? null : at(1, names.before), version: made, latest: now }];
}

const made: UnmergeSnapshot['made'] = new Map([
  madeOf(THEIRS, { before: 'theirs', made: 'mine' }),
  madeOf(MINE, { before: 'mine', made: null }),
  madeOf(DIR, { before: null, made: 'directory' }),
]);
const madeBut = (...others: readonly [string, MadeVersion][]): UnmergeSnapshot['made'] =>
  new Map([...made, ...others]);
const madeWithout = (versionedObjectUid: string): UnmergeSnapshot['made'] =>
  new Map([...made].filter(([id]) => id !== versionedObjectUid));

/** What the merge took, but for one that was erased. */
function takenBut(versionedObjectUid?: string): UnmergeSnapshot['taken'] {
  return new Map(
    [MOVED, MINE].map((id, place) => [id, { place, now: id === versionedObjectUid ? 'erased' : 'target' }]),
  );
}

function snapshot(further: Partial<UnmergeSnapshot> = {}): UnmergeSnapshot {
  return {
    movedOn: new Map(),
    staying: new Set(),
    record,
    target: ehr(TARGET),
    targetMergedInto: null,
    source: ehr(SOURCE),
    subjectHolders: [],
    counts: { contributions: 1, compositions: 1, tags: 0 },
    taken: takenBut(),
    made,
    since: [],
    erased: new Set(),
    tags: [],
    droppedTags: [],
    directory: { live: { container: container(DIR, 'FOLDER'), root: {} }, isRoot: true, others: [] },
    story: { into: [record], undone: [], makers: new Map(), taken: new Set() },
    lists: new Map([[THEIRS, { edits: [], edited: null, before: made.get(THEIRS)!.before }]]),
    status: null,
    live: new Set(),
    elsewhere: new Set(),
    broughtBy: new Map(),
    upgrades: new Set(),
    ...further,
  };
}

const since = (...uids: readonly string[]): UnmergeSnapshot['since'] => [
  { _id: 'since', versions: uids.map((uid) => ({ uid, type: 'COMPOSITION' })) },
];

const reasonsOf = (of: UnmergeSnapshot): string[] => obstaclesTo(of).map(({ message }) => message);
const REQUEST = {
  sourceEhr: SOURCE,
  targetEhr: TARGET,
  dryRun: false,
  committer: 'root-admin',
  motive: {},
  onConflict: null,
};
const planOf = (of: UnmergeSnapshot, further: Partial<typeof REQUEST> = {}): UnmergePlan =>
  planUnmerge(of, resolve(obstaclesTo(of), 'take_back'), { ...REQUEST, ...further });

describe('obstaclesTo', () => {
  it('finds none when nothing happened', () => {
    expect(reasonsOf(snapshot())).toEqual([]);
  });

  const reasons: [string, Partial<UnmergeSnapshot>, (string | RegExp)[]][] = [
    [
      'not reversible',
      { source: null, record: { ...record, reversible: false } },
      ['the merge was not reversible'],
    ],
    [
      'merged on',
      { targetMergedInto: 'x', taken: new Map() },
      [`EHR ${TARGET} was merged into x: take that merge back first`],
    ],
    [
      'target not modifiable',
      { target: ehr(TARGET, { is_modifiable: false }) },
      [/does not allow modification/],
    ],
    [
      'subject taken',
      { subjectHolders: [{ ehrId: SOURCE, holder: TARGET, isMerged: false }] },
      [/subject of the source is now used/],
    ],
    [
      'joined one changed',
      { since: since(uidOf(THEIRS, 3)) },
      [`the joined composition ${THEIRS} was changed since`],
    ],
    [
      'joined one attested',
      { since: since(uidOf(MINE, 2)) },
      [`the joined composition ${MINE} was changed since`],
    ],
    ['joined version tagged', { tags: [tag('t', THEIRS, { target_version: 2 })] }, [/has item tags/]],
    [
      'made directory changed',
      { since: since(uidOf(DIR, 2)) },
      [/directory that the merge created was changed/],
    ],
    [
      'mixed contribution',
      { since: since(uidOf(MOVED, 2), uidOf('other', 1)) },
      [/CONTRIBUTION since, made since/],
    ],
  ];
  it.each(reasons)('finds: %s', (_, further, expected) => {
    const found = reasonsOf(snapshot(further));
    expect(found).toHaveLength(expected.length);
    found.forEach((reason, index) => expect(reason).toMatch(expected[index]!));
  });

  it('sees what a person wrote on a list also where its CONTRIBUTION stayed in another EHR', () => {
    const edited = { edits: [uidOf(THEIRS, 3)], edited: null, before: null };
    expect(reasonsOf(snapshot({ lists: new Map([[THEIRS, edited]]) }))).toEqual([
      expect.stringContaining('was changed since'),
    ]);
  });

  it('lists all of them', () => {
    const all = snapshot({
      since: since(uidOf(THEIRS, 3)),
      subjectHolders: [{ ehrId: SOURCE, holder: TARGET, isMerged: false }],
      target: ehr(TARGET, { is_modifiable: false }),
    });
    expect(reasonsOf(all)).toHaveLength(3);
  });

  it.each([
    [
      'an earlier version of a joined one was attested or tagged',
      { since: since(uidOf(MINE, 1)), tags: [tag('t', THEIRS, { target_version: 1 })] },
    ],
    ['only moved objects were written to', { since: since(uidOf(MOVED, 2)) }],
    ['the made directory was erased', { made: madeWithout(DIR) }],
    [
      'the made directory was deleted',
      { made: madeBut(madeOf(DIR, { before: null, made: 'directory', now: null })) },
    ],
    ['a joined one was erased', { taken: takenBut(MINE), made: madeWithout(MINE) }],
    [
      'another merge was taken back in between',
      { made: madeBut(madeOf(THEIRS, { before: 'theirs', made: 'mine', now: 'mine' })) },
    ],
    [
      'the other object of a CONTRIBUTION was erased',
      { since: since(uidOf(MOVED, 2), uidOf('other', 1)), erased: new Set(['other']) },
    ],
    ['a moved composition was erased', { taken: takenBut(MOVED) }],
  ])('finds none when %s', (_, further) => {
    expect(reasonsOf(snapshot(further))).toEqual([]);
  });
});

/** What an entry does, in short. */
const brief = (entries: UnmergePlan['entries']['source']): unknown[] =>
  entries.map((entry) => [
    entry.kind,
    entry.versionedObjectUid,
    entry.kind === 'update' ? (entry.object.name as { value: string }).value : null,
    entry.audit.changeType,
  ]);

describe('planUnmerge', () => {
  it('sends everything back, and gives what was there before as new versions', () => {
    const tags = [tag('t1', MOVED), tag('t2', THEIRS), tag('t3', MINE)];
    const { entries, ...plan } = planOf(
      snapshot({
        counts: { contributions: 1, compositions: 1, tags: 2 },
        tags,
        since: since(uidOf(MOVED, 2)),
        droppedTags: [tag('t4', 'status')],
      }),
    );
    expect(plan).toEqual({
      back: { mergeId: 'merge', except: new Set(), joined: [MINE], since: ['since'] },
      left: [],
      counts: { compositions: 2, contributions: 2 },
      restoredTags: [tag('t4', 'status')],
      chosen: { kept: [], taken: [] },
      summary:
        '1 compositions moved back, 1 separated, 1 folder removed, 2 contributions moved back, 2 item tags moved back, 1 item tags restored',
    });
    expect(brief(entries.target)).toEqual([
      ['update', THEIRS, 'theirs', '251'],
      ['delete', DIR, null, '523'],
    ]);
    expect(brief(entries.source)).toEqual([['update', MINE, 'mine', '249']]);
    expect(entries.source[0]!.audit.description).toEqual({
      _type: 'DV_TEXT',
      value: `Unmerge of EHR ${SOURCE} from ${TARGET}`,
    });
  });

  it.each([
    ['goes along when that is elsewhere', new Set(['other']), ['since']],
    ['stays when another merge brought that again', new Set<string>(), []],
  ])('a CONTRIBUTION of what goes back and of what was moved on %s', (_, erased, expected) => {
    const movedOn = new Map([['other', 2]]);
    const plan = planOf(snapshot({ since: since(uidOf(MOVED, 2), uidOf('other', 2)), movedOn, erased }));
    expect(plan.back.since).toEqual(expected);
    expect(plan.back.except).toEqual(new Set(['other']));
    expect(plan.summary).toContain('left out: composition other, moved on since');
  });

  it('leaves out what was erased, and does not overwrite a tag written since', () => {
    const plan = planOf(
      snapshot({
        taken: takenBut(MOVED),
        counts: { contributions: 1, compositions: 1, tags: 1 },
        tags: [tag('new', MINE)],
        droppedTags: [tag('old', MINE)],
      }),
      { dryRun: true },
    );
    expect(plan.back).toEqual({ mergeId: 'merge', except: new Set([MOVED]), joined: [MINE], since: [] });
    expect([plan.counts.compositions, plan.restoredTags]).toEqual([1, []]);
    expect(plan.summary).toMatch(/^DRY RUN: 0 compositions moved back/);
    expect(plan.summary).toContain('1 item tags not restored: written anew since');
    expect(plan.summary).toContain(`left out: composition ${MOVED}, erased since`);
  });

  describe('of an edited joined composition', () => {
    const now = madeOf(THEIRS, { before: 'theirs', made: 'mine', now: 'edited' });
    const edited = snapshot({
      since: since(uidOf(THEIRS, 3)),
      made: madeBut(now),
      lists: new Map([
        [THEIRS, { edits: [now[1].latest._id], edited: now[1].latest, before: now[1].before }],
      ]),
    });

    it('keeps the edit in the target', () => {
      const resolution = resolve(obstaclesTo(edited), 'keep_in_target');
      const { entries } = planUnmerge(edited, resolution, REQUEST);
      expect(brief(entries.target)).toEqual([['delete', DIR, null, '523']]);
      expect(brief(entries.source)).toEqual([['update', MINE, 'mine', '249']]);
    });

    it('or takes it back to the source', () => {
      const resolution = resolve(obstaclesTo(edited), new Map([[THEIRS, 'take_back' as const]]));
      const { entries } = planUnmerge(edited, resolution, REQUEST);
      expect(brief(entries.target)[0]).toEqual(['update', THEIRS, 'theirs', '251']);
      expect(brief(entries.source)).toEqual([['update', MINE, 'edited', '249']]);
    });
  });

  it('leaves moved objects of a mixed CONTRIBUTION in the target when they are to stay', () => {
    const mixed = snapshot({ since: since(uidOf(MOVED, 2), uidOf('other', 1)) });
    const obstacles = obstaclesTo(mixed);
    expect(resolve(obstacles, null).open).toEqual(obstacles);
    const kept = planUnmerge(mixed, resolve(obstacles, new Map([['since', 'keep_in_target']])), REQUEST);
    expect(kept.back).toEqual({ mergeId: 'merge', except: new Set([MOVED]), joined: [MINE], since: [] });
    expect(kept.counts).toEqual({ compositions: 1, contributions: 1 });
    expect(kept.summary).toContain('0 compositions moved back, 1 separated');
    expect(kept.summary).toContain(`kept in the target: composition ${MOVED}`);
    const taken = planUnmerge(mixed, resolve(obstacles, 'take_back'), REQUEST);
    expect(taken.back).toEqual({ mergeId: 'merge', except: new Set(), joined: [MINE], since: [] });
    expect(taken.counts).toEqual({ compositions: 2, contributions: 1 });
  });

  it('has no choice for a locked source but to leave in the target what was changed there', () => {
    const locked = snapshot({
      source: ehr(SOURCE, { is_modifiable: false }),
      since: since(uidOf(MOVED, 2)),
    });
    const obstacles = obstaclesTo(locked);
    expect(obstacles.map(({ code, object_ids }) => [code, object_ids])).toEqual([
      ['source_not_modifiable', [MOVED]],
    ]);
    expect(resolve(obstacles, 'take_back').open).toEqual(obstacles);
    expect(resolve(obstacles, 'keep_in_target').open).toEqual([]);
  });

  describe('of a directory that was there before', () => {
    const before = { ...record, directory_version_uid: uidOf(DIR, 2), copied_folder_uid: 'copied' };
    const live = container(DIR, 'FOLDER', { latest_version: 3 });
    const root = {
      name: { value: 'r' },
      folders: [{ uid: { value: 'copied' } }, { uid: { value: 'kept' } }],
    };
    const directoryOf = (of: UnmergeSnapshot): unknown =>
      planOf(of).entries.target.find(({ versionedObjectUid }) => versionedObjectUid === DIR);

    it('goes on with what it held when nothing followed', () => {
      const unchanged = madeBut(madeOf(DIR, { before: 'old', made: 'with copy' }));
      const { entries } = planOf(
        snapshot({ record: before, made: unchanged, directory: { live: null, isRoot: false, others: [] } }),
      );
      expect(brief(entries.target)[1]).toEqual(['update', DIR, 'old', '251']);
    });

    it('makes a further version without the copy when it went on', () => {
      const changed = madeBut(madeOf(DIR, { before: 'old', made: 'with copy', now: 'edited' }));
      const directory = { live: { container: live, root }, isRoot: false, others: [] };
      expect(
        directoryOf(snapshot({ record: before, made: changed, directory, since: since(uidOf(DIR, 3)) })),
      ).toMatchObject({
        precedingVersionUid: uidOf(DIR, 3),
        object: { name: { value: 'r' }, folders: [{ uid: { value: 'kept' } }] },
      });
    });

    it('does nothing when the copy was taken out already, or the directory is gone', () => {
      const changed = madeBut(madeOf(DIR, { before: 'old', made: 'with copy', now: 'edited' }));
      const gone = { live: null, isRoot: false, others: [] };
      const other = { ...gone, live: { container: live, root: { name: { value: 'r' } } } };
      const parts = { record: before, made: changed, since: since(uidOf(DIR, 3)) };
      expect(directoryOf(snapshot({ ...parts, directory: other }))).toBeUndefined();
      expect(directoryOf(snapshot({ ...parts, directory: gone }))).toBeUndefined();
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

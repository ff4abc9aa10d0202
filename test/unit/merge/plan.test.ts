import { inTextSteps } from '../../../models/access/in-steps.js';
import { describe, expect, it } from '@jest/globals';
import type { JsonObject } from '../../../openehr/base/json.js';
import { agreedPlan } from '../../../merge/plan/details.js';
import { planMerge, type MergeSnapshot } from '../../../merge/plan/plan.js';
import type { VersionDoc } from '../../../models/version.js';
import {
  container,
  ehr,
  FRESH,
  latest,
  persistent,
  request,
  SOURCE,
  tag,
  TARGET,
  uidOf,
} from './fixtures.js';

const status = container('status', 'EHR_STATUS');
const theirStatus = container('their-status', 'EHR_STATUS', { ehr_id: TARGET });

function snapshot(parts: {
  readonly containers?: MergeSnapshot['source']['containers'];
  readonly tags?: MergeSnapshot['source']['tags'];
  readonly persistent?: MergeSnapshot['target']['persistent'];
  readonly directory?: MergeSnapshot['target']['directory'];
  readonly latest?: readonly VersionDoc[];
  readonly statuses?: { readonly source?: JsonObject; readonly target?: JsonObject };
}): MergeSnapshot {
  const given = parts.containers ?? [];
  const containers = given.some(({ type }) => type === 'EHR_STATUS') ? given : [...given, status];
  const statuses = [
    latest(status, parts.statuses?.source ?? {}),
    latest(theirStatus, parts.statuses?.target ?? {}),
  ];
  const versions = [...statuses, ...(parts.latest ?? [])];
  return {
    source: {
      ehr: ehr(SOURCE),
      containers,
      contributionUids: ['c1', 'c2'],
      tags: parts.tags ?? [],
      versions: { count: containers.length, averageBytes: 1_000 },
    },
    target: {
      ehr: ehr(TARGET),
      persistent: parts.persistent ?? [],
      directory: parts.directory ?? null,
      status: theirStatus,
    },
    latest: new Map(versions.map((version) => [version.object_id, version])),
    origins: new Map(),
  };
}

const folder = container('dir', 'FOLDER');
const oldFolder = container('old-dir', 'FOLDER', { deleted: true });
const event = container('event', 'COMPOSITION', { category: '433', template_id: 'visit' });
const deleted = container('gone', 'COMPOSITION', { deleted: true, category: '431', template_id: 'problems' });
const tree: JsonObject = { uid: { value: uidOf('dir', 1) }, name: { value: 'mine' } };

describe('archived versions', () => {
  it('are written in parts that a message can hold', () => {
    const mb = 1024 * 1024;
    const parts = inTextSteps([mb, mb, 3 * mb, 9 * mb, 1, 1, 1], (length) => length, 2);
    expect(parts).toEqual([[mb, mb], [3 * mb], [9 * mb], [1, 1], [1]]);
  });
});

describe('planMerge BASIC', () => {
  const mine = persistent('mine');
  const theirs = persistent('theirs', { ehr_id: TARGET });
  const plan = planMerge(
    snapshot({
      containers: [status, folder, oldFolder, event, deleted, mine],
      tags: [tag('t1', 'event'), tag('t2', 'mine'), tag('t3', 'status', { target_type: 'EHR_STATUS' })],
      persistent: [theirs],
      directory: container('their-dir', 'FOLDER', { ehr_id: TARGET }),
    }),
    request(),
    FRESH,
  );

  it('moves all compositions, deleted ones too, and all contributions', () => {
    expect(plan.moves).toEqual({
      contributions: ['c1', 'c2'],
      compositions: ['event', 'gone', 'mine'],
      tags: ['t1', 't2'],
    });
  });

  it('ends EHR_STATUS and all directories, and drops tags on the EHR_STATUS', () => {
    expect(plan.ended).toEqual([status, folder, oldFolder]);
    expect(plan.droppedTags.map(({ _id }) => _id)).toEqual(['t3']);
  });

  it('makes no version', () => {
    expect([plan.entries, plan.joins, plan.folderCopy]).toEqual([[], [], null]);
    expect(plan.outcome).toEqual({
      level: 'BASIC',
      summary:
        '3 compositions moved, 0 joined, 0 folder copied, 2 contributions moved, 2 item tags moved, 1 item tags deleted',
    });
  });
});

describe('the plan as it is told', () => {
  it('lists the first 1,000 ids and counts all', () => {
    const ids = Array.from({ length: 1_001 }, (_, n) => `composition-${n}`);
    const containers = ids.map((id) => container(id, 'COMPOSITION'));
    const many = snapshot({
      containers,
      tags: ids.map((id) => tag(`t-${id}`, id, { target_type: 'EHR_STATUS' })),
    });
    const way = 'transaction';
    const told = agreedPlan(many, planMerge(many, request(), FRESH), { request: request(), way });
    expect(told).toMatchObject({
      compositions: { moved: 1_001, ids: ids.slice(0, 1_000) },
      item_tags: { deleted: 1_001, deleted_ids: ids.slice(0, 1_000).map((id) => `t-${id}`) },
    });
  });
});

describe('planMerge PERSISTENT', () => {
  const join = request({ compositionMerge: 'PERSISTENT' });
  const at = (ms: number) => ({ latest_time_committed: new Date(ms) });

  it.each([
    ['the source is later', 2_000, 1_000, 'mine'],
    ['the target is later', 1_000, 2_000, 'theirs'],
    ['both are of one moment: the target', 1_000, 1_000, 'theirs'],
  ])('goes on with the later content: %s', (_, mineMs, theirsMs, winner) => {
    const mine = persistent('mine', { ...at(mineMs), latest_version: 3 });
    const theirs = persistent('theirs', { ehr_id: TARGET, ...at(theirsMs), latest_version: 2 });
    const plan = planMerge(
      snapshot({
        containers: [status, event, mine],
        tags: [tag('t1', 'mine'), tag('t2', 'event')],
        persistent: [theirs],
        latest: [latest(mine, { of: 'mine' }), latest(theirs, { of: 'theirs' })],
      }),
      join,
      FRESH,
    );
    expect(plan.joins).toEqual([{ source: 'mine', target: 'theirs', by_rule: true }]);
    expect(plan.moves.compositions).toEqual(['event']);
    expect(plan.moves.tags).toEqual(['t2']);
    expect(plan.droppedTags.map(({ _id }) => _id)).toEqual(['t1']);
    const description = { _type: 'DV_TEXT', value: `Merge of EHR ${SOURCE} into ${TARGET}` };
    const committer = { _type: 'PARTY_IDENTIFIED', name: 'root-admin' };
    expect(plan.entries).toEqual([
      {
        kind: 'update',
        type: 'COMPOSITION',
        versionedObjectUid: 'theirs',
        precedingVersionUid: uidOf('theirs', 2),
        object: { _type: 'COMPOSITION', of: winner },
        audit: { changeType: '251', committer, description },
        lifecycleState: '532',
        otherInputVersionUids: [uidOf('mine', 3)],
      },
      {
        kind: 'delete',
        type: 'COMPOSITION',
        versionedObjectUid: 'mine',
        precedingVersionUid: uidOf('mine', 3),
        staleCode: 'conflict',
        audit: { changeType: '523', committer, description },
        lifecycleState: '523',
      },
    ]);
  });

  it.each([
    [
      'two in the source',
      [persistent('a'), persistent('b')],
      [persistent('t')],
      '(2 in the source, 1 in the target)',
    ],
    [
      'two in the target',
      [persistent('a')],
      [persistent('t'), persistent('u')],
      '(1 in the source, 2 in the target)',
    ],
    ['none in the target', [persistent('a')], [], '(1 in the source, 0 in the target)'],
    [
      'another template',
      [persistent('a')],
      [persistent('t', { template_id: 'x' })],
      '(1 in the source, 0 in the target)',
    ],
  ])('joins nothing with %s, and says so', (_, mine, theirs, counts) => {
    const plan = planMerge(snapshot({ containers: mine, persistent: theirs }), join, FRESH);
    expect(plan.joins).toEqual([]);
    expect(plan.entries).toEqual([]);
    expect(plan.outcome.summary).toMatch(`not joined: problems ${counts}`);
  });

  it('passes over deleted and other compositions', () => {
    const theirs = persistent('theirs', { ehr_id: TARGET });
    const plan = planMerge(snapshot({ containers: [deleted, event], persistent: [theirs] }), join, FRESH);
    expect([plan.joins, plan.outcome.summary.includes('not joined')]).toEqual([[], false]);
  });
});

describe('planMerge COPY', () => {
  const copy = request({ folderMerge: 'COPY' });

  it('appends the tree to the directory of the target', () => {
    const theirs = container('their-dir', 'FOLDER', { ehr_id: TARGET, latest_version: 4 });
    const plan = planMerge(
      snapshot({
        containers: [oldFolder, folder],
        directory: theirs,
        latest: [latest(folder, tree), latest(theirs, { name: { value: 'theirs' } })],
      }),
      copy,
      FRESH,
    );
    expect(plan.folderCopy).toMatchObject({ kind: 'append', folderUid: 'folder-uid' });
    expect(plan.entries).toMatchObject([
      {
        kind: 'update',
        type: 'FOLDER',
        versionedObjectUid: 'their-dir',
        precedingVersionUid: uidOf('their-dir', 4),
        audit: { changeType: '251' },
        object: {
          name: { value: 'theirs' },
          folders: [{ uid: { value: 'folder-uid' }, name: { value: `Merged EHR ${SOURCE}` } }],
        },
      },
    ]);
    expect(plan.outcome.level).toBe('FOLDER_COPY');
  });

  it('makes the tree the directory of a target without one', () => {
    const plan = planMerge(snapshot({ containers: [folder], latest: [latest(folder, tree)] }), copy, FRESH);
    expect(plan.folderCopy).toMatchObject({ kind: 'create', folderUid: 'folder-uid' });
    expect(plan.entries).toMatchObject([
      {
        kind: 'create',
        type: 'FOLDER',
        versionedObjectUid: 'folder-uid',
        audit: { changeType: '249' },
        object: { name: { value: 'mine' } },
      },
    ]);
  });

  it('copies nothing when the source has no live directory', () => {
    const plan = planMerge(snapshot({ containers: [oldFolder] }), copy, FRESH);
    expect([plan.folderCopy, plan.entries, plan.outcome.level]).toEqual([null, [], 'BASIC']);
  });

  it('redirects items of joined compositions', () => {
    const mine = persistent('mine');
    const theirs = persistent('theirs', { ehr_id: TARGET });
    const root = { ...tree, items: [{ id: { _type: 'HIER_OBJECT_ID', value: 'mine' } }] };
    const plan = planMerge(
      snapshot({
        containers: [folder, mine],
        persistent: [theirs],
        latest: [latest(folder, root), latest(mine, {}), latest(theirs, {})],
      }),
      request({ folderMerge: 'COPY', compositionMerge: 'PERSISTENT' }),
      FRESH,
    );
    expect(plan.entries.at(-1)).toMatchObject({ object: { items: [{ id: { value: 'theirs' } }] } });
  });
});

import { describe, expect, it } from '@jest/globals';
import { ROOT_TYPES } from '../../../../openehr/rm/root-type.js';
import { call, fieldRef, type Expression } from '../../../../aql/plan/expression.js';
import type { LogicalPlan, PassContext } from '../../../../aql/plan/logical-plan.js';
import type { IndexCondition } from '../../../../aql/index/condition.js';
import { NO_MERGES } from '../../../../aql/index/moved-owners.js';
import { boundByProbe } from '../../../../aql/plan/passes/bound-by-probe.js';
import { countDocuments } from '../../../../aql/plan/passes/count-documents.js';
import { deferLookups } from '../../../../aql/plan/passes/defer-lookups.js';
import { optimize, PASSES } from '../../../../aql/plan/passes/passes.js';
import { pruneFields } from '../../../../aql/plan/passes/prune-fields.js';
import { semiJoins } from '../../../../aql/plan/passes/semi-joins.js';
import { useLeafIndex } from '../../../../aql/plan/passes/use-leaf-index.js';
import { useStartIndex } from '../../../../aql/plan/passes/use-start-index.js';
import type { DocumentsStep, LookupStep, Step } from '../../../../aql/plan/steps.js';

const EHR_ALIAS = 0;
const documents: DocumentsStep = {
  kind: 'documents',
  ehr: EHR_ALIAS,
  owner: 'joined',
  rootTypes: ['COMPOSITION'],
  keys: [],
  conditions: [],
  exact: [],
  index: [],
  versions: 'latest',
  asOf: null,
  isOfOneEhr: false,
};
const leaf: IndexCondition = { kind: 'leaf', key: 'archetype|/items[at0004]|m', range: { $gt: 140 } };
const lookup = (as: string, more: Partial<LookupStep> = {}): LookupStep => ({
  ...{ kind: 'lookup', as, from: 'versions', localField: '_id', foreignField: '_id' },
  ...{ variables: {}, steps: [], ofFolders: false, firstOnly: false, kept: null },
  ...more,
});
const kinds = (steps: readonly Step[]): string[] => steps.map(({ kind }) => kind);

function plan(steps: readonly Step[], more: Partial<LogicalPlan> = {}): LogicalPlan {
  const page = { limit: null, offset: 0, top: null, ...more.page };
  const rest = { order: null, probe: null, emptyRow: null, inProcess: null, isByEhr: true, columns: [] };
  return { collection: 'aql', steps, row: { row: [fieldRef('_id')] }, ...rest, ...more, page };
}

const NOTHING: PassContext = {
  indexConditions: new Map(),
  sortedLeaf: null,
  isCurrent: true,
  merges: NO_MERGES,
  guards: null,
};
const LEAF: PassContext = {
  ...NOTHING,
  indexConditions: new Map([[EHR_ALIAS, [leaf]]]),
  sortedLeaf: 'archetype|/items[at0004]|m',
};

describe('useLeafIndex', () => {
  it('gives the first documents of an EHR the conditions that an index serves', () => {
    expect(useLeafIndex(plan([documents]), LEAF).steps).toEqual([{ ...documents, index: [leaf] }]);
  });

  it('gives them to an EHR inside a join', () => {
    const joined = lookup('j0', { from: 'aql', localField: null, steps: [documents] });
    expect(useLeafIndex(plan([joined]), LEAF).steps).toEqual([
      { ...joined, steps: [{ ...documents, index: [leaf] }] },
    ]);
  });

  it('leaves documents alone that are joined to the first ones', () => {
    const joined = plan([{ ...documents, ehr: null }]);
    expect(useLeafIndex(joined, LEAF)).toBe(joined);
  });
});

describe('useStartIndex', () => {
  const order = { field: 'k0', direction: -1, isRanked: true, isByStart: true } as const;
  const sort: Step = { kind: 'sort', keys: [['k0', -1]] };
  const limit: Step = { kind: 'limit', count: 5 };
  const sorted = plan([documents, sort, limit], { order, page: { limit: 5, offset: 0, top: null } });

  const byId: Step = { kind: 'sort', keys: [['_id', 1]] };
  const pageOf = (first: DocumentsStep): LogicalPlan =>
    plan([first, { kind: 'match', match: { v: 1 } }, byId, limit], {
      page: { limit: 5, offset: 0, top: null },
    });

  it('gives a page without an order that of the index', () => {
    expect(useStartIndex(pageOf(documents), NOTHING).steps[2]).toEqual({
      kind: 'sort',
      keys: [['start', 1]],
    });
  });

  it('sorts the documents instead of the rows', () => {
    const found = useStartIndex(sorted, NOTHING);
    expect(found.steps).toEqual([documents, { kind: 'sort', keys: [['start', -1]] }, limit]);
    expect(found.order).toBeNull();
  });

  it.each([
    ['another order', { ...sorted, order: { ...order, isByStart: false } }, NOTHING],
    ['no limit', { ...sorted, page: { limit: null, offset: 0, top: null } }, NOTHING],
    ['superseded versions', { ...sorted, steps: [{ ...documents, versions: 'all' }, sort, limit] }, NOTHING],
    ['another time', { ...sorted, steps: [{ ...documents, asOf: new Date(0) }, sort, limit] }, NOTHING],
    ['EHRs first', { ...sorted, collection: 'ehrs' }, NOTHING],
    ['documents of an older derivation', sorted, { ...NOTHING, isCurrent: false }],
    ['no order, of documents without a start time', pageOf({ ...documents, rootTypes: ROOT_TYPES }), NOTHING],
    ['no order, of superseded versions', pageOf({ ...documents, versions: 'all' }), NOTHING],
    ['no order and no limit', plan(pageOf(documents).steps), NOTHING],
    [
      'no order, of groups',
      {
        ...pageOf(documents),
        steps: [documents, { kind: 'unwind', field: 'x', preserve: false, index: null }, byId],
      },
      NOTHING,
    ],
  ] satisfies [string, LogicalPlan, PassContext][])('keeps the sort for %s', (_, given, context) => {
    expect(useStartIndex(given, context)).toBe(given);
  });
});

describe('semiJoins', () => {
  const there: Step = { kind: 'match', match: { 'w3.0': { $exists: true } } };
  const join = lookup('t2', { from: 'aql', steps: [documents, there] });
  const first = { ...join, firstOnly: true };
  const unwind = (field: string, preserve = false): Step => ({
    ...{ kind: 'unwind', field, preserve, index: `${field}i` },
  });
  const taken: Step = { kind: 'set', field: 'w3', value: fieldRef('t2.w3') };
  const unfolded = [taken, unwind('w3')];
  const group = (accumulators: Record<string, Expression> = {}): Step => ({
    ...{ kind: 'group', id: { c0: fieldRef('ehr') }, accumulators },
  });
  const row = { row: { row: [fieldRef('_id.c0')] } };

  it.each([
    ['DISTINCT', group()],
    ['MIN and MAX', group({ a0: call('$min', fieldRef('v')), a1: call('$max', fieldRef('v')) })],
    ['COUNT(DISTINCT)', group({ a0: call('$addToSet', fieldRef('v')) })],
  ])('looks for one match before %s, and unfolds nothing of it', (_, end) => {
    const found = semiJoins(plan([documents, join, unwind('t2'), ...unfolded, end], row));
    expect(found.steps).toEqual([documents, first, unwind('t2'), end]);
  });

  it('looks for one match of each of several joins', () => {
    const other = lookup('t5', { from: 'aql', steps: [documents] });
    const found = semiJoins(plan([join, unwind('t2'), other, unwind('t5'), ...unfolded, group()], row));
    expect(found.steps).toEqual([first, unwind('t2'), { ...other, firstOnly: true }, unwind('t5'), group()]);
  });

  it('joins each EHR once where nothing but the EHR is read, and unfolds nothing', () => {
    const byEhr = { ...join, localField: 'ehr', foreignField: 'ehr' };
    const own: Step[] = [
      { kind: 'set', field: 'w1', value: fieldRef('segs') },
      { kind: 'match', match: { 'w1.0': { $exists: true } } },
    ];
    const found = semiJoins(
      plan([documents, ...own, byEhr, unwind('t2'), unwind('w1'), ...unfolded, group()], row),
    );
    expect(found.steps).toEqual([
      documents,
      ...own,
      { kind: 'group', id: fieldRef('ehr'), accumulators: {} },
      { kind: 'set', field: 'ehr', value: fieldRef('_id') },
      { ...byEhr, firstOnly: true },
      unwind('t2'),
      group(),
    ]);
    const read: Step = { ...group(), id: { c0: fieldRef('w1.x1.o.name') } } as Step;
    const kept = semiJoins(plan([documents, ...own, byEhr, unwind('t2'), unwind('w1'), read], row));
    expect(kept.steps).toEqual([
      documents,
      ...own,
      { ...byEhr, firstOnly: true },
      unwind('t2'),
      unwind('w1'),
      read,
    ]);
  });

  const limit: Step = { kind: 'limit', count: 5 };
  const filter: Step = { kind: 'filter', condition: fieldRef('t2.v') };
  const filterBelow: Step = { kind: 'filter', condition: fieldRef('w3.x3') };
  const filterPlace: Step = { kind: 'filter', condition: fieldRef('w3i') };
  it.each([
    ['rows', [join, unwind('t2'), ...unfolded]],
    ['counted rows', [join, unwind('t2'), ...unfolded, group({ a0: call('$sum', 1) })]],
    ['averages', [join, unwind('t2'), ...unfolded, group({ a0: call('$avg', fieldRef('v')) })]],
    ['some of the rows', [join, unwind('t2'), ...unfolded, limit, group()]],
    ['joined documents that are read', [join, unwind('t2'), ...unfolded, filter, group()]],
    ['what is in them that is read', [join, unwind('t2'), ...unfolded, filterBelow, group()]],
    ['a position that is read', [join, unwind('t2'), ...unfolded, filterPlace, group()]],
    ['documents that need not be there', [join, unwind('t2', true), group()]],
    ['arrays that may be empty', [{ ...join, steps: [documents] }, unwind('t2'), ...unfolded, group()]],
    ['one match already', [first, unwind('t2'), group()]],
  ] satisfies [string, Step[]][])('leaves %s alone', (_, steps) => {
    const given = plan(steps, row);
    expect(semiJoins(given)).toBe(given);
  });
});

describe('deferLookups', () => {
  const limit: Step = { kind: 'limit', count: 5 };

  it('moves a join behind the limit, with what is made of it', () => {
    const text: Step = { kind: 'set', field: 'y0', value: call('$first', fieldRef('w0.data')) };
    const found = deferLookups(plan([documents, lookup('w0'), text, limit]));
    expect(found.steps).toEqual([documents, limit, lookup('w0'), text]);
  });

  it('leaves a join before the limit that decides which rows there are', () => {
    const match: Step = { kind: 'match', match: { 'w0.0': { $exists: true } } };
    const given = plan([documents, lookup('w0'), match, limit]);
    expect(deferLookups(given)).toBe(given);
  });

  it('leaves a join before the limit that decides their order', () => {
    const key: Step = { kind: 'set', field: 'k0', value: call('$first', fieldRef('w0.name')) };
    const given = plan([documents, lookup('w0'), key, { kind: 'sort', keys: [['k0', 1]] }, limit]);
    expect(deferLookups(given)).toBe(given);
  });

  it('changes nothing without a limit', () => {
    const given = plan([documents, lookup('w0')]);
    expect(deferLookups(given)).toBe(given);
  });
});

describe('boundByProbe', () => {
  const order = { field: 'k0', direction: -1, isRanked: false, isByStart: false } as const;
  const steps: Step[] = [
    { ...documents, index: [leaf] },
    { kind: 'set', field: 'k0', value: fieldRef('v') },
    { kind: 'sort', keys: [['k0', -1]] },
    { kind: 'skip', count: 10 },
    { kind: 'limit', count: 20 },
  ];
  const given = plan(steps, { order, page: { limit: 20, offset: 10, top: null } });

  it('adds the same query over the first documents of the leaf index', () => {
    const { probe } = boundByProbe(given, LEAF);
    expect(probe).toMatchObject({ documents: 60, rows: 30, offset: 10 });
    expect(probe?.row).toEqual({ row: [fieldRef('_id')], top: fieldRef('k0'), docs: fieldRef('docs') });
    expect(kinds(probe?.steps ?? [])).toEqual(['documents', 'limit', 'set', 'count', 'sort', 'limit']);
    expect(probe?.steps.at(-1)).toEqual({ kind: 'limit', count: 30 });
  });

  it.each([
    ['an ascending order', { ...given, order: { ...order, direction: 1 } }, LEAF],
    ['several kinds of values', { ...given, order: { ...order, isRanked: true } }, LEAF],
    ['no limit', { ...given, page: { limit: null, offset: 0, top: null } }, LEAF],
    ['many rows', { ...given, page: { limit: 101, offset: 0, top: null } }, LEAF],
    ['another leaf', given, { ...LEAF, sortedLeaf: 'other' }],
    ['no leaf', { ...given, steps: [documents, ...steps.slice(1)] }, LEAF],
    [
      'two branches',
      { ...given, steps: [{ ...documents, index: [leaf], versions: 'all' }, ...steps.slice(1)] },
      LEAF,
    ],
  ] satisfies [string, LogicalPlan, PassContext][])('adds none for %s', (_, other, context) => {
    expect(boundByProbe(other, context)).toBe(other);
  });
});

describe('pruneFields', () => {
  it('leaves out what nothing reads', () => {
    const steps: Step[] = [
      documents,
      { kind: 'set', field: 'x0', value: fieldRef('segs') },
      lookup('w0'),
      { kind: 'unwind', field: 'keys', preserve: false, index: 'keysi' },
    ];
    expect(pruneFields(plan(steps)).steps).toEqual([
      documents,
      { kind: 'unwind', field: 'keys', preserve: false, index: null },
    ]);
  });

  it('makes one projection of following sets, which drops what is not read any more', () => {
    const steps: Step[] = [
      documents,
      { kind: 'set', field: 'a', value: fieldRef('ehr') },
      { kind: 'set', field: 'b', value: fieldRef('vo') },
      { kind: 'set', field: 'c', value: fieldRef('a') },
    ];
    expect(pruneFields(plan(steps, { row: { row: [fieldRef('b'), fieldRef('c')] } })).steps).toEqual([
      documents,
      { kind: 'project', values: { a: fieldRef('ehr'), b: fieldRef('vo') }, kept: [] },
      { kind: 'project', values: { c: fieldRef('a') }, kept: ['b'] },
    ]);
  });

  it('keeps only those fields of joined documents that are read', () => {
    const steps: Step[] = [
      documents,
      lookup('w0', { localField: null, steps: [{ kind: 'limit', count: 1 }] }),
    ];
    expect(
      pruneFields(plan(steps, { row: { row: [fieldRef('w0.data.name'), fieldRef('w0.data')] } })).steps[1],
    ).toMatchObject({
      kept: ['data'],
    });
  });

  it('prunes the probe as well', () => {
    const unread: Step = { kind: 'set', field: 'x0', value: fieldRef('segs') };
    const probe = { steps: [documents, unread], row: { row: [] }, documents: 50, rows: 5, offset: 0 };
    expect(pruneFields(plan([documents], { probe })).probe?.steps).toEqual([documents]);
  });
});

describe('countDocuments', () => {
  const all: DocumentsStep = {
    ...documents,
    owner: 'queryable',
    keys: ['COMPOSITION'],
  };
  const count: Step = { kind: 'group', id: null, accumulators: { a0: call('$sum', 1) } };

  it('counts by the kind, which an index holds, instead of its key', () => {
    const counted = { ...all, keys: [], conditions: [{ sv: { $gte: 1 } }] };
    expect(countDocuments(plan([all, count]), NOTHING).steps).toEqual([counted, count]);
  });

  it.each([
    ['an archetype', [{ ...all, keys: ['x.y.v1'] }, count]],
    ['one EHR', [{ ...all, owner: { ehrId: 'e' } }, count]],
    ['several kinds', [{ ...all, rootTypes: ROOT_TYPES }, count]],
    ['a further key', [{ ...all, keys: ['COMPOSITION', 'x.y.v1'] }, count]],
    ['a further condition', [{ ...all, conditions: [{ tpl: 't' }] }, count]],
    ['a leaf', [{ ...all, index: [leaf] }, count]],
    ['all versions', [{ ...all, versions: 'all' as const }, count]],
    ['as_of', [{ ...all, asOf: new Date(0) }, count]],
    ['groups', [all, { ...count, id: fieldRef('ehr') }]],
    ['a value', [all, { ...count, accumulators: { a0: call('$max', fieldRef('tc')) } }]],
    ['rows', [all]],
  ])('leaves a query of %s alone', (_name, steps) => {
    const given = plan(steps);
    expect(countDocuments(given, NOTHING)).toBe(given);
  });

  it('leaves documents of an older derivation alone, which may lack what it looks for', () => {
    const given = plan([all, count]);
    expect(countDocuments(given, { ...NOTHING, isCurrent: false })).toBe(given);
  });
});

describe('optimize', () => {
  it('names the passes that changed the plan, in their order', () => {
    expect(Object.keys(PASSES)).toEqual([
      'permit',
      'useLeafIndex',
      'useStartIndex',
      'semiJoins',
      'deferLookups',
      'boundByProbe',
      'pruneFields',
      'countDocuments',
      'moveOwners',
    ]);
    const unread: Step = { kind: 'set', field: 'x0', value: fieldRef('segs') };
    expect(optimize(plan([documents, unread]), LEAF).applied).toEqual(['useLeafIndex', 'pruneFields']);
    expect(optimize(plan([documents]), NOTHING).applied).toEqual([]);
  });
});

import { describe, expect, it } from '@jest/globals';
import type { MovingMerges } from '../../../../aql/index/moved-owners.js';
import { emitPlan } from '../../../../aql/mongo/pipeline/emit.js';
import { call, equal, fieldRef, variable } from '../../../../aql/plan/expression.js';
import type { LogicalPlan } from '../../../../aql/plan/logical-plan.js';
import { moveOwners } from '../../../../aql/plan/passes/move-owners.js';
import { lookup, type DocumentsStep, type Step } from '../../../../aql/plan/steps.js';

const documents: DocumentsStep = {
  ...{ kind: 'documents', ehr: 0, owner: { ehrId: 'target' }, rootTypes: ['COMPOSITION'], keys: [] },
  ...{ conditions: [], exact: [], index: [], versions: 'latest', asOf: null, isOfOneEhr: true },
};
const MERGE: MovingMerges = { targets: new Map([['source', 'target']]), queryable: new Map() };
const SWITCH = {
  $switch: {
    branches: [{ case: { $eq: ['$ehr', { $literal: 'source' }] }, then: { $literal: 'target' } }],
    default: '$ehr',
  },
};
const OWNERS = {
  $switch: {
    branches: [{ case: { $eq: ['$_id', { $literal: 'target' }] }, then: { $literal: ['target', 'source'] } }],
    default: '$_id',
  },
};

function stages(steps: readonly Step[], merges = MERGE, collection: 'aql' | 'ehrs' = 'aql'): unknown[] {
  const plan: LogicalPlan = {
    ...{ collection, steps, row: { row: [fieldRef('ehr')] }, columns: [], order: null, probe: null },
    ...{ page: { top: null, offset: 0, limit: null }, emptyRow: null, inProcess: null, isByEhr: true },
  };
  const context = { indexConditions: new Map(), sortedLeaf: null, isCurrent: true, merges, guards: null };
  const { pipeline } = emitPlan({ plan: moveOwners(plan, context), applied: [] });
  return pipeline.slice(0, -1);
}

describe('moveOwners', () => {
  it('finds what names the source for the target, and shows it as the target’s', () => {
    expect(stages([documents])).toEqual([
      { $match: { latest: true, type: 'COMPOSITION', ehr: { $in: ['target', 'source'] } } },
      { $set: { ehr: SWITCH } },
    ]);
  });

  it('finds nothing for the source', () => {
    const [match] = stages([{ ...documents, owner: { ehrId: 'source' } }]);
    expect(match).toEqual({ $match: { latest: true, type: 'COMPOSITION', ehr: { $in: [] } } });
  });

  it.each([
    [true, { $or: [{ q: true, ehr: { $nin: ['source'] } }, { ehr: { $in: ['source'] } }] }],
    [false, { q: true, ehr: { $nin: ['source'] } }],
  ])('takes what the source has for queryable as the target is: %s', (isQueryable, condition) => {
    const merges = { ...MERGE, queryable: new Map([['source', isQueryable]]) };
    const [match] = stages([{ ...documents, owner: 'queryable' }], merges);
    expect(match).toEqual({ $match: { latest: true, type: 'COMPOSITION', ...condition } });
  });

  it('asks what stands before the owner is known by the owner that is meant', () => {
    const sameEhr: Step = { kind: 'filter', condition: equal(fieldRef('ehr'), variable('ehr')) };
    const later: Step = { kind: 'set', field: 'x', value: call('$toUpper', fieldRef('ehr')) };
    expect(stages([documents, sameEhr, later]).slice(1)).toEqual([
      { $match: { $expr: { $eq: [SWITCH, '$$ehr'] } } },
      { $set: { ehr: SWITCH } },
      { $set: { x: { $toUpper: '$ehr' } } },
    ]);
  });

  it('joins by all that documents of the EHR may name', () => {
    const joined: Step = { ...documents, owner: 'joined' };
    const join = lookup({ as: 't.0', from: 'aql', localField: '_id', foreignField: 'ehr' }, [joined]);
    expect(stages([join], MERGE, 'ehrs')).toEqual([
      { $set: { owners_t_0: OWNERS } },
      {
        $lookup: {
          ...{ from: 'aql', localField: 'owners_t_0', foreignField: 'ehr', as: 't.0' },
          pipeline: [{ $match: { latest: true, type: 'COMPOSITION' } }, { $set: { ehr: SWITCH } }],
        },
      },
    ]);
  });

  it.each([null, new Date(0)])('joins directories by the EHR alone, at %s', (asOf) => {
    const folders: Step = { ...documents, owner: 'joined', rootTypes: ['FOLDER'], asOf };
    const join = lookup({ as: 't0', from: 'aql', localField: '_id', foreignField: 'ehr' }, [folders]);
    expect(stages([join], MERGE, 'ehrs')).toMatchObject([{ $lookup: { localField: '_id' } }]);
  });

  it('leaves joins by other fields as they are', () => {
    const join = lookup({ as: 'w0', from: 'versions', localField: '_id', foreignField: '_id' }, []);
    expect(stages([join], MERGE, 'ehrs')).toMatchObject([{ $lookup: { localField: '_id' } }]);
  });
});

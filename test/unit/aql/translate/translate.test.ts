import { describe, expect, it } from '@jest/globals';
import type { QueryPlan } from '../../../../aql/plan/query-plan.js';
import { shapeCatalogue } from '../../../../aql/index/shapes.js';
import { translate, type TranslationContext } from '../../../../aql/mongo/translate.js';
import { A, DIA, O, SYS, type CaseOptions } from '../../../support/aql/cases/aql-case.js';
import { prepareCase } from '../../../support/aql/cases/prepare.js';

function planOf(
  aql: string,
  context: Partial<TranslationContext> = {},
  options: CaseOptions = {},
): QueryPlan {
  const { scope, page } = prepareCase(
    { group: 0, title: '', aql, options, expect: { count: 0 } },
    'local.cdr',
  );
  return translate(scope, page, {
    shapes: shapeCatalogue([]),
    leafIndex: 'all',
    isCurrent: true,
    systemId: 'local.cdr',
    subsumption: false,
    asOf: null,
    clock: { now: new Date(0), offsetMinutes: 0 },
    ...context,
  });
}

const matchOf = (aql: string, context: Partial<TranslationContext> = {}): unknown =>
  planOf(aql, context).pipeline[0]?.['$match'];

describe('translate', () => {
  it.each([
    "e/ehr_status/name/value = 'x'",
    "e/directory/name/value = 'x' AND EXISTS i/name",
    "e/system_id/value != 'x' OR NOT EXISTS e/ehr_status/subject",
    "e/ehr_status/other_details/items[at0001]/value/value LIKE 'x*'",
  ])('asks %s before anything is unfolded', (where) => {
    const { pipeline } = planOf(`SELECT i/name/value FROM EHR e CONTAINS ITEM_TREE i WHERE ${where}`);
    const kinds = pipeline.map((stage) => Object.keys(stage)[0]);
    const unfolded = pipeline.findIndex(
      (stage) => '$unwind' in stage && JSON.stringify(stage).includes('$x1'),
    );
    const asked = pipeline.findIndex((stage, index) => index > 0 && '$match' in stage);
    expect(kinds.slice(0, 2)).toEqual(['$match', '$lookup']);
    expect(asked).toBeGreaterThan(1);
    expect(unfolded).toBeGreaterThan(asked);
  });

  it('joins nothing to an abstract class that can be no FOLDER where it stands', () => {
    const { pipeline } = planOf(
      "SELECT c/uid/value FROM COMPOSITION c CONTAINS OBSERVATION o CONTAINS LOCATABLE n CONTAINS ELEMENT x[name/value='x']",
    );
    expect(JSON.stringify(pipeline)).not.toContain('$lookup');
  });

  it('reads a value of one archetype', () => {
    const aql = `SELECT ${SYS} FROM EHR e CONTAINS COMPOSITION c CONTAINS ${O} WHERE ${SYS} > 140 ORDER BY ${SYS} DESC LIMIT 20`;
    expect(planOf(aql).pipeline).toEqual([
      {
        $match: {
          latest: true,
          q: true,
          type: 'COMPOSITION',
          keys: { $eq: A.bloodPressure },
          lv: {
            $elemMatch: {
              k: `${A.bloodPressure}|/data[at0001]/events[at0006]/data[at0003]/items[at0004]|m`,
              v: { $gt: 140 },
            },
          },
        },
      },
      {
        $project: {
          x2: {
            $filter: { input: '$segs', as: 'c', cond: { $eq: ['$$c.k', { $literal: A.bloodPressure }] } },
          },
        },
      },
      { $unwind: { path: '$x2', includeArrayIndex: 'x2i' } },
      {
        $project: {
          x2i: 1,
          n2: {
            $filter: {
              input: {
                $cond: [
                  { $eq: ['$x2.o.data.archetype_node_id', { $literal: 'at0001' }] },
                  { $ifNull: ['$x2.o.data.events', []] },
                  [],
                ],
              },
              as: 'f',
              cond: { $eq: ['$$f.archetype_node_id', { $literal: 'at0006' }] },
            },
          },
        },
      },
      { $unwind: { path: '$n2', includeArrayIndex: 'n2i' } },
      {
        $project: {
          x2i: 1,
          n2i: 1,
          n4: {
            $filter: {
              input: {
                $cond: [
                  { $eq: ['$n2.data.archetype_node_id', { $literal: 'at0003' }] },
                  { $ifNull: ['$n2.data.items', []] },
                  [],
                ],
              },
              as: 'f',
              cond: { $eq: ['$$f.archetype_node_id', { $literal: 'at0004' }] },
            },
          },
        },
      },
      { $unwind: { path: '$n4', includeArrayIndex: 'n4i' } },
      { $match: { 'n4.value.magnitude': { $gt: 140 } } },
      {
        $project: {
          x2i: 1,
          n2i: 1,
          n4i: 1,
          k0: '$n4.value.magnitude',
          y0: '$n4.value.magnitude',
        },
      },
      { $sort: { k0: -1, _id: 1, x2i: 1, n2i: 1, n4i: 1 } },
      { $limit: 20 },
      { $project: { _id: 0, row: ['$y0'] } },
    ]);
  });

  it('asks MongoDB for nothing but ids where ids are selected', () => {
    expect(planOf('SELECT e/ehr_id/value, c/uid/value FROM EHR e CONTAINS COMPOSITION c').pipeline).toEqual([
      { $match: { latest: true, q: true, type: 'COMPOSITION', keys: { $eq: 'COMPOSITION' } } },
      { $project: { _id: 0, row: ['$ehr', '$_id'] } },
    ]);
  });

  it('keeps to one EHR without asking whether it is queryable', () => {
    const ehr = 'eeeeeeee-0000-4000-8000-000000000001';
    expect(matchOf(`SELECT c FROM EHR e[ehr_id/value='${ehr}'] CONTAINS COMPOSITION c`)).toEqual({
      latest: true,
      ehr: { $eq: ehr },
      type: 'COMPOSITION',
      keys: { $eq: 'COMPOSITION' },
    });
  });

  it('merges two conditions on one leaf into one range', () => {
    expect(matchOf(`SELECT ${SYS} FROM ${O} WHERE ${SYS} >= 138 AND ${SYS} < 150`)).toMatchObject({
      lv: { $elemMatch: { v: { $gte: 138, $lt: 150 } } },
    });
  });

  it('uses leaves for OR only when every branch has one', () => {
    expect(matchOf(`SELECT ${SYS} FROM ${O} WHERE ${SYS} > 1 OR ${DIA} > 1`)).toHaveProperty('$or');
    expect(matchOf(`SELECT ${SYS} FROM ${O} WHERE ${SYS} > 1 OR o/name/value = 'x'`)).not.toHaveProperty(
      '$or',
    );
  });

  it.each([
    [`NOT ${SYS} > 140`],
    [`${SYS} != 140`],
    [`NOT EXISTS ${SYS}`],
    [`o/data/events/data/items[at0004]/value/magnitude > 140`],
  ])('uses no leaf for %s', (where) => {
    expect(matchOf(`SELECT ${SYS} FROM ${O} WHERE ${where}`)).not.toHaveProperty('lv');
  });

  it('uses no leaf while the data does not hold them all', () => {
    expect(matchOf(`SELECT ${SYS} FROM ${O} WHERE ${SYS} > 1`, { leafIndex: 'none' })).not.toHaveProperty(
      'lv',
    );
  });

  it('gives each branch of all versions its own literal latest', () => {
    const match = matchOf('SELECT v/uid/value FROM VERSION v[ALL_VERSIONS] CONTAINS COMPOSITION c');
    const rest = { q: true, type: 'COMPOSITION', keys: { $eq: 'COMPOSITION' } };
    expect(match).toEqual({
      $or: [
        { latest: true, ...rest },
        { latest: false, ...rest },
      ],
    });
  });

  it('takes as_of as the versions that were the latest then', () => {
    const asOf = new Date('2021-03-04T00:00:00Z');
    const rest = { q: true, type: 'COMPOSITION', keys: { $eq: 'COMPOSITION' }, tc: { $lte: asOf } };
    expect(matchOf('SELECT c FROM COMPOSITION c', { asOf })).toEqual({
      $or: [
        { latest: true, ...rest },
        { latest: false, ...rest, to: { $gt: asOf } },
      ],
    });
  });

  it('finds one version by its id, and a container by the range of its ids', () => {
    const id = 'cccccccc-0000-4000-8000-000000000002';
    expect(matchOf(`SELECT c FROM COMPOSITION c[uid/value='${id}::local.cdr::2']`)).toMatchObject({
      _id: { $eq: `${id}::local.cdr::2` },
    });
    expect(matchOf(`SELECT c FROM COMPOSITION c WHERE c/uid/value = '${id}'`)).toMatchObject({
      _id: { $gte: `${id}::`, $lt: `${id}:;` },
    });
  });

  it('says NOT CONTAINS of an archetype by the lack of a key', () => {
    const { pipeline } = planOf(`SELECT c/uid/value FROM COMPOSITION c NOT CONTAINS ${O}`);
    expect(pipeline).toEqual([
      {
        $match: {
          latest: true,
          q: true,
          type: 'COMPOSITION',
          keys: { $eq: 'COMPOSITION' },
          $and: [{ keys: { $nin: [A.bloodPressure] } }],
        },
      },
      { $project: { _id: 0, row: ['$_id'] } },
    ]);
  });

  it('fetches whole compositions after the limit', () => {
    const { pipeline, columns } = planOf('SELECT c FROM COMPOSITION c LIMIT 3');
    expect(columns).toEqual([{ name: '#0', path: 'c', kind: 'text', segs: null }]);
    expect(pipeline.slice(1)).toEqual([
      { $sort: { start: 1 } },
      { $limit: 3 },
      { $lookup: { from: 'versions', localField: '_id', foreignField: '_id', as: 'w0' } },
      { $project: { _id: 0, row: [{ $first: '$w0.data' }] } },
    ]);
  });

  const NEWEST = 'SELECT c/uid/value FROM COMPOSITION c ORDER BY c/context/start_time DESC LIMIT 5 OFFSET 2';

  it('takes the order of start times from the index', () => {
    const { pipeline } = planOf(NEWEST);
    expect(pipeline.slice(1)).toEqual([
      { $sort: { start: -1 } },
      { $skip: 2 },
      { $limit: 5 },
      { $project: { _id: 0, row: ['$_id'] } },
    ]);
  });

  it('sorts by the start time itself while documents of an older derivation may be there', () => {
    const { pipeline } = planOf(NEWEST, { isCurrent: false });
    const sort = pipeline.find((stage) => '$sort' in stage)?.['$sort'];
    expect(Object.keys(sort ?? {}).slice(0, 2)).toEqual(['r0', 'k0']);
  });

  it('gathers inner nodes at the shapes of their archetype', () => {
    const shapes = shapeCatalogue([
      `${A.bloodPressure}|ELEMENT|data.events.data.items`,
      `${A.bloodPressure}|ELEMENT|protocol.items`,
      `${A.pulse}|ELEMENT|state.items`,
    ]);
    const { pipeline } = planOf(`SELECT COUNT(*) FROM ${O} CONTAINS ELEMENT el[at0004]`, { shapes });
    const text = JSON.stringify(pipeline);
    expect(text).toContain('$x0.o.data.events.data.items');
    expect(text).toContain('$x0.o.protocol.items');
    expect(text).not.toContain('state.items');
  });

  it('never lets a value of the query be more than a literal', () => {
    const hostile = '$where';
    const aql = `SELECT c FROM COMPOSITION c[name/value='${hostile}'] WHERE c/composer/name = '${hostile}' AND c/name/value LIKE '${hostile}*'`;
    const bare: string[] = [];
    const visit = (value: unknown, key: string): void => {
      if (typeof value === 'string') {
        if (value === hostile && key !== '$literal' && key !== '$eq') bare.push(key);
      } else if (Array.isArray(value)) value.forEach((each) => visit(each, ''));
      else if (typeof value === 'object' && value !== null)
        for (const [name, each] of Object.entries(value)) visit(each, name);
    };
    visit(planOf(aql).pipeline, '');
    expect(bare).toEqual([]);
  });

  it('leaves DISTINCT over objects with nested archetypes to the server', () => {
    const { inProcess } = planOf(`SELECT DISTINCT o FROM ${O} LIMIT 2 OFFSET 1`);
    expect(inProcess).toEqual({ kind: 'distinct', offset: 1, limit: 2 });
    expect(planOf(`SELECT DISTINCT o/name FROM ${O}`).inProcess).toBeNull();
  });

  it('answers one row for aggregates over nothing', () => {
    expect(planOf(`SELECT COUNT(*), MAX(${SYS}), 'x' FROM ${O}`).emptyRow).toEqual([0, null, 'x']);
    expect(planOf(`SELECT o/name/value, COUNT(*) FROM ${O}`).emptyRow).toBeNull();
  });
});

import { describe, expect, it } from '@jest/globals';
import { evaluateQuery } from '../../../aql/evaluate/evaluate.js';
import type { ReferenceData } from '../../../aql/evaluate/data.js';
import { resolveScope } from '../../../aql/semantics/scope/scope.js';
import type { PathNode, Scope, StepIdentity } from '../../../aql/semantics/scope-types.js';
import type { JsonObject, JsonValue } from '../../../openehr/base/json.js';
import { boundQuery } from '../../support/aql/bound-query.js';
import { cluster, composition, element, entry, text, tree } from '../../support/hilltop/builders.js';

const DEV = 'openEHR-EHR-CLUSTER.device.v1';
const scopeOf = (select: string, from = 'CLUSTER c', rest = ''): Scope =>
  resolveScope(boundQuery(`SELECT ${select} FROM ${from} ${rest}`));

function identityText(identity: StepIdentity): string {
  switch (identity.kind) {
    case 'base':
      return '';
    case 'name':
      return `['${identity.name}']`;
    case 'code':
      return `[${identity.nodeId}${identity.name === null ? '' : `, '${identity.name}'`}]`;
    case 'archetype':
      return `[${identity.archetypeId.split('.')[1] ?? ''}${identity.name === null ? '' : `, '${identity.name}'`}]`;
  }
}

function treeText(node: PathNode): string {
  const children = node.children.map(treeText);
  const below =
    children.length === 0 ? '' : children.length === 1 ? `/${children[0] ?? ''}` : `/(${children.join(' ')})`;
  return `${node.attribute ?? node.alias.variable ?? ''}${identityText(node.identity)}${below}`;
}

describe('the cohesion tree', () => {
  it.each([
    ['c/items[at0001]/name, c/items[at0002]/name', 'c/(items[at0001]/name items[at0002]/name)'],
    ["c/items[at0001,'a']/name, c/items[at0001,'b']/name", 'c/items[at0001]/name'],
    ['c/items/name, c/items[at0002]/uid', 'c/items/(name uid)'],
    ["c/items[name/value='a']/name, c/items[name/value='b']/name", "c/(items['a']/name items['b']/name)"],
    ["c/items[name/value='a']/name, c/items[at0001]/uid", "c/items[at0001, 'a']/(name uid)"],
    ["c/items[at0001]/uid, c/items[name/value='a']/name", "c/items[at0001, 'a']/(uid name)"],
    [`c/items[${DEV}]/uid, c/items[name/value='a']/name`, "c/items[device, 'a']/(uid name)"],
    [
      "c/items[name/value='a']/name, c/items[at0001]/name, c/items[at0002]/name",
      "c/(items['a']/name items[at0001]/name items[at0002]/name)",
    ],
    ["c/items[name/value='a']/name, c/items[at0001,'a']/uid", "c/(items['a']/name items[at0001]/uid)"],
    [`c/items[${DEV}]/name, c/items[${DEV},'b']/uid`, 'c/items[device]/(name uid)'],
    [
      `c/items[${DEV},'a']/name, c/items[${DEV},'b']/name`,
      "c/(items[device, 'a']/name items[device, 'b']/name)",
    ],
    ['c/items[at0001 or at0002]/name, c/items[at0001]/uid', 'c/items/(name uid)'],
    ["c/items[uid/value='x']/name, c/items[at0001]/uid", 'c/items/(name uid)'],
    ["c/items[archetype_node_id='at0001']/name, c/items[at0001]/uid", 'c/items[at0001]/(name uid)'],
    ["c/items[at0001 and uid/value='x']/name, c/items[at0001]/uid", 'c/items[at0001]/(name uid)'],
    ["c[name/value='x']/items[at0001]/name, c/items[at0001]/uid", 'c/items[at0001]/(name uid)'],
    ['c, c/items, c/items/name', 'c/items/name'],
  ])('of %s', (select, expected) => {
    const tree = scopeOf(select).trees[0];
    expect(tree === undefined ? '' : treeText(tree)).toBe(expected);
  });

  it('has one choice where there is but one element', () => {
    const tree = scopeOf(
      "o/data[at0001]/origin, o/data[name/value='History']/name, o/data[at0002]/period",
      'OBSERVATION o',
    ).trees[0];
    expect(tree === undefined ? '' : treeText(tree)).toBe('o/data/(origin name period)');
  });

  it('joins WHERE and ORDER BY, not EXISTS and = NULL', () => {
    const scope = scopeOf(
      'c/items[at0001]/name',
      'CLUSTER c',
      'WHERE c/items[at0001]/uid/value = 1 AND EXISTS c/items[at0002]/name AND c/items/uid = NULL ORDER BY c/name',
    );
    expect(scope.paths.map(({ path }) => path.steps.map(({ attribute }) => attribute).join('/'))).toEqual([
      'items/name',
      'items/uid/value',
      'name',
    ]);
  });

  it('finds what an EXISTS shares', () => {
    const scope = scopeOf('c/items[at0001]/name, c/items[at0001]/items[at0002]/uid', 'CLUSTER c');
    const shared = (path: string): unknown => {
      const parsed = boundQuery(`SELECT ${path} FROM CLUSTER c`).select.columns[0]?.expression;
      if (parsed?.kind !== 'path') throw new Error('no path');
      const existence = scope.existenceOf(parsed);
      return existence.kind === 'use' ? 'use' : [existence.shared.length - 1, existence.rest.length];
    };
    expect(shared('c/items[at0001]/name')).toBe('use');
    expect(shared('c/items[at0001]/uid')).toEqual([1, 1]);
    expect(shared("c/items[at0001,'x']/items[at0002]/name")).toEqual([2, 1]);
    expect(shared("c/items[name/value='x']/uid")).toEqual([1, 1]);
    expect(shared('c/items/uid')).toEqual([0, 2]);
    expect(shared('c/items[at0003]')).toEqual([0, 1]);
    expect(shared('c/items[at0001]')).toEqual([1, 0]);
  });

  it('knows which steps are lists', () => {
    const root = scopeOf('o/data/events/data/items/value', 'OBSERVATION o').trees[0];
    const multiple: boolean[] = [];
    for (let node = root; node !== undefined; node = node.children[0]) multiple.push(node.multiple);
    expect(multiple).toEqual([false, false, true, false, true, false]);
  });
});

/** Three clusters below one entry, with items at0001 and at0002: (a, a), (b, c), (-, d). */
function threeClusters(): ReferenceData {
  const item = (code: string, value: string): JsonObject => element(code, code, text(value));
  const clusters = [
    cluster('at0010', 'one', [item('at0001', 'a'), item('at0002', 'a')]),
    cluster('at0010', 'two', [item('at0001', 'b'), item('at0002', 'c')]),
    cluster('at0010', 'three', [item('at0002', 'd')]),
  ];
  const object = composition({
    ...{ archetypeId: 'openEHR-EHR-COMPOSITION.report.v1', templateId: 't', name: 'Report', composer: 'x' },
    startTime: '2021-01-01T00:00:00Z',
    content: [
      entry(
        'EVALUATION',
        { nodeId: 'openEHR-EHR-EVALUATION.e.v1', name: 'E' },
        { data: tree('at0001', clusters) },
      ),
    ],
  });
  const time = new Date(0);
  return {
    ehrs: [
      { ehrId: 'eeeeeeee-0000-4000-8000-000000000001', systemId: 's', timeCreated: time, isQueryable: true },
    ],
    versions: [
      {
        uid: 'cccccccc-0000-4000-8000-000000000001::s::1',
        ehrId: 'eeeeeeee-0000-4000-8000-000000000001',
        type: 'COMPOSITION',
        timeCommitted: time,
        commitAudit: {},
        lifecycleState: {},
        contributionUid: 'x',
        precedingVersionUid: null,
        data: object,
      },
    ],
  };
}

function rowsOf(aql: string): readonly (readonly JsonValue[])[] {
  const scope = resolveScope(boundQuery(aql));
  return evaluateQuery(scope, threeClusters(), { systemId: 's', now: new Date(0) }).rows;
}

describe('rows of shared prefixes', () => {
  const E = 'EVALUATION v[openEHR-EHR-EVALUATION.e.v1]';
  const first = 'data[at0001]/items[at0010]/items[at0001]/value/value';
  const second = 'data[at0001]/items[at0010]/items[at0002]/value/value';

  it('pairs the values of one element', () => {
    expect(rowsOf(`SELECT v/${first}, v/${second} FROM ${E}`)).toEqual([
      ['a', 'a'],
      ['b', 'c'],
      [null, 'd'],
    ]);
  });
  it('leaves out elements in which nothing asked for exists', () => {
    expect(rowsOf(`SELECT v/${first} FROM ${E}`)).toEqual([['a'], ['b']]);
  });
  it('keeps elements that FROM binds', () => {
    expect(rowsOf(`SELECT c/items[at0001]/value/value FROM ${E} CONTAINS CLUSTER c[at0010]`)).toEqual([
      ['a'],
      ['b'],
      [null],
    ]);
  });
  it('multiplies different codes', () => {
    expect(
      rowsOf(`SELECT v/data/items[at0010,'one']/name/value, v/data/items[at0010,'two']/name/value FROM ${E}`),
    ).toEqual([
      ['one', null],
      [null, 'two'],
    ]);
    expect(
      rowsOf(
        `SELECT v/data/items[name/value='one']/name/value, v/data/items[name/value='two']/name/value FROM ${E}`,
      ),
    ).toEqual([['one', 'two']]);
  });
  it('keeps the row when nothing is found', () => {
    expect(rowsOf(`SELECT v/data/items[at0099]/name/value, v/name/value FROM ${E}`)).toEqual([[null, 'E']]);
  });
  it('asks EXISTS in the chosen element, and below the entry where none is chosen', () => {
    expect(rowsOf(`SELECT v/${second} FROM ${E} WHERE NOT EXISTS v/${first}`)).toEqual([['d']]);
    expect(
      rowsOf(`SELECT v/data[at0001]/items[at0099]/name/value FROM ${E} WHERE EXISTS v/${first}`),
    ).toEqual([[null]]);
  });
});

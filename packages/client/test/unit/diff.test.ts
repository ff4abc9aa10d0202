import { expect, it } from '@jest/globals';
import { differences } from '../../src/main.js';

const node = (code: string, name: string, value: unknown) => ({
  _type: 'ELEMENT',
  archetype_node_id: code,
  name: { _type: 'DV_TEXT', value: name },
  value,
});

it('compares nodes by code and name, wherever they stand', () => {
  const before = { items: [node('at1', 'a', 1), node('at2', 'b', 2), node('at2', 'b', 3)] };
  const after = { items: [node('at9', 'new', 0), node('at1', 'a', 5), node('at2', 'b', 2)] };
  expect(differences(before, after)).toEqual([
    { kind: 'changed', path: "/items[at1, 'a']/value", before: 1, after: 5 },
    { kind: 'removed', path: "/items[at2, 'b', 2]", before: before.items[2] },
    { kind: 'added', path: "/items[at9, 'new']", after: after.items[0] },
  ]);
});

it('takes another class as another value, and nothing for what is missing', () => {
  expect(differences({ a: null }, {})).toEqual([]);
  expect(
    differences({ v: { _type: 'DV_TEXT', value: 'x' } }, { v: { _type: 'DV_CODED_TEXT', value: 'x' } }),
  ).toEqual([expect.objectContaining({ kind: 'changed', path: '/v' })]);
  expect(differences([1, 2], [1, 3, 4])).toEqual([
    { kind: 'changed', path: '[1]', before: 2, after: 3 },
    { kind: 'added', path: '[2]', after: 4 },
  ]);
});

import { describe, expect, it } from '@jest/globals';
import * as rm from '../../src/main.js';

const element = (code: string, name: string, value: rm.DATA_VALUE): rm.ELEMENT => ({
  _type: 'ELEMENT',
  archetype_node_id: code,
  name: rm.dvText(name),
  value,
});
const tree: rm.ITEM_TREE = {
  _type: 'ITEM_TREE',
  archetype_node_id: 'at0003',
  name: rm.dvText('data'),
  items: [
    element('at0004', 'Systolic', rm.dvQuantity(120, 'mm[Hg]', { precision: 0 })),
    element('at0005', 'Diastolic', rm.dvQuantity(80, 'mm[Hg]')),
    element('at0005', "Dia's", rm.dvQuantity(81, 'mm[Hg]')),
  ],
};

describe('isRm', () => {
  it('knows the classes below a class', () => {
    expect(rm.isRm(tree, 'ITEM_STRUCTURE')).toBe(true);
    expect(rm.isRm(rm.dvCodedText('at1', 'x'), 'DV_TEXT')).toBe(true);
    expect(rm.isRm(rm.dvText('x'), 'DV_CODED_TEXT')).toBe(false);
    for (const value of [
      null,
      undefined,
      1,
      'DV_TEXT',
      {},
      { _type: 1 },
      { _type: 'toString' },
      { _type: '__proto__' },
    ])
      expect(rm.isRm(value, 'DATA_VALUE')).toBe(false);
  });
});

describe('valuesAt', () => {
  it.each<[string, unknown[]]>([
    ['/items[at0004]/value/magnitude', [120]],
    ['items[at0005]/value/magnitude', [80, 81]],
    ["/items[at0005, 'Diastolic']/value/magnitude", [80]],
    ["/items[at0005 and name/value='Dia\\'s']/value/magnitude", [81]],
    ["/items['Systolic']/value/units", ['mm[Hg]']],
    ['/items[2]/value/magnitude', [81]],
    ['/items/value/magnitude', [120, 80, 81]],
    ['/items[at9]/value', []],
    ['/constructor/name', []],
  ])('%s', (path, values) => {
    expect(rm.valuesAt(tree, path)).toEqual(values);
    expect(rm.valueAt(tree, path)).toEqual(values[0]);
  });

  it('gives the root for /', () => {
    expect(rm.valuesAt(tree, '/')).toEqual([tree]);
    expect(rm.valuesAt(tree, '')).toEqual([tree]);
  });

  it.each(['//items', '/items[', '/items]', '/Items', '/items[at1]x', 'items items'])(
    'refuses %s',
    (path) => {
      expect(() => rm.valuesAt(tree, path)).toThrow(SyntaxError);
    },
  );
});

it('lists every object with a path that leads to it', () => {
  const found = [...rm.rmObjects(tree)];
  expect(found.map(([path]) => path)).toEqual(
    expect.arrayContaining(['/', '/name', '/items[0]', '/items[1]/value', '/items[2]/name']),
  );
  for (const [path, object] of found) expect(rm.valueAt(tree, path)).toBe(object);
});

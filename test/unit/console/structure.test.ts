import { describe, expect, it } from '@jest/globals';
import type { Json, JsonObject } from '../../../console/src/api/types.js';
import { asidesOf, childrenOf } from '../../../console/src/record/structure.js';

const node = (type: string, name: string, more: JsonObject = {}): JsonObject => ({
  _type: type,
  archetype_node_id: 'at0000',
  name: { _type: 'DV_TEXT', value: name },
  ...more,
});
const tree = (name: string): JsonObject =>
  node('ITEM_TREE', name, { items: [node('ELEMENT', `${name} element`)] });
const names = (nodes: readonly JsonObject[]) => nodes.map(({ name }) => (name as { value: string }).value);

describe('the parts of an entry', () => {
  const data = node('HISTORY', 'history', { events: [node('POINT_EVENT', 'reading')] });
  const entry = node('OBSERVATION', 'pressure', { protocol: tree('how'), data, state: tree('meanwhile') });

  it('have how it was done behind what was found, in whatever order they are stored', () => {
    for (const each of [entry, Object.fromEntries<Json | undefined>(Object.entries(entry).reverse())]) {
      expect(names(childrenOf(each))).toEqual(['history']);
      expect(asidesOf(each).map(([name, nodes]) => [name, names(nodes)])).toEqual([
        ['state', ['meanwhile']],
        ['protocol', ['how']],
      ]);
    }
  });

  it('have no heading for what holds nothing', () => {
    expect(asidesOf({ ...entry, state: node('ITEM_TREE', 'empty'), protocol: undefined })).toEqual([]);
  });
});

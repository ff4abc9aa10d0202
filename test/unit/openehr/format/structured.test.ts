import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { JsonObject } from '../../../../openehr/base/json.js';
import { flatToStructured, structuredToFlat } from '../../../../openehr/format/composition/structured.js';

describe('flatToStructured', () => {
  it('nests ids in lists, one entry per index, the root and ctx in one object', () => {
    expect(
      flatToStructured({
        'ctx/language': 'en',
        'r/a:0/b|code': 'x',
        'r/a:0/b|value': 'y',
        'r/a:1/b': 1,
        'r/_uid': 'u',
      }),
    ).toEqual({
      ctx: { language: 'en' },
      r: { a: [{ b: [{ '|code': 'x', '|value': 'y' }] }, { b: [1] }], _uid: ['u'] },
    });
  });

  it('writes a plain value beside attributes or children as |value', () => {
    expect(flatToStructured({ 'r/a': 1, 'r/a|status': '~', 'r/b': 2, 'r/b/_uid': 'u' })).toEqual({
      r: { a: [{ '|value': 1, '|status': '~' }], b: [{ '|value': 2, _uid: ['u'] }] },
    });
  });

  it('keeps the index of an attribute, as clients read it', () => {
    const flat = { 'r/_participation:0|identifiers_id:0': 'a', 'r/_participation:0|identifiers_id:1': 'b' };
    const structured = { '|identifiers_id:0': 'a', '|identifiers_id:1': 'b' };
    expect(flatToStructured(flat)).toEqual({ r: { _participation: [structured] } });
    expect(flatToStructured({ 'r/_participation|identifiers_id': 'a' })).toEqual({
      r: { _participation: [{ '|identifiers_id': 'a' }] },
    });
  });

  it('keeps the index in the key where the list would not be read back entry by entry', () => {
    expect(flatToStructured({ 'r/a:0|x': 1, 'r/a:1/_null_flavour|code': '253' })).toEqual({
      r: { a: [{ '|x': 1 }], 'a:1': [{ _null_flavour: [{ '|code': '253' }] }] },
    });
    expect(flatToStructured({ 'r/a:0': 1, 'r/a:5': 2 })).toEqual({ r: { a: [1], 'a:5': [2] } });
  });
});

describe('structuredToFlat', () => {
  it('numbers the entries of a list from the second on', () => {
    expect(structuredToFlat({ r: { a: [1, 2, { '|x': 3 }] } })).toEqual({
      'r/a': 1,
      'r/a:1': 2,
      'r/a:2|x': 3,
    });
  });

  it('adds entries that hold nothing but keys of _ to the first', () => {
    expect(structuredToFlat({ r: { a: [{ '|x': 1 }, { _uid: ['u'] }] } })).toEqual({
      'r/a|x': 1,
      'r/a/_uid': 'u',
    });
  });

  it('refuses ids that would repeat a long path for very many values', () => {
    const leaves = Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`v${i}`, i]));
    const below = (id: string): JsonObject => ({ r: { [id]: leaves } });
    expect(Object.keys(structuredToFlat(below('i'.repeat(6_000))))).toHaveLength(10_000);
    expect(() => structuredToFlat(below('i'.repeat(7_000)))).toThrow('too long for its depth');
  });

  it('takes a single value or object in place of a list of one, and a list for the root', () => {
    expect(structuredToFlat({ r: [{ a: 1, b: { '|x': 2 } }] })).toEqual({ 'r/a': 1, 'r/b|x': 2 });
  });

  it('leaves out nulls and empty lists, and keeps ctx', () => {
    expect(
      structuredToFlat({ ctx: { language: 'en', participation_name: ['A', 'B'] }, r: { a: [], b: null } }),
    ).toEqual({
      'ctx/language': 'en',
      'ctx/participation_name': 'A',
      'ctx/participation_name:1': 'B',
    });
  });

  it('refuses lists in lists, attributes that are no single value, contradicting entries', () => {
    expect(() => structuredToFlat({ r: { a: [[1]] } })).toThrow('the list at r/a must not hold a list');
    expect(() => structuredToFlat({ r: { a: [{ '|x': [1] }] } })).toThrow(
      'the value of r/a|x must be a single value',
    );
    expect(() => structuredToFlat({ r: { a: [{ _uid: ['u'] }, { _uid: ['v'] }] } })).toThrow(
      /give different values/,
    );
  });

  it('undoes flatToStructured', () => {
    const id = fc.constantFrom('a', 'b', '_uid', '_c');
    const segment = fc.tuple(id, fc.constantFrom('', ':0', ':1', ':2')).map((parts) => parts.join(''));
    const suffix = fc.constantFrom('', '|code', '|x', '|y:1');
    const key = fc
      .tuple(fc.array(segment, { minLength: 1, maxLength: 3 }), suffix)
      .map(([segments, end]) => `root/${segments.join('/')}${end}`);
    const zero = (flat: JsonObject) =>
      Object.fromEntries(
        Object.entries(flat).map(([name, value]) => [
          name.replace(/:0(?=[/|]|$)/g, '').replace(/\|value$/, ''),
          value,
        ]),
      );
    fc.assert(
      fc.property(fc.dictionary(key, fc.constant('v'), { maxKeys: 8 }), (flat) => {
        expect(zero(structuredToFlat(flatToStructured(flat)))).toEqual(zero(flat));
      }),
      { numRuns: 500 },
    );
  });
});

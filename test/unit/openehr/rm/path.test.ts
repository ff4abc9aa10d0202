import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { CdrError } from '../../../../openehr/base/errors.js';
import type { JsonObject } from '../../../../openehr/base/json.js';
import { parseRmPath, valueAt, valuesAt } from '../../../../openehr/rm/path.js';

const folder = new URL('../../../fixtures/openehr/composition/', import.meta.url);
const corona = JSON.parse(readFileSync(new URL('Corona_Anamnese.json', folder), 'utf8')) as JsonObject;
const named = (name: string, more: JsonObject = {}): JsonObject => ({
  archetype_node_id: 'at0001',
  name: { value: name },
  ...more,
});

describe('parseRmPath', () => {
  it.each([
    ['', []],
    ['/', []],
    [
      '/a/b',
      [
        ['a', null, null],
        ['b', null, null],
      ],
    ],
    ['a[at0001]', [['a', 'at0001', null]]],
    [
      '/a[at0001.1]/b',
      [
        ['a', 'at0001.1', null],
        ['b', null, null],
      ],
    ],
    ['/content[openEHR-EHR-OBSERVATION.bp.v1]', [['content', 'openEHR-EHR-OBSERVATION.bp.v1', null]]],
    ["/a['x']", [['a', null, 'x']]],
    ["/a[name/value='x']", [['a', null, 'x']]],
    ["/a[at0001, 'x']", [['a', 'at0001', 'x']]],
    ["/a[at0001,'x']", [['a', 'at0001', 'x']]],
    ["/a[at0001 and name/value = 'x']", [['a', 'at0001', 'x']]],
    ["/a[at0001 AND name/value='x/y]z']", [['a', 'at0001', 'x/y]z']]],
    ['/a[at0001, "it\'s"]', [['a', 'at0001', "it's"]]],
    ["/a['it\\'s \\\\']", [['a', null, "it's \\"]]],
  ])('reads %j', (text, steps) => {
    expect(parseRmPath(text).map(({ attribute, nodeId, name }) => [attribute, nodeId, name])).toEqual(steps);
  });

  it.each([
    '//',
    '/a/',
    '/a[',
    '/a[]',
    "/a['x",
    '/a[at0001 or at0002]',
    '/a]',
    '/1',
    '/a b',
    '/a[name/value=x]',
    '/a[at0001,]',
    '/a|b',
    'a/'.repeat(300) + 'a',
  ])('refuses %j', (text) => {
    expect(() => parseRmPath(text)).toThrow(CdrError);
  });

  it('throws nothing but a CdrError', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[a-z/[\]',= \\.0-9]{0,40}$/), (text) => {
        try {
          parseRmPath(text);
        } catch (error) {
          expect(error).toBeInstanceOf(CdrError);
        }
      }),
    );
  });
});

describe('valuesAt', () => {
  it('gives the values of lists one by one', () => {
    expect(valuesAt(corona, '/content/archetype_node_id').length).toBe((corona.content as unknown[]).length);
    expect(valuesAt(corona, '/')).toEqual([corona]);
  });

  it('narrows down by node id and name', () => {
    const tree = {
      items: [
        named('a', { value: 1 }),
        named('b', { value: 2 }),
        { ...named('a', { value: 3 }), archetype_node_id: 'at0002' },
      ],
    };
    expect(valuesAt(tree, '/items[at0001]/value')).toEqual([1, 2]);
    expect(valuesAt(tree, "/items['a']/value")).toEqual([1, 3]);
    expect(valuesAt(tree, "/items[at0001, 'b']/value")).toEqual([2]);
    expect(valueAt(tree, '/items[at0002]/value')).toBe(3);
    expect(valueAt(tree, '/items[at0009]/value')).toBeUndefined();
  });

  it('never gives what objects inherit', () => {
    expect(valuesAt({}, '/constructor')).toEqual([]);
    expect(valuesAt({ a: 'text' }, '/a/length')).toEqual([]);
    expect(valuesAt({ a: null }, '/a')).toEqual([]);
  });
});

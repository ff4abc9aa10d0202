import { describe, expect, it } from '@jest/globals';
import { bindParameters } from '../../../aql/semantics/bind/bind.js';
import { queryParameters } from '../../../aql/semantics/bind/parameters.js';
import { parseAql } from '../../../aql/syntax/parse.js';
import { renderAql } from '../../../aql/syntax/render.js';
import type { JsonValue } from '../../../openehr/base/json.js';

const O = 'OBSERVATION o[openEHR-EHR-OBSERVATION.blood_pressure.v2]';
const bound = (aql: string, source: 'json' | 'text', values: Record<string, JsonValue>): string =>
  renderAql(bindParameters(parseAql(aql), queryParameters(source, Object.entries(values))));
const where = (condition: string, source: 'json' | 'text', value: JsonValue): string =>
  bound(`SELECT 1 FROM ${O} WHERE ${condition}`, source, { p: value }).split(' WHERE ')[1] ?? '';

describe('binding parameters', () => {
  it.each([
    [140, '140'],
    [1.5, '1.5'],
    [true, 'true'],
    ['140', "'140'"],
    ["it's", "'it\\'s'"],
    ['2020-01-01', "'2020-01-01'"],
  ])('keeps the type of %j of a body', (value, text) => {
    expect(where('o/name/value = $p', 'json', value)).toBe(`o/name/value = ${text}`);
  });

  it.each([
    [
      'o/data/events/data/items/value/magnitude > $p',
      '140',
      'o/data/events/data/items/value/magnitude > 140',
    ],
    [
      'o/data/events/data/items/value/magnitude > $p',
      'abc',
      "o/data/events/data/items/value/magnitude > 'abc'",
    ],
    [
      'o/data/events/data/items/value/magnitude > $p',
      '1e3',
      'o/data/events/data/items/value/magnitude > 1000',
    ],
    ['o/name/value = $p', '140', "o/name/value = '140'"],
    ['o/data/origin = $p', '2020', "o/data/origin = '2020'"],
    [
      'o/data/events/data/items/value/value = $p',
      '2',
      "o/data/events/data/items/value/value = 2 OR o/data/events/data/items/value/value = '2'",
    ],
    [
      'o/data/events/data/items/value/value != $p',
      '2',
      "o/data/events/data/items/value/value != 2 AND o/data/events/data/items/value/value != '2'",
    ],
    [
      'o/data/events/data/items/value = $p',
      'TRUE',
      "o/data/events/data/items/value = true OR o/data/events/data/items/value = 'TRUE'",
    ],
    ['o/data/events/data/items/value = $p', "'2'", "o/data/events/data/items/value = '2'"],
    ['o/data/events/data/items/value MATCHES {$p}', '2', "o/data/events/data/items/value MATCHES {2, '2'}"],
    ['LENGTH(o/name/value) = $p', '5', 'LENGTH(o/name/value) = 5'],
    [
      'ROUND(o/data/events/data/items/value/magnitude, $p) = 1',
      '2',
      'ROUND(o/data/events/data/items/value/magnitude, 2) = 1',
    ],
    ['CONCAT(o/name/value, $p) = 1', '2', "CONCAT(o/name/value, '2') = 1"],
    [
      'EXISTS o/data/events/data/items[value/magnitude > $p]',
      '90',
      'EXISTS o/data/events/data/items[value/magnitude>90]',
    ],
    [
      'EXISTS o/data/events/data/items[at0004 and value/value = $p]',
      '1',
      "EXISTS o/data/events/data/items[at0004 and value/value=1 or at0004 and value/value='1']",
    ],
    [
      'EXISTS o/data/events/data/items[at0004 and value/value != $p]',
      '1',
      "EXISTS o/data/events/data/items[at0004 and value/value!=1 and value/value!='1']",
    ],
    [
      'EXISTS o/data/events/data/items[name/value = $p]',
      '1',
      "EXISTS o/data/events/data/items[name/value='1']",
    ],
    ['o/name/value LIKE $p', 'a\\*', "o/name/value LIKE 'a\\\\*'"],
  ])('types the text of %s by its partner', (condition, value, expected) => {
    expect(where(condition, 'text', value)).toBe(expected);
  });

  it('expands lists in MATCHES', () => {
    expect(where("o/name/value MATCHES {$p, 'c'}", 'json', ['a', 1])).toBe(
      "o/name/value MATCHES {'a', 1, 'c'}",
    );
  });

  it('makes node predicates of [$p]', () => {
    const aql = 'SELECT o/data[$a]/events[at0006, $n] FROM OBSERVATION o[$id]';
    expect(bound(aql, 'json', { $a: 'at0001', n: '5', id: 'openEHR-EHR-OBSERVATION.x.v1' })).toBe(
      "SELECT o/data[at0001]/events[at0006, '5'] FROM OBSERVATION o[openEHR-EHR-OBSERVATION.x.v1]",
    );
  });

  it('binds below the path of a regex', () => {
    expect(where('EXISTS o/data[events[$p]/name/value matches {/L.*/}]', 'json', 'at0006')).toBe(
      'EXISTS o/data[events[at0006]/name/value matches {/L.*/}]',
    );
  });

  it('binds LIMIT, OFFSET and TERMINOLOGY', () => {
    const aql = "SELECT 1 FROM EHR e WHERE e/a MATCHES TERMINOLOGY($p, 'b', 'c') LIMIT $l OFFSET $o";
    expect(bound(aql, 'text', { p: 'expand', l: '3', o: '0' })).toBe(
      "SELECT 1 FROM EHR e WHERE e/a MATCHES {TERMINOLOGY('expand', 'b', 'c')} LIMIT 3 OFFSET 0",
    );
  });

  it.each([
    ['o/name/value = $p', null, '$p has no value'],
    ['o/name/value = $q', 'x', '$q has no value'],
    ['o/name/value = $p', ['a'], 'does not support multiple values'],
    ['o/name/value = $p', { $gt: '' }, 'is an object'],
    ['o/name/value MATCHES {$p}', [], 'empty list'],
    ['o/name/value MATCHES {$p}', [['a']], 'is a list'],
    ['o/name/value MATCHES {$p}', [null], 'is null'],
    ['o/name/value LIKE $p', 3, 'pattern of LIKE'],
    ['EXISTS o/data[$p]', 'x', 'archetype id or at-code'],
    ['EXISTS o/data[$p]', 5, 'archetype id or at-code'],
    ['EXISTS o/data[archetype_node_id = $p]', 'x', 'archetype id or at-code'],
    ['EXISTS o/data[at0001, $p]', 5, 'must be a text'],
  ] as const)('refuses %s with %j', (condition, value, message) => {
    expect(() => where(condition, 'json', value as JsonValue)).toThrow(message);
  });

  it('does not read names of Object.prototype', () => {
    expect(() => bound('SELECT 1 FROM EHR e WHERE e/a = $constructor', 'json', {})).toThrow('has no value');
  });
});

import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import { canonicalText } from '../../../../openehr/base/jcs.js';
import type { JsonValue } from '../../../../openehr/base/json.js';

it('writes the example of RFC 8785, section 3.2.2', () => {
  const example = {
    numbers: [Number('333333333.33333329'), 1e30, 4.5, 2e-3, 0.000000000000000000000000001],
    string: "\u20ac$\u000f\u000aA'\u0042\u0022\u005c\\\u0022\u002f",
    literals: [null, true, false],
  };
  expect(canonicalText(example)).toBe(
    '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],' +
      '"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}',
  );
});

it('orders names by their UTF-16 code units, as section 3.2.3 shows', () => {
  const names = ['\u20ac', '\r', '\ufb33', '1', '\ud83d\ude00', '\u0080', '\u00f6'];
  const text = canonicalText(Object.fromEntries(names.map((name) => [name, 0])));
  expect(Object.keys(JSON.parse(text) as object)).toEqual([
    '1',
    '\r',
    '\u0080',
    '\u00f6',
    '\u20ac',
    '\ud83d\ude00',
    '\ufb33',
  ]);
});

it('gives one text for a value, however its members are ordered, and loses nothing', () => {
  const reversed = (value: JsonValue): JsonValue => {
    if (Array.isArray(value)) return value.map(reversed);
    if (typeof value !== 'object' || value === null) return value;
    const members = Object.entries(value).map(([name, member]): [string, JsonValue] => [
      name,
      reversed(member),
    ]);
    return Object.fromEntries(members.reverse());
  };
  fc.assert(
    fc.property(fc.json(), (json) => {
      const value = JSON.parse(json) as JsonValue;
      expect(canonicalText(reversed(value))).toBe(canonicalText(value));
      expect(JSON.parse(canonicalText(value))).toEqual(JSON.parse(JSON.stringify(value)));
    }),
  );
});

import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { callFunction } from '../../../aql/evaluate/functions.js';
import { plain } from '../../../aql/evaluate/value.js';
import type { FunctionName } from '../../../aql/syntax/functions.js';
import { within, Work } from '../../../openehr/base/work.js';
import { testSettings } from '../../support/settings.js';

const clock = { now: new Date(0), offsetMinutes: 0 };
const at = { line: 1, column: 1, start: 0, end: 0 };
const call = (name: FunctionName, ...values: readonly (string | number)[]): unknown =>
  callFunction({ kind: 'function', name, args: [], at } as never, values.map(plain), clock);
const limited = (resultBytes: number): Work =>
  new Work({ ...testSettings().work, resultBytes, timeMs: Infinity }, () => 0);

describe('a text that a function of a query makes', () => {
  const megabyte = 'x'.repeat(1024 * 1024);

  it.each(['CONCAT', 'CONCAT_WS'] as const)('is counted before it is made: %s', (name) => {
    // More than the longest text there can be: to make it first fails otherwise.
    const values = Array<string>(600).fill(megabyte);
    const work = limited(100_000_000);
    expect(() => within(work, () => call(name, ...values))).toThrow(/AQL_MAX_EVALUATED_BYTES/);
  });

  it('is counted with its separators', () => {
    const work = limited(50);
    within(work, () => call('CONCAT_WS', 'x'.repeat(20), 'a', 'b', 'c'));
    expect(work.used.resultBytes).toBe(43);
  });

  it('counts in code points, whatever it is made of', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'é', '😀', '\ud83d', '\ude00') });
    const whole = fc.integer({ min: -5, max: 12 });
    fc.assert(
      fc.property(text, text, whole, whole, (all, part, from, length) => {
        const points = Array.from(all);
        const to = from + Math.max(0, length);
        const cut = points.filter((_, index) => index + 1 >= from && index + 1 < to).join('');
        expect(call('LENGTH', all)).toBe(points.length);
        expect(call('SUBSTRING', all, from, length)).toBe(cut);
        expect(call('SUBSTRING', all, from)).toBe(points.slice(Math.max(0, from - 1)).join(''));
        const found = all.indexOf(part);
        expect(call('POSITION', part, all)).toBe(found < 0 ? 0 : Array.from(all.slice(0, found)).length + 1);
      }),
    );
  });
});

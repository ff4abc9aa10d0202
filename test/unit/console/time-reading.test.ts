import { describe, expect, it } from '@jest/globals';
import { isoWithZone, timeExamples } from '../../../console/src/form/time-form.js';
import { readTime } from '../../../console/src/form/time-reading.js';

const NOW = new Date(2026, 10, 24, 9, 5, 7);
const read = (kind: 'date' | 'time' | 'datetime', text: string) => readTime(kind, text, NOW);
const local = (text: string) => isoWithZone(new Date(text));

describe('a time as people type it', () => {
  it.each([
    ['23.11.2026', '2026-11-23'],
    ['3. 1. 2026', '2026-01-03'],
    ['11.2026', '2026-11'],
    ['11/2026', '2026-11'],
    ['23 Nov 2026', '2026-11-23'],
    ['1. März 2026', '2026-03-01'],
    ['December 2026', '2026-12'],
    ['today', '2026-11-24'],
    ['Gestern', '2026-11-23'],
    ['now', '2026-11-24'],
  ])('%s is the date %s', (typed, iso) => expect(read('date', typed)).toBe(iso));

  it.each([
    ['7.05', '07:05:00'],
    ['2 pm', '14:00:00'],
    ['12 am', '00:00:00'],
    ['7:30', '07:30:00'],
    ['8 Uhr', '08:00:00'],
  ])('%s is the time %s', (typed, iso) => expect(read('time', typed)).toBe(iso));

  it.each([
    ['23.11.2026 14:30', '2026-11-23T14:30:00'],
    ['23.11.2026, 14:30', '2026-11-23T14:30:00'],
    ['yesterday 7:15', '2026-11-23T07:15:00'],
    ['today at 2 pm', '2026-11-24T14:00:00'],
    ['heute um 8 Uhr', '2026-11-24T08:00:00'],
    ['23 Nov 2026 14.30', '2026-11-23T14:30:00'],
    ['2026-11-23 14:30', '2026-11-23T14:30:00'],
    ['2026-11-23, 2 pm', '2026-11-23T14:00:00'],
  ])('%s is that moment on this computer', (typed, iso) => expect(read('datetime', typed)).toBe(local(iso)));

  it('has the year that was typed, however long ago', () => {
    expect(read('date', '1.3.0050')).toBe('0050-03-01');
    expect(read('date', '29.2.0004')).toBe('0004-02-29');
    expect(read('date', '29.2.0050')).toBeNull();
    expect(read('date', 'Nov 0099')).toBe('0099-11');
  });

  it('may be as partial as it is known', () => {
    expect(read('datetime', '23.11.2026')).toBe('2026-11-23');
    expect(read('datetime', 'Nov 2026')).toBe('2026-11');
  });

  it('is never guessed: what no calendar has, what may be anything, and what is ISO already stay as they are', () => {
    for (const text of [
      '31.2.2026',
      '13.2026',
      '14',
      '25:00',
      '13 pm',
      '2026',
      '3/4/2026',
      'soon',
      '',
      '2026-02-31 14:30',
    ])
      for (const kind of ['date', 'time', 'datetime'] as const)
        expect([text, read(kind, text)]).toEqual([text, null]);
    for (const kind of ['date', 'time', 'datetime'] as const)
      for (const iso of timeExamples(kind)) expect([iso, read(kind, iso)]).toEqual([iso, null]);
    expect(read('datetime', '2026-11-23T14:30:00+01:00')).toBeNull();
  });
});

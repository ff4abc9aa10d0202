import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { CdrError } from '../../../../openehr/base/errors.js';
import {
  dayNumber,
  formatUtc,
  parseDate,
  parseDateTime,
  parseDuration,
  parseTime,
  parseVersionAtTime,
} from '../../../../openehr/base/iso8601.js';
import { growth, LINEAR } from '../../../support/growth.js';

const DAY_MS = 86_400_000;

describe('parseDate', () => {
  it.each([
    ['2021', 'year', '2021-01-01', '2021-12-31'],
    ['2021-10', 'month', '2021-10-01', '2021-10-31'],
    ['2024-02', 'month', '2024-02-01', '2024-02-29'],
    ['1900-02', 'month', '1900-02-01', '1900-02-28'],
    ['2021-10-24', 'day', '2021-10-24', '2021-10-24'],
  ])('reads %s to the %s', (text, precision, first, last) => {
    const date = parseDate(text);
    expect(date?.precision).toBe(precision);
    expect(date?.lower).toBe(Date.parse(first) / DAY_MS);
    expect(date?.upper).toBe(Date.parse(last) / DAY_MS);
  });

  it.each([
    ...[
      '',
      'NULL',
      '2021-00',
      '2021-13',
      '2021-10-00',
      '2021-10-32',
      '+001985-04',
      '2024-02-30',
      '2023-02-29',
    ],
    ...['21', '2021-1', '2021-10-24T10', ' 2021', '2021-10-24Z', '20211024', '1e3', '２０２１'],
  ])('refuses %j', (text) => {
    expect(parseDate(text)).toBeNull();
  });

  it('reads basic forms only when asked for', () => {
    expect(parseDate('20211024', { basic: true })).toEqual(parseDate('2021-10-24'));
    expect(parseDate('202110', { basic: true })).toEqual(parseDate('2021-10'));
    expect(parseDate('20211324', { basic: true })).toBeNull();
    expect(parseDate('2021-1024', { basic: true })).toBeNull();
  });

  it('counts days as Date does', () => {
    fc.assert(
      fc.property(fc.integer({ min: -62_167_219_200_000, max: 253_402_300_799_999 }), (ms) => {
        const text = new Date(ms).toISOString().slice(0, 10);
        expect(parseDate(text)?.lower).toBe(Math.floor(ms / DAY_MS));
      }),
    );
    expect(dayNumber(1970, 1, 1)).toBe(0);
  });
});

describe('parseTime', () => {
  it.each([
    ['10', 'hour', 36_000, 39_599.999, null],
    ['10:30', 'minute', 37_800, 37_859.999, null],
    ['10:30:47', 'second', 37_847, 37_847.999, null],
    ['10:30:47.333333', 'fraction', 37_847.333333, 37_847.333333, null],
    ['10:30:47,5', 'fraction', 37_847.5, 37_847.5, null],
    ['10:30:47Z', 'second', 37_847, 37_847.999, 0],
    ['10:30:47-03:00', 'second', 37_847, 37_847.999, -180],
    ['10+0530', 'hour', 36_000, 39_599.999, 330],
    ['10:30+02', 'minute', 37_800, 37_859.999, 120],
    ['24:00:00', 'second', 86_400, 86_400, null],
  ])('reads %s to the %s', (...[text, precision, lower, upper, offset]) => {
    const time = parseTime(text);
    expect(time).toMatchObject({ precision, offset });
    expect(time?.lower).toBeCloseTo(lower, 6);
    expect(time?.upper).toBeCloseTo(upper, 6);
  });

  it.each([
    ...[
      '',
      '48',
      '10:95',
      '10:30:78',
      '10.5',
      '10:05.5',
      '24:00:01',
      '24:00:00.5',
      '10:30:47+15:00',
      '10:30:47-12:30',
    ],
    ...['10:30:47+01:60', '1', '10:3', '10:30:47.', 'T10', '1030', '10:30:47 Z', '10:30:47z'],
  ])('refuses %j', (text) => {
    expect(parseTime(text)).toBeNull();
  });

  it('reads basic forms only when asked for', () => {
    expect(parseTime('103047.5Z', { basic: true })).toEqual(parseTime('10:30:47.5Z'));
    expect(parseTime('1030', { basic: true })).toEqual(parseTime('10:30'));
  });
});

describe('parseDateTime', () => {
  it.each([
    ['2021', 'year', '2021-01-01T00:00:00.000Z', '2021-12-31T23:59:59.999Z'],
    ['2021-10', 'month', '2021-10-01T00:00:00.000Z', '2021-10-31T23:59:59.999Z'],
    ['2021-10-24', 'day', '2021-10-24T00:00:00.000Z', '2021-10-24T23:59:59.999Z'],
    ['2021-10-24T10', 'hour', '2021-10-24T10:00:00.000Z', '2021-10-24T10:59:59.999Z'],
    ['2021-10-24T10:30', 'minute', '2021-10-24T10:30:00.000Z', '2021-10-24T10:30:59.999Z'],
    ['2021-10-24T10:30:47', 'second', '2021-10-24T10:30:47.000Z', '2021-10-24T10:30:47.999Z'],
    ['2021-10-24T10:30:47.5-03:00', 'fraction', '2021-10-24T13:30:47.500Z', '2021-10-24T13:30:47.500Z'],
    ['2021-10-24T10:30:47.999999999Z', 'fraction', '2021-10-24T10:30:47.999Z', '2021-10-24T10:30:47.999Z'],
    ['2021-10-24T10:30:47.29Z', 'fraction', '2021-10-24T10:30:47.290Z', '2021-10-24T10:30:47.290Z'],
    ['2021-12-31T24:00:00Z', 'second', '2022-01-01T00:00:00.000Z', '2022-01-01T00:00:00.000Z'],
    ['0001-01-01T00:00:00Z', 'second', '0001-01-01T00:00:00.000Z', '0001-01-01T00:00:00.999Z'],
  ])('reads %s to the %s', (text, precision, lower, upper) => {
    const read = parseDateTime(text);
    expect(read?.precision).toBe(precision);
    expect(new Date(read?.lower ?? 0).toISOString()).toBe(lower);
    expect(new Date(read?.upper ?? 0).toISOString()).toBe(upper);
  });

  it.each([
    ...[
      '',
      '2021-13',
      '2021-10-24T48',
      '2021-10-24T10:30:78Z',
      '2021-10T10',
      '2021T10',
      '2021-10-24T',
      '2021-10-24 10:30',
    ],
    ...['2021-10-24T10:30:47.5.5', '2021-02-29T10', 'T10:30', '2021-10-24T10:30T10', '2021-10-24Z'],
  ])('refuses %j', (text) => {
    expect(parseDateTime(text)).toBeNull();
  });

  it('reads what Date writes', () => {
    fc.assert(
      fc.property(fc.integer({ min: -62_167_219_200_000, max: 253_402_300_799_999 }), (ms) => {
        const text = new Date(ms).toISOString();
        expect(parseDateTime(text)?.lower).toBe(ms);
        expect(parseDateTime(text.replace(/[-:]/g, ''), { basic: true })?.lower).toBe(ms);
      }),
    );
  });
});

describe('parseDuration', () => {
  it.each([
    ['P1Y3M4DT2H14M15.5S', (365.2425 + 3 * 30.436875 + 4) * 86_400 + 2 * 3600 + 14 * 60 + 15.5],
    ['P1W', 604_800],
    ['P3M1W', 3 * 30.436875 * 86_400 + 604_800],
    ['-P2M', -2 * 30.436875 * 86_400],
    ['P1DT2H', 93_600],
    ['PT0S', 0],
    ['-PT0S', 0],
    ['PT1,5S', 1.5],
    ['PT15H', 54_000],
  ])('reads %s as seconds', (text, seconds) => {
    expect(parseDuration(text)?.totalSeconds).toBe(seconds);
  });

  it('gives the parts, the precision and the shortest and longest length', () => {
    expect(parseDuration('-P1Y2M3W4DT5H6M7.5S')).toMatchObject({
      ...{ negative: true, years: 1, months: 2, weeks: 3, days: 4, hours: 5, minutes: 6, seconds: 7.5 },
      precision: 'second',
    });
    expect(parseDuration('P1M')).toMatchObject({
      lower: 28 * 86_400,
      upper: 31 * 86_400,
      precision: 'month',
    });
    expect(parseDuration('-P1M')).toMatchObject({ lower: -31 * 86_400, upper: -28 * 86_400 });
  });

  it.each([
    ...[
      '',
      '1Y',
      'P1Y3M4DT2H14.5M',
      'P1Y3M4DT2.5H',
      'P',
      'PT',
      'P1DT',
      '+P1D',
      'P-1D',
      'P1S',
      'PT1D',
      'P1M1Y',
      'p1d',
    ],
    ...['P1.5D', `P${'9'.repeat(400)}D`, '--P1D', 'P1D ', 'PT1.S'],
  ])('refuses %j', (text) => {
    expect(parseDuration(text)).toBeNull();
  });

  it('validates long texts in time that grows with their length', () => {
    const validate = (length: number): void => {
      const digits = '1'.repeat(length);
      for (const text of [`P${digits}`, `PT${digits}.${digits}`]) expect(parseDuration(text)).toBeNull();
      expect(parseTime(`10:30:47.${digits}x`)).toBeNull();
    };
    expect(growth(validate, 50_000)).toBeLessThan(LINEAR);
  });
});

describe('formatUtc', () => {
  it('has six fraction digits and a Z', () => {
    expect(formatUtc(new Date(Date.UTC(2025, 2, 4, 9, 20, 0, 7)))).toBe('2025-03-04T09:20:00.007000Z');
  });
});

describe('parseVersionAtTime', () => {
  it.each([
    ['2024-07-01T10:00:00Z', 'UTC', '2024-07-01T10:00:00.000Z'],
    ['2024-07-01T10:00:00.123456789+02:00', 'UTC', '2024-07-01T08:00:00.123Z'],
    ['2024-07-01T10:00:00,5 0200', 'UTC', '2024-07-01T08:00:00.500Z'],
    ['2024-07-01T10', 'UTC', '2024-07-01T10:00:00.000Z'],
    ['2024-07-01T10:15', 'Z', '2024-07-01T10:15:00.000Z'],
    ['2024-07-01T10:15', '+05:30', '2024-07-01T04:45:00.000Z'],
    ['2024-07-01T10:15-03', '+05:30', '2024-07-01T13:15:00.000Z'],
    ['2024-07-01T10:15', 'Europe/Berlin', '2024-07-01T08:15:00.000Z'],
    ['2024-01-01T10:15', 'Europe/Berlin', '2024-01-01T09:15:00.000Z'],
    ['2024-01-01T10:15', 'America/St_Johns', '2024-01-01T13:45:00.000Z'],
    ['2024-03-31T03:30', 'Europe/Berlin', '2024-03-31T01:30:00.000Z'],
  ])('reads %s in %s', (text, zone, expected) => {
    expect(parseVersionAtTime(text, zone).toISOString()).toBe(expected);
  });

  it.each([
    '',
    '2024-07-01',
    '20240701T100000Z',
    '2024-02-30T10:00',
    '2024-07-01T25:00',
    '2024-07-01T10:00:00.1234567890Z',
    'now',
    '2024-07-01T10:00:00+99:00',
  ])('refuses %j', (text) => {
    expect(() => parseVersionAtTime(text, 'UTC')).toThrow(CdrError);
  });
});

import { describe, expect, it } from '@jest/globals';
import type { JsonObject } from '../../../../openehr/base/json.js';
import { concreteClasses } from '../../../../openehr/rm/model/classes.js';
import {
  domainOf,
  firstPossibleValue,
  lastPossibleValue,
  orderedValue,
  valuesCompare,
} from '../../../../openehr/rm/ordered-value.js';

const DAY = 86_400;

describe('orderedValue', () => {
  it.each<[JsonObject, number | null]>([
    [{ _type: 'DV_QUANTITY', magnitude: 120.5, units: 'mm[Hg]' }, 120.5],
    [{ _type: 'DV_COUNT', magnitude: 3 }, 3],
    [{ _type: 'DV_PROPORTION', numerator: 1, denominator: 4, type: 0 }, 0.25],
    [{ _type: 'DV_PROPORTION', numerator: 1, denominator: 0, type: 0 }, null],
    [{ _type: 'DV_ORDINAL', value: 2 }, 2],
    [{ _type: 'DV_SCALE', value: 1.5 }, 1.5],
    [{ _type: 'DV_DURATION', value: 'P1DT2H' }, DAY + 7200],
    [{ _type: 'DV_DURATION', value: '-P1Y' }, -365.2425 * DAY],
    [{ _type: 'DV_DURATION', value: 'P1M' }, 30.436875 * DAY],
    [{ _type: 'DV_TIME', value: '10:30+02:00' }, 37_800],
    [{ _type: 'DV_DATE', value: '1970-01-02' }, 1],
    [{ _type: 'DV_DATE', value: '1970-02' }, 31],
    [{ _type: 'DV_DATE', value: '19700102' }, 1],
    [{ _type: 'DV_DATE_TIME', value: '1970' }, 0],
    [{ _type: 'DV_DATE_TIME', value: '1970-01-01T01:00:00.5+01:00' }, 500],
    [{ _type: 'DV_DATE_TIME', value: 'x' }, null],
    [{ _type: 'DV_DATE_TIME' }, null],
    [{ _type: 'DV_TEXT', value: '5' }, null],
    [{ _type: 'constructor' }, null],
    [{}, null],
  ])('of %j is %j', (value, expected) => {
    expect(orderedValue(value)).toBe(expected);
  });
});

describe('domainOf', () => {
  it('is known for every ordered type but intervals', () => {
    expect(concreteClasses('DV_ORDERED').filter((type) => domainOf(type) === null)).toEqual([]);
    expect(domainOf('DV_INTERVAL')).toBeNull();
  });

  it.each([
    ['DV_QUANTITY', 'number'],
    ['DV_DURATION', 'duration'],
    ['DV_TIME', 'time'],
    ['DV_DATE', 'date'],
    ['DV_DATE_TIME', 'instant'],
    ['DV_CODED_TEXT', 'text'],
    ['DV_BOOLEAN', 'boolean'],
    ['ELEMENT', null],
  ])('of %s is %s', (type, domain) => {
    expect(domainOf(type)).toBe(domain);
  });
});

describe('partial values', () => {
  it('reach from their first to their last moment', () => {
    expect(lastPossibleValue({ _type: 'DV_DATE', value: '1970' })).toBe(364);
    expect(firstPossibleValue({ _type: 'DV_DURATION', value: 'P1M' })).toBe(28 * DAY);
    expect(lastPossibleValue({ _type: 'DV_COUNT', magnitude: 3 })).toBe(3);
    expect(lastPossibleValue({ _type: 'DV_DATE_TIME', value: '1970-01-01' })).toBe(DAY * 1000 - 1);
    expect(lastPossibleValue({ _type: 'DV_TIME', value: '00:00' })).toBe(59.999);
  });
});

describe('valuesCompare', () => {
  it('needs one domain, and one unit', () => {
    const quantity = (units: string): JsonObject => ({ _type: 'DV_QUANTITY', magnitude: 1, units });
    expect(valuesCompare(quantity('kg'), quantity('kg'))).toBe(true);
    expect(valuesCompare(quantity('kg'), quantity('g'))).toBe(false);
    expect(valuesCompare({ _type: 'DV_DATE' }, { _type: 'DV_DATE_TIME' })).toBe(false);
    expect(valuesCompare({ _type: 'DV_INTERVAL' }, { _type: 'DV_INTERVAL' })).toBe(false);
  });
});

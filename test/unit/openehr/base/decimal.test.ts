import { describe, expect, it } from '@jest/globals';
import { isExactDecimal } from '../../../../openehr/base/decimal.js';

describe('isExactDecimal', () => {
  it.each([
    '0',
    '-0',
    '82',
    '82.0',
    '82.50',
    '0.1',
    '1e2',
    '1E-7',
    '+5',
    '.5',
    '5.',
    '9007199254740992',
    '00012',
  ])('keeps %s', (literal) => {
    expect(isExactDecimal(literal)).toBe(true);
  });

  it.each(['9007199254740993', '0.12345678901234567890', '1e999', '1e-999'])('refuses %s', (literal) => {
    expect(isExactDecimal(literal)).toBe(false);
  });
});

import { describe, expect, it } from '@jest/globals';
import { isKeptDecimal } from '../../../../openehr/base/text.js';

describe('isKeptDecimal', () => {
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
    '-9007199254740992',
    '148.01210165023805',
    '0.10000000000000001',
    '1.7976931348623157e308',
    '00012',
  ])('keeps %s', (literal) => {
    expect(isKeptDecimal(literal)).toBe(true);
  });

  it.each([
    '9007199254740993',
    '9007199254740994',
    '-9007199254740993',
    '0.12345678901234567890',
    '0.123456789012345678',
    '1e999',
    '1e-999',
  ])('refuses %s', (literal) => {
    expect(isKeptDecimal(literal)).toBe(false);
  });
});

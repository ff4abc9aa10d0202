/**
 * Whether a double gives the decimal literal back exactly (docs/spec/formats.md#numbers): `82.0` and `1e2` do,
 * numbers of too many digits or too large do not. The literal must be a number.
 */
export function isExactDecimal(literal: string): boolean {
  const value = Number(literal);
  return Number.isFinite(value) && significant(literal) === significant(String(value));
}

/** Digits without zeros at either end and the power of ten of the last one: equal for equal decimals. */
function significant(literal: string): string {
  const [mantissa = '', exponent = '0'] = literal.toLowerCase().split('e');
  const [whole = '', fraction = ''] = mantissa.replace(/^[+-]/, '').split('.');
  const digits = (whole + fraction).replace(/^0+/, '');
  let end = digits.length;
  while (digits.charAt(end - 1) === '0') end -= 1;
  const power = Number(exponent) - fraction.length + (digits.length - end);
  return end === 0 ? '0' : `${digits.slice(0, end)}e${power}`;
}

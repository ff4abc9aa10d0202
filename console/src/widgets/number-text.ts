/** A number as the language writes it, with at most `digits` after the point. */
export function numberText(value: number, language: string, digits = 3): string {
  return new Intl.NumberFormat(language, { maximumFractionDigits: digits }).format(value);
}

/** Milliseconds with as many digits as matter. */
export function milliseconds(value: number, language: string): string {
  if (value >= 1000) return `${numberText(value / 1000, language, 1)} s`;
  return `${numberText(value, language, value < 10 ? 1 : 0)} ms`;
}

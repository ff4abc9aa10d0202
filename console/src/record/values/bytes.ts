import { numeral } from './quantity.js';

const UNITS = ['B', 'kB', 'MB', 'GB', 'TB'];

/** Bytes in the unit that leaves one to three digits before the point. */
export function bytesText(bytes: number, language: string): string {
  const step = Math.min(UNITS.length - 1, Math.floor(Math.log10(Math.max(bytes, 1)) / 3));
  return `${numeral(bytes / 1000 ** step, language, step === 0 ? undefined : 1)} ${UNITS[step] ?? ''}`;
}

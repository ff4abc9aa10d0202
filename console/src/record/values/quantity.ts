import { asText, at, textAt } from '../../api/json.js';
import type { Json } from '../../api/types.js';
import { besides, magnitudeStatus } from './ordered.js';
import { unitText } from './units.js';
import type { Speech, ValueText } from './value-reader.js';

/** More digits no double has. */
const MOST_DIGITS = 20;

/** DV_QUANTITY. */
export function saidQuantity(value: Json, speech: Speech): ValueText {
  const units = textAt(value, 'units');
  const shown = textAt(value, 'units_display_name') || unitText(units);
  return {
    ...saidCount(value, speech),
    unit: shown,
    ...detailOf(value, shown === units ? '' : units, speech),
  };
}

/** DV_COUNT, and the number of a DV_QUANTITY. */
export function saidCount(value: Json, speech: Speech): ValueText {
  const text =
    magnitudeStatus(value) + numeral(at(value, 'magnitude'), speech.language, at(value, 'precision'));
  return { text, isNumber: true, ...detailOf(value, '', speech), ...besides(value, speech) };
}

/** A number with its digits, or with as many after the point as its precision says; -1 and nothing: all. */
export function numeral(number: Json | undefined, language: string, precision?: Json): string {
  if (typeof number !== 'number') return asText(number);
  const digits = typeof precision === 'number' && precision >= 0 ? Math.min(precision, MOST_DIGITS) : null;
  const size = Math.abs(number);
  if (digits === null && size !== 0 && (size < 1e-15 || size >= 1e21)) return String(number);
  return new Intl.NumberFormat(language, {
    minimumFractionDigits: digits ?? 0,
    maximumFractionDigits: digits ?? MOST_DIGITS,
  }).format(number);
}

/** What the precision hides, and the unit as it was written. */
function detailOf(value: Json, units: string, { language }: Speech): Pick<ValueText, 'detail'> {
  const number = at(value, 'magnitude');
  const isRounded =
    numeral(number, language) !==
    numeral(Number(numeral(number, 'en', at(value, 'precision')).replaceAll(',', '')), language);
  const detail = [isRounded ? asText(number) : '', units].filter((part) => part !== '').join(' ');
  return detail === '' ? {} : { detail };
}

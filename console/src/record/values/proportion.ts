import { at } from '../../api/json.js';
import type { Json } from '../../api/types.js';
import { besides, magnitudeStatus } from './ordered.js';
import { numeral } from './quantity.js';
import type { Speech, ValueText } from './value-reader.js';

const PERCENT = 2;

/** DV_PROPORTION: `97.5 %`, `1.5`, `42 / 3`, with as many digits as its precision says. */
export function saidProportion(value: Json, speech: Speech): ValueText {
  const digits = (number: Json | undefined): string =>
    numeral(number, speech.language, at(value, 'precision'));
  const [over, under] = [at(value, 'numerator'), at(value, 'denominator')];
  const isWhole = at(value, 'type') === PERCENT || under === 1;
  const text = isWhole ? digits(over) : `${digits(over)} / ${digits(under)}`;
  const stored = isWhole
    ? numeral(over, speech.language)
    : `${numeral(over, speech.language)} / ${numeral(under, speech.language)}`;
  return {
    text: magnitudeStatus(value) + text,
    isNumber: true,
    ...(at(value, 'type') === PERCENT && { unit: '%' }),
    ...(stored !== text && { detail: stored }),
    ...besides(value, speech),
  };
}

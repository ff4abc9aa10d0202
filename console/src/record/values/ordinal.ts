import { at, textAt } from '../../api/json.js';
import type { Json } from '../../api/types.js';
import { besides } from './ordered.js';
import { numeral } from './quantity.js';
import type { Speech, ValueText } from './value-reader.js';

/** DV_ORDINAL, DV_SCALE: the number and what it stands for. */
export function saidOrdinal(value: Json, speech: Speech): ValueText {
  const symbol = at(value, 'symbol');
  const { text, detail } = speech.say(symbol);
  const number = numeral(at(value, 'value'), speech.language);
  return {
    text: [number, text || textAt(symbol, 'value')].filter((part) => part !== '').join(' · '),
    ...(detail !== undefined && { detail }),
    ...besides(value, speech),
  };
}

import { asText, at, isObject, textAt } from '../api/json.js';
import type { Json } from '../api/types.js';
import { numberText } from '../widgets/number-text.js';
import { localTime } from '../widgets/time-text.js';

/** A data value as a person reads it. */
export interface ValueText {
  readonly text: string;
  /** Beside a number. */
  readonly unit?: string;
  /** On hover: the code, the scale, the form it was written in. */
  readonly detail?: string;
  readonly isNumber?: boolean;
}

type Reader = (value: Json, language: string) => ValueText;

/** How each class of data value is said; what stands here in no line is said by `anyText`. */
const READERS: Readonly<Record<string, Reader>> = {
  DV_TEXT: (value) => ({ text: textAt(value, 'value') }),
  DV_CODED_TEXT: (value) => ({
    text: textAt(value, 'value'),
    detail: `${textAt(value, 'defining_code', 'terminology_id', 'value')}::${textAt(value, 'defining_code', 'code_string')}`,
  }),
  DV_QUANTITY: (value, language) => ({
    text: magnitude(value, language),
    unit: textAt(value, 'units'),
    isNumber: true,
  }),
  DV_COUNT: (value, language) => ({ text: magnitude(value, language), isNumber: true }),
  DV_ORDINAL: scaleText,
  DV_SCALE: scaleText,
  DV_PROPORTION: proportionText,
  DV_DATE_TIME: timeText,
  DV_DATE: timeText,
  DV_TIME: (value) => ({ text: textAt(value, 'value') }),
  DV_DURATION: (value) => ({ text: durationText(textAt(value, 'value')), detail: textAt(value, 'value') }),
  DV_BOOLEAN: (value) => ({
    text: at(value, 'value') === true ? '✓' : '✗',
    detail: at(value, 'value') === true ? 'true' : 'false',
  }),
  DV_IDENTIFIER: (value) => ({
    text: textAt(value, 'id'),
    detail: [textAt(value, 'type'), textAt(value, 'issuer')].filter((part) => part !== '').join(' · '),
  }),
  DV_URI: (value) => ({ text: textAt(value, 'value') }),
  DV_EHR_URI: (value) => ({ text: textAt(value, 'value') }),
  DV_PARSABLE: (value) => ({ text: textAt(value, 'value'), detail: textAt(value, 'formalism') }),
  DV_MULTIMEDIA: (value) => ({
    text: [textAt(value, 'alternate_text'), textAt(value, 'media_type', 'code_string')]
      .filter(Boolean)
      .join(' · '),
  }),
  CODE_PHRASE: (value) => ({
    text: textAt(value, 'code_string'),
    detail: textAt(value, 'terminology_id', 'value'),
  }),
  PARTY_IDENTIFIED: partyText,
  PARTY_RELATED: partyText,
  PARTY_SELF: partyText,
};

/** Says a value of the reference model, whatever it is. */
export function valueText(value: Json | undefined, language: string): ValueText {
  if (value === undefined || value === null) return { text: '' };
  if (!isObject(value)) return { text: typeof value === 'string' ? value : JSON.stringify(value) };
  const type = textAt(value, '_type');
  if (type.startsWith('DV_INTERVAL')) return intervalText(value, language);
  return READERS[type]?.(value, language) ?? { text: anyText(value) };
}

function magnitude(value: Json, language: string): string {
  const number = at(value, 'magnitude');
  const precision = at(value, 'precision');
  if (typeof number !== 'number') return asText(number);
  const digits = typeof precision === 'number' && precision >= 0 ? precision : null;
  const text =
    digits === null
      ? numberText(number, language, 6)
      : new Intl.NumberFormat(language, {
          minimumFractionDigits: Math.min(digits, 20),
          maximumFractionDigits: Math.min(digits, 20),
        }).format(number);
  return textAt(value, 'magnitude_status') + text;
}

function scaleText(value: Json): ValueText {
  return { text: textAt(value, 'symbol', 'value'), detail: textAt(value, 'value') };
}

function proportionText(value: Json, language: string): ValueText {
  const [over, under] = [at(value, 'numerator'), at(value, 'denominator')];
  if (typeof over !== 'number' || typeof under !== 'number') return { text: anyText(value) };
  if (at(value, 'type') === 2) return { text: numberText(over, language), unit: '%', isNumber: true };
  return { text: under === 1 ? numberText(over, language) : `${over} / ${under}`, isNumber: true };
}

function timeText(value: Json, language: string): ValueText {
  const text = textAt(value, 'value');
  return { text: localTime(text, language), detail: text };
}

function durationText(text: string): string {
  const words = { Y: 'y', M: 'mo', W: 'w', D: 'd', H: 'h', S: 's' } as const;
  const [date = '', time = ''] = text.replace(/^-?P/, '').split('T');
  const part = (source: string, isTime: boolean): string =>
    source.replaceAll(
      /([\d.]+)([YMWDHS])/g,
      (_, number: string, letter: keyof typeof words) =>
        `${number} ${isTime && letter === 'M' ? 'min' : words[letter]} `,
    );
  return `${text.startsWith('-') ? '−' : ''}${part(date, false)}${part(time, true)}`.trim();
}

function intervalText(value: Json, language: string): ValueText {
  const lower = valueText(at(value, 'lower'), language);
  const upper = valueText(at(value, 'upper'), language);
  const unit = upper.unit ?? lower.unit;
  const text = `${lower.text === '' ? '−∞' : lower.text} – ${upper.text === '' ? '∞' : upper.text}`;
  return { text, ...(unit !== undefined && { unit }), isNumber: true };
}

function partyText(value: Json): ValueText {
  const id = textAt(value, 'external_ref', 'id', 'value');
  const namespace = textAt(value, 'external_ref', 'namespace');
  const name = textAt(value, 'name');
  const detail = id === '' ? '' : `${namespace}::${id}`;
  return { text: name === '' ? id || '–' : name, ...(detail !== '' && { detail }) };
}

/** What no reader knows: its simple members, so that nothing is hidden. */
function anyText(value: Json): string {
  if (!isObject(value)) return Array.isArray(value) ? value.map(anyText).join(', ') : String(value);
  return Object.entries(value)
    .filter(([name]) => name !== '_type')
    .map(([name, member]) => `${name}: ${anyText(member ?? null)}`)
    .join(', ');
}

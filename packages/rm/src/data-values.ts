import type {
  CODE_PHRASE,
  DV_BOOLEAN,
  DV_CODED_TEXT,
  DV_COUNT,
  DV_DATE,
  DV_DATE_TIME,
  DV_DURATION,
  DV_IDENTIFIER,
  DV_INTERVAL,
  DV_MULTIMEDIA,
  DV_ORDERED,
  DV_ORDINAL,
  DV_PARSABLE,
  DV_PROPORTION,
  DV_QUANTITY,
  DV_SCALE,
  DV_TEXT,
  DV_TIME,
  DV_URI,
} from './generated/types.js';

/** What may be given beside the values of a class that always have to be: all its optional attributes. */
type More<T> = Partial<Omit<T, '_type'>>;

/** `codePhrase('en', 'ISO_639-1')`. */
export function codePhrase(code: string, terminology = 'local'): CODE_PHRASE {
  return {
    _type: 'CODE_PHRASE',
    terminology_id: { _type: 'TERMINOLOGY_ID', value: terminology },
    code_string: code,
  };
}

/** `dvText('seen at home')`. */
export function dvText(value: string, more: More<DV_TEXT> = {}): DV_TEXT {
  return { _type: 'DV_TEXT', value, ...more };
}

/** A code with its rubric: `dvCodedText('at0006', 'Sitting')`, `dvCodedText('433', 'event', 'openehr')`. */
export function dvCodedText(code: string, value: string, terminology = 'local'): DV_CODED_TEXT {
  return { _type: 'DV_CODED_TEXT', value, defining_code: codePhrase(code, terminology) };
}

/** `dvQuantity(120, 'mm[Hg]')`; the unit in UCUM. */
export function dvQuantity(magnitude: number, units: string, more: More<DV_QUANTITY> = {}): DV_QUANTITY {
  return { _type: 'DV_QUANTITY', magnitude, units, ...more };
}

/** `dvCount(3)`. */
export function dvCount(magnitude: number, more: More<DV_COUNT> = {}): DV_COUNT {
  return { _type: 'DV_COUNT', magnitude, ...more };
}

/** `dvOrdinal(2, dvCodedText('at0014', 'Moderate'))`. */
export function dvOrdinal(value: number, symbol: DV_CODED_TEXT): DV_ORDINAL {
  return { _type: 'DV_ORDINAL', value, symbol };
}

/** `dvScale(2.5, dvCodedText('at0014', 'Moderate'))`. */
export function dvScale(value: number, symbol: DV_CODED_TEXT): DV_SCALE {
  return { _type: 'DV_SCALE', value, symbol };
}

const PROPORTION_TYPES = { ratio: 0, unitary: 1, percent: 2, fraction: 3, integer_fraction: 4 } as const;

/** `dvProportion(97, 100, 'percent')`. */
export function dvProportion(
  numerator: number,
  denominator: number,
  type: keyof typeof PROPORTION_TYPES = 'ratio',
): DV_PROPORTION {
  return { _type: 'DV_PROPORTION', numerator, denominator, type: PROPORTION_TYPES[type] };
}

/** `dvBoolean(true)`. */
export function dvBoolean(value: boolean): DV_BOOLEAN {
  return { _type: 'DV_BOOLEAN', value };
}

/** ISO 8601, maybe partial: `dvDate('2026-11')`. Of a Date its day in UTC. */
export function dvDate(value: string | Date): DV_DATE {
  return { _type: 'DV_DATE', value: typeof value === 'string' ? value : value.toISOString().slice(0, 10) };
}

/** ISO 8601, maybe partial: `dvTime('08:30')`. */
export function dvTime(value: string): DV_TIME {
  return { _type: 'DV_TIME', value };
}

/** ISO 8601, maybe partial, or a Date: `dvDateTime(new Date())`. */
export function dvDateTime(value: string | Date): DV_DATE_TIME {
  return { _type: 'DV_DATE_TIME', value: typeof value === 'string' ? value : value.toISOString() };
}

/** ISO 8601: `dvDuration('PT8H')`. */
export function dvDuration(value: string): DV_DURATION {
  return { _type: 'DV_DURATION', value };
}

/** `dvUri('https://example.org/scan.pdf')`. */
export function dvUri(value: string): DV_URI {
  return { _type: 'DV_URI', value };
}

/** `dvIdentifier('1234567', { issuer: 'Hilltop' })`. */
export function dvIdentifier(id: string, more: More<DV_IDENTIFIER> = {}): DV_IDENTIFIER {
  return { _type: 'DV_IDENTIFIER', id, ...more };
}

/** `dvParsable('R3/PT8H', 'ISO8601')`. */
export function dvParsable(value: string, formalism: string): DV_PARSABLE {
  return { _type: 'DV_PARSABLE', value, formalism };
}

/** `dvMultimedia('image/png', 1024, { uri: dvUri('https://example.org/scan.png') })`; `size` in bytes. */
export function dvMultimedia(mediaType: string, size: number, more: More<DV_MULTIMEDIA> = {}): DV_MULTIMEDIA {
  const media_type = codePhrase(mediaType, 'IANA_media-types');
  return { _type: 'DV_MULTIMEDIA', media_type, size, ...more };
}

/** A range, its ends included; an end that is not given is open: `dvInterval(dvCount(1), dvCount(5))`. */
export function dvInterval<T extends DV_ORDERED>(lower?: T, upper?: T): DV_INTERVAL {
  return {
    _type: 'DV_INTERVAL',
    ...(lower && { lower, lower_included: true }),
    ...(upper && { upper, upper_included: true }),
    lower_unbounded: lower === undefined,
    upper_unbounded: upper === undefined,
  };
}

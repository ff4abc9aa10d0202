import type { Json } from '../../api/types.js';
import type { Translate } from '../../messages/translate.js';

/** Who reads: the words, the way of numbers and the zone of times. What `useMessages` gives is one. */
export interface ValueReader {
  readonly language: string;
  /** An IANA zone, such as `Europe/Berlin`. */
  readonly zone: string;
  readonly t: Translate;
}

/** That a value is not normal. */
export interface ValueFlag {
  /** As recorded, such as `HH`; `↑` and `↓` where only the normal range tells. */
  readonly code: string;
  readonly words: string;
  readonly isNormal: boolean;
}

/** A data value as a person reads it. */
export interface ValueText {
  readonly text: string;
  /** Beside a number. */
  readonly unit?: string;
  /** On hover and for screen readers: the code, the form it was written in. */
  readonly detail?: string;
  readonly isNumber?: boolean;
  readonly flag?: ValueFlag;
  /** Said beside it: accuracy, ranges, the time as it was stored, who issued an identifier. */
  readonly notes?: readonly string[];
  /** Where it leads: another site, or a view of the console behind `#`. */
  readonly link?: string;
}

/** A reader of values within a value. */
export interface Speech extends ValueReader {
  readonly say: (value: Json | undefined) => ValueText;
}

/** A value with all that is said of it, in one line. */
export function wholeText({ text, unit, flag, notes = [] }: ValueText): string {
  const value = unit === undefined || unit === '' ? text : `${text} ${unit}`;
  const beside = notes.length === 0 ? '' : ` (${notes.join('; ')})`;
  return `${value}${flag === undefined ? '' : ` ${flag.code}`}${beside}`;
}

import type { Concept } from '../api/own.js';
import type { FlatValue } from './values.js';

/** Parts of a coded text, by their suffixes; undefined: it has none any more. */
type CodedParts = Readonly<Record<'' | 'value' | 'code' | 'terminology', FlatValue | undefined>>;

/** A concept that was chosen: nothing of the one before stays, its terminology neither where the server names none. */
export function conceptParts({ code, display, system }: Concept): CodedParts {
  return { '': undefined, value: display || code, code, terminology: system === '' ? undefined : system };
}

/** A text that was typed and is no choice: the code of the one before is not its code. */
export function conceptTextParts(text: string): CodedParts {
  return { '': undefined, value: text, code: undefined, terminology: undefined };
}

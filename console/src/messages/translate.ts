import type { Catalogue, MessageKey } from './en.js';

/** The message of a key with its `{values}` put in. */
export type Translate = (key: MessageKey, values?: Readonly<Record<string, string | number>>) => string;

/** What says things by a catalogue. */
export function translator(catalogue: Catalogue): Translate {
  return (key, values = {}) =>
    catalogue[key].replaceAll(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole));
}

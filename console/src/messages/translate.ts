import type { Catalogue, MessageKey } from './en.js';

/** The message of a key with its `{values}` put in. */
export type Translate = (key: MessageKey, values?: Readonly<Record<string, string | number>>) => string;

/**
 * What says things by a catalogue of a language. `{count|row|rows}` is the word for as many: one for each plural category of
 * the language, in the order of CLDR (`zero`, `one`, `two`, `few`, `many`, `other`).
 */
export function translator(catalogue: Catalogue, language: string): Translate {
  const plural = new Intl.PluralRules(language);
  const categories = CATEGORIES.filter((name) => plural.resolvedOptions().pluralCategories.includes(name));
  const word = (value: string | number, words: readonly string[]): string =>
    words[categories.indexOf(plural.select(Number(value)))] ?? '';
  return (key, values = {}) =>
    catalogue[key].replaceAll(PLACE, (whole, name: string, words?: string) => {
      const value = values[name];
      if (value === undefined) return whole;
      return words === undefined ? String(value) : word(value, words.slice(1).split('|'));
    });
}

const PLACE = /\{(\w+)((?:\|[^{}|]*)+)?\}/g;
const CATEGORIES = ['zero', 'one', 'two', 'few', 'many', 'other'] as const;

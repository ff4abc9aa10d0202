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
  // A number may come as the language writes it: a thousand is 1.000 in German, and not one.
  const group = new Intl.NumberFormat(language)
    .formatToParts(10_000_000)
    .find(({ type }) => type === 'group');
  const numberOf = (value: string | number): number =>
    Number(group === undefined ? value : String(value).replaceAll(group.value, ''));
  const word = (value: string | number, words: readonly string[]): string =>
    words[categories.indexOf(plural.select(numberOf(value)))] ?? '';
  return (key, values = {}) =>
    catalogue[key].replaceAll(PLACE, (whole, name: string, words?: string) => {
      const value = values[name];
      if (value === undefined) return whole;
      return words === undefined ? String(value) : word(value, words.slice(1).split('|'));
    });
}

const PLACE = /\{(\w+)((?:\|[^{}|]*)+)?\}/g;
const CATEGORIES = ['zero', 'one', 'two', 'few', 'many', 'other'] as const;

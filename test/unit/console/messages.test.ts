import { describe, expect, it } from '@jest/globals';
import { de } from '../../../console/src/messages/de.js';
import { english as en } from '../../../console/src/messages/english.js';
import { translator } from '../../../console/src/messages/translate.js';

describe('the messages of the console', () => {
  it('are the same in German and English, with the same values put in', () => {
    const values = (text: string): string[] =>
      [...text.matchAll(/\{(\w+)[|}]/g)].map(([, value]) => value!).sort();
    const shape = (catalogue: Readonly<Record<string, string>>): [string, string[]][] =>
      Object.entries(catalogue)
        .map(([key, text]): [string, string[]] => [key, values(text)])
        .sort(([left], [right]) => (left < right ? -1 : 1));
    expect(shape(de)).toEqual(shape(en));
    expect(Object.values(de).filter((text) => text.trim() === '')).toEqual([]);
  });

  it.each([
    ['en', en],
    ['de', de],
  ] as const)('have a word for each plural of %s', (language, catalogue) => {
    const { pluralCategories } = new Intl.PluralRules(language).resolvedOptions();
    const words = Object.values(catalogue).flatMap((text) =>
      [...text.matchAll(/\{\w+\|([^{}]*)\}/g)].map(([, forms]) => forms!.split('|')),
    );
    expect(words.length).toBeGreaterThan(5);
    expect(words.filter((forms) => forms.length !== pluralCategories.length)).toEqual([]);
  });

  it('say one of one, and many of none, several, and numbers as they are shown', () => {
    const rows = (count: number | string): string => translator(en, 'en')('query.rows', { count });
    expect([1, '1', 0, 2, '1,001'].map(rows)).toEqual(['1 row', '1 row', '0 rows', '2 rows', '1,001 rows']);
    const german = translator(de, 'de');
    expect(['1', '1.000'].map((count) => german('query.rows', { count }))).toEqual([
      '1 Zeile',
      '1.000 Zeilen',
    ]);
    const polish = translator(
      { ...en, 'query.rows': '{count} {count|wiersz|wiersze|wierszy|wiersza}' },
      'pl',
    );
    expect([1, 3, 5].map((count) => polish('query.rows', { count }))).toEqual([
      '1 wiersz',
      '3 wiersze',
      '5 wierszy',
    ]);
  });
});

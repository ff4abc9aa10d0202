import { describe, expect, it } from '@jest/globals';
import { de } from '../../../console/src/messages/de.js';
import { en } from '../../../console/src/messages/en.js';

describe('the messages of the console', () => {
  it('are the same in German and English, with the same values put in', () => {
    const values = (text: string): string[] => [...text.matchAll(/\{\w+\}/g)].map(([value]) => value).sort();
    const shape = (catalogue: Readonly<Record<string, string>>): [string, string[]][] =>
      Object.entries(catalogue)
        .map(([key, text]): [string, string[]] => [key, values(text)])
        .sort(([left], [right]) => (left < right ? -1 : 1));
    expect(shape(de)).toEqual(shape(en));
    expect(Object.values(de).filter((text) => text.trim() === '')).toEqual([]);
  });
});

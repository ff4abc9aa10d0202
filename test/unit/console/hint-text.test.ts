import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { de } from '../../../console/src/messages/de.js';
import { english } from '../../../console/src/messages/english.js';
import { hintText } from '../../../console/src/messages/hint-text.js';
import { translator } from '../../../console/src/messages/translate.js';
import { RM_CLASSES } from '../../../openehr/rm/model/classes.js';

const source = (name: string): string => readFileSync(new URL(`../../../${name}`, import.meta.url), 'utf8');
const hints = source('aql/result/explain-hints.ts');
const CODES = [
  ...[...hints.matchAll(/code: '(\w+)'/g)].map(([, code]) => code!),
  ...[
    ...hints.slice(hints.indexOf('const PLAIN'), hints.indexOf('function plain')).matchAll(/^ {2}(\w+):/gm),
  ].map(([, code]) => code!),
  ...[...source('aql/index/unindexed.ts').matchAll(/^ {2}\| '(\w+)'/gm)].map(
    ([, reason]) => `waste_${reason!}`,
  ),
  ...[...source('aql/result/warning.ts').matchAll(/'((?:unknown|type)_\w+)'/g)].map(([, code]) => code!),
];
const GERMAN = { language: 'de', t: translator(de, 'de') };

describe('what explain advises', () => {
  it('has words for each code that the server knows', () => {
    expect(CODES.length).toBeGreaterThan(18);
    expect(CODES.filter((code) => !Object.hasOwn(english, `hint.${code}`))).toEqual([]);
  });

  it('is in the language of the reader, and as the server says it where nobody translated it', () => {
    const waste = {
      code: 'waste_at_code',
      message: 'reads 9604 documents',
      values: { examined: 9604, rows: 12, condition: "o/data/x = 'a'", detail: 'data' },
    };
    expect(hintText(waste, GERMAN)).toBe(
      "Liest 9604 Dokumente für 12 Zeilen, weil kein Index o/data/x = 'a' dient: der Pfad hat keinen at-Code bei data; mit einem an jedem Knoten würde diese Bedingung den Index nutzen",
    );
    const named = { line: 1, column: 7, name: 'at9', archetype: 'A', nearest: 'at8' };
    expect(hintText({ code: 'unknown_node', message: 'm', values: named }, GERMAN)).toBe(
      'Zeile 1:7: kein gespeichertes Template hat den Knoten at9 in A; ist at8 gemeint?',
    );
    expect(hintText({ code: 'newer', message: 'as the server says', values: {} }, GERMAN)).toBe(
      'as the server says',
    );
    expect(hintText(waste, { language: 'en', t: translator(english, 'en') })).toBe('reads 9604 documents');
  });
});

describe('attributes of the reference model', () => {
  it('have words in every language', () => {
    const names = RM_CLASSES.flatMap(({ attributes }) => attributes.map(({ name }) => name));
    const unnamed = names.filter((name) => !Object.hasOwn(de, `attribute.${name}`));
    expect([...new Set(unnamed)]).toEqual([]);
  });
});

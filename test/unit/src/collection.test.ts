import { readFileSync } from 'node:fs';
import { expect, it } from '@jest/globals';
import { everyOperation } from '../../../src/operation-table.js';
import { COLLECTION_FILE, collectionText } from '../../../scripts/pages/collection.js';

it('keeps the committed collection equal to the API: `npm run docs` writes it anew', () => {
  expect(readFileSync(new URL(`../../../${COLLECTION_FILE}`, import.meta.url), 'utf8')).toBe(
    collectionText(),
  );
});

it('has every operation of the API', () => {
  const { item } = JSON.parse(collectionText()) as { item: { item: unknown[] }[] };
  const operations = everyOperation().operations.filter(({ isDocumented = true }) => isDocumented).length;
  expect(item.reduce((sum, folder) => sum + folder.item.length, 0)).toBe(operations);
});

import { readFileSync } from 'node:fs';
import { expect, it } from '@jest/globals';
import { OPERATION_GROUPS } from '../../../routes/http/openapi-document.js';
import { COLLECTION_FILE, collectionText } from '../../../src/collection.js';

it('keeps the committed collection equal to the API: `npm run collection` writes it anew', () => {
  expect(readFileSync(new URL(`../../../${COLLECTION_FILE}`, import.meta.url), 'utf8')).toBe(
    collectionText(),
  );
});

it('has every operation of the API', () => {
  const { item } = JSON.parse(collectionText()) as { item: { item: unknown[] }[] };
  const operations = OPERATION_GROUPS.reduce((sum, group) => sum + group.operations.length, 0);
  expect(item.reduce((sum, folder) => sum + folder.item.length, 0)).toBe(operations);
});

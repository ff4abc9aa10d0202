import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { beforeEach, expect, test } from '@jest/globals';
import mongoose from 'mongoose';
import { createCollections } from '../../../database/indexes.js';
import { COLLECTION_LAYOUT } from '../../../models/access/layout.js';
import { useDatabase } from '../../support/database.js';
import { testApp, useServer } from '../../support/app.js';
import { CHANGES } from '../../support/contract/changes.js';
import { Judge } from '../../support/contract/explained.js';
import type { Recording } from '../../support/contract/exchange.js';
import { replay, type Replayed } from '../../support/contract/replay.js';

/** `MARK_CONTRACT` is a folder of new recordings: see `test/fixtures/contract/README.md`. */
const { MARK_CONTRACT } = process.env;
const folder = MARK_CONTRACT ?? 'test/fixtures/contract';
const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
  name.endsWith('.gz'),
);

useDatabase();
const server = useServer(testApp());
beforeEach(async () => {
  await mongoose.connection.dropDatabase();
  await createCollections(COLLECTION_LAYOUT);
});

const met = new Set<string>();
test.each(files)('what %s asked is answered as before, or as UPDATING.md says', async (file) => {
  const path = join(folder, file);
  const recording = JSON.parse(gunzipSync(readFileSync(path)).toString('utf8')) as Recording;
  const judge = new Judge();
  const changed: Replayed[] = [];
  for await (const replayed of replay(recording, server.url)) {
    if (replayed.differences.length > 0) changed.push(replayed);
  }
  if (MARK_CONTRACT !== undefined) mark(path, recording, changed);
  const unexplained = changed.filter((replayed) => !judge.isExplained(replayed));
  for (const told of judge.met) met.add(told);
  expect(unexplained.filter(({ exchange }) => exchange.isRepeatable !== false)).toEqual([]);
});

test('UPDATING.md tells of each change, and each is met', () => {
  const page = readFileSync('UPDATING.md', 'utf8').replaceAll(/\s+/g, ' ');
  const told = CHANGES.map((change) => change.told);
  expect(told.filter((words) => !page.includes(words))).toEqual([]);
  expect(told.filter((words) => !met.has(words))).toEqual([]);
});

/** What the recorded release itself answers in another way when asked again proves nothing about a later one. */
function mark(path: string, recording: Recording, changed: readonly Replayed[]): void {
  for (const { exchange } of changed) exchange.isRepeatable = false;
  writeFileSync(path, gzipSync(JSON.stringify(recording), { level: 9 }));
}

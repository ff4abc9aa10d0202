import { readFileSync } from 'node:fs';
import { beforeEach, expect, it } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { readLine } from '../../../maintenance/interchange/line.js';
import { undoRestore } from '../../../maintenance/interchange/undo.js';
import { testApp } from '../../support/app.js';
import { useDatabase } from '../../support/database.js';
import { emptied, exported, imported, refusals } from '../../support/interchange.js';
import { givenTag } from '../../support/merge-http.js';
import {
  givenComposition,
  givenEhr,
  givenTemplate,
  versionedObjectUidOf,
  type Json,
} from '../../support/resources.js';

/* Lines that say all item tags which some targets have: docs/spec/interchange.md#item-tags-that-change */

useDatabase();
const app = testApp();
const BATCHES = ['5bff5f1e-3c4f-4a53-a1c9-3a5d5fc4a6d1', '0b9ff11a-6c0f-4c32-9d4f-9b30a1a3c4e2'] as const;
let ehrId = '';
let target = '';
/** All but tags. */
let lines: string[] = [];
let [k, l]: [Json, Json] = [{}, {}];

beforeEach(async () => {
  await emptied();
  await givenTemplate(app);
  ehrId = await givenEhr(app);
  const uid = await givenComposition(app, ehrId);
  target = versionedObjectUidOf(uid);
  for (const key of ['k', 'l']) await givenTag(app, { ehrId, type: 'composition', uid: target }, key);
  await givenTag(app, { ehrId, type: 'composition', uid }, 'of-the-version');
  const all = await exported();
  lines = all.filter((line) => !line.startsWith('{"kind":"item_tag"'));
  [k, l] = all
    .filter((line) => line.includes('"target_version":null'))
    .map((line) => (JSON.parse(line) as Json).item_tag as Json)
    .toSorted((one, other) => (one.key < other.key ? -1 : 1)) as [Json, Json];
  await emptied();
  await imported(all.slice(0, -1), { batch: BATCHES[0] });
});

/** A line that says that the container has these tags. */
function lineOf(...tags: readonly Json[]): string {
  const targets = [{ target, target_type: 'COMPOSITION', target_version: null }];
  return JSON.stringify({ kind: 'item_tags', ehr_id: ehrId, targets, item_tags: tags });
}

/** Keys and values of all tags. */
async function tags(): Promise<unknown[]> {
  return (await exported())
    .filter((line) => line.startsWith('{"kind":"item_tag"'))
    .map((line) => (JSON.parse(line) as Json).item_tag as Json)
    .map(({ key, value }) => `${key}=${value}`)
    .toSorted();
}

it('obeys the schema', () => {
  const schema = JSON.parse(readFileSync('docs/spec/interchange.schema.json', 'utf8')) as object;
  const validate = new Ajv2020({ allErrors: true }).compile(schema);
  expect([validate(JSON.parse(lineOf(k, l))), validate.errors]).toEqual([true, null]);
  expect(validate(JSON.parse(lineOf({ ...k, target_type: 'FOLDER' })))).toBe(false);
});

it.each<[string, () => Json[], string[]]>([
  ['the same', () => [k, l], ['k=v', 'l=v']],
  ['none', () => [], []],
  ['another value', () => [k, { ...l, value: 'w' }], ['k=v', 'l=w']],
  ['another key', () => [k, { ...l, key: 'm' }], ['k=v', 'm=v']],
  [
    'two that have exchanged their keys',
    () => [
      { ...k, key: 'l', value: '1' },
      { ...l, key: 'k', value: '2' },
    ],
    ['k=2', 'l=1'],
  ],
  ['one that has the key of one that went', () => [{ ...k, key: 'l', value: '1' }], ['l=1']],
])('makes what was restored that: %s', async (_, given, found) => {
  const outcomes = await imported([lineOf(...given())], { batch: BATCHES[1] });
  expect(refusals(outcomes)).toEqual([]);
  expect(await tags()).toEqual([...found, 'of-the-version=v'].toSorted());
  const again = await imported([lineOf(...given())], { batch: BATCHES[1] });
  expect(again.map(({ result }) => result)).toEqual(['unchanged']);
  // Nothing of it is of somebody here.
  expect(await undoRestore(BATCHES)).toEqual({ ehrs: 1, kept: [] });
});

it.each<[string, () => Json[], string]>([
  ['a tag of another target', () => [{ ...k, target_version: 1 }], 'must be on the targets of their line'],
  ['an id twice', () => [k, { ...k, key: 'm' }], 'must differ by id'],
  ['a key twice', () => [k, { ...l, key: 'k' }], 'must differ by id'],
  ['no id', () => [{ ...k, id: 'x' }], 'must be a UUID'],
])('cannot be read with %s', (_, given, message) => {
  expect(() => readLine(lineOf(...given()))).toThrow(message);
});

it('is refused where what it is on is not here', async () => {
  await emptied();
  const outcomes = await imported([...lines.slice(0, -2), lineOf(k)]);
  expect(refusals(outcomes)).toEqual([expect.stringContaining('is neither here nor before it')]);
});

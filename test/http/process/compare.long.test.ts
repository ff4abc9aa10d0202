import { readFileSync, writeFileSync } from 'node:fs';
import { beforeAll, expect, it } from '@jest/globals';
import { useDatabase } from '../../support/database.js';
import { emptied } from '../../support/interchange.js';
import type { PeerManners } from '../../support/migrate/old-peer.js';
import { givenOldStore, useMoves, type OldStore } from '../../support/migrate/old-store.js';
import { renamed, sections } from '../../support/migrate/renamed.js';
import type { Json } from '../../support/resources.js';

useDatabase();
const { given, migrated, compared, file } = useMoves();
let store: OldStore;

beforeAll(async () => {
  store = await givenOldStore();
  await emptied();
  expect((await migrated(await given(store.lines, { lists: true }))).code).toBe(0);
});

const OWN = 'SELECT c/name/value FROM COMPOSITION c';
const reportIn = (name: string): Json => JSON.parse(readFileSync(file(name), 'utf8')) as Json;

/** Compares with a server of these lines; gives the exit code and what differs. */
async function differences(
  lines: readonly string[],
  manners: PeerManners,
  ...args: string[]
): Promise<{ readonly code: number | null; readonly stderr: string; readonly found: readonly Json[] }> {
  const { code, stderr } = await compared(await given(lines, manners), '--output', file('found'), ...args);
  const found = readFileSync(file('found'), 'utf8').split('\n').filter(Boolean);
  return { code, stderr, found: found.map((line) => JSON.parse(line) as Json) };
}

it('finds nothing after a migration, and gives the same digest of what is the same', async () => {
  const names = [['Minimal'], ['Minimal']];
  writeFileSync(file('queries'), `${OWN}\n`);
  const args = ['--queries', file('queries'), '--report'];
  const peer = await given(store.lines, { lists: true, rows: { [OWN]: names } });
  const first = await compared(peer, ...args, file('first'));
  expect([first.code === 0 ? '' : first.stderr + first.stdout, first.stdout]).toEqual([
    '',
    '2 EHRs compared, 0 differences\n',
  ]);
  // Nobody may see the seals of that server.
  expect(reportIn('first')).toMatchObject({
    ...{ kind: 'comparison', seal_before: null, result: { ehrs: 2, counts: {}, differences: [] } },
  });
  await compared(peer, ...args, file('again'));
  expect(reportIn('again').answers).toEqual(reportIn('first').answers);
  const { code, found } = await differences(
    store.lines,
    { lists: true, rows: { [OWN]: [['Minimal'], ['Other']] } },
    ...args,
    file('other'),
  );
  expect([code, found]).toEqual([1, [{ kind: 'rows', id: OWN }]]);
  const [one, other] = [reportIn('first').answers, reportIn('other').answers] as [Json, Json];
  expect([one.count === other.count, one.sha256 === other.sha256]).toEqual([true, false]);
});

it('finds what is in a file of queries twice, and counts it twice', async () => {
  const q = 'SELECT COUNT(c/uid/value) FROM EHR e CONTAINS COMPOSITION c';
  writeFileSync(file('queries'), `${q}\n`);
  const args = ['--queries', file('queries'), '--report'];
  const answers: Json[] = [];
  for (const count of [2, 7]) {
    await differences(store.lines, { lists: true, rows: { [q]: [[count]] } }, ...args, file('report'));
    answers.push(reportIn('report').answers as Json);
  }
  expect(answers[0]!.count).toBe(answers[1]!.count);
  expect(answers[0]!.sha256).not.toBe(answers[1]!.sha256);
});

it('finds content, lists of versions, CONTRIBUTIONs and rows that differ', async () => {
  const without = store.lines.filter((line) => !line.includes(store.deleted.replace(/1$/, '2')));
  const changed = without.map((line) =>
    line.startsWith('{"kind":"version"') ? line.replace('"category":', '"categories":') : line,
  );
  const { code, stderr, found } = await differences(changed, { lists: true });
  expect(code).toBe(1);
  // The deletion is missing there, so that one more is alive.
  expect(new Set(found.map(({ kind }) => kind))).toEqual(
    new Set(['version list', 'content', 'CONTRIBUTION', 'rows']),
  );
  expect(stderr).toMatch(/content: \S+ at \/data\/categor/);
});

const of = (kind: string): ((line: string) => boolean) => {
  return (line) => line.startsWith(`{"kind":"${kind}"`);
};
const replaced = (kind: string, from: string | RegExp, to: string) => (lines: readonly string[]) =>
  lines.map((line) => (of(kind)(line) ? line.replace(from, to) : line));

it.each<[string, (lines: readonly string[]) => readonly string[], PeerManners, readonly string[]]>([
  [
    'an EHR is only there',
    (lines) => [...lines.slice(0, -1), ...(sections(lines)[0] ?? []).map((line) => renamed(line, 1, 'p1'))],
    {},
    ['only there', 'rows'],
  ],
  [
    'EHRs are only here',
    (lines) => lines.filter((line) => !line.includes('"ehr_id"')),
    {},
    ['only here', 'rows'],
  ],
  [
    'an EHR was made at another time',
    replaced('ehr', /"time_created":(.*?)"value":"2/, '"time_created":$1"value":"1'),
    {},
    ['EHR'],
  ],
  ['a template has another text', replaced('template', '"opt":"', '"opt":"<!-- other -->'), {}, ['template']],
  [
    'a stored query has another text',
    replaced('stored_query', 'SELECT e FROM EHR e', 'SELECT e FROM EHR e LIMIT 1'),
    {},
    ['stored query'],
  ],
  [
    'a stored query has another name',
    replaced('stored_query', '::all', '::others'),
    {},
    ['only here', 'only there'],
  ],
  [
    'a directory that has no history differs',
    replaced('version', '"third"', '"other"'),
    { hidesDirectories: true },
    ['directory'],
  ],
  [
    'item tags, of which there were none when it was read',
    (lines) => lines,
    { hasTags: true },
    ['item tags'],
  ],
])('finds that %s', async (_, change, manners, kinds) => {
  const { code, found } = await differences(change(store.lines), { lists: true, ...manners });
  expect(code).toBe(1);
  expect([...new Set(found.map(({ kind }) => kind as string))].toSorted()).toEqual(kinds);
});

import { readFileSync, writeFileSync } from 'node:fs';
import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import request from 'supertest';
import { useDatabase } from '../../support/database.js';
import { emptied, exported } from '../../support/interchange.js';
import { firstSeed } from '../../support/laws.js';
import { givenUpdate } from '../../support/merge-http.js';
import { answersTo, questionsOf } from '../../support/migrate/answers.js';
import {
  givenOldStore,
  here,
  movable,
  OPEN,
  SYSTEM,
  there,
  useMoves,
  type OldStore,
} from '../../support/migrate/old-store.js';
import { renamed, sections } from '../../support/migrate/renamed.js';
import { Random } from '../../support/random.js';
import {
  aComposition,
  givenComposition,
  givenEhr,
  givenTemplate,
  V1,
  versionedObjectUidOf,
  type Json,
} from '../../support/resources.js';

/* Passes of a migration that are stopped, that follow one another, and that read while somebody writes. */

useDatabase();
const { given, migrated, compared, file } = useMoves();
let store: OldStore;
let questions: string[] = [];
let answers: string[] = [];

beforeAll(async () => {
  store = await givenOldStore();
  questions = questionsOf(store.lines).filter((question) => question.includes('revision_history'));
  answers = await answersTo(there, questions);
});
beforeEach(() => emptied());

const inOrder = (lines: readonly string[]): string[] => movable(lines).toSorted();
const reportIn = (name: string): Json => JSON.parse(readFileSync(file(name), 'utf8')) as Json;

/** Lets nobody read an EHR after so many. */
function refusingAfter(ehrs: number): (path: string) => boolean {
  let read = 0;
  return (path) => path.includes('?include=') && ++read > ehrs;
}

it('goes on after it was stopped, wherever that was', async () => {
  const random = new Random(firstSeed());
  const whole = await given(store.lines, OPEN);
  expect((await migrated(whole)).code).toBe(0);
  for (let round = 0; round < 3; round += 1) {
    await emptied();
    const last = 1 + random.below(whole.asked.length);
    let isOpen = false;
    let asked = 0;
    const peer = await given(store.lines, { ...OPEN, refuses: () => !isOpen && ++asked >= last });
    expect([last, (await migrated(peer)).code]).toEqual([last, 1]);
    isOpen = true;
    const { code, stderr } = await migrated(peer);
    expect([last, code === 0 ? '' : stderr]).toEqual([last, '']);
    expect([last, movable(await exported())]).toEqual([last, movable(store.lines)]);
  }
});

describe('a pass that was stopped', () => {
  let many: string[] = [];
  const COUNT = 12;
  beforeAll(() => {
    const [small = []] = sections(store.lines).filter(
      (one) => !one.some((line) => line.includes(store.ehrId)),
    );
    const others = Array.from({ length: COUNT - 2 }, (_, index) =>
      small.map((line) => renamed(line, index, 'p2')),
    );
    many = [...store.lines.slice(0, -1), ...others.flat()];
  });

  it.each<[string, readonly string[], readonly string[]]>([
    ['one of EHRs that were changed', ['--since', '2020-01-01T00:00:00Z'], []],
    ['one since another time', ['--since', '2020-01-01T00:00:00Z'], ['--since', '2021-01-01T00:00:00Z']],
    ['a strict one', [], ['--lenient']],
    ['one that keeps subjects', [], ['--subject', 'drop']],
  ])('leaves nothing out of another one: %s', async (_, first, second) => {
    const stopped = await given(many, { ...OPEN, refuses: refusingAfter(10) });
    expect((await migrated(stopped, '--parallel', '1', ...first)).code).toBe(1);
    // As the same server, at the same address.
    const progress = JSON.parse(readFileSync(file('progress'), 'utf8')) as { after: string; pass: Json };
    expect(progress.after).toMatch(/\S/);
    const peer = await given(many, OPEN);
    writeFileSync(
      file('progress'),
      JSON.stringify({ ...progress, pass: { ...progress.pass, from: peer.url } }),
    );
    const last = await migrated(peer, ...second);
    expect([last.code, last.stderr]).toEqual([0, expect.stringContaining('this one begins anew')]);
    expect(last.stdout).toContain(`\n${COUNT} EHRs read\n`);
    expect(inOrder(await exported())).toEqual(inOrder(many));
  });

  it('leaves nothing out of one of another server', async () => {
    const stopped = await given(many, { ...OPEN, refuses: refusingAfter(10) });
    expect((await migrated(stopped, '--parallel', '1')).code).toBe(1);
    const last = await migrated(await given(many, OPEN));
    expect([last.code, last.stderr]).toEqual([0, expect.stringContaining(`from: ${stopped.url}`)]);
    expect(inOrder(await exported())).toEqual(inOrder(many));
  });

  it('is one with what goes on of it, in its report too', async () => {
    let isOpen = false;
    const refuses = refusingAfter(10);
    const peer = await given(many, { ...OPEN, refuses: (path) => !isOpen && refuses(path) });
    const report = ['--parallel', '1', '--report', file('report')];
    expect((await migrated(peer, ...report)).code).toBe(1);
    const between = new Date().toISOString();
    const head = `1:${'a'.repeat(64)}`;
    const progress = JSON.parse(readFileSync(file('progress'), 'utf8')) as Json;
    writeFileSync(file('progress'), JSON.stringify({ ...progress, sealBefore: head }));
    isOpen = true;
    const last = await migrated(peer, ...report);
    expect([last.code, last.stderr]).toEqual([0, expect.stringContaining('going on after EHR')]);
    expect(inOrder(await exported())).toEqual(inOrder(many));
    const resumed = reportIn('report');
    expect(resumed).toMatchObject({ seal_before: head, result: { runs: 2, ehrs: COUNT, failed: 0 } });
    expect(resumed.from < between).toBe(true);
    await emptied();
    expect((await migrated(await given(many, OPEN), ...report)).code).toBe(0);
    expect(resumed.answers.count).toBeGreaterThanOrEqual(reportIn('report').answers.count);
  });
});

it('reads with --since the EHRs that were changed', async () => {
  const peer = await given(store.lines);
  expect((await migrated(peer, '--since', store.between)).stdout).toMatch(/1 EHRs read/);
  expect((await migrated(peer)).stdout).toMatch(/2 EHRs read/);
});

it('takes what was deleted there after a pass, though nothing lists it any more', async () => {
  const { lines, ehrId, deleted } = store;
  const isDeletion = (line: string): boolean => line.includes(deleted.replace(/1$/, '2'));
  const peer = await given(
    lines.filter((line) => !isDeletion(line)),
    { hidesDeletions: true },
  );
  expect((await migrated(peer)).code).toBe(0);
  const path = `${V1}/ehr/${ehrId}/composition/${versionedObjectUidOf(deleted)}`;
  expect((await request(here).get(path)).status).toBe(200);
  peer.holds(lines);
  const last = await migrated(peer);
  expect(last.code === 0 ? '' : last.stderr).toBe('');
  expect((await request(here).get(path)).status).toBe(204);
  expect(await answersTo(here, questions)).toEqual(answers);
});

describe('item tags', () => {
  const isTag = (line: string): boolean => line.startsWith('{"kind":"item_tag"');
  const isLatest = (line: string): boolean =>
    line.startsWith('{"kind":"version"') && line.includes(`::${SYSTEM}::3`) && line.includes('COMPOSITION');
  const withTag = (change: (tag: string) => string[]): string[] =>
    store.lines.flatMap((line) => (isTag(line) ? change(line) : line));
  const tagsHere = async (): Promise<Json[]> =>
    (await request(here).get(`${V1}/ehr/${store.ehrId}/tags`)).body as Json[];
  const differences = async (lines: readonly string[]): Promise<string> =>
    (await compared(await given(lines, OPEN))).stdout;

  it.each<[string, (tag: string) => string[], readonly string[]]>([
    ['another value', (tag) => [tag.replace('"value":"v"', '"value":"w"')], ['w']],
    ['no tag', () => [], []],
    ['another key', (tag) => [tag.replace('"key":"k"', '"key":"l"')], ['v']],
    ['another tag', (tag) => [renamedId(tag).replace('"value":"v"', '"value":"w"')], ['w']],
    ['one more', (tag) => [tag, renamedId(tag).replace('"key":"k"', '"key":"l"')], ['v', 'v']],
  ])('follow the old server, and hold back no version: %s', async (_, change, values) => {
    const peer = await given(
      store.lines.filter((line) => !isLatest(line)),
      OPEN,
    );
    expect((await migrated(peer)).code).toBe(0);
    expect((await tagsHere()).map(({ value }) => value)).toEqual(['v']);
    const lines = withTag(change);
    peer.holds(lines);
    const last = await migrated(peer);
    expect(last.code === 0 ? '' : last.stderr).toBe('');
    expect((await tagsHere()).map(({ value }) => value)).toEqual(values);
    expect(await differences(lines)).toBe('2 EHRs compared, 0 differences\n');
    expect((await migrated(peer)).stdout).toMatch(/\n0 imported, \d+ there already, 0 failed/);
  });

  it('that somebody has changed here stay, are named, and hold back no version', async () => {
    const peer = await given(
      store.lines.filter((line) => !isLatest(line)),
      OPEN,
    );
    expect((await migrated(peer)).code).toBe(0);
    const [{ target }] = (await tagsHere()) as [Json];
    const path = `/rest/experimental/tags/ehr/${store.ehrId}/composition/${target.value}/item_tag`;
    const [{ id }] = (await request(here).get(path)).body as [Json];
    await request(here)
      .put(path)
      .send([{ id, key: 'k', value: 'ours' }, { key: 'more' }])
      .expect(200);
    peer.holds(withTag((tag) => [tag.replace('"value":"v"', '"value":"w"')]));
    const last = await migrated(peer);
    expect([last.code, last.stderr]).toEqual([
      1,
      expect.stringContaining('somebody has written another one'),
    ]);
    expect((await tagsHere()).map(({ key, value }) => [key, value])).toEqual([
      ['k', 'ours'],
      ['more', undefined],
    ]);
    expect((await exported()).filter(isLatest)).toHaveLength(1);
    // It went there; what was written here stays.
    peer.holds(withTag(() => []));
    expect((await migrated(peer)).code).toBe(0);
    expect(await tagsHere()).toHaveLength(2);
  });
});

/** A line with another id of its tag. */
function renamedId(line: string): string {
  const [id = ''] = /[0-9a-f-]{36}/.exec(line.slice(line.indexOf('"id":"'))) ?? [];
  return line.replace(id, id.startsWith('0') ? id.replace('0', '1') : id.replace(/./, '0'));
}

it.each([true, false])(
  'reads an EHR again in which a CONTRIBUTION came of which it had read a part: %j',
  async (lists) => {
    await emptied(SYSTEM);
    await givenTemplate(there);
    const ehrId = await givenEhr(there);
    const uids = [await givenComposition(there, ehrId), await givenComposition(there, ehrId)].toSorted();
    const before = await exported();
    await givenJoint(ehrId, uids);
    const joint = await exported();
    await givenUpdate(there, ehrId, uids[1]!.replace(/1$/, '2'), aComposition());
    const after = await exported();
    await emptied();
    let histories = 0;
    const peer = await given(before, {
      ...OPEN,
      lists,
      onAsked: (_count, path) => {
        // The first COMPOSITION was read when it comes.
        if (path.includes('versioned_composition') && path.endsWith('revision_history')) histories += 1;
        if (histories === 2) peer.holds(joint);
      },
    });
    const first = await migrated(peer);
    expect(first.code === 0 ? '' : first.stderr).toBe('');
    expect(movable(await exported())).toEqual(movable(joint));
    peer.holds(after);
    const second = await migrated(peer);
    expect(second.code === 0 ? '' : second.stderr).toBe('');
    expect(movable(await exported())).toEqual(movable(after));
  },
);

it('leaves an EHR to the next pass that changes each time that it is read, and brings the others', async () => {
  await emptied(SYSTEM);
  await givenTemplate(there);
  const other = await givenEhr(there);
  await givenComposition(there, other);
  const ehrId = await givenEhr(there);
  let uids = [await givenComposition(there, ehrId), await givenComposition(there, ehrId)].toSorted();
  const states = [await exported()];
  for (let reads = 1; reads <= 5; reads += 1) {
    await givenJoint(ehrId, uids);
    uids = uids.map((uid) => uid.replace(/\d+$/, String(reads + 1)));
    states.push(await exported());
  }
  await emptied();
  let [histories, reads] = [0, 0];
  const peer = await given(states[0]!, {
    ...OPEN,
    onAsked: (_count, path) => {
      if (path.includes(`${ehrId}?include=`)) [histories, reads] = [0, reads + 1];
      if (!path.includes(`${ehrId}/versioned_composition`) || !path.endsWith('revision_history')) return;
      histories += 1;
      if (histories === 2) peer.holds(states[reads] ?? states.at(-1)!);
    },
  });
  const first = await migrated(peer, '--errors', file('changing'));
  expect([first.code, reads]).toEqual([1, 5]);
  expect(readFileSync(file('changing'), 'utf8')).toContain('changed each time that it was read');
  expect((await request(here).get(`${V1}/ehr/${other}`)).status).toBe(200);
  expect((await request(here).get(`${V1}/ehr/${ehrId}`)).status).toBe(404);
  const second = await migrated(peer);
  expect(second.code === 0 ? '' : second.stderr).toBe('');
  expect(movable(await exported()).toSorted()).toEqual(movable(states.at(-1)!).toSorted());
});

/** Two COMPOSITIONs get a version each in one CONTRIBUTION. */
async function givenJoint(ehrId: string, uids: readonly string[]): Promise<void> {
  const versions = uids.map((uid) => ({
    _type: 'ORIGINAL_VERSION',
    preceding_version_uid: { _type: 'OBJECT_VERSION_ID', value: uid },
    commit_audit: { change_type: term('modification', '251'), committer: { _type: 'PARTY_SELF' } },
    lifecycle_state: term('complete', '532'),
    data: aComposition(),
  }));
  const audit = { change_type: term('modification', '251'), committer: { _type: 'PARTY_SELF' } };
  const { status, text } = await request(there)
    .post(`${V1}/ehr/${ehrId}/contribution`)
    .send({ versions, audit });
  expect([status, status === 201 ? '' : text]).toEqual([201, '']);
}

function term(value: string, code: string): Json {
  return {
    _type: 'DV_CODED_TEXT',
    value,
    defining_code: {
      _type: 'CODE_PHRASE',
      terminology_id: { _type: 'TERMINOLOGY_ID', value: 'openehr' },
      code_string: code,
    },
  };
}

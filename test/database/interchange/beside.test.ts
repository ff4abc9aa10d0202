import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { exportInterchange } from '../../../maintenance/interchange/export.js';
import { testApp } from '../../support/app.js';
import { useDatabase } from '../../support/database.js';
import { emptied, exported, imported, refusals } from '../../support/interchange.js';
import { admin, givenMergeTemplates, merge, statusOf, unmerge } from '../../support/merge-http.js';
import { givenComposition, givenEhr, versionedObjectUidOf } from '../../support/resources.js';
import { WITH_ADMIN } from '../../support/tokens.js';

useDatabase();
const app = testApp({ ...WITH_ADMIN, mergeStepsFrom: 100 });

/** Ids in their order: what is done when the middle one was written is before the turn of the last, after that of the first. */
let ids: string[] = [];
let objects = new Map<string, string>();
beforeEach(async () => {
  await emptied();
  await givenMergeTemplates(app);
  ids = [];
  for (let n = 0; n < 4; n += 1) ids.push(await givenEhr(app, statusOf(randomUUID())));
  ids.sort();
  objects = new Map();
  for (const ehrId of ids) objects.set(ehrId, versionedObjectUidOf(await givenComposition(app, ehrId)));
});

const at = (index: number): string => ids[index] ?? '';
const objectOf = (index: number): string => objects.get(at(index)) ?? '';
async function done(asked: PromiseLike<{ readonly status: number; readonly text: string }>): Promise<void> {
  const { status, text } = await asked;
  if (status >= 300) throw new Error(`${status} ${text}`);
}
const move = (from: number, to: number) =>
  done(
    admin(app, 'post', `/ehr/${at(from)}/composition/${objectOf(from)}/move`).send({ target_ehr: at(to) }),
  );

interface Beside {
  readonly before?: () => Promise<void>;
  readonly event: () => Promise<void>;
  /** EHRs that are missing by their places, with what is said of them. */
  readonly missing: Readonly<Record<number, string>>;
  /** Those whose EHR and COMPOSITION are in the file. */
  readonly there: readonly number[];
}

const CASES: readonly (readonly [string, Beside])[] = [
  [
    'an EHR is erased before its turn',
    {
      event: () => done(admin(app, 'delete', `/ehr/${at(2)}`)),
      missing: { 2: 'it was erased' },
      there: [0, 1, 3],
    },
  ],
  [
    'an EHR is erased after its turn',
    { event: () => done(admin(app, 'delete', `/ehr/${at(0)}`)), missing: {}, there: [0, 1, 2, 3] },
  ],
  [
    'an object is erased before its turn',
    {
      event: () => done(admin(app, 'delete', `/ehr/${at(3)}/composition/${objectOf(3)}`)),
      missing: {},
      there: [0, 1, 2],
    },
  ],
  [
    'an EHR is merged into one that was written',
    { event: () => done(merge(app, at(2), at(0))), missing: { 2: 'it was merged into' }, there: [0, 1, 3] },
  ],
  [
    'one that was written is merged into a later one',
    { event: () => done(merge(app, at(0), at(2))), missing: { 2: 'content went between' }, there: [0, 1, 3] },
  ],
  [
    'one that is still to come is merged into another of those',
    { event: () => done(merge(app, at(2), at(3))), missing: {}, there: [0, 1, 2, 3] },
  ],
  [
    'two that were written are merged',
    { event: () => done(merge(app, at(0), at(1))), missing: {}, there: [0, 1, 2, 3] },
  ],
  [
    'an EHR is taken out of one that was written',
    {
      before: () => done(merge(app, at(2), at(0))),
      event: () => done(unmerge(app, at(2), at(0))),
      missing: { 2: 'content went between' },
      there: [0, 1, 2, 3],
    },
  ],
  [
    'an EHR with a lower id is taken out of one that is still to come',
    {
      before: () => done(merge(app, at(0), at(3))),
      event: () => done(unmerge(app, at(0), at(3))),
      missing: {},
      there: [0, 1, 2, 3],
    },
  ],
  [
    'a COMPOSITION is moved into an EHR that was written',
    { event: () => move(2, 0), missing: { 2: 'content went between' }, there: [0, 1, 3] },
  ],
  [
    'a COMPOSITION is moved out of an EHR that was written',
    { event: () => move(0, 2), missing: { 2: 'content went between' }, there: [0, 1, 3] },
  ],
  [
    'a COMPOSITION is moved between two that are still to come',
    { event: () => move(2, 3), missing: {}, there: [0, 1, 2, 3] },
  ],
];

describe('an export of all versions', () => {
  it.each(CASES)('is whole, or names what is missing, and is restored, when %s', async (_, beside) => {
    await beside.before?.();
    let text = '';
    let turns = 0;
    const onEhr = (): void => void (turns += 1);
    let isDone = false;
    const write = async (piece: string): Promise<void> => {
      text += piece;
      // The first is written, the second being written, from what was read before.
      if (turns < 1 || isDone) return;
      isDone = true;
      await beside.event();
    };
    const { missing } = await exportInterchange({ ehrIds: null, since: null }, { write, onEhr });
    expect(isDone).toBe(true);
    const expected = Object.entries(beside.missing).map(([index, reason]) =>
      expect.stringMatching(`^EHR ${at(Number(index))} is not exported: meanwhile ${reason}`),
    );
    expect(missing).toEqual(expected);
    const lines = text.trimEnd().split('\n');
    for (const index of beside.there)
      expect([index, lines.some((line) => line.includes(`${objectOf(index)}::`))]).toEqual([index, true]);
    expect(lines.at(-1)).toContain('"kind":"end"');
    await emptied();
    expect(refusals(await imported(lines))).toEqual([]);
    expect((await exported()).length).toBe(lines.length);
  });
});

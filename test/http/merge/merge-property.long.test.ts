import { beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import mongoose from 'mongoose';
import { verifyStorage } from '../../../maintenance/verify.js';
import type { VersionDoc } from '../../../models/version.js';
import { testApp } from '../../support/app.js';
import { clinicalState, expectRestored, recordState } from '../../support/merge/clinical-state.js';
import { useDatabase } from '../../support/database.js';
import { givenMergeTemplates, merge, rows, unmerge } from '../../support/merge-http.js';
import { runStep, steps, type Step } from '../../support/merge/random-record.js';
import { givenEhr } from '../../support/resources.js';
import { WITH_ADMIN } from '../../support/tokens.js';

/** `MERGE_RUNS=200` for a long look. */
const RUNS = Number(process.env['MERGE_RUNS'] ?? 8);

useDatabase();
const app = testApp(WITH_ADMIN);
beforeAll(() => givenMergeTemplates(app));

type Pair = readonly [string, string];

async function givenPair(script: readonly Step[]): Promise<Pair> {
  for (const name of ['ehrs', 'versions', 'versioned_objects', 'contributions', 'aql', 'item_tags']) {
    await mongoose.connection.collection(name).deleteMany({});
  }
  for (const name of ['merge_records', 'merge_archive', 'merge_history'])
    await mongoose.connection.collection(name).deleteMany({});
  const pair = [await givenEhr(app), await givenEhr(app)] as const;
  for (const step of script) await runStep(pair, step);
  return pair;
}

const modes = fc.record({
  folder_merge: fc.constantFrom('BASIC', 'COPY'),
  composition_merge: fc.constantFrom('BASIC', 'PERSISTENT'),
  reversible: fc.boolean(),
});

/** Every VERSION of a COMPOSITION, as it is but for its owner. */
async function compositions(): Promise<Map<string, string>> {
  const found = mongoose.connection.collection<VersionDoc>('versions').find({ type: 'COMPOSITION' });
  const all = new Map<string, string>();
  for await (const version of found) all.set(version._id, JSON.stringify({ ...version, ehr_id: '' }));
  return all;
}

async function counts(target: string): Promise<{ readonly latest: number; readonly all: number }> {
  const latest = await rows(app, 'SELECT c/uid/value FROM EHR e CONTAINS COMPOSITION c', target);
  const all = await rows(
    app,
    'SELECT c/uid/value FROM EHR e CONTAINS VERSION v[all_versions] CONTAINS COMPOSITION c',
    target,
  );
  return { latest: latest.length, all: all.length };
}

async function expectSound(): Promise<void> {
  expect((await verifyStorage()).violations).toEqual([]);
}

describe('whatever two EHRs hold', () => {
  it('a merge in any mode loses nothing, and an unmerge puts everything back', async () => {
    await fc.assert(
      fc.asyncProperty(steps(16), modes, async (script, mode) => {
        const [source, target] = await givenPair(script);
        await expectSound();
        const before = await clinicalState([source, target]);
        const record = await recordState([source, target]);
        const versions = await compositions();
        const counted = [await counts(source), await counts(target)];
        const rehearsed = await merge(app, source, target, { ...mode, dry_run: true });
        expect(await clinicalState([source, target])).toEqual(before);

        const merged = await merge(app, source, target, mode);
        expect([merged.status, `DRY RUN: ${String(merged.body.outcome.summary)}`]).toEqual([
          200,
          rehearsed.body.outcome.summary,
        ]);
        await expectSound();
        const after = await compositions();
        for (const [uid, version] of versions) expect([uid, after.get(uid)]).toEqual([uid, version]);
        const joined = Number(/(\d+) joined/.exec(String(merged.body.outcome.summary))![1]);
        expect(after.size - versions.size).toBe(2 * joined);
        expect(await counts(target)).toEqual({
          latest: counted[0]!.latest + counted[1]!.latest - joined,
          all: counted[0]!.all + counted[1]!.all + joined,
        });

        const undone = await unmerge(app, source, target);
        if (!mode.reversible) {
          expect([undone.status, undone.body.reasons]).toEqual([409, ['the merge was not reversible']]);
          return;
        }
        expect(undone.status).toBe(200);
        await expectRestored(record, [source, target]);
        await expectSound();
      }),
      { numRuns: RUNS },
    );
  }, 3_600_000);

  it('and whatever is written in between: an unmerge is refused with reasons or keeps it all', async () => {
    await fc.assert(
      fc.asyncProperty(steps(10), steps(5), modes, async (script, since, mode) => {
        const [source, target] = await givenPair(script);
        await merge(app, source, target, { ...mode, reversible: true });
        const written: string[] = [];
        for (const step of since) written.push(...(await runStep([target, target], step)));
        await expectSound();
        const before = await compositions();
        const undone = await unmerge(app, source, target);
        await expectSound();
        const after = await compositions();
        if (undone.status === 409) {
          expect(undone.body.reasons.length).toBeGreaterThan(0);
          expect(after).toEqual(before);
          return;
        }
        expect(undone.status).toBe(200);
        const stored = await mongoose.connection.collection('versions').distinct('_id');
        const kept = new Set(stored.map(String));
        expect(written.filter((uid) => !kept.has(uid))).toEqual([]);
        for (const [uid, version] of before) expect([uid, after.get(uid)]).toEqual([uid, version]);
        expect((await merge(app, source, target, mode)).status).toBe(200);
        await expectSound();
      }),
      { numRuns: RUNS },
    );
  }, 3_600_000);
});

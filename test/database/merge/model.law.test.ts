import { createHash } from 'node:crypto';
import { beforeAll, expect, it } from '@jest/globals';
import fc from 'fast-check';
import mongoose from 'mongoose';
import { CdrError } from '../../../openehr/base/errors.js';
import { changeContext } from '../../../change/commit/context.js';
import { verifyStorage } from '../../../maintenance/verify.js';
import { mergeEhrs } from '../../../merge/merge.js';
import { moveComposition } from '../../../merge/move-composition.js';
import { unmergeEhrs } from '../../../merge/unmerge/unmerge.js';
import type { EhrDoc } from '../../../models/ehr.js';
import type { ItemTagDoc } from '../../../models/item-tag.js';
import { versionsByUid, type VersionDoc } from '../../../models/version.js';
import type { VersionedObjectDoc } from '../../../models/versioned-object.js';
import { testApp } from '../../support/app.js';
import { useDatabase } from '../../support/database.js';
import { givenMergeTemplates } from '../../support/merge-http.js';
import { draws, firstSeed } from '../../support/laws.js';
import { runStep, steps, type Step } from '../../support/merge/random-record.js';
import { givenEhr } from '../../support/resources.js';
import { testSettings } from '../../support/settings.js';
import { WITH_ADMIN } from '../../support/tokens.js';

const RUNS = draws({ small: 5, full: 2_000 });
const EHRS = 3;

useDatabase();
const app = testApp(WITH_ADMIN);
beforeAll(() => givenMergeTemplates(app));

type Event =
  | { readonly kind: 'write'; readonly ehr: number; readonly step: Step }
  | {
      readonly kind: 'merge';
      readonly source: number;
      readonly target: number;
      readonly modes: {
        readonly folderMerge: 'BASIC' | 'COPY';
        readonly compositionMerge: 'BASIC' | 'PERSISTENT';
      };
    }
  | { readonly kind: 'unmerge'; readonly pick: number; readonly choice: 'take_back' | null }
  | { readonly kind: 'move'; readonly pick: number; readonly target: number };

const ehrs = fc.nat({ max: EHRS - 1 });
const step = steps(1).filter((all) => all.length === 1);
const events: fc.Arbitrary<Event[]> = fc.array(
  fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({
        kind: fc.constant('write' as const),
        ehr: ehrs,
        step: step.map(([one]) => one!),
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({
        kind: fc.constant('merge' as const),
        source: ehrs,
        target: ehrs,
        modes: fc.record({
          folderMerge: fc.constantFrom('BASIC' as const, 'COPY' as const),
          compositionMerge: fc.constantFrom('BASIC' as const, 'PERSISTENT' as const),
        }),
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({
        kind: fc.constant('unmerge' as const),
        pick: fc.nat({ max: 9 }),
        choice: fc.constantFrom('take_back' as const, 'take_back' as const, null),
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({ kind: fc.constant('move' as const), pick: fc.nat({ max: 99 }), target: ehrs }),
    },
  ),
  { minLength: 6, maxLength: 14 },
);

const documents = <T extends object>(name: string): mongoose.mongo.Collection<T> =>
  mongoose.connection.collection<T>(name);

/** What there should be, in a few lines: who owns what, which merges stand, and what every version uid ever meant. */
class Model {
  readonly owner = new Map<string, string>();
  readonly mergedInto = new Map<string, string>();
  readonly merges: { readonly source: string; readonly target: string; readonly moved: readonly string[] }[] =
    [];
  readonly contents = new Map<string, string>();

  constructor(readonly ehrIds: readonly string[]) {}

  isActive(ehrId: string): boolean {
    return !this.mergedInto.has(ehrId);
  }

  of(ehrId: string): string[] {
    return [...this.owner].filter(([, owner]) => owner === ehrId).map(([id]) => id);
  }

  merge(source: string, target: string): void {
    const moved = this.of(source);
    for (const id of moved) this.owner.set(id, target);
    this.mergedInto.set(source, target);
    this.merges.push({ source, target, moved });
  }

  unmerge(source: string): void {
    const index = this.merges.findIndex((merge) => merge.source === source);
    const [merge] = this.merges.splice(index, 1);
    this.mergedInto.delete(source);
    for (const id of merge!.moved) if (this.owner.get(id) === merge!.target) this.owner.set(id, source);
  }
}

const hash = (text: string | null): string =>
  createHash('sha256')
    .update(text ?? '')
    .digest('hex');

/** The database beside the model. */
async function expectAsModel(model: Model): Promise<void> {
  const owned = { ehr_id: { $in: [...model.ehrIds] } };
  const stored = await documents<VersionDoc>('versions')
    .find(owned, { projection: { _id: 1 } })
    .toArray();
  const versions = await versionsByUid(stored.map(({ _id }) => _id));
  for (const { _id, data } of versions) {
    const meant = model.contents.get(_id) ?? hash(data);
    expect([_id, hash(data)]).toEqual([_id, meant]);
    model.contents.set(_id, meant);
  }
  const compositions = await documents<VersionedObjectDoc>('versioned_objects')
    .find({ ...owned, type: 'COMPOSITION' })
    .toArray();
  expect(Object.fromEntries(compositions.map(({ _id, ehr_id: owner }) => [_id, owner]))).toEqual(
    Object.fromEntries(model.owner),
  );
  for (const { type, object_id: id, ehr_id: owner } of versions)
    if (type === 'COMPOSITION') expect([id, owner]).toEqual([id, model.owner.get(id)]);
  const numbers = compositions.map(({ latest_version: number }) => number).reduce((sum, one) => sum + one, 0);
  expect(versions.filter(({ type }) => type === 'COMPOSITION')).toHaveLength(numbers);
  const tags = await documents<ItemTagDoc>('item_tags').find({ target_type: 'COMPOSITION' }).toArray();
  for (const { target, owner_id: owner } of tags)
    expect([target, owner]).toEqual([target, model.owner.get(target)]);
  const states = await documents<EhrDoc>('ehrs').find().toArray();
  for (const { _id, merged_into: target } of states)
    expect([_id, target]).toEqual([_id, model.mergedInto.get(_id)]);
}

/** Whether it was done; a refusal has to be one of those that the contract knows. */
async function wasDone(work: () => Promise<unknown>): Promise<boolean> {
  try {
    await work();
    return true;
  } catch (error) {
    if (error instanceof CdrError && (error.code === 'conflict' || error.code === 'not-found')) return false;
    throw error;
  }
}

// One branch for each kind of event.
// eslint-disable-next-line complexity
async function run(model: Model, event: Event, stepsFrom: number): Promise<void> {
  const context = { change: changeContext(testSettings()), retries: 3, stepsFrom };
  const common = { dryRun: false, committer: 'model', motive: {} };
  if (event.kind === 'write') {
    const ehrId = model.ehrIds[event.ehr]!;
    if (!model.isActive(ehrId)) return;
    const uids = await runStep([ehrId, ehrId], event.step);
    const made = await documents<VersionDoc>('versions')
      .find({ _id: { $in: uids }, type: 'COMPOSITION' } as object)
      .toArray();
    for (const { object_id: id } of made) if (!model.owner.has(id)) model.owner.set(id, ehrId);
  } else if (event.kind === 'merge') {
    const [sourceEhr, targetEhr] = [model.ehrIds[event.source]!, model.ehrIds[event.target]!];
    if (sourceEhr === targetEhr) return;
    const resolutions = { compositions: new Map(), ehrStatus: new Map() };
    const request = { ...common, ...event.modes, sourceEhr, targetEhr, reversible: true, resolutions };
    const isAllowed = model.isActive(sourceEhr) && model.isActive(targetEhr);
    expect(await wasDone(() => mergeEhrs(context, request))).toBe(isAllowed);
    if (isAllowed) model.merge(sourceEhr, targetEhr);
  } else if (event.kind === 'unmerge') {
    const standing = model.merges[event.pick % Math.max(1, model.merges.length)];
    if (standing === undefined) return;
    const { source: sourceEhr, target: targetEhr } = standing;
    const request = { ...common, sourceEhr, targetEhr, onConflict: event.choice };
    const isDone = await wasDone(() => unmergeEhrs(context, request));
    if (!model.isActive(targetEhr)) expect(isDone).toBe(false);
    else if (event.choice === 'take_back') expect(isDone).toBe(true);
    if (isDone) model.unmerge(sourceEhr);
  } else {
    const [id, sourceEhr] = [...model.owner][event.pick % Math.max(1, model.owner.size)] ?? [];
    const targetEhr = model.ehrIds[event.target]!;
    if (id === undefined || sourceEhr === undefined || sourceEhr === targetEhr) return;
    const request = { sourceEhr, targetEhr, versionedObjectUid: id, dryRun: false, committer: 'model' };
    const isDone = await wasDone(() => moveComposition(context, request));
    if (!model.isActive(targetEhr)) expect(isDone).toBe(false);
    if (isDone) model.owner.set(id, targetEhr);
  }
}

it('whatever is written, merged, taken back and moved: the EHRs are as a small model says, a version uid means one content', async () => {
  await fc.assert(
    fc.asyncProperty(
      events,
      fc.constantFrom(...Array.from({ length: 10 }, (_, one) => (one === 0 ? 0 : 1_000))),
      async (script, stepsFrom) => {
        for (const name of ['ehrs', 'versions', 'versioned_objects', 'contributions', 'aql', 'item_tags'])
          await documents(name).deleteMany({});
        for (const name of ['merge_records', 'merge_archive', 'merge_history', 'merge_jobs', 'removals'])
          await documents(name).deleteMany({});
        const model = new Model(await Promise.all(Array.from({ length: EHRS }, () => givenEhr(app))));
        for (const event of script) {
          await run(model, event, stepsFrom);
          await expectAsModel(model);
        }
        expect((await verifyStorage()).violations).toEqual([]);
      },
    ),
    { numRuns: RUNS, seed: firstSeed() },
  );
}, 3_600_000);

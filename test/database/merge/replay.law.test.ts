import { randomUUID } from 'node:crypto';
import { beforeAll, expect, it } from '@jest/globals';
import { changeContext } from '../../../change/commit/context.js';
import { verifyStorage } from '../../../maintenance/verify.js';
import { repairMerges } from '../../../merge/repair.js';
import { testApp } from '../../support/app.js';
import { useDatabase } from '../../support/database.js';
import { draws, seeds } from '../../support/laws.js';
import { admin, givenMergeTemplates, unmerge as ask } from '../../support/merge-http.js';
import { World, type Edit, type MergeStep, type Original } from '../../support/merge/replay-world.js';
import { Random } from '../../support/random.js';
import { answered, type Json } from '../../support/resources.js';
import { testSettings } from '../../support/settings.js';
import { WITH_ADMIN } from '../../support/tokens.js';

/** Scripts. */
const SIZES = { small: 6, full: 1_000 };

/** Scripts at once: each waits for the database, or for a merge in steps, most of its time. */
const LANES = 4;

/** Scripts that failed, shown before the law gives up. */
const SHOWN = Number(process.env['LAW_SHOWN'] ?? 3);

useDatabase();
const apps = { whole: testApp(WITH_ADMIN), steps: testApp({ ...WITH_ADMIN, mergeStepsFrom: 0 }) };
beforeAll(() => givenMergeTemplates(apps.whole));

const unmerge = (...args: Parameters<typeof ask>): ReturnType<typeof answered> =>
  answered(() => ask(...args));

/** What was done and counts: a merge that stands, or what a person did. */
type Done = MergeStep | Edit;

/** What an unmerge was told, and what stood before it. */
interface TakenBack {
  readonly onConflict: Json;
  readonly directory: string | null;
  readonly joined: ReadonlyMap<string, string>;
}

/** One script: what was done, and what of it has to be left out once a merge is taken back. */
class Script {
  readonly done: Done[] = [];
  /** Merges that were taken back. */
  undone = 0;
  /** The last merge that another one made since was in the way of. */
  inTheWay: MergeStep | null = null;
  /** Texts of versions that persons made and an undo gave to another object. */
  readonly taken = new Set<string>();
  readonly random: Random;
  readonly originals: Original[];
  readonly world: World;

  constructor(
    readonly seed: number,
    readonly app = apps.whole,
  ) {
    this.random = new Random(seed);
    this.originals = this.random.list(4, 6, () => ({
      list: this.random.pick(['none', 'complete', 'complete', 'complete', 'incomplete'] as const),
      hasDirectory: this.random.chance(0.5),
      hasTag: this.random.chance(0.3),
    }));
    this.world = new World(app, randomUUID());
  }

  async run(): Promise<void> {
    await this.world.begin(this.originals);
    const steps = this.random.whole(4, 12);
    for (let step = 0; step < steps; step += 1) {
      const dice = this.random.next();
      if (dice < 0.4) await this.merge();
      else if (dice < 0.65) await this.unmerge();
      else await this.edit(`edit-${step}`);
    }
    // The end is where an undo shows: what still stands comes back in any order.
    const rounds = this.random.below(4);
    for (let round = 0; round < rounds; round += 1) await this.unmerge();
  }

  private get merges(): MergeStep[] {
    return this.done.filter((one): one is MergeStep => one.kind === 'merge');
  }

  private async merge(): Promise<void> {
    const active = await this.world.active();
    if (active.length < 2) return;
    const target = this.random.chance(0.6) ? active[0]! : this.random.pick(active);
    const source = this.random.pick(active.filter((one) => one !== target));
    const fields = ['subject', 'other_details'].filter(() => this.random.chance(0.3));
    const ehr_status = Object.fromEntries(fields.map((field) => [field, 'source']));
    const body: Json = {
      folder_merge: this.random.pick(['BASIC', 'COPY', 'COPY']),
      composition_merge: this.random.pick(['BASIC', 'PERSISTENT', 'PERSISTENT', 'PERSISTENT']),
      resolutions: { ehr_status },
    };
    const isAlike = this.originals.every(({ list }) => list !== 'incomplete');
    const choices = { 'persistent_minimal.en.v1': this.random.pick(['source', 'target', 'both']) };
    const chosen = { ...body, resolutions: { ehr_status, compositions: choices } };
    const wants = isAlike && body.composition_merge === 'PERSISTENT' && this.random.chance(0.3);
    for (const one of wants ? [chosen, body] : [body]) {
      const step: MergeStep = { kind: 'merge', source, target, body: one };
      const { status, text } = await this.world.merge(step);
      if (status === 409 && one === chosen) continue;
      expect([status, status === 200 ? '' : text]).toEqual([200, '']);
      this.done.push(step);
      return;
    }
  }

  private async edit(text: string): Promise<void> {
    const ehr = this.random.below(this.originals.length);
    const edit = this.random.pick<Edit>([
      { kind: 'edit', object: `list ${ehr}`, text },
      { kind: 'edit', object: `list ${ehr}`, text },
      { kind: 'edit', object: `list ${ehr}`, text },
      { kind: 'edit', object: `note ${ehr}`, text },
      { kind: 'delete', object: `note ${ehr}`, text },
      { kind: 'status', ehr, text },
      { kind: 'subject', ehr, text },
      { kind: 'status tag', ehr, text },
      { kind: 'folder', ehr, text },
      { kind: 'note', ehr, text },
      { kind: 'tag', object: `list ${ehr}`, text },
      { kind: 'tag', object: `note ${ehr}`, text },
    ]);
    if (await this.world.edit(edit)) this.done.push(edit);
  }

  /** Takes one merge back as `merge_status` says that it can be; its choices are made at random. */
  private async unmerge(): Promise<void> {
    if (this.merges.length === 0) return;
    const step = this.random.pick(this.merges);
    const pair = [this.world.ehrs[step.source]!, this.world.ehrs[step.target]!] as const;
    const directory = await this.world.directoryId(step.target);
    const joined = await this.world.joinedBy(step);
    const bare = await unmerge(this.app, ...pair, { dry_run: true });
    const obstacles = (bare.body.obstacles ?? []) as Json[];
    expect(bare.status === 200).toBe(obstacles.length === 0);
    if (this.random.chance(0.3)) await this.expectStatus(pair, obstacles);
    if (obstacles.some(({ choices }) => (choices as string[]).length < 2)) {
      if (obstacles.some(({ code }) => code === 'merged_since')) this.inTheWay = step;
      await this.expectWayOut(pair, obstacles);
      return;
    }
    const on_conflict = this.choicesFor(obstacles);
    const body = obstacles.length === 0 ? {} : { on_conflict };
    const dry = obstacles.length === 0 ? bare : await unmerge(this.app, ...pair, { ...body, dry_run: true });
    const { status: answered, text, body: told } = await unmerge(this.app, ...pair, body);
    expect([answered, answered === 200 ? '' : text]).toEqual([200, '']);
    expect(dry.body.outcome.summary).toBe(`DRY RUN: ${String(told.outcome.summary)}`);
    this.undone += 1;
    this.takeOut(step, { onConflict: on_conflict, directory, joined });
  }

  private choicesFor(obstacles: readonly Json[]): Json {
    const chosen: Json = {};
    for (const { code, object_ids: ids } of obstacles) {
      const isFree = code === 'joined_changed';
      for (const id of ids as string[])
        chosen[id] ??= isFree && this.random.chance(0.5) ? 'keep_in_target' : 'take_back';
    }
    return chosen;
  }

  /** The list of merges promises what a dry run does. */
  private async expectStatus(pair: readonly [string, string], obstacles: readonly Json[]): Promise<void> {
    const [source, target] = pair;
    const { body } = await admin(this.app, 'get', `/ehr/merge_status?source=${source}&target=${target}`);
    const [{ reversible_now: isReversible, obstacles: known = [] }] = body as [Json];
    expect([isReversible, known]).toEqual([obstacles.length === 0, obstacles]);
  }

  /** What cannot be chosen away says so: nothing changes, and the reverse order is open. */
  private async expectWayOut(pair: readonly [string, string], obstacles: readonly Json[]): Promise<void> {
    for (const on_conflict of ['keep_in_target', 'take_back']) {
      if (obstacles.every(({ choices }) => (choices as string[]).includes(on_conflict))) continue;
      expect((await unmerge(this.app, ...pair, { on_conflict, dry_run: true })).status).toBe(409);
    }
  }

  /** The merge never was; of what was done since, what was taken back was done to the source's objects. */
  private takeOut(step: MergeStep, { onConflict, directory, joined }: TakenBack): void {
    const begun = this.done.indexOf(step);
    const before = this.done.slice(0, begun);
    const since = this.done.slice(begun + 1);
    const moved = since.flatMap((one): Done[] => {
      if (one.kind === 'folder' && directory !== null && onConflict[directory] === 'take_back') {
        return one.ehr === step.target ? [] : [one];
      }
      if (one.kind !== 'edit' || onConflict[this.world.idOf(one.object)] !== 'take_back') return [one];
      this.taken.add(one.text);
      return [{ ...one, object: joined.get(one.object) ?? one.object }];
    });
    this.done.splice(0, this.done.length, ...before, ...moved);
  }

  /** What only keeping gets out of the way can be kept: no merge is a dead end. */
  async keepWhatIsInTheWay(): Promise<void> {
    const step = this.inTheWay;
    if (step === null || !this.done.includes(step)) return;
    const pair = [this.world.ehrs[step.source]!, this.world.ehrs[step.target]!] as const;
    const kept = await unmerge(this.app, ...pair, { on_conflict: 'keep_in_target' });
    const open = kept.status === 409 ? (kept.body.obstacles as Json[]) : [];
    expect([kept.status, open.length > 0]).toEqual(open.length > 0 ? [409, true] : [200, false]);
    expect(open.filter(({ choices }) => (choices as string[]).includes('keep_in_target'))).toEqual([]);
  }

  /** The same without the merges that were taken back. */
  async replayed(): Promise<World> {
    const world = new World(this.app, randomUUID());
    await world.begin(this.originals);
    for (const one of this.done) {
      if (one.kind !== 'merge') {
        await world.edit(one);
        continue;
      }
      const { status, text } = await world.merge(one);
      if (status !== 200) throw new Error(`replay: ${text}`);
    }
    return world;
  }
}

async function failureOf(seed: number, app: typeof apps.whole): Promise<string | null> {
  const script = new Script(seed, app);
  try {
    await script.run();
    const { taken, world } = script;
    if (script.undone > 0)
      expect(await world.state(taken)).toEqual(await (await script.replayed()).state(taken));
    await script.keepWhatIsInTheWay();
    return null;
  } catch (error) {
    return `LAW_SEED=${seed} ${JSON.stringify(script.done)}\n${String(error)}`;
  }
}

async function harms(): Promise<unknown[]> {
  const context = { change: changeContext(testSettings()), retries: 3, stepsFrom: 1_000 };
  const found: unknown[] = [];
  for await (const { ehrId, latest } of repairMerges(context, 'none')) found.push([ehrId, latest._id]);
  return found;
}

it(`after any merges and unmerges every EHR is what the remaining merges alone would give (${draws(SIZES)} scripts)`, async () => {
  const failed: string[] = [];
  const left = [...seeds(SIZES).entries()];
  const lane = async (): Promise<void> => {
    for (let next = left.shift(); next !== undefined && failed.length < SHOWN; next = left.shift()) {
      const [index, seed] = next;
      const failure = await failureOf(seed, index % 10 === 9 ? apps.steps : apps.whole);
      if (failure !== null) failed.push(failure);
    }
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  expect(failed).toEqual([]);
  expect((await verifyStorage()).violations).toEqual([]);
  expect(await harms()).toEqual([]);
}, 14_400_000);

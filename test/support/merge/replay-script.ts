import { randomUUID } from 'node:crypto';
import type { RequestListener } from 'node:http';
import { expect } from '@jest/globals';
import { admin, unmerge as ask } from '../merge-http.js';
import { Random } from '../random.js';
import { answered, type Json } from '../resources.js';
import { World, type Edit, type MergeStep, type Original } from './replay-world.js';

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

/** A script of merges, edits and unmerges at random: what was done, and what of it has to be left out once a merge is taken back. */
export class Script {
  readonly done: Done[] = [];
  /** Merges that were taken back. */
  undone = 0;
  /** The last merge that another one made since was in the way of. */
  inTheWay: MergeStep | null = null;
  /** Texts of versions that persons made and an undo gave to another object. */
  readonly taken = new Set<string>();
  readonly random: Random;
  /** Which undos are tried first. */
  private readonly rehearsals: Random;
  readonly originals: Original[];
  readonly world: World;

  constructor(
    readonly seed: number,
    readonly app: RequestListener,
  ) {
    this.random = new Random(seed);
    this.rehearsals = new Random(seed + 1);
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
    const isListed = this.random.chance(0.3);
    const isRehearsed = isListed || this.rehearsals.chance(0.4);
    const bare = await unmerge(this.app, ...pair, isRehearsed ? { dry_run: true } : {});
    const obstacles = (bare.body.obstacles ?? []) as Json[];
    expect([bare.status, bare.status === 200]).toEqual([bare.status, obstacles.length === 0]);
    if (isListed) await this.expectStatus(pair, obstacles);
    if (obstacles.some(({ choices }) => (choices as string[]).length < 2)) {
      if (obstacles.some(({ code }) => code === 'merged_since')) this.inTheWay = step;
      await this.expectWayOut(pair, obstacles);
      return;
    }
    const on_conflict = this.choicesFor(obstacles);
    if (isRehearsed || obstacles.length > 0)
      await this.takeBack(pair, obstacles.length === 0 ? {} : { on_conflict }, isRehearsed);
    this.undone += 1;
    this.takeOut(step, { onConflict: on_conflict, directory, joined });
  }

  /** As a dry run says, where there is one. */
  private async takeBack(pair: readonly [string, string], body: Json, isRehearsed: boolean): Promise<void> {
    const dry = isRehearsed ? await unmerge(this.app, ...pair, { ...body, dry_run: true }) : null;
    const { status, text, body: told } = await unmerge(this.app, ...pair, body);
    expect([status, status === 200 ? '' : text]).toEqual([200, '']);
    if (dry !== null) expect(dry.body.outcome.summary).toBe(`DRY RUN: ${String(told.outcome.summary)}`);
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

  /** The same without the merges that were taken back, in other EHRs. */
  private async replayed(app: RequestListener): Promise<World> {
    const world = new World(app, randomUUID());
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

  /** The law: what the EHRs of the script hold is what those of the merges that remain hold. `app`: where these are made. */
  async expectReplay(app = this.app): Promise<void> {
    if (this.undone === 0) return;
    const replayed = await this.replayed(app);
    expect(await this.world.state(this.taken)).toEqual(await replayed.state(this.taken));
  }
}

import { randomUUID } from 'node:crypto';
import type { RequestListener } from 'node:http';
import { expect } from '@jest/globals';
import { admin, unmerge as ask } from '../merge-http.js';
import { Random } from '../random.js';
import { answered, type Json } from '../resources.js';
import { choicesFor, type Chosen, type Told } from './replay-choices.js';
import type { Edit, Flag } from './replay-edits.js';
import { World, type LeftOut, type MergeStep, type Original } from './replay-world.js';

const unmerge = (...args: Parameters<typeof ask>): ReturnType<typeof answered> =>
  answered(() => ask(...args));

/** What was done and counts: a merge that stands, or what a person did. */
type Done = MergeStep | Edit;

/** What an unmerge was told, and what stood before it. */
interface TakenBack {
  readonly obstacles: readonly Told[];
  readonly words: Chosen['words'];
  readonly directory: string | null;
  readonly joined: ReadonlyMap<string, string>;
}

const isDeletion = (one: Done): boolean => one.kind === 'delete';

/** A script of merges, edits and unmerges at random: what was done, and what of it has to be left out once a merge is taken back. */
export class Script {
  readonly done: Done[] = [];
  /** All that was done, what was taken back too, for whoever reads of a failure. */
  readonly told: unknown[] = [];
  /** Merges that were taken back. */
  undone = 0;
  /** The last merge that another one made since was in the way of. */
  inTheWay: MergeStep | null = null;
  /** Texts of versions that persons made and an undo gave to another object. */
  private readonly taken = new Set<string>();
  /** What was kept where no merge that remains would have put it: it is as it was, and in nobody's replay. */
  private readonly kept = { lists: false, directories: false };
  /** Objects that a person moved, or of which he signed or tagged a VERSION. */
  private readonly moved = new Set<string>();
  private readonly marked = new Set<string>();
  private readonly mergeIds = new Map<MergeStep, string>();
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

  /** What of both worlds is compared. */
  get leftOut(): LeftOut {
    return { texts: this.taken, ...this.kept };
  }

  async run(): Promise<void> {
    await this.world.begin(this.originals);
    const steps = this.random.whole(6, 14);
    for (let step = 0; step < steps; step += 1) {
      const dice = this.random.next();
      if (dice < 0.35) await this.merge();
      else if (dice < 0.55) await this.unmerge();
      else if (dice < 0.57) await this.finalise();
      else await this.edit(`edit-${step}`);
    }
    // The end is where an undo shows: what still stands comes back in any order.
    const rounds = this.random.whole(1, 4);
    for (let round = 0; round < rounds; round += 1) await this.unmerge();
  }

  private get merges(): MergeStep[] {
    return this.done.filter((one): one is MergeStep => one.kind === 'merge');
  }

  /** What a person does; it counts where it could be done. */
  private async change(edit: Edit): Promise<boolean> {
    if (!(await this.world.edit(edit))) return false;
    this.done.push(edit);
    this.told.push(edit);
    return true;
  }

  private async merge(): Promise<void> {
    const active = await this.world.active();
    if (active.length < 2) return;
    const target = this.random.chance(0.6) ? active[0]! : this.random.pick(active);
    const source = this.random.pick(active.filter((one) => one !== target));
    if (await this.world.isLocked(target)) await this.change({ kind: 'unlock', ehr: target, text: 'merge' });
    const fields = ['subject', 'other_details', 'is_queryable', 'is_modifiable'].filter(() =>
      this.random.chance(0.25),
    );
    const ehr_status = Object.fromEntries(fields.map((field) => [field, 'source']));
    const body: Json = {
      folder_merge: this.random.pick(['BASIC', 'COPY', 'COPY']),
      composition_merge: this.random.pick(['BASIC', 'PERSISTENT', 'PERSISTENT', 'PERSISTENT']),
      resolutions: { ehr_status },
      ...(this.random.chance(0.03) && { reversible: false }),
    };
    const isAlike = this.originals.every(({ list }) => list !== 'incomplete');
    const choices = { 'persistent_minimal.en.v1': this.random.pick(['source', 'target', 'both']) };
    const chosen = { ...body, resolutions: { ehr_status, compositions: choices } };
    const wants = isAlike && body.composition_merge === 'PERSISTENT' && this.random.chance(0.3);
    for (const one of wants ? [chosen, body] : [body]) {
      const step: MergeStep = { kind: 'merge', source, target, body: one };
      const { status, text, body: told } = await this.world.merge(step);
      if (status === 409 && one === chosen) continue;
      expect([status, status === 200 ? '' : text]).toEqual([200, '']);
      this.mergeIds.set(step, String((told as Json).merge_id));
      this.done.push(step);
      this.told.push(step);
      return;
    }
  }

  /** It stays, and can be taken back by nobody. */
  private async finalise(): Promise<void> {
    if (this.merges.length === 0) return;
    const id = this.mergeIds.get(this.random.pick(this.merges))!;
    const { status, text } = await admin(this.app, 'post', `/ehr/merge/${id}/finalise`).send({
      reason: 'sure',
    });
    // Made with reversible=false, or final already.
    expect([status, status === 409 || status === 200 ? '' : text]).toEqual([status, '']);
  }

  private async edit(text: string): Promise<void> {
    if (this.random.chance(0.12)) return this.together(text);
    const ehr = this.random.below(this.originals.length);
    const list = `list ${ehr}`;
    const note = `note ${ehr}`;
    const key = this.random.pick(['a', 'b']);
    const edit = this.random.pick<Edit>([
      { kind: 'edit', object: list, text },
      { kind: 'edit', object: list, text },
      { kind: 'edit', object: list, text },
      { kind: 'edit', object: note, text },
      { kind: 'delete', object: note, text },
      { kind: 'delete', object: list, text },
      { kind: 'status', ehr, text },
      { kind: 'subject', ehr, text },
      { kind: this.random.pick<Flag>(['lock', 'lock', 'unlock', 'hide', 'show']), ehr, text },
      { kind: 'folder', ehr, text },
      { kind: 'directory', ehr, text },
      { kind: 'no directory', ehr, text },
      { kind: 'note', ehr, text },
      { kind: 'tag', object: this.random.pick([list, note, `status ${ehr}`]), key, text },
      { kind: 'tag', object: this.random.pick([list, note, `status ${ehr}`]), key, text },
      { kind: 'no tag', object: this.random.pick([list, note, `status ${ehr}`]), key, text },
      { kind: 'version tag', object: this.random.pick([list, note]), key: text, text },
      { kind: 'attest', object: this.random.pick([list, note]), text },
      { kind: 'move', object: note, ehr: this.random.below(this.originals.length), text },
      { kind: 'move', object: note, ehr: this.random.below(this.originals.length), text },
      { kind: 'erase', object: note, text },
    ]);
    if (edit.kind === 'move' && this.moved.has(edit.object)) return;
    if (!(await this.change(edit))) return;
    if (edit.kind === 'move') this.moved.add(edit.object);
    if (edit.kind === 'attest' || edit.kind === 'version tag') this.marked.add(edit.object);
  }

  /** Two objects of one EHR in one CONTRIBUTION, of which one may go back without the other: in a replay each by itself. */
  private async together(text: string): Promise<void> {
    const objects = await this.world.objectsOf(this.random.pick(await this.world.active()));
    const notes = objects.filter((name) => name.startsWith('note '));
    if (notes.length === 0 || objects.length < 2) return;
    const note = this.random.pick(notes);
    const other = this.random.pick(objects.filter((name) => name !== note));
    if (!(await this.world.edits.together([note, other], text))) return;
    for (const object of [note, other]) this.done.push({ kind: 'edit', object, text });
    this.told.push({ together: [note, other], text });
  }

  /** Takes one merge back as `merge_status` says that it can be; its choices are made at random. */
  private async unmerge(): Promise<void> {
    if (this.merges.length === 0) return;
    const step = this.random.pick(this.merges);
    const pair = this.pairOf(step);
    const stood = {
      directory: await this.world.directoryId(step.target),
      joined: await this.world.joinedBy(step),
    };
    const isListed = this.random.chance(0.3);
    const isRehearsed = isListed || this.rehearsals.chance(0.4);
    let obstacles = await this.obstaclesTo(pair, isRehearsed);
    if (isListed) await this.expectStatus(pair, obstacles);
    if (obstacles.some(({ code }) => code === 'target_not_modifiable')) {
      // Its EHR_STATUS is changed first, as the message says.
      await this.change({ kind: 'unlock', ehr: step.target, text: 'unmerge' });
      obstacles = await this.obstaclesTo(pair, true);
      expect(obstacles.map(({ code }) => code)).not.toContain('target_not_modifiable');
    }
    const chosen = choicesFor(obstacles, this.random, (group) => this.likelyKept(step, group));
    if (chosen === null) {
      if (obstacles.some(({ code }) => code === 'merged_since')) this.inTheWay = step;
      await this.expectWayOut(pair, obstacles);
      return;
    }
    const standing = await this.keptAsTheyAre(chosen);
    if (obstacles.length > 0) await this.takeBack(pair, { on_conflict: chosen.onConflict }, isRehearsed);
    else if (!(await this.isBack(step))) await this.takeBack(pair, {}, isRehearsed);
    expect(await this.keptAsTheyAre(chosen)).toEqual(standing);
    this.undone += 1;
    this.takeOut(step, { obstacles, words: chosen.words, ...stood });
  }

  private pairOf(step: MergeStep): readonly [string, string] {
    return [this.world.ehrs[step.source]!, this.world.ehrs[step.target]!];
  }

  private async isBack({ source }: MergeStep): Promise<boolean> {
    return (await this.world.active()).includes(source);
  }

  /** What stands against an unmerge; with none it is done, but where it is only tried. */
  private async obstaclesTo(pair: readonly [string, string], isTried: boolean): Promise<readonly Told[]> {
    const bare = await unmerge(this.app, ...pair, isTried ? { dry_run: true } : {});
    const obstacles = (bare.body.obstacles ?? []) as Told[];
    expect([bare.status, bare.status === 200]).toEqual([bare.status, obstacles.length === 0]);
    return obstacles;
  }

  private keptAsTheyAre({ words }: Chosen): Promise<Json> {
    return this.world.standing([...words].flatMap(([id, word]) => (word === 'keep_in_target' ? [id] : [])));
  }

  /**
   * What is kept of a list or directory is left out of the comparison from then on, so rarely; of notes, and of lists that a person
   * wrote on, the model knows where they are.
   */
  private likelyKept(step: MergeStep, group: readonly Told[]): number {
    const names = group.flatMap(({ object_ids: ids }) => ids.map((id) => this.world.nameOf(id)));
    const since = this.done.slice(this.done.indexOf(step));
    // A merge made since found no list to join: nobody joins anew what a taken back deletion left.
    const isDeleted = since.some((one) => isDeletion(one) && 'object' in one && names.includes(one.object));
    if (isDeleted && since.some((one) => one.kind === 'merge' && one !== step)) return 1;
    if (group.every((one) => this.isKnown(one)) || names.every((name) => name.startsWith('note ')))
      return 0.5;
    return 0.2;
  }

  /** Of what a person wrote on a list it is what stays. */
  private isKnown({ code, object_ids: ids }: Told): boolean {
    return code === 'joined_changed' && ids.every((id) => !this.marked.has(this.world.nameOf(id)));
  }

  /** As a dry run says, where there is one. */
  private async takeBack(pair: readonly [string, string], body: Json, isRehearsed: boolean): Promise<void> {
    const dry = isRehearsed ? await unmerge(this.app, ...pair, { ...body, dry_run: true }) : null;
    const { status, text, body: told } = await unmerge(this.app, ...pair, body);
    expect([status, status === 200 ? '' : text]).toEqual([200, '']);
    if (dry !== null) expect(dry.body.outcome.summary).toBe(`DRY RUN: ${String(told.outcome.summary)}`);
  }

  /** The list of merges promises what a dry run does. */
  private async expectStatus(pair: readonly [string, string], obstacles: readonly Told[]): Promise<void> {
    const [source, target] = pair;
    const { body } = await admin(this.app, 'get', `/ehr/merge_status?source=${source}&target=${target}`);
    const [{ reversible_now: isReversible, obstacles: known = [] }] = body as [Json];
    expect(isReversible).toBe(obstacles.length === 0);
    // Of what cannot be taken back at all nothing else is listed.
    const isLast = obstacles.some(({ code }) => code === 'not_reversible' || code === 'target_merged');
    if (!isLast) expect(known).toEqual(obstacles);
  }

  /** What cannot be chosen away says so: nothing changes, and the reverse order is open. */
  private async expectWayOut(pair: readonly [string, string], obstacles: readonly Told[]): Promise<void> {
    for (const on_conflict of ['keep_in_target', 'take_back'] as const) {
      if (obstacles.every(({ choices }) => choices.includes(on_conflict))) continue;
      expect((await unmerge(this.app, ...pair, { on_conflict, dry_run: true })).status).toBe(409);
    }
  }

  /** The merge never was; of what was done since, what was taken back was done to the source's objects. */
  private takeOut(step: MergeStep, { obstacles, words, directory, joined }: TakenBack): void {
    const begun = this.done.indexOf(step);
    const before = this.done.slice(0, begun);
    const since = this.done.slice(begun + 1);
    const wordOf = (name: string) => words.get(this.world.idOf(name));
    this.told.push({
      kind: 'unmerge',
      source: step.source,
      target: step.target,
      obstacles: obstacles.map(({ code, object_ids: ids }) => [
        code,
        ...ids.map((id) => `${this.world.nameOf(id)}: ${String(words.get(id))}`),
      ]),
    });
    const moved = since.flatMap((one): Done[] => {
      if (one.kind === 'folder' && directory !== null && words.get(directory) === 'take_back') {
        return one.ehr === step.target ? [] : [one];
      }
      if (one.kind !== 'edit' && one.kind !== 'delete') return [one];
      const source = joined.get(one.object);
      if (source === undefined || wordOf(one.object) !== 'take_back') return [one];
      this.taken.add(one.text);
      // Of what was deleted nothing is left to be given to the source.
      const isGone = since.some(
        (other) => isDeletion(other) && 'object' in other && other.object === one.object,
      );
      return isGone ? [] : [{ ...one, object: source }];
    });
    this.done.splice(0, this.done.length, ...before, ...moved, ...this.keepSteps(step, obstacles, words));
  }

  /** Notes that were kept are the target's from now on; what the model cannot place is not compared any more. */
  private keepSteps(step: MergeStep, obstacles: readonly Told[], words: Chosen['words']): Edit[] {
    const kept = new Set<string>();
    for (const obstacle of obstacles) {
      for (const id of obstacle.object_ids) {
        const name = this.world.nameOf(id);
        if (words.get(id) !== 'keep_in_target' || this.isKnown(obstacle)) continue;
        if (name.startsWith('note ')) kept.add(name);
        else if (name.startsWith('list ')) this.kept.lists = true;
        else this.kept.directories = true;
      }
    }
    return [...kept].map((object) => ({ kind: 'keep', object, ehr: step.target, text: '' }));
  }

  /** What only keeping gets out of the way can be kept: no merge is a dead end, and all else is as it would be without it. */
  async keepWhatIsInTheWay(): Promise<void> {
    const step = this.inTheWay;
    if (step === null || !this.merges.includes(step)) return;
    const pair = this.pairOf(step);
    const stood = {
      directory: await this.world.directoryId(step.target),
      joined: await this.world.joinedBy(step),
    };
    const obstacles = await this.obstaclesTo(pair, true);
    const kept = await unmerge(this.app, ...pair, { on_conflict: 'keep_in_target' });
    const open = kept.status === 409 ? (kept.body.obstacles as Json[]) : [];
    expect([kept.status, open.length > 0]).toEqual(open.length > 0 ? [409, true] : [200, false]);
    expect(open.filter(({ choices }) => (choices as string[]).includes('keep_in_target'))).toEqual([]);
    if (open.length > 0) return;
    const ids = obstacles.flatMap(({ object_ids: all }) => all);
    const words = new Map(ids.map((id) => [id, 'keep_in_target' as const]));
    this.takeOut(step, { obstacles, words, ...stood });
    await this.expectReplay();
  }

  /** The same without the merges that were taken back, in other EHRs. */
  private async replayed(app: RequestListener): Promise<World> {
    const world = new World(app, randomUUID());
    await world.begin(this.originals);
    for (const one of this.done) {
      if (one.kind !== 'merge') {
        await world.edit(one, true);
        continue;
      }
      const { status, text } = await world.merge(this.withPairs(one));
      if (status !== 200) throw new Error(`replay: ${text}`);
    }
    return world;
  }

  /** Where lists are left out there may be no such pair. */
  private withPairs(step: MergeStep): MergeStep {
    const { ehr_status } = step.body.resolutions as Json;
    return this.kept.lists ? { ...step, body: { ...step.body, resolutions: { ehr_status } } } : step;
  }

  /** The law: what the EHRs of the script hold is what those of the merges that remain hold. `app`: where these are made. */
  async expectReplay(app = this.app): Promise<void> {
    if (this.undone === 0) return;
    const replayed = await this.replayed(app);
    expect(await this.world.state(this.leftOut)).toEqual(await replayed.state(this.leftOut));
  }
}

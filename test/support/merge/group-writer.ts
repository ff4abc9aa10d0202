import type { RequestListener } from 'node:http';
import request from 'supertest';
import { admin, folder, givenDirectory, merge, MERGE_TEMPLATES, statusOf, unmerge } from '../merge-http.js';
import type { Random } from '../random.js';
import {
  answered,
  aComposition,
  givenComposition,
  givenEhr,
  V1,
  versionedObjectUidOf,
  type Json,
} from '../resources.js';
import { stateStored, type GroupIds } from './group-stored.js';
import { givenJointUpdate } from './joint-update.js';
import { ownerOf, Recorded, SIDES, uidOf, type GroupState, type Held, type Side } from './recorded.js';

const [LIST] = MERGE_TEMPLATES;

/** What a change is to make of the COMPOSITIONs; the store tells which versions they have then. */
interface Wanted {
  readonly after: string;
  readonly into?: GroupState['into'];
  readonly held?: ReadonlyMap<string, Held>;
  /** Those that may have new versions. */
  readonly may?: readonly string[];
}

/** Three EHRs that one writer changes in all ways that readers may notice. */
export class GroupWriter {
  readonly recorded: Recorded;

  private constructor(
    private readonly app: RequestListener,
    private readonly random: Random,
    readonly ehrIds: GroupIds,
    state: GroupState,
  ) {
    this.recorded = new Recorded(state);
    this.#size = state.held.size;
  }

  readonly #size: number;

  /** Makes the EHRs with so many COMPOSITIONs each, one of them persistent, and directories in two. */
  static async given(
    app: RequestListener,
    random: Random,
    counts: Readonly<Record<Side, number>>,
  ): Promise<GroupWriter> {
    const ehrIds = { source: await givenEhr(app), target: await givenEhr(app), third: await givenEhr(app) };
    const held = new Map<string, Held>();
    for (const side of SIDES) {
      for (let count = 0; count < counts[side]; count += 1) {
        const isList = count === 0;
        const uid = await givenComposition(app, ehrIds[side], aComposition(isList ? LIST : undefined));
        held.set(versionedObjectUidOf(uid), { ...NEW, home: side, isList });
      }
      if (side !== 'target') await givenDirectory(app, ehrIds[side], folder(side));
    }
    const none = { source: '', target: '', third: '' };
    const state = await stateStored(
      ehrIds,
      { after: 'the beginning', into: {}, held },
      { status: none, directory: { source: null, target: null, third: null }, changes: 0 },
      () => true,
    );
    return new GroupWriter(app, random, ehrIds, state);
  }

  /** One change, chosen at random. */
  async step(): Promise<void> {
    const change = this.random.below(15);
    if (change < 4) await this.#exchange();
    else if (change < 6) await this.#update();
    else if (change < 8) await this.#add();
    else if (change === 8) await this.#tag();
    else if (change === 9) await this.#move();
    else if (change === 10) await this.#delete();
    else if (change < 13) await this.#status();
    else if (change === 13) await this.#directory();
    else await this.#eraseOrCreate();
  }

  /** The EHR that holds what one of the three began with. */
  ehrOf(side: Side): string {
    return this.ehrIds[ownerOf(side, this.recorded.now)];
  }

  /** Merges two, or takes a merge back that no other hides. */
  async #exchange(): Promise<void> {
    const { into } = this.recorded.now;
    const active = SIDES.filter((side) => into[side] === undefined);
    const standing = SIDES.filter((side) => into[side] !== undefined && into[into[side]] === undefined);
    const isUndone = active.length === 1 || (standing.length > 0 && this.random.chance(0.5));
    if (isUndone) await this.#unmerge(this.random.pick(standing));
    else await this.#merge(active);
  }

  async #merge(active: readonly Side[]): Promise<void> {
    const { into } = this.recorded.now;
    const source = this.random.pick(active);
    const target = this.random.pick(active.filter((side) => side !== source));
    const how = {
      folder_merge: this.random.pick(['BASIC', 'COPY']),
      composition_merge: this.random.pick(['BASIC', 'PERSISTENT', 'PERSISTENT']),
      ...(this.random.chance(0.3) && { resolutions: { ehr_status: { other_details: 'source' } } }),
    };
    const after = `${how.folder_merge} ${how.composition_merge} merge of ${source} into ${target}`;
    await this.#change({ after, into: { ...into, [source]: target }, may: this.#lists() }, async () => {
      const answer = await answered(() => merge(this.app, this.ehrIds[source], this.ehrIds[target], how));
      expectStatus(200, answer);
    });
  }

  /** What was written since is given to whom it was taken from; a merge that another one needs stays. */
  async #unmerge(source: Side): Promise<void> {
    const { into } = this.recorded.now;
    const ids = [this.ehrIds[source], this.ehrIds[into[source]!]] as const;
    const further = { on_conflict: 'take_back' };
    const dry = await answered(() => unmerge(this.app, ...ids, { ...further, dry_run: true }));
    if (dry.status === 409 && (dry.body as Json).obstacles?.some(({ code }: Json) => code === 'merged_since'))
      return;
    const left = Object.fromEntries(Object.entries(into).filter(([side]) => side !== source));
    await this.#change({ after: `unmerge of ${source}`, into: left, may: this.#lists() }, async () => {
      expectStatus(200, await answered(() => unmerge(this.app, ...ids, further)));
    });
  }

  #lists(): string[] {
    return [...this.recorded.now.held].flatMap(([id, { isList }]) => (isList ? [id] : []));
  }

  /** Two at once, in one CONTRIBUTION. */
  async #update(): Promise<void> {
    const home = this.random.pick(SIDES);
    const all = this.#notes().filter(([, one]) => one.home === home);
    if (all.length < 2) return;
    const first = this.random.below(all.length);
    const both = [all[first]!, all[(first + 1) % all.length]!];
    const next = both.map(([id, one]) => [id, { ...one, isJoint: true }] as const);
    const uids = both.map(([, one]) => uidOf(one));
    await this.#changed(`change of two of ${home}`, next, () =>
      givenJointUpdate(this.app, this.ehrOf(home), uids),
    );
  }

  async #add(): Promise<void> {
    const all = [...this.recorded.now.held].filter(([, { versions }]) => versions.at(-1)!.hasContent);
    if (all.length === 0) return;
    const [id, one] = this.random.pick(all);
    const path = `${V1}/ehr/${this.ehrOf(one.home)}/composition/${id}`;
    const composition = aComposition(one.isList ? LIST : undefined);
    await this.#changed(`change of ${id}`, [[id, one]], async () => {
      const put = () => request(this.app).put(path).set('If-Match', uidOf(one)).send(composition);
      expectStatus(200, await answered(put));
    });
  }

  /** Adds a tag, or takes it away. */
  async #tag(): Promise<void> {
    const notes = this.#notes();
    if (notes.length === 0) return;
    const [id, one] = this.random.pick(notes);
    const isTagged = !one.isTagged;
    const path = `${V1}/ehr/${this.ehrOf(one.home)}/composition/${id}/tags`;
    await this.#changed(`tag of ${id}`, [[id, { ...one, isTagged }]], async () => {
      const put = () =>
        request(this.app)
          .put(path)
          .send([{ key: 'k', value: 'v' }]);
      const answer = await answered(isTagged ? put : () => request(this.app).delete(`${path}/k`));
      if (answer.status >= 300) throw new Error(`tag: ${answer.status} ${answer.text}`);
    });
  }

  /**
   * One that shares no CONTRIBUTION with another: of others a version stays behind and one is made. And one that no merge took, so that
   * taking that back is no question of who has it meanwhile.
   */
  async #move(): Promise<void> {
    const { into } = this.recorded.now;
    const alone = this.#notes().filter(([, { isJoint, home }]) => !isJoint && into[home] === undefined);
    if (alone.length === 0) return;
    const [id, one] = this.random.pick(alone);
    const owner = one.home;
    const others = SIDES.filter((side) => into[side] === undefined && side !== owner);
    if (others.length === 0) return;
    const home = this.random.pick(others);
    const path = `/ehr/${this.ehrIds[owner]}/composition/${id}/move`;
    await this.#changed(`move of ${id} to ${home}`, [[id, { ...one, home }]], async () => {
      const move = () => admin(this.app, 'post', path).send({ target_ehr: this.ehrIds[home] });
      expectStatus(200, await answered(move));
    });
  }

  /** A logical deletion: the VERSIONs stay. */
  async #delete(): Promise<void> {
    const notes = this.#notes();
    if (notes.length < this.#size / 2) return;
    const [id, one] = this.random.pick(notes);
    const path = `${V1}/ehr/${this.ehrOf(one.home)}/composition/${uidOf(one)}`;
    await this.#changed(`deletion of ${id}`, [[id, one]], async () =>
      expectStatus(204, await answered(() => request(this.app).delete(path))),
    );
  }

  async #status(): Promise<void> {
    const side = this.#active();
    const path = `${V1}/ehr/${this.ehrIds[side]}/ehr_status`;
    const status = { ...statusOf(''), subject: { _type: 'PARTY_SELF' } };
    const put = () =>
      request(this.app).put(path).set('If-Match', this.recorded.now.status[side]).send(status);
    await this.#change({ after: `EHR_STATUS of ${side}` }, async () =>
      expectStatus(200, await answered(put)),
    );
  }

  /** Makes, changes or deletes it. */
  async #directory(): Promise<void> {
    const side = this.#active();
    const path = `${V1}/ehr/${this.ehrIds[side]}/directory`;
    const uid = this.recorded.now.directory[side];
    const root = folder(side, [], [folder(String(this.recorded.changes))]);
    const isKept = this.random.chance(0.7);
    const after = `directory of ${side}: ${uid === null ? 'made' : isKept ? 'changed' : 'deleted'}`;
    await this.#change({ after }, async () => {
      const answer = await answered(() => {
        if (uid === null) return request(this.app).post(path).send(root);
        const change = request(this.app)[isKept ? 'put' : 'delete'](path).set('If-Match', uid);
        return isKept ? change.send(root) : change;
      });
      if (answer.status >= 300) throw new Error(`directory: ${answer.status} ${answer.text}`);
    });
  }

  /** Of many one is erased, and of few there is one more. */
  async #eraseOrCreate(): Promise<void> {
    const held = new Map(this.recorded.now.held);
    const erasable = [...held].filter(([, { isList }]) => !isList);
    if (erasable.length < this.#size || held.size < 6) {
      await this.#create();
      return;
    }
    const [id, one] = this.random.pick(erasable);
    held.delete(id);
    await this.#change({ after: `erasure of ${id}`, held }, async () => {
      const path = `/ehr/${this.ehrOf(one.home)}/composition/${id}`;
      expectStatus(200, await answered(() => admin(this.app, 'delete', path)));
    });
  }

  async #create(): Promise<void> {
    const home = this.#active();
    const held = new Map(this.recorded.now.held);
    await this.#change({ after: `creation in ${home}`, held }, async () => {
      const id = versionedObjectUidOf(await givenComposition(this.app, this.ehrIds[home]));
      held.set(id, { ...NEW, home });
    });
  }

  /** What is no list and not deleted. */
  #notes(): [string, Held][] {
    return [...this.recorded.now.held].filter(
      ([, { isList, versions }]) => !isList && versions.at(-1)!.hasContent,
    );
  }

  #active(): Side {
    const { into } = this.recorded.now;
    return this.random.pick(SIDES.filter((side) => into[side] === undefined));
  }

  #changed(
    after: string,
    next: readonly (readonly [string, Held])[],
    make: () => Promise<unknown>,
  ): Promise<void> {
    const held = new Map(this.recorded.now.held);
    for (const [id, one] of next) held.set(id, one);
    return this.#change({ after, held, may: next.map(([id]) => id) }, make);
  }

  #change(wanted: Wanted, make: () => Promise<unknown>): Promise<void> {
    const { into, held, status, directory } = this.recorded.now;
    const { changes } = this.recorded;
    const may = new Set(wanted.may);
    return this.recorded.change(async () => {
      await make();
      const ended = performance.now();
      const next = { after: wanted.after, into: wanted.into ?? into, held: wanted.held ?? held };
      const isNew = (id: string): boolean => may.has(id) || next.held.get(id)!.versions.length === 0;
      return { ended, state: await stateStored(this.ehrIds, next, { status, directory, changes }, isNew) };
    });
  }
}

/** Its versions are read when it is made. */
const NEW = { versions: [], isTagged: false, isJoint: false, isList: false } as const;

function expectStatus(wanted: number, answer: { readonly status: number; readonly text: string }): void {
  if (answer.status !== wanted) throw new Error(`${answer.status} instead of ${wanted}: ${answer.text}`);
}

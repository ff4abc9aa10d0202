import type { RequestListener } from 'node:http';
import request from 'supertest';
import { admin, givenTag, givenUpdate, merge, unmerge } from '../merge-http.js';
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
import { Recorded, type Held, type Side } from './recorded.js';

const SIDES = ['source', 'target'] as const;

/** Two EHRs that one writer changes in all ways that readers may notice. */
export class PairWriter {
  readonly recorded: Recorded;

  private constructor(
    private readonly app: RequestListener,
    private readonly random: Random,
    readonly ehrIds: Readonly<Record<Side, string>>,
    held: ReadonlyMap<string, Held>,
  ) {
    this.recorded = new Recorded({ isMerged: false, held });
  }

  /** Makes the EHRs with so many COMPOSITIONs each. */
  static async given(
    app: RequestListener,
    random: Random,
    counts: Readonly<Record<Side, number>>,
  ): Promise<PairWriter> {
    const ehrIds = { source: await givenEhr(app), target: await givenEhr(app) };
    const held = new Map<string, Held>();
    for (const side of SIDES) {
      for (let count = 0; count < counts[side]; count += 1) {
        const uid = await givenComposition(app, ehrIds[side]);
        held.set(versionedObjectUidOf(uid), { side, uid, isTagged: false, isJoint: false });
      }
    }
    return new PairWriter(app, random, ehrIds, held);
  }

  /** One change, chosen at random. */
  async step(): Promise<void> {
    const { isMerged } = this.recorded.now;
    const change = this.random.below(10);
    if (change < 3) await this.#exchange();
    else if (change < 6) await this.#update();
    else if (change === 6) await this.#add();
    else if (change === 7) await this.#tag();
    else if (change === 8 && !isMerged) await this.#move();
    else await this.#erase();
  }

  /** Merges the two, or takes that back. */
  async #exchange(): Promise<void> {
    const { isMerged, held } = this.recorded.now;
    const { source, target } = this.ehrIds;
    await this.recorded.change({ isMerged: !isMerged, held }, async () => {
      expectStatus(200, await answered(() => (isMerged ? unmerge : merge)(this.app, source, target)));
    });
  }

  /** Two at once, in one CONTRIBUTION. */
  async #update(): Promise<void> {
    const side = this.random.pick(SIDES);
    const all = [...this.recorded.now.held].filter(([, one]) => one.side === side);
    if (all.length < 2) return;
    const first = this.random.below(all.length);
    const both = [all[first]!, all[(first + 1) % all.length]!];
    const next = both.map(([id, one]) => [id, { ...one, uid: nextUid(one.uid), isJoint: true }] as const);
    const uids = both.map(([, { uid }]) => uid);
    await this.#changed(next, () => givenJointUpdate(this.app, this.#owner(side), uids));
  }

  async #add(): Promise<void> {
    const [id, one] = this.#one();
    const uid = nextUid(one.uid);
    await this.#changed([[id, { ...one, uid }]], () =>
      givenUpdate(this.app, this.#owner(one.side), one.uid, aComposition()),
    );
  }

  async #tag(): Promise<void> {
    const [id, one] = this.#one();
    if (one.isTagged) return;
    const address = { ehrId: this.#owner(one.side), type: 'composition', uid: id } as const;
    await this.#changed([[id, { ...one, isTagged: true }]], () => givenTag(this.app, address, 'k'));
  }

  /** One that shares no CONTRIBUTION with another: of others a version stays behind and one is made. */
  async #move(): Promise<void> {
    const alone = [...this.recorded.now.held].filter(([, { isJoint }]) => !isJoint);
    if (alone.length === 0) return;
    const [id, one] = this.random.pick(alone);
    const side = one.side === 'source' ? 'target' : 'source';
    const path = `/ehr/${this.ehrIds[one.side]}/composition/${id}/move`;
    await this.#changed([[id, { ...one, side }]], async () => {
      expectStatus(200, await admin(this.app, 'post', path).send({ target_ehr: this.ehrIds[side] }));
    });
  }

  async #erase(): Promise<void> {
    const [id, one] = this.#one();
    const held = new Map(this.recorded.now.held);
    if (held.size < 6) return;
    held.delete(id);
    await this.recorded.change({ ...this.recorded.now, held }, async () => {
      expectStatus(200, await admin(this.app, 'delete', `/ehr/${this.#owner(one.side)}/composition/${id}`));
    });
  }

  #changed(next: readonly (readonly [string, Held])[], make: () => Promise<unknown>): Promise<void> {
    const held = new Map(this.recorded.now.held);
    for (const [id, one] of next) held.set(id, one);
    return this.recorded.change({ ...this.recorded.now, held }, make);
  }

  #one(): [string, Held] {
    return this.random.pick([...this.recorded.now.held]);
  }

  #owner(side: Side): string {
    return this.ehrIds[this.recorded.now.isMerged ? 'target' : side];
  }
}

const CODES = 'openehr';
const coded = (code: string, value: string): Json => ({
  _type: 'DV_CODED_TEXT',
  value,
  defining_code: {
    _type: 'CODE_PHRASE',
    terminology_id: { _type: 'TERMINOLOGY_ID', value: CODES },
    code_string: code,
  },
});
const AUDIT = {
  _type: 'AUDIT_DETAILS',
  change_type: coded('251', 'modification'),
  committer: { _type: 'PARTY_IDENTIFIED', name: 'writer' },
};

/** Changes COMPOSITIONs in one CONTRIBUTION. */
export async function givenJointUpdate(
  app: RequestListener,
  ehrId: string,
  uids: readonly string[],
): Promise<void> {
  const contribution = { _type: 'CONTRIBUTION', versions: uids.map(modification), audit: AUDIT };
  expectStatus(201, await request(app).post(`${V1}/ehr/${ehrId}/contribution`).send(contribution));
}

function modification(uid: string): Json {
  return {
    _type: 'ORIGINAL_VERSION',
    preceding_version_uid: { _type: 'OBJECT_VERSION_ID', value: uid },
    lifecycle_state: coded('532', 'complete'),
    commit_audit: AUDIT,
    data: aComposition(),
  };
}

/** The uid of the version after this one. */
export function nextUid(uid: string): string {
  const [id, system, version] = uid.split('::');
  return `${id}::${system}::${Number(version) + 1}`;
}

function expectStatus(wanted: number, answer: { readonly status: number; readonly text: string }): void {
  if (answer.status !== wanted) throw new Error(`${answer.status} instead of ${wanted}: ${answer.text}`);
}

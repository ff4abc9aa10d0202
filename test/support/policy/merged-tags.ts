import type { RequestListener } from 'node:http';
import { expect } from '@jest/globals';
import jwt from 'jsonwebtoken';
import request from 'supertest';
import { merge, unmerge } from '../merge-http.js';
import { putMarks } from './marks.js';
import { Random } from '../random.js';
import { givenComposition, givenEhr, V1, versionedObjectUidOf, versionUidOf } from '../resources.js';
import { TEST_JWT_SECRET } from '../settings.js';
import { bearer } from '../tokens.js';

const ROOT = bearer(['USER', 'ADMIN', 'NIGHT'], 'root');
/** What patients withhold is tagged by who breaks the glass. */
const BREAKING = {
  Authorization: ROOT,
  'Purpose-Of-Use': 'BTG',
  'Purpose-Of-Use-Reason': 'tags',
};
const EHRS = 4;
const STEPS = 10;
const WARDS = ['3B', '4A'] as const;
const [WARD, HIDDEN] = ['access.ward', 'access.hidden'] as const;

/** A tag that somebody gave an EHR, with the place of that EHR among those of the script. */
interface Said {
  readonly of: number;
  readonly key: string;
  readonly value: string | null;
}

/** A mark that somebody set, each with a ground of its own. */
interface Mark {
  readonly kind: (typeof KINDS)[number];
  readonly ground: string;
}

const KINDS = ['patient_restriction', 'research_objection'] as const;

/** An EHR as it should be. */
interface Expected {
  readonly ehrId: string;
  /** Path of its own tags. */
  readonly tagsPath: string;
  /** Its own tags, and those of what was merged into it. */
  tags: readonly Said[];
  /** The same of marks. */
  marks: readonly Mark[];
  mergedInto: number | null;
}

/** A merge that stands, with all tags and marks that its source had. */
interface Standing {
  readonly source: number;
  readonly target: number;
  readonly tags: readonly Said[];
  readonly marks: readonly Mark[];
}

interface Apps {
  /** Where policies hold. */
  readonly app: RequestListener;
  readonly open: RequestListener;
}

function nurseOf(organisation: string): string {
  const claims = { roles: ['USER'], organisation };
  return `Bearer ${jwt.sign(claims, TEST_JWT_SECRET, { subject: 'nurse', expiresIn: 36_000 })}`;
}

/** Merges, unmerges and changes of tags and marks by chance, each with a look at who sees whom. */
export class MergedTags {
  readonly met = { merges: 0, unmerges: 0, hidden: 0, seen: 0, withheld: 0 };
  readonly #random: Random;
  readonly #ehrs: Expected[] = [];
  #standing: Standing[] = [];
  #grounds = 0;

  constructor(
    private readonly seed: number,
    private readonly apps: Apps,
  ) {
    this.#random = new Random(seed);
  }

  async run(): Promise<void> {
    for (let index = 0; index < EHRS; index += 1) await this.#addEhr(index);
    await this.#expectSeen('before');
    for (let step = 0; step < STEPS; step += 1) {
      const what = await this.#step();
      await this.#expectSeen(`step ${step}: ${what}`);
    }
  }

  async #addEhr(index: number): Promise<void> {
    const { open } = this.apps;
    const ehrId = await givenEhr(open);
    await givenComposition(open, ehrId);
    const status = versionUidOf(await request(open).get(`${V1}/ehr/${ehrId}/ehr_status`).expect(200));
    const tagsPath = `${V1}/ehr/${ehrId}/ehr_status/${versionedObjectUidOf(status)}/tags`;
    this.#ehrs.push({ ehrId, tagsPath, tags: [], marks: [], mergedInto: null });
    await this.#tag(index, WARD, this.#ward());
    if (this.#random.chance(0.3)) await this.#tag(index, HIDDEN, null);
  }

  #ward(): string {
    return this.#random.pick([WARDS[0], WARDS[1], `${WARDS[0]}, ${WARDS[1]}`, '5']);
  }

  async #step(): Promise<string> {
    const random = this.#random;
    const active = this.#ehrs.flatMap(({ mergedInto }, index) => (mergedInto === null ? [index] : []));
    const undoable = this.#standing.filter(({ target }) => active.includes(target));
    const chosen = random.below(4);
    if (chosen === 0 && undoable.length > 0) return this.#unmerge(random.pick(undoable));
    if (chosen <= 1 && active.length > 1) {
      const source = random.pick(active);
      return this.#merge(source, random.pick(active.filter((index) => index !== source)));
    }
    const index = random.pick(active);
    if (random.chance(0.4)) return this.#mark(index);
    if (random.chance(0.3)) return this.#remove(index, random.pick([WARD, HIDDEN]));
    if (random.chance(0.3)) return this.#sendBack(index);
    const isWard = random.chance(0.7);
    await this.#tag(index, isWard ? WARD : HIDDEN, isWard ? this.#ward() : null);
    return `tag ${index}`;
  }

  async #merge(source: number, target: number): Promise<string> {
    const [from, to] = [this.#at(source), this.#at(target)];
    const reversible = this.#random.chance(0.8);
    await merge(this.apps.app, from.ehrId, to.ehrId, { reversible }).expect(200);
    if (reversible) this.#standing.push({ source, target, tags: from.tags, marks: from.marks });
    to.tags = [...to.tags, ...from.tags];
    to.marks = [...to.marks, ...from.marks];
    from.mergedInto = target;
    this.met.merges += 1;
    return `merge ${source} into ${target}`;
  }

  async #unmerge(standing: Standing): Promise<string> {
    const [from, to] = [this.#at(standing.source), this.#at(standing.target)];
    await unmerge(this.apps.app, from.ehrId, to.ehrId).expect(200);
    const gone = new Set(standing.tags.map(({ of }) => of));
    to.tags = to.tags.filter(({ of }) => !gone.has(of));
    from.tags = standing.tags;
    const back = new Set(standing.marks.map(({ ground }) => ground));
    to.marks = to.marks.filter(({ ground }) => !back.has(ground));
    from.marks = standing.marks;
    from.mergedInto = null;
    this.#standing = this.#standing.filter((one) => one !== standing);
    this.met.unmerges += 1;
    return `take ${standing.source} out of ${standing.target}`;
  }

  /** Sets a mark beside those that an EHR has, or lifts one of them. */
  async #mark(index: number): Promise<string> {
    const ehr = this.#at(index);
    const isLifted = ehr.marks.length > 0 && this.#random.chance(0.6);
    const gone = isLifted ? this.#random.pick(ehr.marks) : null;
    this.#grounds += 1;
    const added = { kind: this.#random.pick(KINDS), ground: `ground ${this.#grounds}` };
    ehr.marks = gone === null ? [...ehr.marks, added] : ehr.marks.filter((mark) => mark !== gone);
    await putMarks(this.apps.app, ehr.ehrId, ehr.marks).expect(200);
    return gone === null ? `mark ${index} (${added.kind})` : `lift ${gone.ground} of ${index}`;
  }

  /** Each EHR has the marks that it should have. */
  async #expectMarks(when: string): Promise<void> {
    for (const { ehrId, marks, mergedInto } of this.#ehrs) {
      if (mergedInto !== null) continue;
      const { body } = await request(this.apps.app)
        .get(`/rest/ehrs/${ehrId}/marks`)
        .set('Authorization', ROOT);
      const grounds = (body as { marks: Mark[] }).marks.map(({ ground }) => ground);
      const told = { seed: this.seed, when, ehrId };
      expect({ ...told, grounds: grounds.sort() }).toEqual({
        ...told,
        grounds: marks.map(({ ground }) => ground).sort(),
      });
      this.met.withheld += marks.filter(isWithholding).length;
    }
  }

  /** Gives an EHR this tag beside its own others; a change holds for the whole EHR. */
  async #tag(index: number, key: string, value: string | null): Promise<void> {
    const ehr = this.#at(index);
    const own = ehr.tags.filter(({ of }) => of === index);
    const others = own.filter((tag) => tag.key !== key);
    await this.#put(ehr, [...others, { of: index, key, value }]);
    if (own.some((tag) => tag.key === key && tag.value === value)) return;
    ehr.tags = [...ehr.tags.filter((tag) => tag.key !== key), { of: index, key, value }];
  }

  /** As a form does that shows tags and changes none of these. */
  async #sendBack(index: number): Promise<string> {
    const ehr = this.#at(index);
    await this.#put(
      ehr,
      ehr.tags.filter(({ of }) => of === index),
    );
    return `send back ${index}`;
  }

  async #put({ tagsPath }: Expected, tags: readonly Said[]): Promise<void> {
    const body = tags.map(({ key, value }) => ({ key, ...(value !== null && { value }) }));
    await request(this.apps.app).put(tagsPath).set(BREAKING).send(body).expect(200);
  }

  async #remove(index: number, key: string): Promise<string> {
    const ehr = this.#at(index);
    const isThere = ehr.tags.some((tag) => tag.key === key);
    await request(this.apps.app)
      .delete(`${ehr.tagsPath}/${key}`)
      .set(BREAKING)
      .expect(isThere ? 204 : 404);
    ehr.tags = ehr.tags.filter((tag) => tag.key !== key);
    return `remove ${key} of ${index}`;
  }

  /** Each nurse sees by reads and by a query those of her ward that nothing hides. */
  async #expectSeen(when: string): Promise<void> {
    await this.#expectMarks(when);
    const ids = new Set(this.#ehrs.map(({ ehrId }) => ehrId));
    for (const ward of WARDS) {
      const expected = this.#ehrs.filter((ehr) => isSeen(ehr, ward)).map(({ ehrId }) => ehrId);
      const ask = request(this.apps.app);
      const reads: string[] = [];
      for (const { ehrId } of this.#ehrs) {
        const { status } = await ask.get(`${V1}/ehr/${ehrId}`).set('Authorization', nurseOf(ward));
        if (status === 200) reads.push(ehrId);
      }
      const q = 'SELECT DISTINCT e/ehr_id/value FROM EHR e CONTAINS COMPOSITION c';
      const found = await ask
        .post(`${V1}/query/aql`)
        .set('Authorization', nurseOf(ward))
        .send({ q })
        .expect(200);
      const rows = (found.body as { rows: string[][] }).rows.flat().filter((id) => ids.has(id));
      const told = { seed: this.seed, when, ward };
      expect({ ...told, reads, rows: rows.sort() }).toEqual({
        ...told,
        reads: expected,
        rows: [...expected].sort(),
      });
      this.met.seen += expected.length;
    }
    this.met.hidden += this.#ehrs.filter(
      ({ mergedInto, tags }) => mergedInto === null && isHidden(tags),
    ).length;
  }

  #at(index: number): Expected {
    const ehr = this.#ehrs[index];
    if (ehr === undefined) throw new RangeError(`the script has no EHR ${index}`);
    return ehr;
  }
}

function isWithholding({ kind }: Mark): boolean {
  return kind === 'patient_restriction';
}

function isSeen({ mergedInto, tags, marks }: Expected, ward: string): boolean {
  const wards = tags.flatMap(({ key, value }) => (key === WARD ? (value ?? '').split(', ') : []));
  return mergedInto === null && wards.includes(ward) && !isHidden(tags) && !marks.some(isWithholding);
}

function isHidden(tags: readonly Said[]): boolean {
  return tags.some(({ key }) => key === HIDDEN);
}

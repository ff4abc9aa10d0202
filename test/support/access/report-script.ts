import { setTimeout } from 'node:timers/promises';
import type { RequestListener } from 'node:http';
import request from 'supertest';
import { merge, unmerge } from '../merge-http.js';
import { Random } from '../random.js';
import { aComposition, V1, versionUidOf, type Json } from '../resources.js';
import { bearer } from '../tokens.js';

/** A request that answered or changed something, as the model knows it. */
interface Asked {
  readonly requestId: string;
  /** Number of merges and unmerges before it. */
  readonly at: number;
  /** EHRs that it was about, or of which it answered rows. */
  readonly ehrIds: readonly string[];
  /** Whose content it named: the EHR that has it without any merge; empty: it named none. */
  readonly owners: readonly string[];
}

const EHRS = 4;
const STEPS = 24;
const USERS = ['ada', 'bea', 'cyd'].map((name) => bearer(['USER'], name));

/**
 * A script of reads, queries, writes, merges and unmerges by several users, and a model beside it that knows by the history of who
 * was in whom which requests belong into the report about which person.
 */
export class ReportScript {
  readonly met = { reads: 0, queries: 0, writes: 0, merges: 0, unmerges: 0, visits: 0 };
  readonly #random: Random;
  #ehrs: string[] = [];
  /** Where each EHR is, after each merge and unmerge. */
  readonly #history: ReadonlyMap<string, string>[] = [];
  #merges: { readonly source: string; readonly target: string }[] = [];
  readonly #compositions: { readonly uid: string; readonly owner: string }[] = [];
  readonly #asked: Asked[] = [];

  constructor(
    seed: number,
    private readonly app: RequestListener,
  ) {
    this.#random = new Random(seed);
  }

  /** Runs it all. */
  async run(): Promise<void> {
    for (let made = 0; made < EHRS; made += 1) this.#ehrs.push(await this.#newEhr());
    for (let step = 0; step < STEPS; step += 1) await this.#step();
  }

  /** EHRs that stand in the end. */
  get standing(): readonly string[] {
    return this.#ehrs.filter((ehrId) => this.#placeOf(ehrId) === ehrId);
  }

  /** Ids of the requests that the report about an EHR that stands must name, sorted. */
  expected(ehrId: string): string[] {
    const persons = this.#ehrs.filter((each) => this.#placeOf(each) === ehrId);
    return this.#asked
      .filter((asked) => this.#belongs(asked, persons))
      .map(({ requestId }) => requestId)
      .sort();
  }

  #belongs({ at, ehrIds, owners }: Asked, persons: readonly string[]): boolean {
    if (ehrIds.some((ehrId) => persons.includes(ehrId))) return true;
    const isVisited = persons.some((person) => ehrIds.includes(this.#placeOf(person, at)));
    if (!isVisited) return false;
    this.met.visits += 1;
    return owners.length === 0 || owners.some((owner) => persons.includes(owner));
  }

  #placeOf(ehrId: string, at = this.#history.length): string {
    return at === 0 ? ehrId : (this.#history[at - 1]?.get(ehrId) ?? ehrId);
  }

  async #step(): Promise<void> {
    const random = this.#random;
    const ehrId = random.pick(this.standing);
    const kind = random.pick([
      'ehr',
      'status',
      'read',
      'read',
      'query',
      'rows',
      'write',
      'write',
      'merge',
      'unmerge',
    ] as const);
    switch (kind) {
      case 'ehr':
        this.#note(await this.#get(`/ehr/${ehrId}`), [ehrId], []);
        return;
      case 'status':
        this.#note(await this.#get(`/ehr/${ehrId}/ehr_status`), [ehrId], [ehrId]);
        return;
      case 'read':
        return this.#read();
      case 'query':
        return this.#query(ehrId);
      case 'rows':
        return this.#rows();
      case 'write':
        return this.#write(ehrId);
      case 'merge':
        return this.#merge();
      case 'unmerge':
        return this.#unmerge();
    }
  }

  async #read(): Promise<void> {
    if (this.#compositions.length === 0) return;
    const { uid, owner } = this.#random.pick(this.#compositions);
    const place = this.#placeOf(owner);
    const answer = await this.#get(`/ehr/${place}/composition/${uid}`);
    this.met.reads += 1;
    this.#note(answer, [place], [owner]);
  }

  async #query(ehrId: string): Promise<void> {
    const answer = await this.#ask('SELECT COUNT(*) FROM COMPOSITION c', ehrId);
    this.met.queries += 1;
    this.#note(answer, [ehrId], []);
  }

  /** One row for each EHR that has a COMPOSITION, of some. */
  async #rows(): Promise<void> {
    const among = this.standing.filter(() => this.#random.chance(0.6));
    if (among.length === 0) return;
    const q = `SELECT e/ehr_id/value FROM EHR e CONTAINS COMPOSITION c WHERE e/ehr_id/value matches {'${among.join("','")}'}`;
    const answer = await this.#ask(q);
    this.met.queries += 1;
    const rows = (answer.body as { rows: string[][] }).rows.map(([id = '']) => id);
    this.#note(answer, [...new Set(rows)], []);
  }

  async #write(ehrId: string): Promise<void> {
    const answer = await request(this.app)
      .post(`${V1}/ehr/${ehrId}/composition`)
      .set('Authorization', this.#random.pick(USERS))
      .send(aComposition());
    if (answer.status !== 201) throw new Error(`write: ${answer.status} ${answer.text}`);
    this.#compositions.push({ uid: versionUidOf(answer), owner: ehrId });
    this.met.writes += 1;
    this.#note(answer, [ehrId], [ehrId]);
  }

  async #merge(): Promise<void> {
    if (this.standing.length < 2) return;
    const source = this.#random.pick(this.standing);
    const target = this.#random.pick(this.standing.filter((ehrId) => ehrId !== source));
    const answer = await this.#apart(() => merge(this.app, source, target));
    if (answer.status !== 200) throw new Error(`merge: ${answer.status} ${answer.text}`);
    this.#merges.push({ source, target });
    this.met.merges += 1;
    this.#note(answer, [source, target], []);
    this.#moved();
  }

  async #unmerge(): Promise<void> {
    const last = this.#merges.at(-1);
    if (last === undefined) return;
    const answer = await this.#apart(() => unmerge(this.app, last.source, last.target));
    // What was changed since may stand against it.
    if (answer.status === 409) return;
    if (answer.status !== 200) throw new Error(`unmerge: ${answer.status} ${answer.text}`);
    this.#merges.pop();
    this.met.unmerges += 1;
    this.#note(answer, [last.source, last.target], []);
    this.#moved();
  }

  /** In a millisecond of its own, or nobody could say what was before it. */
  async #apart(work: () => request.Test): Promise<request.Response> {
    await setTimeout(3);
    const answer = await work();
    await setTimeout(3);
    return answer;
  }

  /** Where everybody is now, by the merges that stand. */
  #moved(): void {
    const into = new Map(this.#merges.map(({ source, target }) => [source, target]));
    const finalOf = (ehrId: string): string => {
      const next = into.get(ehrId);
      return next === undefined ? ehrId : finalOf(next);
    };
    this.#history.push(new Map(this.#ehrs.map((ehrId) => [ehrId, finalOf(ehrId)])));
  }

  async #newEhr(): Promise<string> {
    const answer = await request(this.app)
      .post(`${V1}/ehr`)
      .set('Authorization', this.#random.pick(USERS))
      .expect(201);
    const ehrId = versionUidOf(answer);
    this.#note(answer, [ehrId], []);
    return ehrId;
  }

  #get(path: string): Promise<request.Response> {
    return request(this.app).get(`${V1}${path}`).set('Authorization', this.#random.pick(USERS)).expect(200);
  }

  #ask(q: string, ehrId?: string): Promise<request.Response> {
    return request(this.app)
      .post(`${V1}/query/aql`)
      .set('Authorization', this.#random.pick(USERS))
      .send({ q, ...(ehrId !== undefined && { ehr_id: ehrId }) } satisfies Json)
      .expect(200);
  }

  #note(
    answer: Pick<request.Response, 'headers'>,
    ehrIds: readonly string[],
    owners: readonly string[],
  ): void {
    const requestId = (answer.headers as Readonly<Record<string, string>>)['x-request-id'] ?? '';
    this.#asked.push({ requestId, at: this.#history.length, ehrIds, owners });
  }
}

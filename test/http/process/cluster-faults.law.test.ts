import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import mongoose from 'mongoose';
import request from 'supertest';
import { connectMongoose } from '../../../database/connect.js';
import { createCollections } from '../../../database/indexes.js';
import { COLLECTION_LAYOUT } from '../../../models/access/layout.js';
import { testApp } from '../../support/app.js';
import { testDatabaseName, testDatabaseUri } from '../../support/database.js';
import { seeds } from '../../support/laws.js';
import { ClusterProxy, randomFaults } from '../../support/process/cluster-proxy.js';
import { Random } from '../../support/random.js';
import {
  aComposition,
  givenEhr,
  givenTemplate,
  V1,
  versionedObjectUidOf,
  versionUidOf,
} from '../../support/resources.js';
import { bearer, WITH_ADMIN } from '../../support/tokens.js';

/**
 * On a database that fails as a cluster does, a write is acknowledged only if it is there, is there once and whole, and says
 * `outcome-unknown` when nobody can tell. A failure names its seed: `LAW_SEED=<seed>`.
 */
jest.setTimeout(7_200_000);
const SCRIPTS = { small: 1, full: 300 };
const STEPS = 12;
const SHARE = 0.12;
const app = testApp(WITH_ADMIN);
let proxy: ClusterProxy;

beforeAll(async () => {
  proxy = await ClusterProxy.before(testDatabaseUri());
  await connectMongoose(proxy.uri, testDatabaseName());
  await mongoose.connection.dropDatabase();
  await createCollections(COLLECTION_LAYOUT);
  await givenTemplate(app);
});
afterAll(async () => {
  proxy.plays = {};
  await mongoose.connection.dropDatabase();
  await mongoose.disconnect();
  proxy.close();
});

/** One write, as it can be sent again. */
interface Write {
  readonly method: 'post' | 'put' | 'delete';
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: object;
}

/** What a script knows of an EHR: everything in it is its own work. */
class Script {
  /** Latest versions of the COMPOSITIONs that are not deleted. */
  live: string[] = [];
  directory: string | null = null;
  /** Versions that were acknowledged, or found after an unknown outcome. */
  versions = 0;
  ehrId = '';
  /** Writes that nobody answered for, or that were refused although nothing was wrong. */
  readonly problems: string[] = [];
  readonly counts = { acknowledged: 0, unknown: 0, refused: 0 };

  constructor(readonly random: Random) {}

  async run(): Promise<void> {
    this.ehrId = await givenEhr(app);
    this.versions = 1;
    for (let step = 0; step < STEPS; step += 1) {
      await this.#step();
      await this.#compare(step);
    }
  }

  #step(): Promise<void> {
    const [uid] = this.live;
    const steps = [() => this.#create(), () => this.#contribute(), () => this.#changeDirectory()];
    if (uid !== undefined)
      steps.push(
        () => this.#update(uid),
        () => this.#remove(uid),
      );
    return steps[this.random.below(steps.length)]!();
  }

  async #create(): Promise<void> {
    const answer = await this.#send({ method: 'post', path: 'composition', body: aComposition() });
    if (answer === null) return;
    this.live.push(answer);
    this.versions += 1;
  }

  async #contribute(): Promise<void> {
    const creation = () => ({ commit_audit: { change_type: { value: 'creation' } }, data: aComposition() });
    const body = { versions: [creation(), creation()] };
    const headers = { Prefer: 'return=representation' };
    const uid = await this.#send({ method: 'post', path: 'contribution', headers, body });
    if (uid === null) return;
    const got = await request(app).get(`${V1}/ehr/${this.ehrId}/contribution/${uid}`);
    const made = (got.body as { versions?: { id: { value: string } }[] }).versions ?? [];
    if (made.length !== 2) this.problems.push(`CONTRIBUTION ${uid} has ${made.length} of 2 versions`);
    this.live.push(...made.map(({ id }) => id.value));
    this.versions += 2;
  }

  async #update(uid: string): Promise<void> {
    const path = `composition/${versionedObjectUidOf(uid)}`;
    const made = await this.#send({
      method: 'put',
      path,
      headers: { 'If-Match': uid },
      body: aComposition(),
    });
    if (made === null) return;
    this.live = [...this.live.filter((other) => other !== uid), made];
    this.versions += 1;
  }

  async #remove(uid: string): Promise<void> {
    if ((await this.#send({ method: 'delete', path: `composition/${uid}` })) === null) return;
    this.live = this.live.filter((other) => other !== uid);
    this.versions += 1;
  }

  async #changeDirectory(): Promise<void> {
    const uid = this.directory;
    const body = { _type: 'FOLDER', archetype_node_id: 'x', name: { _type: 'DV_TEXT', value: 'root' } };
    const headers = uid === null ? {} : { 'If-Match': uid };
    const isDeletion = uid !== null && this.random.chance(0.4);
    const method = uid === null ? 'post' : isDeletion ? 'delete' : 'put';
    const made = await this.#send({ method, path: 'directory', headers, ...(!isDeletion && { body }) });
    if (made === null) return;
    this.directory = isDeletion ? null : made;
    this.versions += 1;
  }

  /** Gives the uid that was made; null: nothing was. */
  async #send(write: Write): Promise<string | null> {
    const key = this.random.chance(0.5) ? { 'Idempotency-Key': randomUUID() } : {};
    const before = await this.#contributions();
    const { method, path, headers, body } = write;
    const url = `${V1}/ehr/${this.ehrId}/${path}`;
    const sent = { ...headers, ...key };
    const ask = () => request(app)[method](url).set(sent).send(body);
    proxy.plays = { fault: randomFaults(() => this.random.next(), SHARE) };
    const answer = await ask();
    proxy.plays = {};
    const code = (answer.body as { code?: string } | undefined)?.code;
    const after = await this.#contributions();
    const what = `${method} ${path} (${answer.status} ${code ?? ''})`;
    if (after.length - before.length > 1) this.problems.push(`${what} was carried out twice`);
    if (answer.status < 300) {
      this.counts.acknowledged += 1;
      if (after.length === before.length) this.problems.push(`${what} was acknowledged and is not there`);
      return versionUidOf(answer);
    }
    if (code !== 'outcome-unknown') {
      this.counts.refused += 1;
      if (answer.status !== 503) this.problems.push(`${what} was refused for no reason: ${answer.text}`);
      if (after.length !== before.length) this.problems.push(`${what} was refused and carried out`);
      return null;
    }
    this.counts.unknown += 1;
    const made = after.find((uid) => !before.includes(uid));
    if ('Idempotency-Key' in key) return this.#askAgain(what, ask);
    return made === undefined ? null : this.#madeBy(made, write);
  }

  async #askAgain(what: string, ask: () => request.Test): Promise<string> {
    const again = await ask();
    if (again.status >= 300) this.problems.push(`${what}, then with its key ${again.status}: ${again.text}`);
    return versionUidOf(again);
  }

  /** What a write made of which the answer was lost, as a client without a key finds it. */
  async #madeBy(contribution: string, { path }: Write): Promise<string> {
    if (path === 'contribution') return contribution;
    const got = await request(app).get(`${V1}/ehr/${this.ehrId}/contribution/${contribution}`);
    const [version] = (got.body as { versions: { id: { value: string } }[] }).versions;
    return version?.id.value ?? '';
  }

  async #contributions(): Promise<string[]> {
    const got = await request(app).get(`${V1}/ehr/${this.ehrId}?include=contributions`);
    return (got.body as { contributions: { id: { value: string } }[] }).contributions.map(
      ({ id }) => id.value,
    );
  }

  /** Everything in the EHR is what the script knows of, no more and no less. */
  async #compare(step: number): Promise<void> {
    const got = await request(app).get(`${V1}/ehr/${this.ehrId}?include=compositions`);
    const listed = (got.body as { compositions: { id: { value: string } }[] }).compositions.map(
      ({ id }) => id.value,
    );
    const expected = this.live.map(versionedObjectUidOf);
    if (listed.toSorted().join() !== expected.toSorted().join())
      this.problems.push(`step ${step}: ${listed.length} COMPOSITIONs, ${expected.length} expected`);
    const stored = await mongoose.connection.collection('versions').countDocuments({ ehr_id: this.ehrId });
    if (stored !== this.versions)
      this.problems.push(`step ${step}: ${stored} versions, ${this.versions} expected`);
    const directory = await request(app).get(`${V1}/ehr/${this.ehrId}/directory`);
    const has = directory.status === 200 ? versionUidOf(directory) : null;
    if (has !== this.directory)
      this.problems.push(`step ${step}: directory ${has}, ${this.directory} expected`);
  }
}

describe('a write on a database that fails as a cluster does', () => {
  it.each([true, false])(
    'whose commit nobody remembers is outcome-unknown, answered by its key: %s',
    async (hasKey) => {
      const ehrId = await givenEhr(app);
      const created = await request(app).post(`${V1}/ehr/${ehrId}/composition`).send(aComposition());
      const uid = versionUidOf(created);
      const key = hasKey ? { 'Idempotency-Key': randomUUID() } : {};
      const put = () =>
        request(app)
          .put(`${V1}/ehr/${ehrId}/composition/${versionedObjectUidOf(uid)}`)
          .set({ 'If-Match': uid, ...key })
          .send(aComposition());
      let isFirst = true;
      const fault = ({ name }: { readonly name: string }) => {
        if (name !== 'commitTransaction' || !isFirst) return null;
        isFirst = false;
        return 'forgotten-commit' as const;
      };
      proxy.plays = { fault };
      const answer = await put();
      proxy.plays = {};
      const next = uid.replace(/1$/, '2');
      if (hasKey) expect([answer.status, versionUidOf(answer)]).toEqual([200, next]);
      else expect([answer.status, answer.body.code]).toEqual([503, 'outcome-unknown']);
      const again = await put();
      expect(again.status).toBe(hasKey ? 200 : 412);
      expect(versionUidOf(again)).toBe(next);
    },
  );

  const creation = { commit_audit: { change_type: { value: 'creation' } }, data: aComposition() };
  const writes: Write[] = [
    { method: 'post', path: 'composition', body: aComposition() },
    { method: 'post', path: 'contribution', body: { versions: [creation] } },
    {
      method: 'post',
      path: 'contribution',
      headers: { Prefer: 'return=representation, resolve_refs' },
      body: { versions: [creation] },
    },
  ];
  it.each(
    writes.flatMap((write) => [
      { ...write, isForgotten: true },
      { ...write, isForgotten: false },
    ]),
  )(
    'is never said to be undone when it was committed and nothing can be read after it: $path $headers, commit forgotten: $isForgotten',
    async ({ method, path, headers, body, isForgotten }) => {
      const url = `${V1}/ehr/${await givenEhr(app)}/${path}`;
      const key = { 'Idempotency-Key': randomUUID() };
      const sent = { ...headers, ...key };
      const send = () => request(app)[method](url).set(sent).send(body);
      let isCommitted = false;
      const fault = ({ name }: { readonly name: string }) => {
        if (name === 'commitTransaction') {
          const isFirst = !isCommitted;
          isCommitted = true;
          return isForgotten && isFirst ? ('forgotten-commit' as const) : null;
        }
        return isCommitted && name === 'find' ? ('not-primary' as const) : null;
      };
      proxy.plays = { fault };
      const answer = await send();
      proxy.plays = {};
      if (answer.status !== 201) expect([answer.status, answer.body.code]).toEqual([503, 'outcome-unknown']);
      expect((await send()).status).toBe(201);
      const got = await request(app).get(`${url.replace(/[^/]+$/, '')}?include=compositions`);
      expect(got.body.compositions).toHaveLength(1);
    },
  );

  it('is acknowledged only if it is there, is there once, and says when nobody knows', async () => {
    const total = { acknowledged: 0, unknown: 0, refused: 0 };
    for (const seed of seeds(SCRIPTS)) {
      const script = new Script(new Random(seed));
      await script.run();
      expect({ seed, problems: script.problems }).toEqual({ seed, problems: [] });
      for (const [name, count] of Object.entries(script.counts)) total[name as keyof typeof total] += count;
    }
    expect(total.acknowledged).toBeGreaterThan(total.unknown);
  });

  it('merges once or not at all, and says when nobody knows', async () => {
    const admin = bearer(['ADMIN'], 'root-admin', 7_200);
    for (const seed of seeds({ small: 1, full: 100 })) {
      const random = new Random(seed);
      const [source, target] = [await givenEhr(app), await givenEhr(app)];
      await request(app).post(`${V1}/ehr/${source}/composition`).send(aComposition());
      const body = { source_ehr: source, target_ehr: target, reversible: true };
      const key = randomUUID();
      const merge = () =>
        request(app)
          .post('/rest/admin/ehr/merge')
          .set({ Authorization: admin, 'Idempotency-Key': key })
          .send(body);
      proxy.plays = { fault: randomFaults(() => random.next(), SHARE) };
      const first = await merge();
      proxy.plays = {};
      const isMerged = (await request(app).get(`${V1}/ehr/${source}`)).status === 404;
      const { code } = first.body as { code?: string };
      if (first.status < 300) expect({ seed, isMerged }).toEqual({ seed, isMerged: true });
      // Faults may make each attempt of a write a conflict.
      else
        expect(['409 conflict', '503 unavailable', '503 outcome-unknown']).toContain(
          `${first.status} ${code}`,
        );
      if (code === 'conflict' || code === 'unavailable')
        expect({ seed, isMerged }).toEqual({ seed, isMerged: false });
      expect((await merge()).status).toBe(200);
      const got = await request(app).get(`${V1}/ehr/${target}?include=compositions`);
      expect((got.body as { compositions: object[] }).compositions).toHaveLength(1);
    }
  });
});

import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, it } from '@jest/globals';
import mongoose from 'mongoose';
import request from 'supertest';
import type { AuditDoc } from '../../../models/audit.js';
import { sealNewRecords } from '../../../maintenance/seal.js';
import { verifyStorage } from '../../../maintenance/verify.js';
import { testApp } from '../../support/app.js';
import {
  auditRecordsOf,
  forgetAudit,
  recordOfAnswer,
  recordsOfAnswer,
  wholeRecordsOf,
} from '../../support/api/audit-records.js';
import { useDatabase } from '../../support/database.js';
import { fixtureText } from '../../support/fixture.js';
import { merge, unmerge } from '../../support/merge-http.js';
import {
  aComposition,
  givenComposition,
  givenEhr,
  givenTemplate,
  versionedObjectUidOf,
  V1,
} from '../../support/resources.js';
import { ADMIN, bearer, USER, WITH_ADMIN } from '../../support/tokens.js';

const O = '/rest/admin';
const SECRET_WORD = 'Mustermann';

const open = testApp(WITH_ADMIN);
const app = testApp({ ...WITH_ADMIN, auth: 'jwt', auditReads: true });
const call = (method: 'get' | 'post' | 'put' | 'delete', path: string, token = USER): request.Test =>
  request(app)[method](path).set('Authorization', token);
const query = (q: string, body: object = {}): request.Test =>
  call('post', `${V1}/query/aql`).send({ q, ...body });

useDatabase();
beforeEach(async () => {
  await givenTemplate(open);
  await forgetAudit();
});

/** Runs work while a record of a success cannot be inserted. */
async function withoutRoomForSuccess(work: () => Promise<void>): Promise<void> {
  const audit = mongoose.connection.collection<{ _id: string; status: number }>('audit');
  await forgetAudit();
  await audit.createIndexes([{ key: { status: 1 }, unique: true, name: 'refusing' }]);
  await audit.insertMany([200, 201, 202, 204].map((status) => ({ _id: `taken-${status}`, status })));
  try {
    await work();
  } finally {
    await audit.dropIndex('refusing');
  }
}

describe('an update without Prefer', () => {
  it.each([
    ['minimal', [204, 204]],
    ['identifier', [200, 204]],
    ['representation', [200, 200]],
  ] as const)(
    'is recorded with the status that it is answered with: PREFER_DEFAULT=%s',
    async (preferDefault, statuses) => {
      const settings = { ...WITH_ADMIN, preferDefault, preferMinimalUpdateStatus: 204 } as const;
      const ehrId = await givenEhr(open);
      const uid = await givenComposition(open, ehrId);
      const path = `${V1}/ehr/${ehrId}/composition/${versionedObjectUidOf(uid)}`;
      const put = (to: string, body: object) =>
        request(testApp(settings)).put(to).set('If-Match', uid).send(body);
      for (const [index, answer] of [
        await put(path, aComposition()),
        await put(`${path}/tags`, [{ key: 'a' }]),
      ].entries()) {
        expect(answer.status).toBe(statuses[index]);
        expect((await recordOfAnswer(answer)).status).toBe(answer.status);
      }
    },
  );
});

describe('a query that is fixed to one EHR', () => {
  const Q = 'SELECT e/ehr_id/value FROM EHR e';

  it.each<[string, (ehrId: string) => request.Test]>([
    ['by the query parameter', (id) => call('get', `${V1}/query/aql`).query({ q: Q, ehr_id: id })],
    ['by the body', (id) => query(Q, { ehr_id: id })],
    ['by the header', (id) => query(Q).set('openEHR-EHR-id', id)],
    ['by a predicate', (id) => query(`SELECT e/ehr_id/value FROM EHR e[ehr_id/value='${id}']`)],
    [
      'by a predicate with a parameter',
      (id) => query(`SELECT e/ehr_id/value FROM EHR e[ehr_id/value=$ehr]`, { query_parameters: { ehr: id } }),
    ],
    ['by WHERE', (id) => query(`${Q} WHERE e/ehr_id/value = '${id}' AND e/ehr_id/value != 'x'`)],
    ['by a stored query', (id) => call('get', `${V1}/query/fixed`).query({ ehr_id: id })],
  ])('%s is recorded with it and is found among the accesses to it', async (_, send) => {
    const ehrId = await givenEhr(open);
    await request(open).put(`${V1}/definition/query/fixed/1.0.0`).set('Content-Type', 'text/plain').send(Q);
    const answer = await send(ehrId);
    expect([answer.status, answer.body.rows]).toEqual([200, [[ehrId]]]);
    const record = await recordOfAnswer(answer);
    expect(record).toMatchObject({ user: 'ada', ehr_id: ehrId, rows: 1, status: 200 });
    expect(record).not.toHaveProperty('ehr_ids');
    expect(record).not.toHaveProperty('population');
    const { body } = await call('get', `${O}/ehr/${ehrId}/access`, ADMIN);
    expect(body.map((one: AuditDoc) => one.request_id)).toContain(record.request_id);
  });

  it('is recorded with it when it is an aggregate, and when nothing is found', async () => {
    const ehrId = await givenEhr(open);
    const counted = await recordOfAnswer(await query('SELECT COUNT(*) FROM EHR e', { ehr_id: ehrId }));
    expect(counted).toMatchObject({ ehr_id: ehrId, rows: 1 });
    expect(counted).not.toHaveProperty('population');
    const empty = await givenEhr(open);
    const none = await query('SELECT c/uid/value FROM COMPOSITION c', { ehr_id: empty });
    expect(await recordOfAnswer(none)).toMatchObject({
      ehr_id: empty,
      rows: 0,
    });
  });
});

describe('a query over the population', () => {
  it('is recorded with the EHRs of its rows, each once', async () => {
    const ids = [await givenEhr(open), await givenEhr(open)];
    for (const id of [...ids, ids[0] ?? '']) await givenComposition(open, id);
    const q = `SELECT c/uid/value FROM EHR e CONTAINS COMPOSITION c WHERE e/ehr_id/value matches {'${ids.join("','")}'}`;
    for (const text of [
      q,
      `${q} ORDER BY c/uid/value DESC LIMIT 3`,
      `${q} ORDER BY c/context/start_time LIMIT 3`,
    ]) {
      const record = await recordOfAnswer(await query(text));
      expect([text, record.rows, new Set(record.ehr_ids)]).toEqual([text, 3, new Set(ids)]);
      expect(record.ehr_ids).toHaveLength(2);
      expect(record).not.toHaveProperty('ehr_id');
    }
    const { body } = await call('get', `${O}/ehr/${ids[1] ?? ''}/access`, ADMIN);
    const seen = body.filter(({ operation }: AuditDoc) => operation === 'query_execute_adhoc_post');
    expect(seen).toHaveLength(3);
  });

  it('is recorded as such when it is an aggregate, with the EHRs of rows that are of one', async () => {
    const ids = [await givenEhr(open), await givenEhr(open)];
    for (const id of ids) await givenComposition(open, id);
    const all = await recordOfAnswer(await query('SELECT COUNT(*) FROM EHR e CONTAINS COMPOSITION c'));
    expect(all).toMatchObject({ rows: 1, population: true });
    expect(all).not.toHaveProperty('ehr_ids');
    const within = `WHERE e/ehr_id/value matches {'${ids.join("','")}'}`;
    const each = `SELECT e/ehr_id/value, COUNT(*) FROM EHR e CONTAINS COMPOSITION c ${within}`;
    const different = `SELECT DISTINCT c/uid/value FROM EHR e CONTAINS COMPOSITION c ${within}`;
    const objects = `SELECT DISTINCT c FROM EHR e CONTAINS COMPOSITION c ${within}`;
    const grouped = `SELECT c, COUNT(*) FROM EHR e CONTAINS COMPOSITION c ${within}`;
    for (const q of [each, different, objects, grouped]) {
      const record = await recordOfAnswer(await query(q));
      expect([q, record.rows, record.population, new Set(record.ehr_ids)]).toEqual([
        q,
        2,
        true,
        new Set(ids),
      ]);
    }
  });

  it('notes all EHRs of a row that is of several', async () => {
    const ids = [await givenEhr(open), await givenEhr(open)];
    const [one = '', other = ''] = ids;
    const q = `SELECT a/ehr_id/value, b/ehr_id/value FROM EHR a AND EHR b WHERE a/ehr_id/value matches {'${one}'} AND b/ehr_id/value matches {'${other}'}`;
    const record = await recordOfAnswer(await query(q));
    expect([record.rows, new Set(record.ehr_ids)]).toEqual([1, new Set(ids)]);
    const half = `SELECT a/ehr_id/value, b/ehr_id/value FROM EHR a[ehr_id/value='${one}'] AND EHR b WHERE b/ehr_id/value matches {'${other}'}`;
    expect(new Set((await recordOfAnswer(await query(half))).ehr_ids)).toEqual(new Set(ids));
  });

  it.each(['application/json', 'application/x-ndjson'])(
    'names every EHR that it answered, however many, in %s',
    async (type) => {
      const collection = mongoose.connection.collection<{ _id: string }>('ehrs');
      const ehrs = Array.from({ length: 2_501 }, (_, index) => ({
        _id: `many-${index}`,
        system_id: 'local.cdr',
        time_created: new Date(),
        state: 'active',
        is_queryable: true,
      }));
      await collection.insertMany(ehrs);
      const q = "SELECT e/ehr_id/value FROM EHR e WHERE e/ehr_id/value LIKE 'many-*'";
      const answer = await query(q).set('Accept', type).buffer(true);
      await collection.deleteMany({ _id: { $in: ehrs.map(({ _id }) => _id) } });
      const records = await wholeRecordsOf(answer, 3);
      expect(
        records.map(({ part, rows, ehr_count, status, user }) => ({ part, rows, ehr_count, status, user })),
      ).toEqual(
        [undefined, 2, 3].map((part) => ({ part, rows: 2_501, ehr_count: 2_501, status: 200, user: 'ada' })),
      );
      const named = records.flatMap(({ ehr_ids: ids = [] }) => ids);
      expect([named.length, new Set(named)]).toEqual([2_501, new Set(ehrs.map(({ _id }) => _id))]);
      expect(Math.max(...records.map(({ ehr_ids: ids = [] }) => ids.length))).toBe(1_000);
      await sealNewRecords();
      const ids = records.map(({ _id: id }) => id);
      const { violations } = await verifyStorage();
      expect(violations.filter(({ id }) => ids.includes(id))).toEqual([]);
      expect(await auditRecordsOf({ unsealed: true })).toEqual([]);
    },
  );

  it('that fails leaves no part which says that something was answered', async () => {
    const collection = mongoose.connection.collection<{ _id: string }>('ehrs');
    const ehrs = Array.from({ length: 1_501 }, (_, index) => ({
      _id: `some-${index}`,
      system_id: 'local.cdr',
      time_created: new Date(),
      state: 'active',
      is_queryable: true,
    }));
    await collection.insertMany(ehrs);
    const q = "SELECT e/ehr_id/value FROM EHR e WHERE e/ehr_id/value LIKE 'some-*'";
    let answer: request.Response | null = null;
    await withoutRoomForSuccess(async () => {
      answer = await query(q);
    });
    await collection.deleteMany({ _id: { $in: ehrs.map(({ _id }) => _id) } });
    const { status, headers } = answer as unknown as request.Response;
    expect(status).toBe(500);
    const records = await auditRecordsOf({ request_id: headers['x-request-id'] });
    expect(records.every((record) => record.status === 500 && record.pending === undefined)).toBe(true);
  });

  it('is recorded without any literal, and with a hash of its parameters', async () => {
    const q = `SELECT c/uid/value AS id FROM EHR e CONTAINS COMPOSITION c WHERE c/name/value = '${SECRET_WORD}' AND c/name/value != $name -- ${SECRET_WORD}`;
    const hashOf = async (name: string): Promise<string | undefined> =>
      (await recordOfAnswer(await query(q, { query_parameters: { name } }))).parameters_hash;
    const hash = await hashOf(SECRET_WORD);
    expect(hash).toMatch(/^[0-9a-f]{64}$/);
    expect([await hashOf(SECRET_WORD), (await hashOf('other')) === hash]).toEqual([hash, false]);
    const records = await auditRecordsOf();
    expect(JSON.stringify(records)).not.toContain(SECRET_WORD);
    expect(records[0]?.aql).toBe(
      'SELECT c/uid/value AS id FROM EHR e CONTAINS COMPOSITION c WHERE c/name/value = ? AND c/name/value != $name',
    );
  });

  it('is recorded when it is refused or only explained', async () => {
    const wrong = await query(`SELECT x/uid FROM EHR e WHERE e/ehr_id/value = '${SECRET_WORD}'`);
    expect(await recordOfAnswer(wrong)).toMatchObject({
      status: 400,
      aql: 'SELECT x/uid FROM EHR e WHERE e/ehr_id/value = ?',
    });
    const ehrId = await givenEhr(open);
    const q = 'SELECT e/ehr_id/value FROM EHR e';
    const explained = await call('post', `${V1}/query/aql/explain`).send({ q, ehr_id: ehrId });
    expect(await recordOfAnswer(explained)).toMatchObject({
      operation: 'query_explain',
      ehr_id: ehrId,
      aql: q,
    });
  });
});

describe('a stream', () => {
  it.each(['application/x-ndjson', 'text/csv'])(
    'of %s is recorded once, whole when it has ended',
    async (type) => {
      const ehrId = await givenEhr(open);
      const q = `SELECT e/ehr_id/value FROM EHR e WHERE e/ehr_id/value matches {'${ehrId}'}`;
      const answer = await query(q).set('Accept', type).buffer(true);
      const record = await recordOfAnswer(answer);
      expect(record).toMatchObject({ rows: 1, ehr_ids: [ehrId], status: 200 });
      expect(record).not.toHaveProperty('pending');
      expect(record).not.toHaveProperty('outcome');
    },
  );

  it('that nobody reads is recorded as incomplete', async () => {
    const head = await request(app)
      .head(`${V1}/query/aql`)
      .query({ q: 'SELECT e/ehr_id/value FROM EHR e' })
      .set({ Authorization: USER, Accept: 'text/csv' });
    expect(await recordOfAnswer(head)).toMatchObject({ outcome: 'incomplete' });
  });
});

describe('a write', () => {
  it('is recorded with what it made, and who asked from where', async () => {
    const made = await call('post', `${V1}/ehr`);
    const ehrId = String(made.headers['etag']).replaceAll('"', '');
    expect(await recordOfAnswer(made)).toMatchObject({
      user: 'ada',
      sub: expect.any(String),
      address: expect.stringMatching(/127\.0\.0\.1/),
      operation: 'ehr_create',
      ehr_id: ehrId,
      status: 201,
    });
    const composed = await call('post', `${V1}/ehr/${ehrId}/composition`).send(aComposition());
    const versionUid = String(composed.headers['etag']).replaceAll('"', '');
    expect((await recordOfAnswer(composed)).objects).toContain(versionUid);
    const deleted = await call('delete', `${V1}/ehr/${ehrId}/composition/${versionUid}`);
    expect(await recordOfAnswer(deleted)).toMatchObject({ status: 204, ehr_id: ehrId });
    const { body } = await call('get', `${O}/ehr/${ehrId}/access`, ADMIN);
    const operations = body.map(({ operation }: AuditDoc) => operation);
    expect(operations).toEqual(['composition_delete', 'composition_create', 'ehr_create']);
  });

  it('is recorded by default, a read is not', async () => {
    const defaults = testApp();
    const ehrId = await givenEhr(defaults);
    await request(defaults).get(`${V1}/ehr/${ehrId}`);
    expect((await auditRecordsOf()).map(({ operation }) => operation)).toEqual(['ehr_create']);
  });

  it('leaves one record each time it is sent with the same key', async () => {
    const key = randomUUID();
    const send = (): request.Test => call('post', `${V1}/ehr`).set('Idempotency-Key', key);
    const [first, second] = [await send(), await send()];
    const ehrId = String(first.headers['etag']).replaceAll('"', '');
    expect(await recordOfAnswer(first)).not.toHaveProperty('outcome');
    expect(await recordOfAnswer(second)).toMatchObject({ ehr_id: ehrId, status: 201, outcome: 'replayed' });
  });

  it('leaves one record when it is refused', async () => {
    const ehrId = await givenEhr(open);
    const refused = await call('post', `${V1}/ehr/${ehrId}/composition`).send({ _type: 'COMPOSITION' });
    const record = await recordOfAnswer(refused);
    expect(record).toMatchObject({ ehr_id: ehrId, status: refused.status });
    expect(record).not.toHaveProperty('objects');
  });

  it.each<[string, () => Promise<() => request.Test>, string]>([
    [
      'a COMPOSITION',
      async () => {
        const ehrId = await givenEhr(testApp());
        return () => call('post', `${V1}/ehr/${ehrId}/composition`).send(aComposition());
      },
      'versions',
    ],
    [
      'a stored query',
      () =>
        Promise.resolve(() =>
          call('put', `${V1}/definition/query/a${randomUUID()}/1.0.0`)
            .set('Content-Type', 'text/plain')
            .send('SELECT e FROM EHR e'),
        ),
      'stored_queries',
    ],
    [
      'a template',
      () =>
        Promise.resolve(() =>
          call('post', `${V1}/definition/template/adl1.4`)
            .set('Content-Type', 'application/xml')
            .send(fixtureText('opt/minimal_admin.en.v1.opt')),
        ),
      'templates',
    ],
    [
      'a physical deletion',
      async () => {
        const ehrId = await givenEhr(testApp());
        return () => call('delete', `${O}/ehr/${ehrId}`, ADMIN);
      },
      'ehrs',
    ],
    [
      'a merge',
      async () => {
        const [source, target] = [await givenEhr(open), await givenEhr(open)];
        return () => merge(app, source, target);
      },
      'merge_records',
    ],
    [
      'an unmerge',
      async () => {
        const [source, target] = [await givenEhr(open), await givenEhr(open)];
        expect((await merge(open, source, target)).status).toBe(200);
        return () => unmerge(app, source, target);
      },
      'merge_records',
    ],
  ])('of %s is not made when it cannot be recorded', async (_, prepare, name) => {
    const send = await prepare();
    const collection = mongoose.connection.collection(name);
    const before = await collection.countDocuments();
    await withoutRoomForSuccess(async () => {
      const answer = await send();
      expect(answer.status).toBeGreaterThanOrEqual(400);
    });
    expect(await collection.countDocuments()).toBe(before);
  });
});

describe('a refusal', () => {
  it('is recorded with its address, whether an operation has it or not', async () => {
    const id = randomUUID();
    const answers = [
      await request(app).get(`${V1}/ehr/${id}`),
      await request(app).get(`/V1/EHR/${id}`),
      await request(app).delete(`${O}/ehr/${id}`),
      await request(app).get(`${V1}/definition/template/adl1.4`).set('Authorization', bearer([], 'eve')),
    ];
    const records = await Promise.all(answers.map(recordOfAnswer));
    expect(answers.map(({ status }) => status)).toEqual([401, 401, 401, 403]);
    expect(records).toMatchObject([
      { user: 'anonymous', operation: 'ehr_get_by_id', ehr_id: id, status: 401 },
      { user: 'anonymous', operation: 'unknown', status: 401 },
      { user: 'anonymous', operation: 'deleteEhr', ehr_id: id, status: 401 },
      { user: 'eve', operation: 'template_adl1.4_list', status: 403 },
    ]);
    for (const { address } of records) expect(address).toMatch(/127\.0\.0\.1/);
  });

  it('without identity is recorded twenty times in a minute', async () => {
    const attacked = testApp({ ...WITH_ADMIN, auth: 'jwt' });
    for (let i = 0; i < 25; i++) await request(attacked).get(`${V1}/ehr/${randomUUID()}`);
    expect(await auditRecordsOf()).toHaveLength(20);
    for (let i = 0; i < 25; i++)
      await request(attacked).get(`${V1}/ehr/${randomUUID()}`).set('Authorization', bearer([], 'eve'));
    // Those of somebody who is known too: further ones are counted.
    expect(await auditRecordsOf({ user: 'eve' })).toHaveLength(20);
  });
});

describe('a read', () => {
  it('is recorded with what it answered, whatever spelling the address had', async () => {
    const ehrId = await givenEhr(open);
    const uid = await givenComposition(open, ehrId);
    const read = await call(
      'get',
      `${V1}/ehr/${ehrId.toUpperCase()}/composition/${versionedObjectUidOf(uid)}`,
    );
    expect(await recordOfAnswer(read)).toMatchObject({
      operation: 'composition_get',
      ehr_id: ehrId,
      objects: [uid],
    });
    const other = await call('get', `/v1/EHR/${ehrId}`);
    expect([other.status, await recordsOfAnswer(other)]).toEqual([404, []]);
  });

  it('of an EHR by its patient is recorded with its id', async () => {
    const id = randomUUID();
    const external = { _type: 'GENERIC_ID', value: id, scheme: 'id' };
    const subject = {
      _type: 'PARTY_SELF',
      external_ref: { _type: 'PARTY_REF', id: external, namespace: 'hospital', type: 'PERSON' },
    };
    const ehrId = await givenEhr(open, {
      _type: 'EHR_STATUS',
      archetype_node_id: 'openEHR-EHR-EHR_STATUS.generic.v1',
      name: { _type: 'DV_TEXT', value: 'status' },
      subject,
      is_queryable: true,
      is_modifiable: true,
    });
    const found = await call('get', `${V1}/ehr`).query({ subject_id: id, subject_namespace: 'hospital' });
    expect(await recordOfAnswer(found)).toMatchObject({ operation: 'ehr_get_by_subject', ehr_id: ehrId });
  });
});

describe('GET /rest/admin/audit', () => {
  const list = (parameters: object): request.Test => call('get', `${O}/audit`, ADMIN).query(parameters);
  const operationsOf = async (parameters: object): Promise<string[]> =>
    (await list(parameters)).body.map(({ operation }: AuditDoc) => operation);

  it('filters by user, operation, status, EHR and time, and pages', async () => {
    const start = new Date().toISOString();
    const ehrId = await givenEhr(open);
    await call('get', `${V1}/ehr/${ehrId}`);
    await call('get', `${V1}/ehr/${randomUUID()}`);
    await call('get', `${V1}/ehr/${ehrId}/ehr_status`, bearer(['USER'], 'bea'));
    expect(await operationsOf({ user: 'bea' })).toEqual(['ehr_status_get_at_time']);
    expect(await operationsOf({ operation: 'ehr_get_by_id' })).toHaveLength(2);
    expect(await operationsOf({ status: '404' })).toEqual(['ehr_get_by_id']);
    expect(await operationsOf({ ehr_id: ehrId, user: 'ada' })).toEqual(['ehr_get_by_id']);
    expect(await operationsOf({ from: start, to: start })).toEqual([]);
    expect(await operationsOf({ user: 'ada', offset: '1', fetch: '1' })).toHaveLength(1);
    for (const wrong of [{ status: 'ok' }, { status: '99' }, { fetch: '1001' }])
      expect([wrong, (await list(wrong)).status]).toEqual([wrong, 400]);
  });

  it('gives CSV', async () => {
    const ehrId = await givenEhr(open);
    const { status, headers, text } = await list({ ehr_id: ehrId }).set('Accept', 'text/csv');
    const [head, first, end] = text.split('\r\n');
    expect([status, headers['content-type']]).toEqual([200, 'text/csv; charset=utf-8']);
    expect(head).toMatch(
      /^time,user,sub,.*,operation,status,ehr_id,.*,request_id,restored,organisation,purpose,policies,hidden,decision,.*,part,id$/,
    );
    expect(first).toMatch(new RegExp(`,ehr_create,201,${ehrId},`));
    expect(end).toBe('');
  });

  it('begins no cell of the CSV by what a user calls himself', async () => {
    const name = 'x;=1+1';
    expect((await call('get', `${O}/audit`, bearer(['USER'], name))).status).toBe(403);
    const { text } = await list({ user: name }).set('Accept', 'text/csv');
    expect(text.split('\r\n')[1]).toMatch(/,"x;=1\+1",/);
  });
});

it('records a merge with its options, a rehearsal of it as such', async () => {
  const [source, target] = [await givenEhr(open), await givenEhr(open)];
  const body = { source_ehr: source, target_ehr: target, reversible: true };
  const about = { ehr_id: source, ehr_ids: [source, target], target, operation: 'mergeEhrs', status: 200 };
  const tried = await call('post', `${O}/ehr/merge`, ADMIN).send({ ...body, dry_run: true });
  expect(await recordOfAnswer(tried)).toMatchObject({ ...about, dry_run: true });
  const merged = await call('post', `${O}/ehr/merge`, ADMIN).send(body);
  expect(await recordOfAnswer(merged)).toMatchObject({
    ...about,
    outcome: 'BASIC',
    options: { reversible: true, folder_merge: 'BASIC', composition_merge: 'BASIC' },
    objects: [expect.any(String)],
  });
  const undone = await call('post', `${O}/ehr/unmerge`, ADMIN).send({
    source_ehr: source,
    target_ehr: target,
  });
  expect(await recordOfAnswer(undone)).toMatchObject({ ...about, operation: 'unmerge', outcome: 'BASIC' });
  const { body: seen } = await call('get', `${O}/ehr/${target}/access`, ADMIN);
  expect(seen.map(({ operation }: AuditDoc) => operation)).toEqual([
    'unmerge',
    'mergeEhrs',
    'mergeEhrs',
    'ehr_create',
  ]);
});

import { randomUUID } from 'node:crypto';
import { afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import mongoose from 'mongoose';
import request from 'supertest';
import { reindexStorage } from '../../../maintenance/reindex.js';
import { verifyStorage } from '../../../maintenance/verify.js';
import { EXAMINED_EHRS } from '../../../merge/candidates/candidates.js';
import { MAX_SHARED } from '../../../merge/candidates/score.js';
import { claimStorage } from '../../../models/settings.js';
import { createLogger } from '../../../src/logger.js';
import { handlerOf, testApp } from '../../support/app.js';
import { useOwnDatabase } from '../../support/database.js';
import { admin, givenMergeTemplates, merge, statusOf, unmerge } from '../../support/merge-http.js';
import { recordedFinds } from '../../support/merge/recorded-finds.js';
import { aComposition, givenComposition, givenEhr, V1, type Json } from '../../support/resources.js';
import { testSettings } from '../../support/settings.js';
import { WITH_ADMIN } from '../../support/tokens.js';

useOwnDatabase();
const PATH = 'openEHR-EHR-EVALUATION.minimal.v1/data[at0001]/items[at0002]/value/magnitude';
const BIRTH = 'openEHR-EHR-EHR_STATUS.generic.v1/other_details[at0001]/items[at0009]/value/value';
const app = testApp({ ...WITH_ADMIN, mergeCandidatePaths: [PATH, BIRTH] });
beforeAll(async () => {
  await claimStorage('local.cdr', 'all');
  await givenMergeTemplates(app);
});

const collection = (name: string): mongoose.mongo.Collection => mongoose.connection.collection(name);
beforeEach(async () => {
  for (const name of ['ehrs', 'versioned_objects', 'versions', 'contributions', 'aql', 'merge_requests'])
    await collection(name).deleteMany({});
});
afterEach(() => {
  jest.restoreAllMocks();
});

interface Identifier {
  readonly id: string;
  readonly issuer?: string;
  readonly assigner?: string;
  readonly type?: string;
}

/** An EHR whose EHR_STATUS names the patient so. */
async function givenPatient(
  subject: readonly [namespace: string, id: string] | null,
  ...identifiers: readonly Identifier[]
): Promise<string> {
  const { status, body } = await request(app)
    .post(`${V1}/ehr`)
    .set('Prefer', 'return=representation')
    .send(statusFor(subject, ...identifiers));
  expect(status).toBe(201);
  return (body as { ehr_id: { value: string } }).ehr_id.value;
}

function statusFor(
  subject: readonly [namespace: string, id: string] | null,
  ...identifiers: readonly Identifier[]
): Json {
  const status = statusOf(
    subject?.[1] ?? '',
    identifiers.length > 0 ? { other_details: details(identifiers) } : {},
  );
  const named = status.subject as { external_ref: { namespace: string } };
  if (subject === null) return { ...status, subject: { _type: 'PARTY_SELF' } };
  named.external_ref.namespace = subject[0];
  return status;
}

function details(identifiers: readonly Identifier[]): Json {
  return {
    _type: 'ITEM_TREE',
    archetype_node_id: 'at0001',
    name: { _type: 'DV_TEXT', value: 'details' },
    items: identifiers.map((identifier, index) => ({
      _type: 'ELEMENT',
      archetype_node_id: `at000${index + 2}`,
      name: { _type: 'DV_TEXT', value: `identifier ${index}` },
      value: { _type: 'DV_IDENTIFIER', ...identifier },
    })),
  };
}

async function candidates(query = ''): Promise<Json> {
  const { status, body } = await admin(app, 'get', `/ehr/merge_candidates${query}`);
  expect([status, body]).toEqual([200, expect.anything()]);
  return body as Json;
}

const listed = async (query = ''): Promise<Json[]> => (await candidates(query)).candidates as Json[];
const sorted = (...ehrIds: string[]): string[] => [...ehrIds].sort();

it('one pair has one score, whoever asks, and one id under two issuers is one reason', async () => {
  const both = await givenPatient(null, { id: 'X', issuer: 'state' }, { id: 'X', issuer: 'clinic' });
  const one = await givenPatient(null, { id: 'X', issuer: 'state' });
  const other = await givenPatient(null, { id: 'X', issuer: 'clinic' });
  // Fits each of them, which do not fit each other.
  const vague = await givenPatient(null, { id: 'X' });
  const seen = new Map<string, unknown>();
  for (const ehrId of [both, one, other, vague]) {
    const { body } = await admin(app, 'get', `/ehr/merge_candidates?ehr_id=${ehrId}`);
    for (const { other_ehr_id: with_, score, reasons } of body.candidates as Json[]) {
      const pair = [ehrId, String(with_)].sort().join();
      expect([score, reasons]).toEqual(seen.get(pair) ?? [score, reasons]);
      expect(reasons).toHaveLength(1);
      seen.set(pair, [score, reasons]);
    }
  }
  expect(seen.size).toBe(5);
});

describe('EHRs that may be of one person', () => {
  it('have the same subject id in different namespaces', async () => {
    const one = await givenPatient(['north', '4711']);
    const other = await givenPatient(['south', '4711']);
    await givenPatient(['south', '4712']);
    const [lower, higher] = sorted(one, other);
    expect(await candidates()).toEqual({
      candidates: [
        {
          ehr_id: lower,
          other_ehr_id: higher,
          score: 0.6,
          reasons: [
            {
              code: 'subject_id',
              value: '4711',
              namespaces: lower === one ? ['north', 'south'] : ['south', 'north'],
              shared_by: 2,
            },
          ],
        },
      ],
      no_evidence: [],
      examined_ehrs: 3,
    });
  });

  it('have the same identifier in other_details, unless what both say of it differs', async () => {
    const passport = { id: 'P-1', issuer: 'state', type: 'passport' };
    const one = await givenPatient(null, passport, { id: '77' });
    const other = await givenPatient(null, { id: '77', issuer: 'insurer' }, { id: ' P-1 ', issuer: 'state' });
    await givenPatient(null, { ...passport, issuer: 'another state' });
    const list = await listed(`?ehr_id=${one}`);
    expect(list).toEqual([
      {
        ehr_id: one,
        other_ehr_id: other,
        score: 0.9,
        reasons: [
          { code: 'identifier', value: 'P-1', issuer: 'state', shared_by: 2 },
          { code: 'identifier', value: '77', shared_by: 2 },
        ],
      },
    ]);
    expect((await listed()).map(({ score }) => score)).toEqual([0.9]);
  });

  it('have the same value at a configured path', async () => {
    const ehrs = [await givenEhr(app), await givenEhr(app), await givenEhr(app)];
    for (const [index, value] of [123.5, 123.5, 999].entries())
      await givenComposition(app, ehrs[index]!, withValue(value));
    const [lower, higher] = sorted(ehrs[0]!, ehrs[1]!);
    expect(await listed()).toEqual([
      {
        ehr_id: lower,
        other_ehr_id: higher,
        score: 0.4,
        reasons: [{ code: 'path', value: '123.5', path: PATH, shared_by: 2 }],
      },
    ]);
  });

  it('have the same date of birth in other_details, as it is written', async () => {
    const born = async (value: string): Promise<string> => {
      const status = statusFor(null, { id: value });
      const [element] = (status.other_details as { items: Json[] }).items;
      Object.assign(element!, { archetype_node_id: 'at0009', value: { _type: 'DV_DATE', value } });
      return givenEhr(app, status);
    };
    const one = await born('1969-12-30');
    await born('1970-01-02');
    const other = await born('1969-12-30');
    expect((await listed(`?ehr_id=${one}`))[0]).toMatchObject({
      other_ehr_id: other,
      reasons: [{ code: 'path', value: '1969-12-30', path: BIRTH, shared_by: 2 }],
    });
  });

  it('are less likely so where a value is shared by more, or one namespace has both as different subjects', async () => {
    const phone = { id: '555' };
    const twins = [await givenPatient(['north', 'a'], phone), await givenPatient(['north', 'b'], phone)];
    expect(await listed(`?ehr_id=${twins[0]}`)).toEqual([
      expect.objectContaining({
        other_ehr_id: twins[1],
        score: 0.25,
        against: [{ code: 'different_subjects', namespace: 'north' }],
      }),
    ]);
    const parent = await givenPatient(['south', 'c'], phone);
    const list = await listed(`?ehr_id=${parent}`);
    expect(list.map(({ other_ehr_id: other, score }) => [other, score])).toEqual(
      sorted(...twins).map((other) => [other, 0.25]),
    );
  });

  it('are not told by a value that many share, which is named instead', async () => {
    const everywhere = [];
    for (let count = 0; count <= MAX_SHARED; count += 1)
      everywhere.push(await givenPatient([`clinic${count}`, 'unknown'], { id: '0000' }));
    expect(await candidates()).toEqual({
      candidates: [],
      no_evidence: [
        { code: 'subject_id', value: 'unknown' },
        { code: 'identifier', value: '0000' },
      ],
      examined_ehrs: MAX_SHARED + 1,
    });
    expect(await listed(`?ehr_id=${everywhere[0]}`)).toEqual([]);
  });
});

describe('candidates follow what happens to the EHRs', () => {
  it('a new version of the EHR_STATUS counts, the former one no longer', async () => {
    const one = await givenPatient(['north', '1']);
    const other = await givenPatient(['south', '2']);
    expect(await listed()).toEqual([]);
    const before = await request(app).get(`${V1}/ehr/${other}/ehr_status`);
    const put = await request(app)
      .put(`${V1}/ehr/${other}/ehr_status`)
      .set('If-Match', String(before.headers.etag))
      .send(statusFor(['south', '1']));
    expect(put.status).toBe(200);
    expect(await listed(`?ehr_id=${one}`)).toEqual([expect.objectContaining({ other_ehr_id: other })]);
    expect((await verifyStorage()).violations).toEqual([]);
  });

  it('EHRs merged away are left out, and are back after an unmerge', async () => {
    const [one, other] = [await givenPatient(['north', '1']), await givenPatient(['south', '1'])];
    expect((await merge(app, one, other)).status).toBe(200);
    expect(await listed()).toEqual([]);
    const gone = await admin(app, 'get', `/ehr/merge_candidates?ehr_id=${one}`);
    expect([gone.status, gone.body]).toEqual([
      404,
      expect.objectContaining({ code: 'not-found', candidates: [], no_evidence: [] }),
    ]);
    expect(gone.headers.link).toContain(other);
    // As an older release archived it.
    await collection('merge_archive').updateMany({ kind: 'ehr' }, { $unset: { 'body.identities': 1 } });
    expect((await unmerge(app, one, other)).status).toBe(200);
    expect(await listed()).toHaveLength(1);
    expect((await verifyStorage()).violations).toEqual([]);
  });

  it('EHRs that are being merged or erased are left out', async () => {
    const [one, other] = [await givenPatient(['north', '1']), await givenPatient(['south', '1'])];
    const mark = (update: object) => collection('ehrs').updateOne({ _id: other as never }, update);
    await mark({ $set: { merging: randomUUID() } });
    expect(await listed()).toEqual([]);
    expect(await listed(`?ehr_id=${one}`)).toEqual([]);
    await mark({ $unset: { merging: 1 } });
    expect((await admin(app, 'delete', `/ehr/${other}`)).status).toBe(204);
    expect(await listed()).toEqual([]);
  });

  it('a merge that waits for approval is told', async () => {
    const strict = testApp({ ...WITH_ADMIN, fourEyes: ['merge'] });
    const [one, other] = [await givenPatient(['north', '1']), await givenPatient(['south', '1'])];
    const { body } = await merge(strict, one, other);
    expect(await listed()).toEqual([
      expect.objectContaining({
        pending: [{ merge_id: body.merge_id, source_ehr: one, target_ehr: other }],
      }),
    ]);
  });

  it('those of an older release are known after a reindex, and missed with a word until then', async () => {
    await givenPatient(['north', '1']);
    await givenPatient(['south', '1']);
    await collection('ehrs').updateMany({}, { $unset: { identities: 1 } });
    await collection('settings').updateOne({ _id: 'storage' as never }, { $unset: { identities: 1 } });
    expect(await candidates()).toMatchObject({
      candidates: [],
      incomplete: [expect.stringContaining('everchart upgrade')],
    });
    await reindexStorage('all');
    const after = await candidates();
    expect([after.candidates, after.incomplete]).toEqual([[expect.anything()], undefined]);
    expect((await verifyStorage()).violations).toEqual([]);
  });
});

describe('candidates are paged', () => {
  it('every pair once, whatever the size of the page', async () => {
    for (let count = 0; count < 6; count += 1) {
      await givenPatient(['north', `${count}`]);
      await givenPatient(['south', `${count}`]);
    }
    const whole = await listed();
    expect(whole).toHaveLength(6);
    const pages: Json[] = [];
    for (let next: string | undefined = ''; next !== undefined;) {
      const page = await candidates(`?fetch=1${next === '' ? '' : `&after=${next}`}`);
      expect((page.candidates as Json[]).length).toBeLessThanOrEqual(1);
      pages.push(...(page.candidates as Json[]));
      next = page.next as string | undefined;
    }
    expect(pages).toEqual(whole);
  });

  it('a request looks at a bounded number of EHRs', async () => {
    const many = Array.from({ length: EXAMINED_EHRS + 5 }, () => ({
      _id: randomUUID() as never,
      state: 'active',
      write_seq: 1,
      identities: [],
    }));
    await collection('ehrs').insertMany(many);
    const without = testApp({ ...WITH_ADMIN, mergeCandidatePaths: [] });
    const first = await admin(without, 'get', '/ehr/merge_candidates');
    expect(first.body).toMatchObject({ examined_ehrs: EXAMINED_EHRS, next: expect.any(String) });
    const second = await admin(without, 'get', `/ehr/merge_candidates?after=${first.body.next}`);
    expect(second.body).toEqual({ candidates: [], no_evidence: [], examined_ehrs: 5 });
  });

  it('refuses values that it cannot take', async () => {
    const ehrId = await givenEhr(app);
    for (const query of ['fetch=0', 'fetch=1001', `ehr_id=${ehrId}&fetch=5`, 'ehr_id=all']) {
      const { status, body } = await admin(app, 'get', `/ehr/merge_candidates?${query}`);
      expect([query, status, body]).toEqual([query, 400, expect.objectContaining({ candidates: [] })]);
    }
    expect((await admin(app, 'get', `/ehr/merge_candidates?ehr_id=${randomUUID()}`)).status).toBe(404);
  });
});

describe('candidates are found by indexes', () => {
  it('no scan, and little more is examined than is answered', async () => {
    await collection('ehrs').insertMany(
      // In the order of their ids, so that the two that agree come after the first page.
      Array.from({ length: 2_000 }, (_, count) => ({
        _id: `f${String(count).padStart(7, '0')}${randomUUID().slice(8)}` as never,
        state: 'active',
        write_seq: 1,
        subject: { namespace: `n${count}`, id: `id ${Math.min(count, 1_998)}` },
        identities: [{ key: `subject:id ${Math.min(count, 1_998)}` }],
      })),
    );
    const pair = ['0', '1'].map((first) => `${first}${randomUUID().slice(1)}`);
    for (const ehrId of pair) expect((await request(app).put(`${V1}/ehr/${ehrId}`)).status).toBe(201);
    for (const ehrId of pair) await givenComposition(app, ehrId, withValue(1));
    for (let count = 0; count < 30; count += 1) await givenComposition(app, pair[0]!, withValue(count + 2));

    const cursors = recordedFinds(['ehrs', 'aql', 'merge_requests']);
    expect(await listed(`?ehr_id=${pair[1]}`)).toHaveLength(1);
    const forOne = cursors.splice(0);
    expect(forOne).toHaveLength(7);
    const page = await candidates();
    jest.restoreAllMocks();
    expect(page).toMatchObject({ candidates: [{ reasons: [{ code: 'path' }] }], next: expect.anything() });
    expect(cursors.length).toBeGreaterThan(900);
    for (const cursor of [...forOne, ...cursors.filter((_, index) => index % 5 === 0)]) {
      const { queryPlanner, executionStats: stats } = (await cursor
        .clone()
        .explain('executionStats')) as unknown as {
        queryPlanner: { winningPlan: object };
        executionStats: { nReturned: number; totalKeysExamined: number; totalDocsExamined: number };
      };
      const stages = [...JSON.stringify(queryPlanner.winningPlan).matchAll(/"stage":"(\w+)"/g)].map(
        ([, s]) => s,
      );
      expect(stages).not.toContain('COLLSCAN');
      expect(stages).not.toContain('SORT');
      expect(stages.some((stage) => /IXSCAN|IDHACK|CLUSTERED_IXSCAN|EOF/.test(stage ?? ''))).toBe(true);
      expect(stats.totalDocsExamined - stats.nReturned).toBeLessThanOrEqual(2);
      expect(stats.totalKeysExamined - stats.nReturned).toBeLessThanOrEqual(2);
    }
  });
});

describe('values of patients', () => {
  it('stand in no log line and in no record of the audit', async () => {
    const lines: string[] = [];
    const log = createLogger('trace', { write: (line) => void lines.push(line) });
    const settings = testSettings({ ...WITH_ADMIN, logLevel: 'trace' });
    const handle = handlerOf(settings, log);
    const one = await givenPatient(['north', 'SECRET-4711'], { id: 'SECRET-0815' });
    await givenPatient(['south', 'SECRET-4711'], { id: 'SECRET-0815' });
    const { body } = await admin(
      (req, res) => void handle(req, res),
      'get',
      `/ehr/merge_candidates?ehr_id=${one}`,
    );
    expect(JSON.stringify(body)).toContain('SECRET-4711');
    expect(lines.length).toBeGreaterThan(0);
    expect(lines.join('')).not.toContain('SECRET');
    const audited = await collection('audit').find({ operation: 'getMergeCandidates' }).toArray();
    expect(audited.length).toBeGreaterThan(0);
    expect(JSON.stringify(audited)).not.toContain('SECRET');
  });
});

/** A COMPOSITION with this magnitude at the configured path. */
function withValue(magnitude: number): Json {
  const composition = aComposition('minimal_evaluation.en.v1');
  const [evaluation] = composition.content as { data: { items: { value: Json }[] } }[];
  evaluation!.data.items[0]!.value.magnitude = magnitude;
  return composition;
}

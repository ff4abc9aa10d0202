import { randomUUID } from 'node:crypto';
import { beforeAll, expect, it } from '@jest/globals';
import request from 'supertest';
import { AuditDraft, withAuditDraft } from '../../../change/commit/audit-draft.js';
import { makeEhr } from '../../../maintenance/extract/make.js';
import { readExtract } from '../../../maintenance/extract/read.js';
import { sealNewRecords } from '../../../maintenance/seal.js';
import { verifyStorage } from '../../../maintenance/verify.js';
import type { JsonValue } from '../../../openehr/base/json.js';
import { testApp } from '../../support/app.js';
import { useDatabase } from '../../support/database.js';
import { emptied } from '../../support/interchange.js';
import { draws, seeds } from '../../support/laws.js';
import { givenMergeTemplates } from '../../support/merge-http.js';
import { GroupWriter } from '../../support/merge/group-writer.js';
import { SIDES } from '../../support/merge/recorded.js';
import { Random } from '../../support/random.js';
import { V1, type Json } from '../../support/resources.js';
import { testSettings } from '../../support/settings.js';
import { ADMIN, bearer, WITH_ADMIN } from '../../support/tokens.js';

const SIZES = { small: 2, full: 600 };
const STEPS = 20;

useDatabase();
const roles = {
  rolePermissions: { MOVER: ['restore'], ADMIN: ['read', 'write', 'define', 'admin'] },
} as const;
const app = testApp({ ...WITH_ADMIN, ...roles, signing: 'digest' });
beforeAll(async () => {
  await emptied();
});

/** Sends a request as somebody who may bring what was made elsewhere. */
function sent(path: string, body: string, type = 'application/json'): request.Test {
  return request(app)
    .post(path)
    .set({ Authorization: bearer(['MOVER'], 'mover'), 'Content-Type': type })
    .send(body);
}

async function extracted(ehrId: string, form = 'application/json'): Promise<string> {
  const { status, text } = await request(app).get(`${V1}/ehr/${ehrId}/extract`).set('Accept', form);
  expect(status).toBe(200);
  return text;
}

/** What it says but for the time of its making; what came as XML may have its attributes in another order. */
function timeless(text: string): Json {
  const extract = JSON.parse(text) as Json;
  delete extract['time_created'];
  return extract;
}

/** Makes the EHR anew, by several transactions. */
async function madeInSteps(ehrId: string, json: string, versionsAtOnce: number): Promise<void> {
  await request(app).delete(`/rest/admin/ehr/${ehrId}`).set('Authorization', ADMIN);
  const { systemId, aql, ...settings } = testSettings();
  const how = { settings, systemId, leafIndex: aql.leafIndex, work: null, versionsAtOnce };
  const sender = { user: 'mover', operation: 'ehr_extract_create', request_id: randomUUID() };
  const extract = readExtract(JSON.parse(json) as JsonValue);
  await withAuditDraft(new AuditDraft(() => sender, 201), () => makeEhr(extract, how));
}

/** All rows that two queries give of an EHR. */
async function rowsOf(ehrId: string): Promise<unknown> {
  const answers = [];
  for (const q of [
    'SELECT v/uid/value, v/commit_audit/time_committed/value, c FROM EHR e CONTAINS VERSION v[ALL_VERSIONS] CONTAINS COMPOSITION c ORDER BY v/uid/value',
    'SELECT c/uid/value FROM EHR e CONTAINS COMPOSITION c ORDER BY c/uid/value',
  ]) {
    const { body, status } = await request(app)
      .post(`${V1}/query/aql`)
      .set('openEHR-EHR-id', ehrId)
      .send({ q });
    expect(status).toBe(200);
    answers.push((body as Json)['rows']);
  }
  return answers;
}

it(`an EHR made of an EXTRACT has the same EXTRACT and rows, and into one that has content it goes and comes out again (${draws(SIZES)} EHRs)`, async () => {
  for (const seed of seeds(SIZES)) {
    await emptied('another.system');
    await givenMergeTemplates(app);
    const random = new Random(seed);
    const writer = await GroupWriter.given(app, random, { source: 4, target: 5, third: 2 });
    for (let step = 0; step < STEPS; step += 1) await writer.step();
    const ehrId = writer.ehrOf(random.pick(SIDES));
    const form = random.pick(['application/json', 'application/xml']);
    const [json, body, rows] = [await extracted(ehrId), await extracted(ehrId, form), await rowsOf(ehrId)];

    await emptied();
    await givenMergeTemplates(app);
    const made = await sent(`${V1}/ehr/extract`, body, form);
    expect([seed, made.status, made.text]).toEqual([seed, 201, expect.any(String)]);
    if (seed % 2 === 0) await madeInSteps(ehrId, json, random.pick([1, 3]));
    expect({ seed, extract: timeless(await extracted(ehrId)) }).toEqual({ seed, extract: timeless(json) });
    expect(await rowsOf(ehrId)).toEqual(rows);
    await sealNewRecords();
    expect({ seed, violations: (await verifyStorage()).violations }).toEqual({ seed, violations: [] });

    await emptied();
    await givenMergeTemplates(app);
    const { ehrIds } = await GroupWriter.given(app, random, { source: 2, target: 2, third: 1 });
    const target = ehrIds[random.pick(SIDES)];
    const [before, rowsBefore] = [await extracted(target), await rowsOf(target)];
    const path = `/rest/admin/ehr/${target}/extract`;
    const { body: plan } = await sent(`${path}?dry_run=true`, body, form);
    expect([seed, (plan as Json)['obstacles']]).toEqual([seed, []]);
    if ((plan as Json)['versions'] === 0) continue;
    const done = await sent(`${path}?plan=${(plan as Json)['hash'] as string}`, body, form);
    expect([seed, done.status]).toEqual([seed, 200]);
    if (random.below(2) === 0) await sealNewRecords();
    const undone = await sent(`${path}/${(done.body as Json)['import_id'] as string}/undo`, '');
    expect([seed, undone.status]).toEqual([seed, 200]);
    expect({ seed, extract: timeless(await extracted(target)) }).toEqual({ seed, extract: timeless(before) });
    expect(await rowsOf(target)).toEqual(rowsBefore);
    await sealNewRecords();
    expect({ seed, violations: (await verifyStorage()).violations }).toEqual({ seed, violations: [] });
  }
}, 14_400_000);

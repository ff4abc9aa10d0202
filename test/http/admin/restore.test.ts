import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import mongoose from 'mongoose';
import request from 'supertest';
import { sealNewRecords } from '../../../maintenance/seal.js';
import { verifyStorage } from '../../../maintenance/verify.js';
import { auditRecords } from '../../../models/audit.js';
import { testApp } from '../../support/app.js';
import { useDatabase } from '../../support/database.js';
import { emptied, exported } from '../../support/interchange.js';
import { merge, statusOf, unmerge } from '../../support/merge-http.js';
import { givenComposition, givenEhr, givenTemplate, V1 } from '../../support/resources.js';
import { everythingOn } from '../../support/settings.js';
import { ADMIN, bearer, WITH_ADMIN } from '../../support/tokens.js';

useDatabase();
const { work } = everythingOn();
const roles = {
  rolePermissions: { MOVER: ['restore'], ADMIN: ['read', 'write', 'admin', 'audit'] },
} as const;
const app = testApp({ ...WITH_ADMIN, ...roles });
let ehrId = '';
let lines: string[] = [];

/** A template and an EHR with a subject and a COMPOSITION. */
beforeEach(async () => {
  await emptied();
  await givenTemplate(app);
  ehrId = await givenEhr(app, statusOf('p1'));
  await givenComposition(app, ehrId);
  lines = await exported();
  await emptied();
});
afterEach(async () => {
  await sealNewRecords();
  expect((await verifyStorage()).violations).toEqual([]);
});

/** Sends lines. `further`: the query of the address. */
function restored(
  sent: readonly string[],
  { batch = randomUUID(), further = '', to = app } = {},
): request.Test {
  return request(to)
    .put(`/rest/admin/restore/${batch}${further}`)
    .set({ Authorization: bearer(['MOVER'], 'mover'), 'Content-Type': 'application/x-ndjson' })
    .send(sent.map((line) => `${line}\n`).join(''));
}

const stored = (name: string): Promise<number> => mongoose.connection.collection(name).countDocuments({});

describe('restore', () => {
  it('writes what was exported as it was made, and nothing twice', async () => {
    const batch = randomUUID();
    const first = await restored(lines, { batch });
    expect([first.status, first.body]).toEqual([
      200,
      { batch, imported: lines.length - 2, unchanged: [], failed: [] },
    ]);
    expect(await exported()).toEqual(lines);
    const { body } = await restored(lines, { batch });
    expect(body).toEqual({
      batch,
      imported: 0,
      unchanged: lines.slice(1, -1).map((_, i) => i + 2),
      failed: [],
    });
    // What is restored beside EHRs has records of its own, in its transactions.
    const records = await auditRecords({ operation: 'restore', offset: 0, fetch: 20 });
    const ofRequests = records.filter(({ target }) => target === batch);
    expect(ofRequests).toContainEqual(
      expect.objectContaining({ user: 'mover', target: batch, ehr_ids: [ehrId], status: 200 }),
    );
  });

  it('takes lines of an EHR in several requests', async () => {
    const begin = lines.findIndex((line) => line.startsWith('{"kind":"ehr"'));
    expect((await restored(lines.slice(1, begin))).body).toMatchObject({ failed: [] });
    const status = lines.findLastIndex((line) => line.includes('"type":"EHR_STATUS"'));
    expect((await restored(lines.slice(begin, status + 1))).body).toMatchObject({ failed: [] });
    expect((await restored(lines.slice(status + 1))).body).toMatchObject({ failed: [] });
    expect(await exported()).toEqual(lines);
  });

  it('is for whoever has the permission restore, which is no part of *', async () => {
    const put = (authorization: string, to = app): request.Test =>
      restored(lines, { to }).set('Authorization', authorization);
    expect((await put(ADMIN)).status).toBe(403);
    expect((await put(ADMIN, testApp(WITH_ADMIN))).status).toBe(403);
    expect(await stored('ehrs')).toBe(0);
  });

  it('refuses a line that cannot be read, by its number, and writes nothing then', async () => {
    const cut = lines.map((line, index) => (index === 2 ? line.slice(0, -1) : line));
    const { status, body } = await restored(cut);
    expect([status, body]).toEqual([
      400,
      expect.objectContaining({ message: expect.stringMatching(/^line 3: /) }),
    ]);
    expect([await stored('ehrs'), await stored('templates')]).toEqual([0, 0]);
  });

  it('is refused with the budget of the request, and not as lines that contradict', async () => {
    const to = testApp({ ...WITH_ADMIN, ...roles, work: { ...work, steps: 20 } });
    expect((await restored(lines, { to })).status).toBe(422);
    expect(await stored('ehrs')).toBe(0);
  });

  it('says which lines contradict what is here, with all that follows of their EHR, and writes the others', async () => {
    await givenTemplate(app);
    const other = await givenEhr(app, statusOf('p1'));
    const { status, body } = await restored(lines);
    const ofEhr = lines.flatMap((line, index) => (line.includes(ehrId) ? [index + 1] : []));
    expect(status).toBe(200);
    // The template is there.
    expect(body).toMatchObject({ imported: 0, unchanged: [2] });
    const { failed } = body as { failed: { line: number; message: string }[] };
    expect(failed.map(({ line }) => line)).toEqual(ofEhr);
    expect(failed.at(-1)).toMatchObject({
      ehr_id: ehrId,
      status: 409,
      message: `the subject of EHR ${ehrId} is that of EHR ${other} here`,
    });
  });
});

describe('an EHR whose subject another one has', () => {
  it('is restored without it when that is asked for, and stays so', async () => {
    const other = await givenEhr(app, statusOf('p1'));
    expect((await restored(lines, { further: '?subject=drop' })).body).toMatchObject({ failed: [] });
    const subject = `${V1}/ehr?subject_id=p1&subject_namespace=hospital`;
    const { body } = await request(app).get(subject);
    expect(body).toMatchObject({ ehr_id: { value: other } });
    const both = await exported();
    expect(both.filter((line) => line.includes('"subject_dropped":true'))).toHaveLength(1);
    await emptied();
    // The EHR that has the subject may come last.
    const [header = '', ...rest] = both;
    const ofDropped = rest.filter((line) => line.includes(ehrId) || line.startsWith('{"kind":"template"'));
    const others = rest.filter((line) => !ofDropped.includes(line));
    for (const part of [ofDropped, others])
      expect((await restored([header, ...part])).body).toMatchObject({ failed: [] });
    expect(await exported()).toEqual(both);
  });

  it('goes into the EHR that has it by a merge, and back', async () => {
    const other = await givenEhr(app, statusOf('p1'));
    await restored(lines, { further: '?subject=drop' });
    const merged = await merge(app, ehrId, other);
    expect([merged.status, merged.status === 200 ? '' : merged.text]).toEqual([200, '']);
    const back = await unmerge(app, ehrId, other);
    expect([back.status, back.status === 200 ? '' : back.text]).toEqual([200, '']);
  });

  it('takes a subject that nobody has with its next EHR_STATUS', async () => {
    await givenEhr(app, statusOf('p1'));
    await restored(lines, { further: '?subject=drop' });
    const path = `${V1}/ehr/${ehrId}/ehr_status`;
    const { headers } = await request(app).get(path);
    const put = (id: string): request.Test =>
      request(app).put(path).set('If-Match', headers.etag!).send(statusOf(id));
    expect((await put('p1')).status).toBe(409);
    expect((await put('p2')).status).toBeLessThan(300);
    const { body } = await request(app).get(`${V1}/ehr?subject_id=p2&subject_namespace=hospital`);
    expect(body).toMatchObject({ ehr_id: { value: ehrId } });
  });
});

describe('records of the audit', () => {
  it('come with a mark, and explain nothing that is gone here', async () => {
    await emptied();
    await givenTemplate(app);
    const gone = await givenEhr(app);
    await request(app).delete(`/rest/admin/ehr/${gone}`).set('Authorization', ADMIN);
    await sealNewRecords();
    const withAudit = await exported({ ehrIds: null, since: null, audit: true });
    const records = withAudit.filter((line) => line.startsWith('{"kind":"audit"'));
    expect(records.length).toBeGreaterThan(2);
    expect((await exported()).length).toBe(withAudit.length - records.length);
    await emptied();
    const batch = randomUUID();
    expect((await restored(withAudit, { batch })).body).toMatchObject({ failed: [] });
    expect((await restored(withAudit)).body).toMatchObject({ imported: 0, failed: [] });
    const [erased] = await auditRecords({ operation: 'deleteEhr', offset: 0, fetch: 1 });
    expect(erased).toMatchObject({ ehr_id: gone, restored: batch });
    const again = await exported({ ehrIds: null, since: null, audit: true });
    // Those of the restores themselves are there too.
    expect(again.filter((line) => withAudit.includes(line)).length).toBe(withAudit.length - 1);
    const changed = withAudit.map((line) => line.replace('"user":"', '"user":"x'));
    const { failed } = (await restored(changed)).body as { failed: { message: string }[] };
    expect(failed[0]?.message).toMatch(/another record .* is in the audit here/);
  });
});

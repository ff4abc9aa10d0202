import { beforeEach, describe, expect, it } from '@jest/globals';
import request from 'supertest';
import { sealNewRecords } from '../../../maintenance/seal.js';
import { verifyStorage } from '../../../maintenance/verify.js';
import { testApp } from '../../support/app.js';
import { useDatabase } from '../../support/database.js';
import { emptied, exported, imported, refusals } from '../../support/interchange.js';
import { merge, unmerge } from '../../support/merge-http.js';
import {
  massIn,
  notedDigest,
  RevisedData,
  revisionTexts,
  type Made,
} from '../../support/openehr/revised-data.js';
import { V1, versionedObjectUidOf } from '../../support/resources.js';
import { ADMIN, WITH_ADMIN } from '../../support/tokens.js';

useDatabase();
const app = testApp({ ...WITH_ADMIN, templateRevisions: true, auth: 'jwt' });
const data = new RevisedData(testApp({ ...WITH_ADMIN, templateRevisions: true }));
const [first, second] = revisionTexts('travelling');
let old: Made;
let young: Made;

/** A COMPOSITION of each of two revisions, of which somebody who is known uploaded the second. */
beforeEach(async () => {
  await emptied();
  await data.upload(first);
  old = await data.commit(massIn('gm', 'travelling'));
  const uploaded = await new RevisedData(app).upload(second);
  expect(uploaded.status).toBe(201);
  young = await data.commit(massIn('g', 'travelling'));
});

const ofTemplates = (lines: readonly string[]): string[] =>
  lines.filter((line) => line.startsWith('{"kind":"template"'));

async function expectSound(): Promise<void> {
  await sealNewRecords();
  expect((await verifyStorage()).violations).toEqual([]);
}

describe('an export of all versions', () => {
  it('carries every revision, and by which each VERSION was judged, and comes back to the very bytes', async () => {
    const digests = await Promise.all([old, young].map(({ uid }) => notedDigest(uid)));
    const listed = (await data.get('travelling/revisions')).body as object[];
    const lines = await exported();
    expect(ofTemplates(lines)).toHaveLength(2);
    await emptied();
    expect(refusals(await imported(lines))).toEqual([]);
    expect(await exported()).toEqual(lines);
    expect(await Promise.all([old, young].map(({ uid }) => notedDigest(uid)))).toEqual(digests);
    expect((await data.get('travelling/revisions')).body).toEqual(listed);
    expect(listed).toMatchObject([
      { revision: '2', uploaded_by: 'root-admin', compositions: 1 },
      { revision: '1', compositions: 1 },
    ]);
    await expectSound();
    // What came is judged as before, and used.
    await expect(data.commit(massIn('gm', 'travelling'))).rejects.toThrow('422');
    const pin = { 'openEHR-TEMPLATE_ID': 'travelling;revision=1' };
    await data.commit(massIn('gm', 'travelling'), undefined, pin);
    for (const revision of ['1', '2']) {
      const path = `/rest/admin/template/travelling/revisions/${revision}`;
      const refused = await request(data.app).delete(path).set('Authorization', ADMIN);
      expect(refused.status).toBe(422);
    }
  });

  it('of one EHR has all revisions of its templates, and comes back', async () => {
    const lines = await exported({ ehrIds: [old.ehrId], since: null });
    expect(ofTemplates(lines)).toHaveLength(2);
    await emptied();
    expect(refusals(await imported(lines))).toEqual([]);
    expect(await exported({ ehrIds: [old.ehrId], since: null })).toEqual(lines);
    await expectSound();
  });

  it('has a revision that is uploaded while it is made, before what is judged by it', async () => {
    const third = second.replace('</concept>', ' again</concept>');
    let uid = '';
    const lines = await exported(undefined, 0, async () => {
      if (uid !== '') return;
      uid = 'begun';
      await data.upload(third);
      ({ uid } = await data.commit(massIn('kg', 'travelling')));
    });
    await emptied();
    expect(refusals(await imported(lines))).toEqual([]);
    expect(lines.some((line) => line.includes(uid))).toBe(true);
  });

  it('is found as it was before and after an unmerge', async () => {
    expect((await merge(data.app, old.ehrId, young.ehrId)).status).toBe(200);
    const merged = await exported();
    await emptied();
    expect(refusals(await imported(merged))).toEqual([]);
    expect(await exported()).toEqual(merged);
    await expectSound();
    expect((await unmerge(data.app, old.ehrId, young.ehrId)).status).toBe(200);
    expect(await notedDigest(old.uid)).not.toBe(await notedDigest(young.uid));
    await expectSound();
  });
});

describe('a restore', () => {
  it('puts a later revision behind the newest here', async () => {
    const third = second.replace('</concept>', ' again</concept>');
    const before = await exported();
    await data.upload(third);
    await data.commit(massIn('kg', 'travelling'));
    const after = await exported();
    await emptied();
    await imported(before);
    const outcomes = await imported(after);
    expect(refusals(outcomes)).toEqual([]);
    expect(outcomes.slice(0, 3).map(({ result }) => result)).toEqual(['unchanged', 'unchanged', 'imported']);
    expect(await exported()).toEqual(after);
    // An older file has nothing to say any more.
    expect((await imported(before)).every(({ result }) => result === 'unchanged')).toBe(true);
    await expectSound();
  });

  it('refuses revisions that are none here, and what notes one of them', async () => {
    const lines = await exported();
    await emptied();
    await data.upload(second.replace('</concept>', ' otherwise</concept>'));
    expect(refusals(await imported(lines)).join()).toMatch(
      /another template.*revision [0-9a-f]{64} of template/,
    );
    await emptied();
    const [one = '', other = ''] = ofTemplates(lines);
    const alone = lines.filter((line) => line !== one);
    expect(refusals(await imported(alone)).join()).toContain('the revision before this one');
    await emptied();
    const kept = await imported(lines.filter((line) => line !== other));
    expect(refusals(kept).join()).toContain('is neither here nor before what uses it');
    const shown = await request(data.app).get(
      `${V1}/ehr/${old.ehrId}/composition/${versionedObjectUidOf(old.uid)}`,
    );
    expect(shown.status).toBe(200);
  });
});

import { beforeEach, expect, it } from '@jest/globals';
import request from 'supertest';
import { sealNewRecords } from '../../../maintenance/seal.js';
import { verifyStorage } from '../../../maintenance/verify.js';
import { accessTagsOf } from '../../../models/access-tag.js';
import { testApp } from '../../support/app.js';
import { useDatabase } from '../../support/database.js';
import { emptied, exported, imported, refusals } from '../../support/interchange.js';
import { merge, unmerge } from '../../support/merge-http.js';
import {
  givenComposition,
  givenEhr,
  givenTemplate,
  V1,
  versionedObjectUidOf,
  versionUidOf,
} from '../../support/resources.js';
import { WITH_ADMIN } from '../../support/tokens.js';

/* Tags that a merge left on the EHR_STATUS that it ended: docs/access.md#tags */

useDatabase();
const app = testApp({ ...WITH_ADMIN, accessMode: 'dry' });
let [source, target] = ['', ''];

async function given(value: string): Promise<string> {
  const ehrId = await givenEhr(app);
  await givenComposition(app, ehrId);
  const status = versionUidOf(await request(app).get(`${V1}/ehr/${ehrId}/ehr_status`).expect(200));
  await request(app)
    .put(`${V1}/ehr/${ehrId}/ehr_status/${versionedObjectUidOf(status)}/tags`)
    .send([{ key: 'access.ward', value }])
    .expect(200);
  return ehrId;
}

beforeEach(async () => {
  await emptied();
  await givenTemplate(app);
  [source, target] = [await given('4A'), await given('3B')];
});

it.each([true, false])(
  'they come along with an export, of a merge that is reversible: %s',
  async (reversible) => {
    await merge(app, source, target, { reversible }).expect(200);
    await sealNewRecords();
    const lines = await exported();
    await emptied();
    expect(refusals(await imported(lines))).toEqual([]);
    expect((await accessTagsOf(target))['access.ward']?.toSorted()).toEqual(['3B', '4A']);
    const tags = (all: readonly string[]): string[] =>
      all.filter((line) => line.startsWith('{"kind":"item_tag"'));
    expect(tags(await exported()).sort()).toEqual(tags(lines).sort());
    expect(tags(lines).length).toBe(2);
    await sealNewRecords();
    expect((await verifyStorage()).violations).toEqual([]);
    if (!reversible) return;
    await unmerge(app, source, target).expect(200);
    expect([await accessTagsOf(source), await accessTagsOf(target)]).toEqual([
      { 'access.ward': ['4A'] },
      { 'access.ward': ['3B'] },
    ]);
  },
);

import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from '@jest/globals';
import jwt from 'jsonwebtoken';
import request from 'supertest';
import { testApp } from '../../support/app.js';
import { useDatabase } from '../../support/database.js';
import {
  aComposition,
  givenComposition,
  givenEhr,
  givenTemplate,
  V1,
  versionedObjectUidOf,
  versionUidOf,
} from '../../support/resources.js';
import { everythingOn, TEST_JWT_SECRET } from '../../support/settings.js';
import { putPolicy } from '../../support/policy/put.js';

useDatabase();

const app = testApp(everythingOn({ auth: 'jwt', accessMode: 'enforce' }));
const open = testApp();
/** Tags EHRs beside the policies. */
const tagging = testApp({ accessMode: 'dry' });

const TEMPLATE = 'minimal_evaluation.en.v1';
const IDS = ['patients', 'ward', 'organisation', 'admission', 'psychiatry', 'research'];

/** The policies of the page, by the headings over them. */
function readyPolicies(): Map<string, string> {
  const [, section = ''] = readFileSync('docs/access.md', 'utf8').split('\n## Ready policies\n');
  const [ready = ''] = section.split('\n## ');
  const parts = ready.split('\n### ').slice(1);
  return new Map(
    parts.map((part) => [/^`(.*)`/.exec(part)?.[1] ?? '', /```cedar\n([^`]*)```/.exec(part)?.[1] ?? '']),
  );
}

const put = (id: string, text: string) => putPolicy(app, id, text);

function tokenOf(claims: object): string {
  const token = jwt.sign({ roles: ['USER'], ...claims }, TEST_JWT_SECRET, { subject: 'ada', expiresIn: 600 });
  return `Bearer ${token}`;
}

async function tag(ehr: string, key: string, value: string): Promise<void> {
  const status = versionUidOf(await request(open).get(`${V1}/ehr/${ehr}/ehr_status`).expect(200));
  await request(tagging)
    .put(`${V1}/ehr/${ehr}/ehr_status/${versionedObjectUidOf(status)}/tags`)
    .send([{ key, value }])
    .expect(200);
}

describe('the ready policies of the page on access', () => {
  let ehr = '';
  let other = '';
  let uid = '';

  beforeAll(async () => {
    await givenTemplate(open);
    [ehr, other] = [await givenEhr(open), await givenEhr(open)];
    uid = await givenComposition(open, ehr);
    await givenComposition(open, other);
    const texts = readyPolicies();
    expect([...texts.keys()]).toEqual(IDS);
    for (const [id, text] of texts) await put(id, text).expect(200);
    await tag(ehr, 'access.ward', '3B,4A');
    await tag(other, 'access.organisation', 'practice');
  });

  /** Statuses of reading both EHRs and the COMPOSITION of the first, and the EHRs of a query. */
  async function seenBy(claims: object): Promise<unknown[]> {
    const get = async (path: string): Promise<number> =>
      (await request(app).get(`${V1}/ehr/${path}`).set('Authorization', tokenOf(claims))).status;
    const q = 'SELECT e/ehr_id/value FROM EHR e CONTAINS COMPOSITION c';
    const found = await request(app)
      .post(`${V1}/query/aql`)
      .set('Authorization', tokenOf(claims))
      .send({ q })
      .expect(200);
    const { rows } = found.body as { rows: string[][] };
    return [await get(ehr), await get(`${ehr}/composition/${uid}`), await get(other), rows.flat().sort()];
  }

  it('let nobody see anything for whom there is none', async () => {
    expect(await seenBy({})).toEqual([404, 404, 404, []]);
  });

  it('`patients`: their own, to read', async () => {
    expect(await seenBy({ ownEhrId: ehr })).toEqual([200, 200, 404, [ehr]]);
    await request(app)
      .post(`${V1}/ehr/${ehr}/composition`)
      .set('Authorization', tokenOf({ ownEhrId: ehr }))
      .send(aComposition())
      .expect(403);
  });

  it('`ward` and `organisation`: who lies there, and whose patients they are', async () => {
    expect(await seenBy({ organisation: '3B' })).toEqual([200, 200, 404, [ehr]]);
    expect(await seenBy({ organisation: '4A' })).toEqual([200, 200, 404, [ehr]]);
    expect(await seenBy({ organisation: 'practice' })).toEqual([404, 404, 200, [other]]);
    expect(await seenBy({ organisation: '5' })).toEqual([404, 404, 404, []]);
  });

  it('`admission`: makes EHRs, and sees no COMPOSITION', async () => {
    const claims = { roles: ['USER', 'ADMISSION'] };
    expect(await seenBy(claims)).toEqual([200, 404, 200, []]);
    await request(app).post(`${V1}/ehr`).set('Authorization', tokenOf(claims)).expect(201);
    await request(app)
      .post(`${V1}/ehr`)
      .set('Authorization', tokenOf({ organisation: '3B' }))
      .expect(403);
  });

  it('`research`: counts many patients, no EHR_STATUS among it, and reads nothing', async () => {
    const token = tokenOf({ purpose_of_use: 'HRESCH' });
    const ask = (q: string) => request(app).post(`${V1}/query/aql`).set('Authorization', token).send({ q });
    const counted = async (from: string): Promise<unknown> =>
      ((await ask(`SELECT COUNT(*) FROM ${from}`).expect(200)).body as { rows: unknown[] }).rows;
    for (const path of [ehr, `${ehr}/composition/${uid}`, other])
      await request(app).get(`${V1}/ehr/${path}`).set('Authorization', token).expect(404);
    await ask('SELECT e/ehr_id/value FROM EHR e CONTAINS COMPOSITION c').expect(403);
    expect(await counted('EHR e CONTAINS COMPOSITION c')).toEqual([[null]]);
    for (let made = 2; made < 10; made += 1) await givenComposition(open, await givenEhr(open));
    expect(await counted('EHR e CONTAINS COMPOSITION c')).toEqual([[10]]);
    expect(await counted('EHR e CONTAINS EHR_STATUS s')).toEqual([[null]]);
  });

  it('`psychiatry`: what it wrote for itself alone', async () => {
    const text = readyPolicies().get('psychiatry') ?? '';
    expect(text).toContain('"psychiatry*"');
    await put('psychiatry', text.replace('psychiatry*', `${TEMPLATE.slice(0, 10)}*`)).expect(200);
    expect(await seenBy({ organisation: '3B' })).toEqual([200, 404, 404, []]);
    expect(await seenBy({ organisation: '3B', roles: ['USER', 'PSYCHIATRIST'] })).toEqual([
      200,
      200,
      404,
      [ehr],
    ]);
    await put('psychiatry', text).expect(200);
  });
});

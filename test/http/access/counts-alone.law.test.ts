import { randomUUID } from 'node:crypto';
import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import request from 'supertest';
import { testApp } from '../../support/app.js';
import { asText } from '../../support/as-text.js';
import { useDatabase } from '../../support/database.js';
import { draws, firstSeed } from '../../support/laws.js';
import { MARK_ROLES, OBJECTED, putMarks, ROOT, tokenOf } from '../../support/policy/marks.js';
import { putPolicy } from '../../support/policy/put.js';
import { Random } from '../../support/random.js';
import { givenComposition, givenEhr, givenTemplate, V1, type Json } from '../../support/resources.js';
import { everythingOn } from '../../support/settings.js';

/** Queries of counts, each asked under policies and without any. */
const SIZES = { small: 60, full: 3_000 };
const RESEARCHER = tokenOf(['USER'], { purpose_of_use: 'HRESCH' }, 'researcher');
const NURSE = tokenOf(['USER'], {}, 'nurse');
const EHRS = 9;

useDatabase();
const app = testApp({ ...everythingOn({ auth: 'jwt', accessMode: 'enforce' }), rolePermissions: MARK_ROLES });
const open = testApp();
const ehrIds: string[] = [];
/** What an objection to research leaves out. */
let objected = '';

beforeAll(async () => {
  await givenTemplate(open);
  // From no COMPOSITION in the first to eight in the last.
  for (let number = 0; number < EHRS; number += 1) {
    const ehr = await givenEhr(open);
    ehrIds.push(ehr);
    for (let made = 0; made < number; made += 1) await givenComposition(open, ehr);
  }
  objected = ehrIds.at(-1) ?? '';
  await putMarks(app, objected, [OBJECTED]).expect(200);
  await putPolicy(
    app,
    'care',
    'permit (principal, action, resource) unless { principal has purpose };',
  ).expect(200);
});

const research = (least: number) =>
  putPolicy(
    app,
    'research',
    `@counts("${least}") permit (principal, action == Action::"query", resource)
when { principal has purpose && principal.purpose == "HRESCH" };`,
  ).expect(200);

interface Asked {
  readonly select: readonly string[];
  readonly from: string;
}

/** Parts of FROM and WHERE, with the names that a COUNT may have. */
const FROMS: readonly { readonly from: string; readonly counts: readonly string[] }[] = [
  { from: 'EHR e', counts: ['*', 'e/ehr_id/value', 'DISTINCT e/ehr_id/value'] },
  { from: 'EHR', counts: ['*'] },
  { from: 'EHR e CONTAINS COMPOSITION c', counts: ['*', 'c', 'DISTINCT c/name/value', 'c/uid/value'] },
  { from: 'EHR CONTAINS COMPOSITION c CONTAINS ELEMENT x', counts: ['*', 'x', 'x/value/magnitude'] },
  { from: 'EHR e CONTAINS VERSION v CONTAINS COMPOSITION c', counts: ['*', 'v/uid/value', 'c/uid/value'] },
  { from: 'EHR e NOT CONTAINS COMPOSITION c', counts: ['*', 'e/ehr_id/value'] },
  { from: 'EHR e CONTAINS (COMPOSITION c OR EHR_STATUS s)', counts: ['*', 'c/uid/value'] },
];

function drawn(random: Random): Asked {
  const { from, counts } = random.pick(FROMS);
  const select = Array.from({ length: 1 + random.below(3) }, () => `COUNT(${random.pick(counts)})`);
  if (!/\be\b/.test(from) || random.below(3) === 0) return { select, from };
  const some = ehrIds.filter(() => random.below(2) === 0);
  const named = (some.length === 0 ? ehrIds : some).map((id) => `'${id}'`).join(', ');
  return { select, from: `${from} WHERE e/ehr_id/value MATCHES {${named}}` };
}

const textOf = ({ select, from }: Asked) => `SELECT ${select.join(', ')} FROM ${from}`;

/** Rows of a query that nothing restricts. */
async function openRows(q: string): Promise<unknown[][]> {
  const answer = await request(open).post(`${V1}/query/aql`).send({ q }).expect(200);
  return (answer.body as { rows: unknown[][] }).rows;
}

/** What the counts are without the EHR that objects, and of how many EHRs. */
async function reference({ select, from }: Asked): Promise<{ counts: unknown[]; ehrs: number }> {
  const rest = /\be\b/.test(from) ? from : from.replace('EHR', 'EHR e');
  const without = `e/ehr_id/value != '${objected}'`;
  const narrowed = rest.includes(' WHERE ') ? `${rest} AND ${without}` : `${rest} WHERE ${without}`;
  const [counts = []] = await openRows(`SELECT ${select.join(', ')} FROM ${narrowed}`);
  const ehrs = await openRows(`SELECT DISTINCT e/ehr_id/value FROM ${narrowed}`);
  return { counts, ehrs: ehrs.length };
}

const ask = (q: string, token = RESEARCHER, more: object = {}) =>
  request(app)
    .post(`${V1}/query/aql`)
    .set('Authorization', token)
    .send({ q, ...more });

describe('counts alone', () => {
  beforeEach(() => research(3));

  it('are exact where they are of enough patients, and else not there, in every form', async () => {
    const random = new Random(firstSeed());
    const met = { few: 0, enough: 0 };
    let least = 0;
    for (let draw = 0; draw < draws(SIZES); draw += 1) {
      if (draw % 20 === 0) {
        least = 2 + random.below(6);
        await research(least);
      }
      const asked = drawn(random);
      const q = textOf(asked);
      const { counts, ehrs } = await reference(asked);
      const isFew = ehrs < least;
      met[isFew ? 'few' : 'enough'] += 1;
      const expected = isFew ? counts.map(() => null) : counts;
      const { body } = (await ask(q).expect(200)) as { body: Json };
      expect([q, body['rows'], body['columns'].length]).toEqual([q, [expected], counts.length]);
      expect(body['meta']).toMatchObject({ _least_patients: least, resultsize: 1 });
      // What is counted beside is nothing that was asked.
      expect(String(body['meta']._executed_aql).match(/COUNT\(/g)).toHaveLength(counts.length);
      if (draw % 5 !== 0) continue;
      const name = `org.example::counts${randomUUID().slice(0, 8)}`;
      await request(open)
        .put(`${V1}/definition/query/${name}`)
        .set('Content-Type', 'text/plain')
        .send(q)
        .expect(200);
      const stored = await request(app)
        .get(`${V1}/query/${name}`)
        .set('Authorization', RESEARCHER)
        .expect(200);
      expect((stored.body as Json)['rows']).toEqual([expected]);
      const lines = await ask(q).set('Accept', 'application/x-ndjson').buffer(true).parse(asText).expect(200);
      const [head, ...rows] = String(lines.body).trimEnd().split('\n');
      expect([(JSON.parse(head ?? '') as Json)['columns'].length, ...rows]).toEqual([
        counts.length,
        JSON.stringify(expected),
      ]);
      const csv = await ask(q).set('Accept', 'text/csv').buffer(true).parse(asText).expect(200);
      const cells = expected.map((cell) => (cell === null ? '' : JSON.stringify(cell)));
      expect(String(csv.body).trimEnd().split('\r\n')[1] ?? '').toBe(cells.join(','));
    }
    expect(Math.min(met.few, met.enough)).toBeGreaterThan(draws(SIZES) / 20);
  });

  it.each([
    ['rows', 'SELECT e/ehr_id/value FROM EHR e'],
    ['whole objects', 'SELECT c FROM EHR e CONTAINS COMPOSITION c'],
    ['rows beside a count of them', 'SELECT e/ehr_id/value, COUNT(*) FROM EHR e'],
    ['the largest value, which somebody has', 'SELECT MAX(c/uid/value) FROM EHR e CONTAINS COMPOSITION c'],
    ['a sum', 'SELECT SUM(x/value/magnitude) FROM EHR e CONTAINS COMPOSITION c CONTAINS ELEMENT x'],
    ['a literal', "SELECT 'a' FROM EHR e"],
    ['several patients beside each other', 'SELECT COUNT(*) FROM EHR e AND EHR f'],
    ['one patient inside another', 'SELECT COUNT(*) FROM EHR e CONTAINS (COMPOSITION c AND EHR f)'],
    ['one of two', 'SELECT COUNT(*) FROM EHR e OR EHR f'],
    ['no EHR', 'SELECT COUNT(*) FROM COMPOSITION c'],
  ])('are never %s', async (_what, q) => {
    const refused = await ask(q).expect(403);
    expect(refused.body).toMatchObject({
      code: 'forbidden',
      message: expect.stringContaining('counts alone'),
    });
    await ask(q, NURSE).expect(200);
  });

  it('are of more than one patient that the request names', async () => {
    const { body } = await ask('SELECT COUNT(*) FROM EHR e', RESEARCHER, { ehr_id: ehrIds[1] }).expect(200);
    expect((body as Json)['rows']).toEqual([[null]]);
  });

  it('are what a researcher gets whatever else permits him to see', async () => {
    await putPolicy(app, 'more', 'permit (principal, action, resource);').expect(200);
    await ask('SELECT e/ehr_id/value FROM EHR e').expect(403);
    const own = await ask('SELECT COUNT(*) FROM EHR e').expect(200);
    expect((own.body as Json)['rows']).toEqual([[EHRS - 1]]);
    await request(app).delete('/rest/admin/policies/more').set('Authorization', ROOT).expect(204);
  });

  it('are of the most patients that a policy asks for, where several do', async () => {
    const strict = `@counts("100") permit (principal, action == Action::"query", resource) when { principal.sub == "researcher" };`;
    await putPolicy(app, 'strict', strict).expect(200);
    const { body } = await ask('SELECT COUNT(*) FROM EHR e').expect(200);
    expect([(body as Json)['rows'], (body as Json)['meta']._least_patients]).toEqual([[[null]], 100]);
    await request(app).delete('/rest/admin/policies/strict').set('Authorization', ROOT).expect(204);
  });

  it('are told apart from answers to others that ask the same', async () => {
    const q = 'SELECT COUNT(*) FROM EHR e';
    for (const [token, rows] of [
      [NURSE, [[EHRS]]],
      [RESEARCHER, [[EHRS - 1]]],
      [NURSE, [[EHRS]]],
    ] as const)
      expect(((await ask(q, token).expect(200)).body as Json)['rows']).toEqual(rows);
  });
});

import { beforeEach, expect, it } from '@jest/globals';
import mongoose from 'mongoose';
import request from 'supertest';
import { sealNewRecords } from '../../../maintenance/seal.js';
import { verifyStorage } from '../../../maintenance/verify.js';
import { testApp } from '../../support/app.js';
import { useDatabase } from '../../support/database.js';
import { emptied, exported, imported, refusals } from '../../support/interchange.js';
import { merge, unmerge } from '../../support/merge-http.js';
import { MARK_ROLES, OBJECTED, putMarks, RESTRICTED, ROOT, WITHHELD } from '../../support/policy/marks.js';
import { givenComposition, givenEhr, givenTemplate, V1 } from '../../support/resources.js';
import { everythingOn } from '../../support/settings.js';

/* Marks travel with their EHR: docs/spec/interchange.md#lines */

useDatabase();
const app = testApp({ ...everythingOn({ auth: 'jwt', accessMode: 'enforce' }), rolePermissions: MARK_ROLES });
const open = testApp();
const isMark = (line: string): boolean => line.includes('"collection":"ehr_marks"');
const marksOf = async (ehr: string): Promise<unknown> =>
  (await request(app).get(`/rest/ehrs/${ehr}/marks?history=true`).set('Authorization', ROOT)).body;

const ehrsIn = (lines: readonly string[]): string[] =>
  lines
    .map((line) => JSON.parse(line) as { kind: string; ehr?: { ehr_id: { value: string } } })
    .flatMap(({ kind, ehr }) => (kind === 'ehr' ? (ehr?.ehr_id.value ?? []) : []))
    .sort();

let [source, target] = ['', ''];

beforeEach(async () => {
  await emptied();
  await givenTemplate(open);
  [source, target] = [await givenEhr(open), await givenEhr(open)];
  for (const ehr of [source, target]) await givenComposition(open, ehr);
  await putMarks(app, source, [RESTRICTED, OBJECTED]).expect(200);
  await putMarks(app, target, [WITHHELD]).expect(200);
  await merge(app, source, target).expect(200);
  // Of the target alone: taken back, the source has it again.
  await putMarks(app, target, [WITHHELD, RESTRICTED]).expect(200);
});

it('with their history and through merges, each before its EHR', async () => {
  const [before, lines] = [await marksOf(target), await exported()];
  expect(lines.filter(isMark)).toHaveLength(3);
  const first = lines.findIndex((line) => line.startsWith('{"kind":"ehr"'));
  expect(lines.findLastIndex(isMark)).toBeLessThan(first);
  await emptied();
  expect(refusals(await imported(lines))).toEqual([]);
  expect(await marksOf(target)).toEqual(before);
  await request(app).get(`${V1}/ehr/${target}`).set('Authorization', ROOT).expect(403);
  expect(await exported()).toEqual(lines);
  await unmerge(app, source, target).expect(200);
  expect(await marksOf(source)).toMatchObject({
    marks: expect.arrayContaining([expect.objectContaining(RESTRICTED), expect.objectContaining(OBJECTED)]),
  });
  await sealNewRecords();
  expect((await verifyStorage()).violations).toEqual([]);
});

it('again with what became of them since, and never without what became of them here', async () => {
  const before = await exported();
  await putMarks(app, target, []).expect(200);
  const after = await exported();
  await emptied();
  expect(refusals(await imported(before))).toEqual([]);
  expect(refusals(await imported(after))).toEqual([]);
  expect(await exported()).toEqual(after);
  expect(refusals(await imported(before))).toEqual([]);
  expect(await exported()).toEqual(after);
});

it('of EHRs whose marks or access tags were changed since, though nothing was committed to them', async () => {
  const others = [await givenEhr(open), await givenEhr(open), await givenEhr(open), await givenEhr(open)];
  const [marked = '', lifted = '', tagged = '', untagged = ''] = others;
  const tags = (ehr: string, method: 'put' | 'delete', key = '') => {
    const to = request(app);
    const path = `${V1}/ehr/${ehr}/ehr_status/${statuses.get(ehr)}/tags${key}`;
    return to[method](path).set('Authorization', ROOT);
  };
  const statuses = new Map<string, string>();
  for (const ehr of others) {
    const { body } = await request(open).get(`${V1}/ehr/${ehr}/versioned_ehr_status`);
    statuses.set(ehr, (body as { uid: { value: string } }).uid.value);
  }
  await putMarks(app, lifted, [WITHHELD]).expect(200);
  await tags(untagged, 'put')
    .send([{ key: 'access.ward', value: '3B' }])
    .expect(200);
  // A record of the audit counts from a minute before its time on.
  await mongoose.connection
    .collection('audit')
    .updateMany({}, { $set: { time: new Date(Date.now() - 3_600_000) } });
  const since = new Date();
  expect(ehrsIn(await exported({ ehrIds: null, since }))).toEqual([]);
  await putMarks(app, marked, [RESTRICTED]).expect(200);
  await putMarks(app, lifted, []).expect(200);
  await tags(tagged, 'put')
    .send([{ key: 'access.ward', value: '3B' }])
    .expect(200);
  await tags(untagged, 'delete', '/access.ward').expect(204);
  // Of what was merged the mark goes with the EHR that it is in now.
  await putMarks(app, target, []).expect(200);
  expect(ehrsIn(await exported({ ehrIds: null, since }))).toEqual([...others, target].sort());
});

it('and nothing goes into what is restricted here, unless the file knows of that', async () => {
  const lines = await exported();
  const unmarked = lines.filter((line) => !isMark(line));
  const restored = async (sent: readonly string[], accessMode = 'enforce') =>
    refusals(await imported(sent, { accessMode }));
  await emptied();
  // What goes on, once it is begun, goes on; and an EHR that comes with its restriction comes whole.
  expect(await restored(lines)).toEqual([]);
  expect(await exported()).toEqual(lines);
  await putMarks(app, target, []).expect(200);
  const fresh = await givenComposition(open, target);
  const later = (await exported()).filter((line) => !isMark(line));
  await emptied();
  expect(await restored(unmarked)).toEqual([]);
  await putMarks(app, target, [RESTRICTED]).expect(200);
  const before = await exported();
  expect((await restored(later))[0]).toMatch(/restricted/);
  expect(await exported()).toEqual(before);
  expect(await restored(later, 'observe')).toEqual([]);
  expect((await exported()).join()).toContain(fresh);
});

it('not what is no mark, or another one', async () => {
  const lines = await exported();
  await emptied();
  const broken = lines.map((line) => line.replace('"kind":"patient_restriction"', '"kind":"whatever"'));
  expect(refusals(await imported(broken))[0]).toMatch(/^document \S+ is no mark of an EHR$/);
  const other = lines.map((line) => line.replace(WITHHELD.ground, 'another ground'));
  await emptied();
  await imported(lines);
  expect(refusals(await imported(other))[0]).toMatch(/^another document \S+ is in ehr_marks here$/);
});

import { createHash } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from '@jest/globals';
import request, { type Test } from 'supertest';
import { sealNewRecords } from '../../../maintenance/seal.js';
import { verifyStorage } from '../../../maintenance/verify.js';
import { claimStorage } from '../../../models/settings.js';
import { testApp } from '../../support/app.js';
import { useDatabase } from '../../support/database.js';
import { emptied, exported, imported, refusals } from '../../support/interchange.js';
import { element, multiple, node, root, single, template } from '../../support/openehr/opt-builder.js';
import { givenEhr, V1, type Json } from '../../support/resources.js';
import { testSettings } from '../../support/settings.js';
import { ADMIN, WITH_ADMIN } from '../../support/tokens.js';

const app = testApp({ ...WITH_ADMIN, templateRevisions: true });

useDatabase();
beforeAll(() => claimStorage(testSettings().systemId, 'all'));

const TEST = 'openEHR-EHR-EVALUATION.test.v1';
const OLD = 'openEHR-EHR-EVALUATION.old.v1';
const NEW = 'openEHR-EHR-EVALUATION.new.v1';
const TERMS = { at0001: 'Tree', at0002: 'First', at0003: 'Second', at0004: 'Third', at0005: 'Fourth' };
const text = (id: string): string => element(id, node('DV_TEXT'));
const count = (id: string): string => element(id, node('DV_COUNT'), '0..*');
const entry = (archetype: string, items: string): string =>
  root(
    archetype,
    single('data', node('ITEM_TREE', { id: 'at0001', inside: multiple('items', items) })),
    { ...TERMS, at0020: 'Group' },
    '0..*',
  );
const cluster = (items: string): string =>
  node('CLUSTER', { id: 'at0020', occurrences: '0..1', inside: multiple('items', items, '1..*', '1..1') });

/** The same with archetypes of one case alone. */
const of = (id: string, text: string): string =>
  text.replaceAll(/EVALUATION\.(test|old|new)\.v1/g, `EVALUATION.$1_${id}.v1`);

/** Both revisions: a node gets another id, one goes into a cluster, an entry becomes one of another archetype. */
const first = (id: string): string => {
  const items = text('at0002') + count('at0004') + count('at0005');
  return of(id, template(entry(TEST, items) + entry(OLD, count('at0002')), { id }));
};
const second = (id: string): string => {
  const items = text('at0003') + cluster(count('at0004')) + count('at0005');
  return of(id, template(entry(TEST, items) + entry(NEW, count('at0002')), { id }));
};
const ITEMS = `/content[${TEST}]/data[at0001]`;
const RULES = {
  rules: [
    { move: `${ITEMS}/items[at0002]`, to: `${ITEMS}/items[at0003]` },
    { move: `${ITEMS}/items[at0004]`, to: `${ITEMS}/items[at0020]/items[at0004]` },
    { move: `/content[${OLD}]`, to: `/content[${NEW}]` },
  ],
};

/** What queries of the first revision read, in those of the second. */
const asSecond = (aql: string): string =>
  aql
    .replaceAll('items[at0002]/value/value', 'items[at0003]/value/value')
    .replaceAll(`[${TEST}] CONTAINS ELEMENT x[at0002]`, `[${TEST}] CONTAINS ELEMENT x[at0003]`)
    .replaceAll('/items[at0004]', '/items[at0020]/items[at0004]')
    .replaceAll(OLD, NEW);

const FROM = `FROM EHR e CONTAINS COMPOSITION c CONTAINS EVALUATION t[${TEST}]`;
const FIRST = 't/data[at0001]/items[at0002]/value/value';
const THIRD = 't/data[at0001]/items[at0004]/value/magnitude';
const FOURTH = 't/data[at0001]/items[at0005]/value/magnitude';
const OTHER = 'o/data[at0001]/items[at0002]/value/magnitude';

/** Queries in the words of the first revision; each reads something that is moved. */
const CORPUS: readonly string[] = [
  `SELECT ${FIRST}, ${THIRD}, ${FOURTH} ${FROM}`,
  `SELECT c${ITEMS}/items[at0002]/value/value, c${ITEMS}/items[at0004]/value/magnitude FROM EHR e CONTAINS COMPOSITION c`,
  `SELECT c/content[${OLD}]/data[at0001]/items[at0002]/value/magnitude FROM COMPOSITION c`,
  `SELECT ${THIRD} ${FROM} WHERE ${FIRST} = 'b'`,
  `SELECT ${FIRST} ${FROM} WHERE ${THIRD} > 2`,
  `SELECT ${FIRST} ${FROM} WHERE ${THIRD} > 2 AND ${THIRD} < 6`,
  `SELECT ${FIRST} ${FROM} WHERE NOT ${THIRD} > 2`,
  `SELECT ${FIRST} ${FROM} WHERE ${THIRD} != 3`,
  `SELECT ${THIRD} ${FROM} WHERE EXISTS ${FIRST}`,
  `SELECT ${THIRD} ${FROM} WHERE NOT EXISTS ${FIRST}`,
  `SELECT c/uid/value ${FROM} WHERE EXISTS ${FIRST}`,
  `SELECT ${THIRD} ${FROM} WHERE ${FIRST} = NULL`,
  `SELECT ${THIRD} ${FROM} WHERE ${FIRST} LIKE '?'`,
  `SELECT ${THIRD} ${FROM} WHERE ${FIRST} matches {'a', 'c'} OR ${THIRD} = 4`,
  `SELECT ${FIRST} ${FROM} WHERE ${THIRD} > ${FOURTH}`,
  `SELECT ${FIRST}, ${FOURTH} ${FROM} ORDER BY ${THIRD} DESC, ${FOURTH}`,
  `SELECT ${THIRD} ${FROM} WHERE ${THIRD} >= 1 ORDER BY ${THIRD} DESC LIMIT 5`,
  `SELECT DISTINCT ${FIRST} ${FROM} ORDER BY ${FIRST}`,
  `SELECT ${FIRST}, COUNT(${THIRD}), SUM(${THIRD}), MAX(${THIRD}), AVG(${FOURTH}) ${FROM}`,
  `SELECT COUNT(*), COUNT(DISTINCT ${FIRST}), MIN(${FIRST}) ${FROM}`,
  `SELECT MAX(${THIRD}) ${FROM}`,
  `SELECT CONCAT(${FIRST}, '!'), ABS(${THIRD}) ${FROM}`,
  `SELECT ${OTHER} FROM EHR e CONTAINS EVALUATION o[${OLD}]`,
  `SELECT ${OTHER}, ${FIRST} FROM COMPOSITION c CONTAINS (EVALUATION o[${OLD}] AND EVALUATION t[${TEST}]) WHERE ${OTHER} > 1`,
  `SELECT COUNT(c/uid/value) FROM COMPOSITION c NOT CONTAINS EVALUATION[${OLD}]`,
  `SELECT x/value/value FROM EVALUATION t[${TEST}] CONTAINS ELEMENT x[at0002]`,
  `SELECT x/value/magnitude FROM EVALUATION o[${OLD}] CONTAINS ELEMENT x[at0002] ORDER BY x/value/magnitude`,
];

const upload = (opt: string): Test =>
  request(app)
    .post(`${V1}/definition/template/adl1.4`)
    .set({ 'Content-Type': 'application/xml', Authorization: ADMIN })
    .send(opt);
const admin = (path: string, body: object = {}): Test =>
  request(app).post(`/rest/admin/template/${path}`).set('Authorization', ADMIN).send(body);

async function ask(id: string, aql: string, path = 'query/aql'): Promise<Json> {
  const { status, body } = await request(app)
    .post(`${V1}/${path}`)
    .send({ q: of(id, aql) });
  expect([aql, status, status === 200 ? '' : body]).toEqual([aql, 200, '']);
  return body as Json;
}

/** The digest of the rows of a query: in their order where it has one. Uids without the number of the version. */
async function digestOf(id: string, aql: string): Promise<string> {
  const { rows } = await ask(id, aql);
  const lines = (rows as unknown[]).map((row) => JSON.stringify(row).replaceAll(/::\d+"/g, '"'));
  expect([aql, lines.some((line) => /[a-d0-9]/.test(line))]).toEqual([aql, true]);
  const ordered = aql.includes('ORDER BY') ? lines : lines.sort();
  return createHash('sha256').update(ordered.join('\n')).digest('hex');
}

/** Longer than a server trusts what it has read of aliases. */
const TRUST_MS = 1_100;

async function explained(id: string, aql: string): Promise<Json> {
  const { passes, aliases } = await ask(id, aql, 'query/aql/explain');
  return { passes, ...(aliases !== undefined && { aliases }) };
}

const digests = (id: string, queries: readonly string[]): Promise<string[]> =>
  queries.reduce<Promise<string[]>>(
    async (all, aql) => [...(await all), await digestOf(id, aql)],
    Promise.resolve([]),
  );

const isOld = (archetype: string): boolean => archetype.includes('.old_');

/** The example of the template with values of its own. */
function composition(example: Json, index: number): Json {
  const made = structuredClone(example) as {
    content: { archetype_node_id: string; data: { items: Json[] } }[];
  };
  for (const { archetype_node_id: archetype, data } of made.content) {
    data.items = data.items.filter(
      (item) => index % 4 !== 0 || item.archetype_node_id !== 'at0002' || isOld(archetype),
    );
    for (const item of data.items)
      if (item.value._type === 'DV_TEXT') item.value.value = 'abcd'[index % 4];
      else
        item.value.magnitude =
          (index * (isOld(archetype) ? 2 : 1) + Number(item.archetype_node_id.slice(-1))) % 8;
    const again = data.items.find((item) => item.archetype_node_id === 'at0004');
    if (again !== undefined && index % 3 === 0)
      data.items.push({ ...again, value: { ...again.value, magnitude: 9 } });
  }
  if (index % 5 === 0) made.content = made.content.filter((each) => !isOld(each.archetype_node_id));
  return made;
}

interface Upgraded {
  readonly id: string;
  readonly job: string;
}

/** COMPOSITIONs of the first revision, in EHRs of which the half may not be written any more; then there is a second one. */
async function given(id: string, compositions: number): Promise<void> {
  await upload(first(id));
  const { body: example } = await request(app)
    .get(`${V1}/definition/template/adl1.4/${id}/example?detail_level=complete`)
    .set('Authorization', ADMIN);
  for (let index = 0; index < compositions; index++) {
    const ehrId = await givenEhr(app);
    const { status, body } = await request(app)
      .post(`${V1}/ehr/${ehrId}/composition`)
      .send(composition(example as Json, index));
    expect([status, status === 201 ? '' : body]).toEqual([201, '']);
    if (index % 2 === 0) continue;
    const ehrStatus = await request(app).get(`${V1}/ehr/${ehrId}/ehr_status`);
    await request(app)
      .put(`${V1}/ehr/${ehrId}/ehr_status`)
      .set('If-Match', String(ehrStatus.headers.etag))
      .send({ ...(ehrStatus.body as Json), is_modifiable: false });
  }
}

async function until({ id, job }: Upgraded, state: string): Promise<Json> {
  for (;;) {
    const told = await request(app)
      .get(`/rest/admin/template/${id}/upgrade/${job}`)
      .set('Authorization', ADMIN);
    const answer = told.body as Json;
    if (answer.state === state) return answer;
    expect(['running', 'undoing']).toContain(answer.state);
    await setTimeout(50);
  }
}

async function begin(id: string): Promise<Upgraded> {
  const rules = JSON.parse(of(id, JSON.stringify(RULES))) as object;
  const { body } = await admin(`${id}/upgrade?dry_run=true`, rules);
  const { status, body: answer } = await admin(`${id}/upgrade`, { ...rules, hash: (body as Json).hash });
  expect(status).toBe(202);
  return { id, job: String((answer as Json).job) };
}

describe('queries over a template whose data are upgraded', () => {
  it('are answered as before, in the words of either revision, and after the upgrade was taken back', async () => {
    await given('asked', 12);
    const before = await digests('asked', CORPUS);
    expect((await upload(second('asked'))).status).toBe(201);
    expect(await digests('asked', CORPUS)).toEqual(before);
    const upgraded = await begin('asked');
    expect(await until(upgraded, 'done')).toMatchObject({ upgraded: 6, left: 6 });
    expect(await digests('asked', CORPUS)).toEqual(before);
    expect(await digests('asked', CORPUS.map(asSecond))).toEqual(before);

    expect((await admin(`asked/upgrade/${upgraded.job}/undo`)).status).toBe(200);
    expect(await until(upgraded, 'undone')).toMatchObject({ undone: 6, left: 0 });
    expect(await digests('asked', CORPUS)).toEqual(before);
    await setTimeout(TRUST_MS);
    expect(await explained('asked', CORPUS[0]!)).toEqual({
      passes: expect.not.arrayContaining(['seeAliases']),
    });
    expect((await ask('asked', asSecond(`SELECT ${OTHER} FROM EVALUATION o[${OLD}]`))).rows).toEqual([]);
  });

  it('are answered so elsewhere too, after an export of all versions; the seals hold what was moved', async () => {
    await given('travelled', 4);
    await upload(second('travelled'));
    await until(await begin('travelled'), 'done');
    const before = await digests('travelled', CORPUS.slice(0, 6));
    const expectSound = async (): Promise<void> => {
      await sealNewRecords();
      expect((await verifyStorage()).violations).toEqual([]);
    };
    await expectSound();
    const lines = await exported();
    await emptied();
    await claimStorage(testSettings().systemId, 'all');
    expect(refusals(await imported(lines))).toEqual([]);
    expect(await exported()).toEqual(lines);
    await setTimeout(TRUST_MS);
    expect(await digests('travelled', CORPUS.slice(0, 6))).toEqual(before);
    expect(await digests('travelled', CORPUS.slice(0, 6).map(asSecond))).toEqual(before);
    await expectSound();
  });

  it('are explained with what they are read as, use indexes, and warn of nothing', async () => {
    const other = `SELECT ${OTHER} FROM EVALUATION o[${OLD}] WHERE ${OTHER} > 2`;
    const third = `SELECT ${THIRD} ${FROM} WHERE ${THIRD} > 2 AND NOT EXISTS ${FIRST}`;
    await given('explained', 2);
    await upload(second('explained'));
    const stored = `${V1}/definition/query/org.example::moved/1.0.0`;
    await request(app).put(stored).set('Content-Type', 'text/plain').send(of('explained', third));
    const concerned = async (): Promise<unknown> =>
      ((await admin('explained/compare', { from: '1', to: '2' })).body as Json).stored_queries;
    expect(await concerned()).toMatchObject([{ name: 'org.example::moved' }]);
    await setTimeout(TRUST_MS);
    expect(await explained('explained', third)).toEqual({
      passes: expect.not.arrayContaining(['seeAliases']),
    });
    await until(await begin('explained'), 'done');

    expect(await explained('explained', third)).toEqual({
      passes: expect.arrayContaining(['seeAliases', 'useLeafIndex']),
      aliases: [
        {
          seen: THIRD,
          as: [
            { text: THIRD.replace('items[at0004]', 'items[at0020]/items[at0004]'), template_id: 'explained' },
          ],
        },
        {
          seen: FIRST,
          as: [{ text: FIRST.replace('at0002', 'at0003'), template_id: 'explained' }],
        },
      ],
    });
    expect(await explained('explained', other)).toEqual({
      passes: expect.arrayContaining(['seeAliases', 'useLeafIndex']),
      aliases: [
        {
          seen: of('explained', `EVALUATION o[${OLD}]`),
          as: [{ text: of('explained', `EVALUATION o[${NEW}]`), template_id: 'explained' }],
        },
      ],
    });
    for (const aql of [third, other])
      expect((await ask('explained', aql)).meta).not.toHaveProperty('warnings');
    expect(await concerned()).toEqual([]);
  });

  it('read nothing of another template', async () => {
    await given('own', 1);
    await upload(second('own'));
    await until(await begin('own'), 'done');
    const strange = (id: string): string =>
      of('own', template(entry(TEST, text('at0002') + text('at0003')) + entry(NEW, count('at0002')), { id }));
    await upload(strange('strange'));
    const { body: example } = await request(app)
      .get(`${V1}/definition/template/adl1.4/strange/example?detail_level=complete`)
      .set('Authorization', ADMIN);
    const content = (example as { content: { data: { items: Json[] } }[] }).content;
    for (const { data } of content)
      data.items = data.items.filter(
        (item) => item.archetype_node_id === 'at0003' || data !== content[0]!.data,
      );
    const ehrId = await givenEhr(app);
    const { status } = await request(app)
      .post(`${V1}/ehr/${ehrId}/composition`)
      .send(example as Json);
    expect(status).toBe(201);
    const rowsOf = async (select: string, from: string): Promise<unknown> =>
      (await ask('own', `SELECT ${select} FROM EHR e[ehr_id/value='${ehrId}'] CONTAINS ${from}`)).rows;
    const inTest = `EVALUATION t[${TEST}]`;
    expect(await rowsOf(FIRST, inTest)).toEqual([[null]]);
    expect(await rowsOf(FIRST.replace('at0002', 'at0003'), inTest)).toEqual([[expect.any(String)]]);
    expect(await rowsOf(OTHER, `EVALUATION o[${OLD}]`)).toEqual([]);
    expect(await rowsOf(OTHER, `EVALUATION o[${NEW}]`)).toEqual([[expect.any(Number)]]);
  });
});

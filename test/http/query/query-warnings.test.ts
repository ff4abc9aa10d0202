import { beforeAll, describe, expect, it } from '@jest/globals';
import type { RequestListener } from 'node:http';
import mongoose from 'mongoose';
import request from 'supertest';
import { testApp } from '../../support/app.js';
import { useDatabase } from '../../support/database.js';
import { leastMainThreadTime } from '../../support/process/processor-time.js';
import { givenTemplate } from '../../support/resources.js';
import { testSettings } from '../../support/settings.js';

useDatabase();

const AQL = '/rest/openehr/v1/query/aql';
const TEMPLATE = 'ehrbase_blood_pressure_simple.de.v0';
const BP = 'openEHR-EHR-OBSERVATION.sample_blood_pressure.v1';
const SYS = (node: string, archetype = BP): string =>
  `SELECT o/data[at0001]/events[at0002]/data[at0003]/items[${node}]/value/magnitude FROM OBSERVATION o[${archetype}]`;

const app: RequestListener = testApp();
const post = (q: string, more: object = {}) =>
  request(app)
    .post(AQL)
    .send({ q, ...more });
const warnings = async (q: string, more: object = {}): Promise<unknown> => {
  const { status, body } = await post(q, more);
  expect(status).toBe(200);
  return body.meta.warnings;
};

describe('warnings', () => {
  it('say nothing while no template is stored', async () => {
    expect(await warnings(SYS('at9999'))).toBeUndefined();
  });

  describe('with a template', () => {
    beforeAll(() => givenTemplate(app, TEMPLATE));

    it('are not there for names that it has', async () => {
      expect(await warnings(SYS('at0004'))).toBeUndefined();
      expect(
        await warnings(
          `SELECT c FROM COMPOSITION c WHERE c/archetype_details/template_id/value MATCHES {'${TEMPLATE}'}`,
        ),
      ).toBeUndefined();
    });

    it.each([
      [
        'below a class of any archetype',
        `SELECT o/data[at0777]/name/value FROM COMPOSITION c[openEHR-EHR-COMPOSITION.sample_encounter.v1] CONTAINS OBSERVATION o`,
      ],
      [
        'of an event of any archetype',
        `SELECT p/data[at0777]/name/value FROM COMPOSITION c[openEHR-EHR-COMPOSITION.sample_encounter.v1] CONTAINS POINT_EVENT p`,
      ],
      [
        'of a CLUSTER in the entry',
        `SELECT x/items[at0777]/name/value FROM OBSERVATION o[${BP}] CONTAINS CLUSTER x`,
      ],
      [
        'below content of any archetype',
        `SELECT c/content/data[at0777]/name/value FROM COMPOSITION c[openEHR-EHR-COMPOSITION.sample_encounter.v1]`,
      ],
    ])('say nothing of a code %s', async (_where, q) => {
      expect(await warnings(q)).toBeUndefined();
    });

    it('name a code in FROM, which holds in the archetype of the class above it', async () => {
      const q = (code: string) =>
        `SELECT p FROM OBSERVATION o[${BP}] CONTAINS HISTORY h[at0001] CONTAINS POINT_EVENT p[${code}]`;
      expect(await warnings(q('at0002'))).toBeUndefined();
      expect(await warnings(q('at0778'))).toMatchObject([
        { code: 'unknown_node', message: expect.stringMatching(/at0778 in .*blood/) },
      ]);
      const far =
        'FROM COMPOSITION c[openEHR-EHR-COMPOSITION.sample_encounter.v1] CONTAINS POINT_EVENT p[at0778]';
      expect(await warnings(`SELECT p ${far}`)).toMatchObject([{ code: 'unknown_node' }]);
    });

    it('name a code of an event, which is of the archetype of its entry', async () => {
      const q = `SELECT p/data[at0777]/name/value FROM OBSERVATION o[${BP}] CONTAINS POINT_EVENT p`;
      expect(await warnings(q)).toMatchObject([{ code: 'unknown_node' }]);
    });

    it.each([
      'c/name/value = NULL',
      'NOT c/name/value = NULL',
      'c/name/value = NULL AND c/uid/value != NULL',
      'c/archetype_details/template_id/value = NULL',
    ])('do not stand in the way of %s', async (condition) => {
      expect(await warnings(`SELECT c/uid/value FROM COMPOSITION c WHERE ${condition}`)).toBeUndefined();
    });

    it('name a code that no template has in its archetype, where it stands and the nearest', async () => {
      expect(await warnings(SYS('at0044'))).toEqual([
        {
          code: 'unknown_node',
          line: 1,
          column: 57,
          message: expect.stringMatching(
            /^no stored template has the node at0044 in .*blood_pressure\.v1; did you mean at0\d+\?$/,
          ),
          nearest: expect.stringMatching(/^at0\d+$/),
        },
      ]);
      expect(await warnings(SYS('at9999'))).toMatchObject([{ code: 'unknown_node', line: 1, column: 57 }]);
    });

    it('name an archetype, in FROM and below EXISTS', async () => {
      expect(await warnings(SYS('at0004', BP.replace('pressure', 'presure')))).toMatchObject([
        { code: 'unknown_archetype', column: 100, nearest: BP },
      ]);
      expect(
        await warnings(
          `SELECT c/uid/value FROM COMPOSITION c\nWHERE EXISTS c/content[openEHR-EHR-OBSERVATION.nothing.v1]/data`,
        ),
      ).toMatchObject([{ code: 'unknown_archetype', line: 2, column: 24 }]);
    });

    it('name a template', async () => {
      const id = 'c/archetype_details/template_id/value';
      expect(
        await warnings(`SELECT c FROM COMPOSITION c WHERE ${id} = $id`, {
          query_parameters: { id: TEMPLATE.replace('.v0', '.v1') },
        }),
      ).toMatchObject([{ code: 'unknown_template', nearest: TEMPLATE }]);
    });

    it('name a literal that never matches', async () => {
      expect(
        await warnings(`${SYS('at0004')} WHERE o/data[at0001]/origin/value > '2021' AND o/name/value = 5`),
      ).toMatchObject([{ code: 'type_mismatch', message: expect.stringContaining('5 and o/name/value') }]);
    });

    it('are of EHR_STATUS and FOLDER never, as no template is about them', async () => {
      expect(
        await warnings(
          'SELECT s/other_details[at0001]/items[at0077]/value FROM EHR_STATUS s[openEHR-EHR-EHR_STATUS.any.v1]',
        ),
      ).toBeUndefined();
    });

    it('are at most ten, in the order of the text', async () => {
      const paths = Array.from({ length: 40 }, (_, i) => `o/data[at0001]/events[at${9000 + i}]/time/value`);
      const { body } = await post(`SELECT ${paths.join(', ')} FROM OBSERVATION o[${BP}]`);
      const columns = body.meta.warnings.map(({ column }: { column: number }) => column);
      expect(columns).toHaveLength(10);
      expect(columns).toEqual([...columns].sort((a, b) => a - b));
    });

    it('stand in NDJSON and explain too', async () => {
      const { text } = await post(SYS('at9999')).set('Accept', 'application/x-ndjson');
      expect(JSON.parse(text.split('\n')[0] ?? '')).toMatchObject({
        meta: { warnings: [{ code: 'unknown_node' }] },
      });
      const { body } = await request(app)
        .post(`${AQL}/explain`)
        .send({ q: SYS('at9999') });
      expect(body.hints[0]).toBe(`line 1:57: no stored template has the node at9999 in ${BP}`);
    });

    it('know specialised archetypes where those match', async () => {
      const settings = testSettings();
      const subsuming = testApp({ aql: { ...settings.aql, subsumption: true } });
      const q = SYS('at0004', 'openEHR-EHR-OBSERVATION.sample.v1');
      const { body } = await request(subsuming).post(AQL).send({ q });
      expect(body.meta.warnings).toMatchObject([{ code: 'unknown_archetype' }]);
    });

    it('follow the templates that are stored', async () => {
      const q = 'SELECT o FROM COMPOSITION o[openEHR-EHR-COMPOSITION.minimal.v1]';
      expect(await warnings(q)).toMatchObject([{ code: 'unknown_archetype' }]);
      await givenTemplate(app, 'minimal_evaluation.en.v1');
      expect(await warnings(q)).toBeUndefined();
    });

    it('cost little, however many names are unknown', async () => {
      const steps = Array.from({ length: 150 }, (_, i) => `o/data[at${9000 + i}]/name/value = 'x'`);
      const query = `SELECT o FROM OBSERVATION o[${BP}] WHERE ${steps.join(' OR ')}`;
      const seconds = await leastMainThreadTime(() => post(query).expect(200));
      expect(seconds).toBeLessThan(0.5);
    });

    it('are none where templates are too many to look at', async () => {
      const templates = mongoose.connection.collection<{ _id: string }>('templates');
      const fields = { opt: '', revision: 1, created_timestamp: new Date() };
      await templates.insertMany(Array.from({ length: 2_000 }, (_, i) => ({ _id: `t${i}`, ...fields })));
      expect(await warnings(SYS('at9999'))).toBeUndefined();
      await templates.deleteMany({ _id: /^t\d/ });
      expect(await warnings(SYS('at9999'))).toHaveLength(1);
    });

    it('come once large templates are read, of which each query reads a part', async () => {
      const templates = mongoose.connection.collection<{ _id: string }>('templates');
      const fields = {
        opt: '<node_id>at0</node_id>'.repeat(500_000),
        revision: 1,
        created_timestamp: new Date(),
      };
      for (const id of ['t1', 't2', 't3']) await templates.insertOne({ _id: id, ...fields });
      expect(await warnings(SYS('at9999'))).toBeUndefined();
      expect(await warnings(SYS('at9999'))).toHaveLength(1);
      await templates.deleteMany({ _id: /^t\d/ });
    });
  });
});

describe('a literal that is no time', () => {
  it.each([
    [
      "SELECT c FROM COMPOSITION c WHERE c/context/start_time/value > '2022-13-45'",
      "1:64: '2022-13-45' cannot be",
    ],
    [
      'SELECT c FROM COMPOSITION c WHERE c/context/start_time > 5',
      '1:58: 5 cannot be compared with c/context/start_time',
    ],
    ["SELECT e FROM EHR e WHERE e/time_created/value MATCHES {'2021-01-01', 'x'}", "'x' cannot be"],
    [
      "SELECT o/data/events[time/value > '2021-02-30']/name/value FROM OBSERVATION o",
      "'2021-02-30' cannot be",
    ],
    ["SELECT o FROM POINT_EVENT o[time/value = 'now']", "'now' cannot be"],
    ['SELECT o/data/events/width FROM OBSERVATION o WHERE o/data/events/width > 5', 'a duration, as'],
  ])('is 400: %s', async (q, message) => {
    const { status, body } = await post(q);
    expect([status, body.message]).toEqual([400, expect.stringContaining(message)]);
  });

  it('is only never equal where other values may stand', async () => {
    const q = "SELECT e FROM ELEMENT e WHERE e/value = '2022-13-45'";
    expect((await post(q)).status).toBe(200);
  });
});

describe('what other query languages have', () => {
  it.each([
    ['SELECT * FROM EHR e', 'AQL has no SELECT *'],
    ['SELECT COUNT(*) FROM EHR e GROUP BY e/ehr_id/value', 'AQL has no GROUP BY'],
  ])('is told in one sentence: %s', async (q, message) => {
    const { status, body } = await post(q);
    expect([status, body.message]).toEqual([400, expect.stringContaining(message)]);
  });

  it('a final ; is allowed', async () => {
    expect((await post('SELECT e/ehr_id/value FROM EHR e ;\n')).status).toBe(200);
    expect((await post('SELECT e/ehr_id/value FROM EHR e;;')).status).toBe(400);
  });

  it.each(['query', 'aql'])('the text under the name %s is asked for under q', async (name) => {
    const text = 'SELECT e/ehr_id/value FROM EHR e';
    for (const call of [
      request(app)
        .post(AQL)
        .send({ [name]: text }),
      request(app)
        .get(AQL)
        .query({ [name]: text }),
    ]) {
      const { status, body } = await call;
      expect([status, body.message]).toEqual([400, expect.stringContaining(`named q here, not ${name}`)]);
    }
  });
});

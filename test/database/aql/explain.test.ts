import { beforeAll, describe, expect, it } from '@jest/globals';
import { explainedStages } from '../../../aql/result/explain.js';
import type { JsonValue } from '../../../openehr/base/json.js';
import { explainPipeline } from '../../../models/cross-collection/run-pipeline.js';
import { A, O, SYS, type CaseOptions } from '../../support/aql/cases/aql-case.js';
import { prepareCase } from '../../support/aql/cases/prepare.js';
import { planOf } from '../../support/aql/pipeline.js';
import { useOwnDatabase } from '../../support/database.js';
import { EHR, HILLTOP, OBJECT, SYSTEM_ID, versionUid } from '../../support/hilltop/hilltop.js';
import { loadReferenceData } from '../../support/aql/load-reference.js';

useOwnDatabase();

beforeAll(() => loadReferenceData(HILLTOP));

async function explained(aql: string, options: CaseOptions = {}): Promise<JsonValue> {
  const { scope, page } = prepareCase({ group: 0, title: '', aql, options, expect: { count: 0 } }, SYSTEM_ID);
  const asOf = options.asOf === undefined ? null : new Date(options.asOf);
  const plan = await planOf(scope, page, { systemId: SYSTEM_ID, asOf });
  return JSON.parse(JSON.stringify(await explainPipeline(plan, { timeoutMs: 10_000 }))) as JsonValue;
}

const SHAPES: readonly (readonly [name: string, aql: string, index: RegExp, options?: CaseOptions])[] = [
  ['a selective leaf condition', `SELECT ${SYS} FROM ${O} WHERE ${SYS} > 145`, /lv\.k/],
  ['an archetype in all EHRs', `SELECT ${SYS} FROM EHR e CONTAINS ${O}`, /keys/],
  ['all compositions', 'SELECT c/uid/value FROM COMPOSITION c', /keys/],
  ['one EHR', `SELECT ${SYS} FROM EHR e[ehr_id/value='${EHR.E1}'] CONTAINS ${O}`, /ehr|keys/],
  [
    'the newest of one EHR',
    `SELECT c FROM EHR e[ehr_id/value='${EHR.E1}'] CONTAINS COMPOSITION c ORDER BY c/context/start_time DESC LIMIT 1`,
    /start/,
  ],
  [
    'the newest of all EHRs',
    `SELECT c/uid/value FROM COMPOSITION c[${A.encounter}] ORDER BY c/context/start_time DESC LIMIT 2`,
    /start/,
  ],
  ['NOT CONTAINS', `SELECT COUNT(*) FROM COMPOSITION c NOT CONTAINS ${O}`, /keys/],
  ['nested archetypes', `SELECT d/name/value FROM ${O} CONTAINS CLUSTER d[${A.device}]`, /keys/],
  ['inner nodes', `SELECT el/name/value FROM ${O} CONTAINS ELEMENT el[at0004]`, /keys/],
  ['all versions', 'SELECT v/uid/value FROM VERSION v[ALL_VERSIONS] CONTAINS COMPOSITION c', /keys/],
  ['as_of', 'SELECT c/uid/value FROM COMPOSITION c', /keys/, { asOf: '2021-03-04T00:00:00Z' }],
  [
    'a version id',
    `SELECT c FROM VERSION v[uid/value='${versionUid('C2', 1)}'] CONTAINS COMPOSITION c`,
    /_id/,
  ],
  ['a container id', `SELECT c FROM COMPOSITION c WHERE c/uid/value = '${OBJECT.C2}'`, /_id/],
  ['FOLDERs with COMPOSITIONs', 'SELECT c/uid/value FROM FOLDER f CONTAINS COMPOSITION c', /keys/],
  ['two roots of an EHR', 'SELECT a/uid/value FROM COMPOSITION a AND EHR_STATUS s', /keys/],
  ['EHR columns', 'SELECT e/system_id/value, e/ehr_status/subject FROM EHR e CONTAINS COMPOSITION c', /keys/],
  ['VERSION columns', 'SELECT v/commit_audit/committer/name FROM VERSION v CONTAINS COMPOSITION c', /keys/],
];

describe('explain', () => {
  it.each(SHAPES.map(([name, aql, index, options = {}]) => ({ name, aql, index, options })))(
    '$name: an index serves each stage',
    async ({ aql, index, options }) => {
      const found = await explained(aql, options);
      const text = JSON.stringify(found);
      expect(text).not.toContain('COLLSCAN');
      expect([...text.matchAll(/"collectionScans":"?(\d+)/g)].map(([, count]) => count)).toEqual(
        [...text.matchAll(/"collectionScans":"?(\d+)/g)].map(() => '0'),
      );
      const [first] = explainedStages(found);
      expect(first?.index).toMatch(index);
      expect(first?.documentsExamined).not.toBeNull();
    },
  );

  it.each([
    'SELECT COUNT(*) FROM EHR e CONTAINS COMPOSITION c',
    'SELECT COUNT(*) AS n FROM COMPOSITION c',
    'SELECT COUNT(c) FROM EHR e CONTAINS COMPOSITION c',
    'SELECT COUNT(c/uid/value) AS n, COUNT(e/ehr_id/value) FROM EHR e CONTAINS COMPOSITION c',
    'SELECT COUNT(s) FROM EHR e CONTAINS EHR_STATUS s',
  ])('%s is answered by an index alone', async (aql) => {
    const [first] = explainedStages(await explained(aql));
    expect(first).toMatchObject({
      documentsExamined: 0,
      index: expect.stringMatching(/^type_1_q_1_latest_1_sv_1/),
    });
  });

  it('joins compositions of FOLDERs by EHR and container', async () => {
    const text = JSON.stringify(await explained('SELECT c/uid/value FROM FOLDER f CONTAINS COMPOSITION c'));
    const used = [...text.matchAll(/"indexesUsed":\[([^\]]*)\]/g)].map(([, names]) => names);
    expect(used).toHaveLength(1);
    expect(used[0]).toMatch(/^"(ehr_1_vo|keys_1_ehr)[^,]*"(,"(ehr_1_vo|keys_1_ehr)[^,]*")*$/);
  });
});

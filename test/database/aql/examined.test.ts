import { beforeAll, expect, it } from '@jest/globals';
import { explainedStages } from '../../../aql/result/explain.js';
import { BENCH_SYSTEM_ID, vitalSigns } from '../../../bench/vital-signs.js';
import type { JsonValue } from '../../../openehr/base/json.js';
import { explainPipeline, runPipelineRows } from '../../../models/cross-collection/run-pipeline.js';
import { prepareCase } from '../../support/aql/cases/prepare.js';
import { planOf } from '../../support/aql/pipeline.js';
import { useOwnDatabase } from '../../support/database.js';
import { ARCHETYPES } from '../../support/hilltop/compositions.js';
import { loadReferenceData } from '../../support/aql/load-reference.js';

useOwnDatabase();

const DATA = vitalSigns({ ehrs: 60, compositionsPerEhr: 20, seed: 1 });
const LIMITS = { timeoutMs: 20_000 };
/** Documents that may be looked at for each row where an index serves. */
const MOST = 3;

beforeAll(() => loadReferenceData(DATA), 120_000);

const COMPOSITION = DATA.versions.find(({ type }) => type === 'COMPOSITION');
const EHR = `EHR e[ehr_id/value='${COMPOSITION?.ehrId ?? ''}']`;
const UID = COMPOSITION?.uid ?? '';
const O = `OBSERVATION o[${ARCHETYPES.bloodPressure}]`;
const SYS = 'o/data[at0001]/events[at0006]/data[at0003]/items[at0004]/value/magnitude';
const NEWEST = 'ORDER BY c/context/start_time/value DESC';

it.each([
  ['the readings of one EHR', `SELECT ${SYS} FROM ${EHR} CONTAINS COMPOSITION c CONTAINS ${O}`],
  ['the compositions of one EHR', `SELECT c/uid/value FROM ${EHR} CONTAINS COMPOSITION c`],
  ['the newest of one EHR', `SELECT c/uid/value FROM ${EHR} CONTAINS COMPOSITION c ${NEWEST} LIMIT 5`],
  ['the newest of all', `SELECT c/uid/value FROM EHR e CONTAINS COMPOSITION c ${NEWEST} LIMIT 20`],
  ['all readings of an archetype', `SELECT ${SYS} FROM EHR e CONTAINS COMPOSITION c CONTAINS ${O}`],
  ['high readings', `SELECT ${SYS} FROM EHR e CONTAINS COMPOSITION c CONTAINS ${O} WHERE ${SYS} > 165`],
  [
    'readings in a range',
    `SELECT ${SYS} FROM COMPOSITION c CONTAINS ${O} WHERE ${SYS} > 150 AND ${SYS} < 160`,
  ],
  [
    'the highest readings',
    `SELECT ${SYS} AS sys FROM EHR e CONTAINS COMPOSITION c CONTAINS ${O} WHERE ${SYS} > 142 ORDER BY sys DESC LIMIT 20`,
  ],
  ['a composition by its id', `SELECT c/name/value FROM COMPOSITION c WHERE c/uid/value = '${UID}'`],
  ['sections', 'SELECT s/name/value FROM EHR e CONTAINS COMPOSITION c CONTAINS SECTION s'],
  ['some compositions', 'SELECT c/uid/value FROM EHR e CONTAINS COMPOSITION c LIMIT 20'],
  ['the status of an EHR', `SELECT s/subject FROM ${EHR} CONTAINS EHR_STATUS s`],
])(`%s: an index picks the documents, at most ${MOST} for each row`, async (_, aql) => {
  const { scope, page } = prepareCase({ group: 0, title: '', aql, expect: { count: 0 } }, BENCH_SYSTEM_ID);
  const plan = await planOf(scope, page, { systemId: BENCH_SYSTEM_ID });
  const rows = (await runPipelineRows(plan, LIMITS)).length;
  const explained = JSON.parse(JSON.stringify(await explainPipeline(plan, LIMITS))) as JsonValue;
  const [first] = explainedStages(explained);
  expect(rows).toBeGreaterThan(0);
  expect(first?.documentsExamined ?? Infinity).toBeLessThanOrEqual(MOST * rows);
});

import { EHR, OBJECT, versionUid } from '../../hilltop/hilltop.js';
import { A, column, CURRENT, O, SYS, type AqlCase } from './aql-case.js';

const [C1 = '', C2 = '', C3 = '', C4 = '', C5 = ''] = CURRENT;
const ALL = 'VERSION v[ALL_VERSIONS]';

const rows = (group: number, aql: string, ...values: Parameters<typeof column>): AqlCase => ({
  group,
  title: aql,
  aql,
  expect: { rows: column(...values) },
});

const then = (group: number, asOf: string, aql: string, ...values: Parameters<typeof column>): AqlCase => ({
  ...rows(group, aql, ...values),
  title: `${aql} as of ${asOf}`,
  options: { asOf },
});

/** Features of the language in unusual company, each under the group nearest to it. */
export const combinationCases: readonly AqlCase[] = [
  rows(8, "SELECT e/ehr_id/value FROM EHR e[time_created > '2021-02-10']", EHR.E3),
  rows(
    8,
    "SELECT e/ehr_id/value FROM EHR e[system_id/value = 'local.cdr' and time_created/value < '2021-01-02']",
    EHR.E1,
  ),
  rows(8, "SELECT e/ehr_id/value FROM EHR e[ehr_status/subject/external_ref/id/value = 'H-2']", EHR.E2),
  rows(
    8,
    "SELECT c/uid/value FROM EHR e[directory/name/value = 'Hilltop'] CONTAINS COMPOSITION c",
    C1,
    C2,
    C3,
  ),
  rows(
    8,
    `SELECT e/ehr_id/value FROM EHR e[ehr_id/value='${EHR.E1}' or ehr_id/value='${EHR.E2}']`,
    EHR.E1,
    EHR.E2,
  ),
  rows(4, 'SELECT e/directory/folders/folders/name/value FROM EHR e WHERE EXISTS e/directory', '2021'),
  rows(4, "SELECT e/ehr_id/value FROM EHR e WHERE EXISTS e/directory/folders[name/value='Empty']", EHR.E1),
  rows(
    4,
    'SELECT e/ehr_id/value FROM EHR e WHERE NOT EXISTS e/ehr_status/other_details/items[at0013]',
    EHR.E2,
    EHR.E3,
  ),
  rows(
    4,
    "SELECT e/ehr_id/value FROM EHR e WHERE e/ehr_status/subject/external_ref/id/value = 'H-2'",
    EHR.E2,
  ),
  rows(4, `SELECT e/ehr_id/value FROM EHR e WHERE e/compositions/id/value = '${OBJECT.C4}'`, EHR.E2),
  rows(4, `SELECT COUNT(e/compositions) FROM EHR e`, 5),
  rows(12, "SELECT c/uid/value FROM COMPOSITION c[context/start_time > '2021-03-03T12:00:00Z']", C4, C5),
  rows(12, `SELECT c/uid/value FROM COMPOSITION c[${A.encounter} and composer/name='Dr Wu']`, C2, C5),
  rows(12, `SELECT c/uid/value FROM COMPOSITION c[${A.report} or ${A.problemList}]`, C3, C4),
  rows(
    12,
    "SELECT c/uid/value FROM COMPOSITION c[archetype_details/template_id/value = 'hill.vitals.v1']",
    C1,
    C2,
  ),
  rows(12, "SELECT c/uid/value FROM COMPOSITION c[content/name/value = 'Vitals']", C1),
  rows(
    12,
    "SELECT o/name/value FROM COMPOSITION c CONTAINS OBSERVATION o[data/events/time/value > '2021-03-02']",
    'Blood pressure',
  ),
  rows(12, 'SELECT s/name/value FROM SECTION s[name/value matches {/V.t.*/}]', 'Vitals'),
  rows(12, `SELECT COUNT(*) FROM OBSERVATION o[${A.bloodPressure} or ${A.pulse}]`, 3),
  rows(
    12,
    `SELECT x/name/value FROM OBSERVATION x[name/value != 'Pulse' and data/name/value = data/name/value]`,
    'Blood pressure',
    'Blood pressure',
  ),
  rows(
    32,
    "SELECT el/value/value FROM COMPOSITION c CONTAINS ELEMENT el[value/value='underscore' or name/value='a*b']",
    'underscore',
    'star',
  ),
  rows(
    32,
    "SELECT p/performer/name FROM COMPOSITION c CONTAINS PARTICIPATION p[performer/identifiers/id='W-2']",
    'Walt',
  ),
  rows(
    20,
    `SELECT c/uid/value FROM COMPOSITION c[${A.encounter}] NOT CONTAINS CLUSTER d[${A.device}]`,
    C2,
    C5,
  ),
  rows(
    20,
    "SELECT c/uid/value FROM COMPOSITION c NOT CONTAINS ELEMENT el[name/value='Systolic']",
    C3,
    C4,
    C5,
  ),
  rows(20, 'SELECT s/name/value FROM COMPOSITION c CONTAINS SECTION s NOT CONTAINS SECTION t', 'Repeat'),
  rows(20, 'SELECT f/name/value FROM FOLDER f NOT CONTAINS FOLDER g', '2021', 'Empty'),
  rows(20, 'SELECT f/name/value FROM FOLDER f NOT CONTAINS COMPOSITION c', 'Empty'),
  rows(21, 'SELECT e/ehr_id/value FROM EHR e NOT CONTAINS FOLDER f', EHR.E2, EHR.E3),
  rows(
    21,
    "SELECT e/ehr_id/value FROM EHR e NOT CONTAINS EHR_STATUS s[subject/external_ref/id/value='H-1']",
    EHR.E2,
    EHR.E3,
  ),
  rows(
    21,
    `SELECT e/ehr_id/value FROM EHR e NOT CONTAINS ${ALL} CONTAINS COMPOSITION c CONTAINS ${O}`,
    EHR.E3,
  ),
  rows(
    21,
    `SELECT e/ehr_id/value FROM EHR e NOT CONTAINS (COMPOSITION c[${A.report}] OR COMPOSITION d[${A.problemList}])`,
    EHR.E3,
  ),
  rows(
    21,
    `SELECT e/ehr_id/value FROM EHR e NOT CONTAINS (COMPOSITION c[${A.report}] AND COMPOSITION d[${A.problemList}])`,
    EHR.E1,
    EHR.E2,
    EHR.E3,
  ),
  then(
    21,
    '2021-03-03T00:00:00Z',
    'SELECT e/ehr_id/value FROM EHR e NOT CONTAINS COMPOSITION c',
    EHR.E2,
    EHR.E3,
  ),
  then(38, '2021-03-06T11:30:00Z', 'SELECT f/name/value FROM FOLDER f'),
  then(38, '2021-03-06T12:30:00Z', 'SELECT COUNT(f) FROM FOLDER f', 4),
  then(
    43,
    '2021-03-07T12:00:00Z',
    "SELECT e/compositions/id/value FROM EHR e WHERE e/ehr_status/subject/external_ref/id/value = 'H-2'",
    OBJECT.C4,
    OBJECT.C5,
    OBJECT.C6,
  ),
  rows(
    42,
    `SELECT f/items[id/value='${OBJECT.C2}']/type FROM FOLDER f[name/value='Episodes']`,
    'VERSIONED_COMPOSITION',
  ),
  rows(
    45,
    "SELECT v/uid/value FROM VERSION v[lifecycle_state/value = 'complete'] CONTAINS COMPOSITION c",
    C1,
    versionUid('C2', 1),
    C2,
    C3,
    C4,
    C5,
    versionUid('C6', 1),
  ),
  rows(
    45,
    "SELECT v/uid/value FROM VERSION v[commit_audit/change_type/value = 'modification'] CONTAINS COMPOSITION c",
    C2,
  ),
  rows(
    45,
    "SELECT v/uid/value FROM VERSION v[contribution/id/value = 'bbbbbbbb-0000-4000-8000-000000000006'] CONTAINS COMPOSITION c",
    versionUid('C2', 1),
  ),
  rows(
    45,
    `SELECT v/uid/value FROM VERSION v[uid/value = '${OBJECT.C2}'] CONTAINS COMPOSITION c`,
    versionUid('C2', 1),
    C2,
  ),
  rows(
    45,
    `SELECT v/uid/value FROM VERSION v[preceding_version_uid/value = '${versionUid('C2', 1)}'] CONTAINS COMPOSITION c`,
    C2,
  ),
  rows(46, `SELECT v/uid/value FROM ${ALL} CONTAINS COMPOSITION c WHERE EXISTS v/preceding_version_uid`, C2),
  rows(
    46,
    `SELECT v[uid/value='${C2}']/commit_audit/change_type/value FROM VERSION v CONTAINS ${O}`,
    null,
    'modification',
  ),
  rows(
    46,
    `SELECT v/data/content/name/value FROM VERSION v CONTAINS COMPOSITION c[${A.problemList}]`,
    'Problem A',
    'Problem B',
    'Problem C',
  ),
  rows(
    46,
    `SELECT v/data[${A.report}]/name/value FROM VERSION v CONTAINS COMPOSITION c[${A.report}]`,
    'Report',
  ),
  rows(46, `SELECT COUNT(DISTINCT v/commit_audit/committer/name) FROM ${ALL} CONTAINS COMPOSITION c`, 1),
  rows(
    48,
    `SELECT v/uid/value FROM VERSION v NOT CONTAINS (COMPOSITION c OR EHR_STATUS s)`,
    versionUid('D1', 1),
  ),
  rows(48, `SELECT v/uid/value FROM VERSION v CONTAINS ELEMENT el[name/value='Note']`, versionUid('S1', 1)),
  rows(68, `SELECT COUNT(*) FROM COMPOSITION c CONTAINS (${O} OR EVALUATION v) WHERE NOT EXISTS v`, 2),
  rows(70, `SELECT DISTINCT o/name/value FROM OBSERVATION o`, 'Blood pressure', 'Pulse'),
  rows(
    17,
    `SELECT ${SYS} FROM ${O} WHERE EXISTS o/data[at0001]/events[at0006]/data[at0003]/items[at0005, 'Diastolic']`,
    150,
    138,
  ),
  rows(17, `SELECT o/name/value FROM ${O} WHERE NOT EXISTS o/protocol`, 'Blood pressure'),
  rows(17, 'SELECT c/uid/value FROM COMPOSITION c WHERE EXISTS c', C1, C2, C3, C4, C5),
  rows(17, 'SELECT c/uid/value FROM COMPOSITION c WHERE c/links != NULL ORDER BY c/name/value', C2),
  rows(
    17,
    "SELECT c/uid/value FROM COMPOSITION c WHERE EXISTS c/content[name/value='Vitals']/items/data/events[time/value > '2021-03-01T06:30:00Z']",
    C1,
  ),
  rows(
    21,
    `SELECT e/ehr_id/value FROM EHR e NOT CONTAINS (CLUSTER x[${A.device}] AND OBSERVATION y) ORDER BY e/time_created DESC`,
    EHR.E3,
    EHR.E2,
  ),
];

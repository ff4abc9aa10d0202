import type { JsonValue } from '../../../../openehr/base/json.js';
import { EHR, HILLTOP, OBJECT, versionUid } from '../../hilltop/hilltop.js';
import {
  A,
  column,
  CURRENT,
  DIA,
  EV,
  invalid,
  O,
  P,
  SYS,
  type AqlCase,
  type CaseOptions,
  type Expectation,
} from './aql-case.js';

const [C1 = '', C2 = '', C3 = '', C4 = '', C5 = ''] = CURRENT;
const ALL = 'VERSION v[ALL_VERSIONS]';
const REPORT = `ADMIN_ENTRY a[${A.allTypes}]`;
const ITEM = 'a/data[at0001]/items';
const SYSTOLIC = `${EV}/data[at0003]/items[at0004]/value`;
const PROBLEM_CODE = 'v/data[at0001]/items[at0002]/value/defining_code';

/** A query and what it answers: a list of values is one column, in any order. */
type Proof = readonly [aql: string, answer: readonly JsonValue[] | Expectation, further?: Further];
interface Further extends Pick<AqlCase, 'parameters' | 'textParameters'> {
  readonly options?: CaseOptions;
}

const feature = (group: string, ...proofs: Proof[]): AqlCase[] =>
  proofs.map(([aql, answer, further]) => ({
    group,
    title: aql,
    aql,
    ...further,
    expect: isExpectation(answer) ? answer : { rows: column(...answer) },
  }));

function isExpectation(answer: readonly JsonValue[] | Expectation): answer is Expectation {
  return !Array.isArray(answer);
}

const rows = (...list: JsonValue[][]): Expectation => ({ rows: list });
const ordered = (...values: JsonValue[]): Expectation => ({ rows: column(...values), ordered: true });
const counts = (classes: Readonly<Record<string, number>>): Proof[] =>
  Object.entries(classes).map(([name, count]) => [`SELECT COUNT(*) FROM ${name} x`, [count]]);

const statusOfE3 = HILLTOP.versions.find(({ uid }) => uid === versionUid('S3', 1))!;

const selectFeatures: readonly AqlCase[] = [
  ...feature(
    'SELECT paths, alias, literals, DISTINCT; NOT; MATCHES list; LIMIT/OFFSET; CONTAINS AND/OR; VERSION, LATEST_VERSION; COUNT',
    [`SELECT c/name/value, c/uid/value FROM COMPOSITION c[${A.report}]`, rows(['Report', C3])],
    ['SELECT c/name/value AS name FROM COMPOSITION c', { columns: [{ name: 'name', path: 'c/name/value' }] }],
    [`SELECT 1, 'x', true, NULL, -2.5 FROM COMPOSITION c[${A.report}]`, rows([1, 'x', true, null, -2.5])],
    ['SELECT DISTINCT c/composer/name FROM COMPOSITION c', ['Dr Vera', 'Dr Wu', 'Dr Xu']],
    [
      "SELECT c/uid/value FROM COMPOSITION c WHERE NOT c/name/value MATCHES {'Report', 'Order'}",
      [C1, C2, C4],
    ],
    ['SELECT c/name/value FROM COMPOSITION c ORDER BY c/name/value LIMIT 1 OFFSET 1', ordered('Order')],
    [`SELECT c/uid/value FROM COMPOSITION c CONTAINS (${O} AND ${P})`, [C1]],
    [`SELECT c/uid/value FROM COMPOSITION c CONTAINS (${O} OR EVALUATION v)`, [C1, C2, C4, C4, C4]],
    [`SELECT v/uid/value FROM VERSION v CONTAINS COMPOSITION c CONTAINS ${O}`, [C1, C2]],
    [`SELECT v/uid/value FROM VERSION v[LATEST_VERSION] CONTAINS COMPOSITION c CONTAINS ${O}`, [C1, C2]],
    [`SELECT COUNT(*) FROM COMPOSITION c`, [5]],
  ),
  ...feature(
    'SELECT e / v (whole EHR, VERSION)',
    ['SELECT e FROM EHR e', { count: 3 }],
    [
      `SELECT v FROM EHR e[ehr_id/value='${EHR.E3}'] CONTAINS VERSION v CONTAINS EHR_STATUS s`,
      [
        {
          _type: 'ORIGINAL_VERSION',
          uid: { _type: 'OBJECT_VERSION_ID', value: statusOfE3.uid },
          contribution: {
            _type: 'OBJECT_REF',
            id: { _type: 'HIER_OBJECT_ID', value: statusOfE3.contributionUid },
            namespace: 'local',
            type: 'CONTRIBUTION',
          },
          commit_audit: statusOfE3.commitAudit,
          lifecycle_state: statusOfE3.lifecycleState,
          data: statusOfE3.data,
        },
      ],
    ],
  ),
  ...feature(
    'SELECT function calls',
    [
      `SELECT CONCAT(c/composer/name, '!'), LENGTH(c/name/value) FROM COMPOSITION c[${A.report}]`,
      rows(['Dr Vera!', 6]),
    ],
    [`SELECT ROUND(${SYS}, -2) FROM ${O}`, [200, 100, 100]],
  ),
  ...feature(
    'TOP',
    ['SELECT TOP 2 c/name/value FROM COMPOSITION c ORDER BY c/name/value', ordered('Control', 'Order')],
    [
      'SELECT TOP 2 FORWARD c/name/value FROM COMPOSITION c ORDER BY c/name/value',
      ordered('Control', 'Order'),
    ],
    [
      'SELECT TOP 2 BACKWARD c/name/value FROM COMPOSITION c ORDER BY c/name/value',
      ordered('Report', 'Vitals of H-1'),
    ],
  ),
  ...feature(
    'MIN/MAX',
    [
      'SELECT MIN(c/name/value), MAX(c/uid/value), MIN(c/archetype_details/template_id/value), MAX(c/archetype_node_id) FROM COMPOSITION c',
      rows(['Control', C5, 'hill.order.v1', A.report]),
    ],
    [
      'SELECT MIN(c/context/start_time/value), MAX(c/context/start_time) FROM COMPOSITION c',
      rows(['2021-03-01T08:00:00+02:00', { _type: 'DV_DATE_TIME', value: '2021-03-06T10:00:00Z' }]),
    ],
  ),
  ...feature(
    'SUM/AVG',
    [`SELECT SUM(${SYS}), AVG(${SYS}) FROM ${O}`, rows([408, 136])],
    [`SELECT SUM(${SYSTOLIC}), AVG(${SYSTOLIC}) FROM ${O}`, rows([408, 136])],
    ['SELECT SUM(c/context/start_time) FROM COMPOSITION c', invalid('SUM')],
  ),
  ...feature('implicit grouping', [
    'SELECT c/composer/name, COUNT(*), MAX(c/name/value) FROM COMPOSITION c',
    rows(['Dr Vera', 2, 'Vitals of H-1'], ['Dr Wu', 2, 'Order'], ['Dr Xu', 1, 'Problem list']),
  ]),
];

const fromFeatures: readonly AqlCase[] = [
  ...feature(
    'FROM EHR, roots, entries, structures, EVENT_CONTEXT, FEEDER_AUDIT, abstract CONTENT_ITEM, ENTRY, CARE_ENTRY, EVENT, ITEM_STRUCTURE, ITEM',
    ...counts({
      EHR: 3,
      EHR_STATUS: 3,
      COMPOSITION: 5,
      SECTION: 2,
      OBSERVATION: 3,
      EVALUATION: 3,
      INSTRUCTION: 1,
      ACTION: 1,
      ADMIN_ENTRY: 1,
      GENERIC_ENTRY: 0,
      ACTIVITY: 1,
      HISTORY: 3,
      POINT_EVENT: 4,
      INTERVAL_EVENT: 0,
      EVENT_CONTEXT: 5,
      FEEDER_AUDIT: 1,
      CONTENT_ITEM: 11,
      ENTRY: 9,
      CARE_ENTRY: 8,
      EVENT: 4,
    }),
    ...['ITEM_TREE', 'ITEM_STRUCTURE', 'CLUSTER', 'ELEMENT', 'ITEM', 'ITEM_LIST', 'ITEM_SINGLE'].map(
      (name, index): Proof => [
        `SELECT COUNT(*) FROM COMPOSITION c CONTAINS ${name} x`,
        [[11, 11, 2, 34, 36, 0, 0][index]!],
      ],
    ),
  ),
  ...feature(
    'FROM LOCATABLE, PATHABLE, DATA_STRUCTURE',
    ...['LOCATABLE', 'PATHABLE', 'DATA_STRUCTURE'].map((name, index): Proof => [
      `SELECT COUNT(*) FROM COMPOSITION c CONTAINS ${name} x`,
      [[66, 73, 14][index]!],
    ]),
    [`SELECT COUNT(*) FROM LOCATABLE x WHERE x/name/value = 'Vitals'`, [1]],
  ),
  ...feature(
    'CONTAINS INSTRUCTION_DETAILS, FEEDER_AUDIT_DETAILS',
    ['SELECT x/activity_id FROM COMPOSITION c CONTAINS INSTRUCTION_DETAILS x', ['activities[at0001]']],
    ['SELECT x/system_id FROM COMPOSITION c CONTAINS FEEDER_AUDIT_DETAILS x', ['old.hill']],
    ['SELECT x/type/value FROM COMPOSITION c CONTAINS LINK x', ['problem']],
    ['SELECT x/performer/name FROM COMPOSITION c CONTAINS PARTICIPATION x', ['Nina', 'Walt']],
    ['SELECT COUNT(*) FROM COMPOSITION c CONTAINS ISM_TRANSITION x', [1]],
  ),
  ...feature(
    'bare CLUSTER/ELEMENT/ITEM_TREE without root above',
    ['SELECT x/name/value FROM CLUSTER x', ['Cuff A', 'Sensor']],
    ["SELECT x/value/id FROM ELEMENT x[name/value='Insurance']", ['INS-1']],
    ['SELECT COUNT(*) FROM ITEM_TREE x', [12]],
  ),
  ...feature(
    'first FROM operand boolean (FROM A AND B)',
    [
      'SELECT a/uid/value, s/uid/value FROM COMPOSITION a AND EHR_STATUS s',
      rows(
        ...[C1, C2, C3].map((uid) => [uid, versionUid('S1', 1)]),
        ...[C4, C5].map((uid) => [uid, versionUid('S2', 1)]),
      ),
    ],
    ['SELECT a/uid/value FROM COMPOSITION a OR EHR_STATUS s', [C1, C2, C3, C4, C5, null]],
  ),
  ...feature(
    'NOT CONTAINS',
    [`SELECT c/uid/value FROM COMPOSITION c NOT CONTAINS ${O}`, [C3, C4, C5]],
    ['SELECT e/ehr_id/value FROM EHR e NOT CONTAINS COMPOSITION c', [EHR.E3]],
  ),
  ...feature(
    'FOLDER',
    ["SELECT c/uid/value FROM FOLDER f[name/value='Episodes'] CONTAINS COMPOSITION c", [C1, C2]],
    ["SELECT o/name/value FROM FOLDER f[name/value='2021'] CONTAINS OBSERVATION o", ['Blood pressure']],
    [
      "SELECT g/name/value FROM FOLDER f[name/value='Hilltop'] CONTAINS FOLDER g",
      ['Episodes', '2021', 'Empty'],
    ],
    ["SELECT f/items/id/value FROM FOLDER f[name/value='Episodes']", [OBJECT.C1, OBJECT.C2]],
  ),
  ...feature(
    'multiple EHR in FROM',
    ['SELECT a/ehr_id/value, b/ehr_id/value FROM EHR a AND EHR b', { count: 9 }],
    [
      `SELECT a/ehr_id/value, b/ehr_id/value FROM EHR a CONTAINS COMPOSITION c[${A.report}] AND EHR b CONTAINS COMPOSITION d[${A.problemList}]`,
      rows([EHR.E1, EHR.E2]),
    ],
  ),
  ...feature(
    'ALL_VERSIONS, VERSION standard predicate',
    [`SELECT ${SYS} FROM ${ALL} CONTAINS ${O}`, [150, 120, 180, 138, 170]],
    [`SELECT ${SYS} FROM VERSION v[uid/value='${versionUid('C2', 1)}'] CONTAINS ${O}`, [180]],
    [
      "SELECT v/uid/value FROM VERSION v[commit_audit/time_committed < '2021-03-03'] CONTAINS COMPOSITION c",
      [C1, versionUid('C2', 1)],
    ],
  ),
  ...feature(
    'AND/OR/NOT directly after VERSION',
    [`SELECT v/uid/value FROM VERSION v CONTAINS (${O} AND ${P})`, [C1]],
    [`SELECT v/uid/value FROM VERSION v CONTAINS (${O} OR ${P})`, [C1, C2]],
    [
      `SELECT v/uid/value FROM EHR e[ehr_id/value='${EHR.E1}'] CONTAINS VERSION v NOT CONTAINS ${O}`,
      [C3, versionUid('D1', 1), versionUid('S1', 1)],
    ],
  ),
];

const pathFeatures: readonly AqlCase[] = [
  ...feature(
    'VERSION paths',
    [
      `SELECT v/lifecycle_state/value, v/commit_audit/committer/name, v/preceding_version_uid/value, v/commit_audit/time_committed/value FROM VERSION v CONTAINS COMPOSITION c WHERE v/commit_audit/time_committed/value = '2021-03-05T09:00:00Z'`,
      rows(['complete', 'Hill Service', versionUid('C2', 1), '2021-03-05T09:00:00.000000Z']),
    ],
    [
      `SELECT v/uid/value FROM ${ALL} CONTAINS COMPOSITION c ORDER BY v/commit_audit/time_committed DESC LIMIT 2`,
      ordered(versionUid('C6', 1), C5),
    ],
    [
      `SELECT v/commit_audit/change_type/defining_code/preferred_term, v/lifecycle_state/defining_code/preferred_term FROM ${ALL} CONTAINS COMPOSITION c[${A.report}]`,
      rows(['creation', 'complete']),
    ],
    [
      `SELECT v/uid/value FROM ${ALL} CONTAINS COMPOSITION c WHERE v/commit_audit/change_type/defining_code/preferred_term = 'modification'`,
      [C2],
    ],
  ),
  ...feature(
    'defining_code/preferred_term: the value of the coded text where none is given',
    [
      `SELECT ${ITEM}/null_flavour/defining_code/preferred_term FROM ${REPORT} WHERE ${ITEM}/null_flavour/defining_code/preferred_term LIKE 'un*'`,
      ['unknown'],
    ],
    [
      'SELECT DISTINCT c/category/defining_code/preferred_term, c/context/setting/defining_code/preferred_term FROM COMPOSITION c',
      rows(['event', 'other care']),
    ],
    [
      `SELECT ${ITEM}[at0016, 'Left']/name/defining_code/preferred_term, ${ITEM}/archetype_node_id FROM ${REPORT} WHERE ${ITEM}[at0016, 'Left']/name/defining_code/preferred_term LIKE 'L*'`,
      rows(['Left', 'at0016']),
    ],
    [`SELECT ${ITEM}[at0016]/name/defining_code/preferred_term FROM ${REPORT}`, ['Left', 'Right']],
    [`SELECT ${ITEM}[name/defining_code/preferred_term='Left']/value/value FROM ${REPORT}`, ['left side']],
    [
      `SELECT ${ITEM}[at0015]/name/value FROM ${REPORT} WHERE EXISTS ${ITEM}[at0015]/name/defining_code/preferred_term`,
      [],
    ],
    [
      `SELECT ${ITEM}[at0012]/value/defining_code/code_string FROM ${REPORT} WHERE EXISTS ${ITEM}[at0012]/value/defining_code[preferred_term='Headache']`,
      ['at0100'],
    ],
  ),
  ...feature(
    'EHR paths',
    [
      `SELECT e/ehr_id/value, e/system_id/value, e/time_created/value, e/ehr_status/subject/external_ref/id/value FROM EHR e WHERE e/time_created/value < '2021-01-15'`,
      rows([EHR.E1, 'local.cdr', '2021-01-01T00:00:00.000000Z', 'H-1']),
    ],
    [
      "SELECT e/ehr_id/value FROM EHR e WHERE e/system_id/value = 'local.cdr' ORDER BY e/time_created DESC LIMIT 1",
      [EHR.E3],
    ],
  ),
  ...feature(
    'e/directory, e/folders, e/compositions',
    ['SELECT e/directory/name/value FROM EHR e', ['Hilltop', null, null]],
    ['SELECT e/folders/id/value FROM EHR e', [OBJECT.D1, null, null]],
    [`SELECT e/compositions/id/value FROM EHR e[ehr_id/value='${EHR.E2}']`, [OBJECT.C4, OBJECT.C5]],
    [`SELECT COUNT(e/contributions) FROM EHR e`, [12]],
  ),
  ...feature(
    'root predicate on EHR path, differing ehr_status[…] predicates',
    [`SELECT e[ehr_id/value='${EHR.E1}']/directory/name/value FROM EHR e`, ['Hilltop', null, null]],
    [
      "SELECT e/ehr_status[subject/external_ref/id/value='H-1']/uid/value, e/ehr_status[subject/external_ref/id/value='H-2']/name/value FROM EHR e CONTAINS EHR_STATUS t[subject/external_ref/namespace='hill']",
      rows([versionUid('S1', 1), null], [null, 'EHR Status']),
    ],
  ),
  ...feature(
    'predicates on arbitrary sub-paths ([at0004 and value/defining_code/code_string=…])',
    [
      `SELECT v/data[at0001]/items[at0002 and value/defining_code/code_string = $c]/value/value FROM EVALUATION v[${A.problem}]`,
      [null, 'Bronchitis', null],
      { parameters: { c: 'B' } },
    ],
    [`SELECT s/name/value FROM SECTION s[items/name/value = 'Blood pressure']`, ['Vitals']],
  ),
  ...feature(
    'predicate MATCHES regex; archetype_node_id with <, >; name code shortcut [at0002, snomed::1]',
    [`SELECT ${ITEM}[name/value matches {/a.b/}]/value/value FROM ${REPORT}`, ['underscore', 'star']],
    [
      `SELECT ${ITEM}[archetype_node_id > 'at0013' and archetype_node_id < 'at0015']/name/value FROM ${REPORT}`,
      ['Unknown'],
    ],
    [`SELECT ${ITEM}[at0016, snomed_ct::24028007|Right|]/value/value FROM ${REPORT}`, ['right side']],
  ),
  ...feature(
    'predicates on non-structure attributes (links[…], participations[…])',
    [
      "SELECT c/links[type/value='problem']/meaning/value FROM COMPOSITION c WHERE EXISTS c/links",
      ['follow up'],
    ],
    [
      "SELECT c/context/participations[function/value='witness']/performer/name FROM COMPOSITION c WHERE c/name/value = 'Control'",
      ['Walt'],
    ],
  ),
  ...feature(
    'paths through feeder_audit/originating_system_audit, instruction_details',
    [
      `SELECT c/feeder_audit/originating_system_audit/system_id FROM COMPOSITION c[${A.report}]`,
      ['old.hill'],
    ],
    ['SELECT x/instruction_details/activity_id FROM ACTION x', ['activities[at0001]']],
  ),
  ...feature(
    'a row for each ELEMENT, EVENT, CLUSTER that is there, NULL for what it has not',
    [`SELECT ${ITEM}[name/value matches {/Count|Unknown/}]/value/magnitude FROM ${REPORT}`, [7, null]],
    [`SELECT ${ITEM}/archetype_details/archetype_id/value, COUNT(*) FROM ${REPORT}`, rows([null, 21])],
    [`SELECT o/data[at0001]/events[at0006]/width/value FROM ${O}`, [null, null, null]],
    [`SELECT ${DIA} FROM ${O}`, [95, 88]],
  ),
];

const whereFeatures: readonly AqlCase[] = [
  ...feature(
    'comparison on non-ordered objects (DV_TEXT object, CODE_PHRASE) in WHERE',
    ["SELECT c/uid/value FROM COMPOSITION c WHERE c/name = 'Report'", [C3]],
    [`SELECT v/name/value FROM EVALUATION v[${A.problem}] WHERE ${PROBLEM_CODE} = 'B'`, ['Problem B']],
    [
      "SELECT COUNT(*) FROM COMPOSITION c WHERE c/category MATCHES {'event'} AND c/category/defining_code MATCHES {'openehr::433'}",
      [5],
    ],
  ),
  ...feature(
    'path-to-path comparison, function in WHERE, NULL literal',
    [`SELECT ${SYS} FROM ${O} WHERE ${SYS} > ${DIA}`, [150, 138]],
    ['SELECT c/uid/value FROM COMPOSITION c WHERE LENGTH(c/name/value) < 7', [C3, C5]],
    [`SELECT ${SYS} FROM ${O} WHERE ${DIA} = NULL`, [120]],
    [`SELECT ${SYS} FROM ${O} WHERE ${DIA} != NULL`, [150, 138]],
  ),
  ...feature(
    'EXISTS / NOT EXISTS',
    ['SELECT c/uid/value FROM COMPOSITION c WHERE EXISTS c/links', [C2]],
    [`SELECT ${SYS} FROM ${O} WHERE NOT EXISTS ${DIA}`, [120]],
  ),
  ...feature(
    'LIKE',
    ["SELECT c/name/value FROM COMPOSITION c WHERE c/name/value LIKE '?ital*'", ['Vitals of H-1']],
    [`SELECT c/uid/value FROM COMPOSITION c WHERE c/uid/value LIKE '${OBJECT.C2.slice(0, 8)}*2'`, [C2]],
    [
      "SELECT c/uid/value FROM COMPOSITION c WHERE c/archetype_details/template_id/value LIKE 'hill.v*'",
      [C1, C2],
    ],
    ["SELECT c/uid/value FROM COMPOSITION c WHERE c/archetype_node_id LIKE '*.report.*'", [C3]],
  ),
  ...feature(
    'template_id, archetype_node_id, change_type with <, >',
    [
      "SELECT c/uid/value FROM COMPOSITION c WHERE c/archetype_details/template_id/value > 'hill.problems.v1'",
      [C1, C2, C3],
    ],
    [
      `SELECT DISTINCT c/archetype_node_id FROM COMPOSITION c WHERE c/archetype_node_id < '${A.problemList}'`,
      [A.encounter],
    ],
    [
      "SELECT v/uid/value FROM VERSION v CONTAINS COMPOSITION c WHERE v/commit_audit/change_type/defining_code/code_string > '249'",
      [C2],
    ],
  ),
  ...feature('MATCHES URI', [
    `SELECT v/name/value FROM EVALUATION v[${A.problem}] WHERE ${PROBLEM_CODE} MATCHES {terminology://hill.example/ValueSet/$expand?url=problems}`,
    ['Problem A'],
    {
      options: {
        terminology: {
          '{terminology://hill.example/ValueSet/$expand?url=problems}': { kind: 'codes', codes: ['A'] },
        },
      },
    },
  ]),
  ...feature(
    'TERMINOLOGY()',
    [
      `SELECT v/name/value FROM EVALUATION v[${A.problem}] WHERE ${PROBLEM_CODE} MATCHES TERMINOLOGY('expand', 'hl7.org/fhir/4.0', 'url=x')`,
      ['Problem B'],
      {
        options: {
          terminology: {
            "TERMINOLOGY('expand', 'hl7.org/fhir/4.0', 'url=x')": { kind: 'codes', codes: ['B'] },
          },
        },
      },
    ],
    [
      "SELECT COUNT(*) FROM COMPOSITION c WHERE TERMINOLOGY('validate', 'hl7.org/fhir/4.0', 'code=A') = true",
      [0],
      {
        options: {
          terminology: {
            "TERMINOLOGY('validate', 'hl7.org/fhir/4.0', 'code=A')": { kind: 'boolean', value: false },
          },
        },
      },
    ],
  ),
  ...feature('array parameter', [
    "SELECT c/uid/value FROM COMPOSITION c WHERE c/composer/name MATCHES {$list, 'Dr Xu'}",
    [C2, C4, C5],
    { parameters: { list: ['Dr Wu', 'Dr Zed'] } },
  ]),
];

const resultFeatures: readonly AqlCase[] = [
  ...feature('ORDER BY selected path', [
    `SELECT ${SYS} FROM ${O} ORDER BY ${SYS} DESC`,
    ordered(150, 138, 120),
  ]),
  ...feature(
    'ORDER BY unselected path / alias / aggregate',
    [`SELECT ${DIA} FROM ${O} ORDER BY ${SYS}`, ordered(null, 88, 95)],
    [`SELECT ${SYS} AS sys FROM ${O} ORDER BY sys`, ordered(120, 138, 150)],
    [
      'SELECT c/composer/name, COUNT(*) FROM COMPOSITION c ORDER BY COUNT(*), c/composer/name LIMIT 2',
      {
        rows: [
          ['Dr Xu', 1],
          ['Dr Vera', 2],
        ],
        ordered: true,
      },
    ],
  ),
  ...feature(
    'ehr_id request parameter',
    ['SELECT c/uid/value FROM COMPOSITION c', [C4, C5], { options: { ehrId: EHR.E2 } }],
    ['SELECT e/ehr_id/value FROM EHR e', [EHR.E2], { options: { ehrId: EHR.E2 } }],
  ),
  ...feature(
    'is_queryable',
    [`SELECT ${SYS} FROM ${O} WHERE ${SYS} = 200`, []],
    [`SELECT ${SYS} FROM EHR e[ehr_id/value='${EHR.E4}'] CONTAINS ${O}`, [200]],
  ),
  ...feature(
    'subsumption of specialised archetypes',
    ['SELECT v/name/value FROM EVALUATION v[openEHR-EHR-EVALUATION.problem.v1]', []],
    [
      'SELECT v/name/value FROM EVALUATION v[openEHR-EHR-EVALUATION.problem.v1] ORDER BY v/name/value LIMIT 1',
      ['Problem A'],
      { options: { subsumption: true } },
    ],
  ),
  ...feature(
    '<>, OFFSET alone, NOT LIKE',
    ["SELECT c/uid/value FROM COMPOSITION c WHERE c/composer/name <> 'Dr Wu'", [C1, C3, C4]],
    ['SELECT c/name/value FROM COMPOSITION c ORDER BY c/name/value OFFSET 4', ordered('Vitals of H-1')],
    ["SELECT c/uid/value FROM COMPOSITION c WHERE c/name/value NOT LIKE '*o*'", [C5]],
  ),
  ...feature(
    'as_of request parameter',
    [`SELECT ${SYS} FROM ${O}`, [150, 120, 180], { options: { asOf: '2021-03-04T00:00:00Z' } }],
    [`SELECT ${SYS} FROM ${O}`, [150, 120, 138], { options: { asOf: '2021-03-11T00:00:00Z' } }],
  ),
];

/** What proves each row of the feature table of docs/aql.md; `group` is the row. */
export const featureCases: readonly AqlCase[] = [
  ...selectFeatures,
  ...fromFeatures,
  ...pathFeatures,
  ...whereFeatures,
  ...resultFeatures,
];

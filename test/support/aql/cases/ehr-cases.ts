import { EHR, OBJECT, versionUid } from '../../hilltop/hilltop.js';
import { A, column, CURRENT, DIA, invalid, O, SYS, type AqlCase } from './aql-case.js';

const ALL_EHRS = column(EHR.E1, EHR.E2, EHR.E3);

/** Groups 1 to 9: EHR, EHR_STATUS, COMPOSITION, the EHR filter. */
const wholeEhrCases: readonly AqlCase[] = [
  {
    group: 1,
    title: 'lists the queryable EHRs',
    aql: 'SELECT e/ehr_id/value FROM EHR e',
    expect: { rows: ALL_EHRS },
  },
  ...[
    ["e/ehr_id/value = 'U'", [EHR.E1]],
    ["NOT e/ehr_id/value = 'U'", [EHR.E2, EHR.E3]],
    ["e/ehr_id/value != 'U'", [EHR.E2, EHR.E3]],
    ["e/ehr_id/value matches {'U'}", [EHR.E1]],
    ["e/ehr_id/value = 'U' OR e/ehr_id/value = 'zzz'", [EHR.E1]],
    ["e/ehr_id/value >= 'U' AND e/ehr_id/value <= 'U'", [EHR.E1]],
  ].map(([where, found]): AqlCase => ({
    group: 2,
    title: `knows an EHR by its id in capitals: ${String(where)}`,
    aql: `SELECT e/ehr_id/value FROM EHR e WHERE ${String(where).replaceAll('U', EHR.E1.toUpperCase())}`,
    expect: { rows: column(...(found as string[])) },
  })),
  {
    group: 2,
    title: 'knows an EHR by its id in capitals: predicate',
    aql: `SELECT e/ehr_id/value FROM EHR e[ehr_id/value!='${EHR.E1.toUpperCase()}']`,
    expect: { rows: column(EHR.E2, EHR.E3) },
  },
  ...[
    ["e/ehr_status/name/value = 'none'", []],
    ["e/ehr_status/name/value = 'EHR Status' AND o/name/value != 'x'", [EHR.E1]],
    ["e/directory/name/value = 'none' OR NOT EXISTS e/ehr_status/name", []],
    ["e/system_id/value = 'local.cdr' AND e/ehr_id/value != 'none'", [EHR.E1]],
  ].map(([where, found]): AqlCase => ({
    group: 2,
    title: `asks what belongs to an EHR once: ${String(where)}`,
    aql: `SELECT DISTINCT e/ehr_id/value FROM EHR e CONTAINS ${O} WHERE ${String(where)}`,
    expect: { rows: column(...(found as string[])) },
  })),
  {
    group: 2,
    title: 'does not care about letter case',
    aql: 'select E/ehr_id/value from ehr e',
    expect: { rows: ALL_EHRS },
  },
  {
    group: 2,
    title: 'takes class names in any letter case',
    aql: 'SELECT c/uid/value FROM Ehr e CONTAINS Composition C',
    expect: { rows: column(...CURRENT) },
  },
  {
    group: 2,
    title: 'tells variables that differ in case apart',
    aql: `SELECT c/name/value, C/name/value FROM COMPOSITION C[${A.report}] CONTAINS ADMIN_ENTRY c ORDER BY c`,
    expect: { rows: [['All types', 'Report']] },
  },
  {
    group: 2,
    title: 'refuses a variable that may be two',
    aql: 'SELECT AB/name/value FROM COMPOSITION aB CONTAINS ADMIN_ENTRY Ab',
    expect: invalid("'AB' may be aB or Ab"),
  },
  {
    group: 2,
    title: 'takes a column alias in another case, an exact variable first',
    aql: `SELECT c/name/value AS NAME, c/uid/value AS C FROM COMPOSITION c WHERE c/uid/value < '${versionUid('C3', 1)}' ORDER BY name DESC, c/uid/value`,
    expect: {
      rows: [
        ['Vitals of H-1', versionUid('C1', 1)],
        ['Control', versionUid('C2', 2)],
      ],
      ordered: true,
    },
  },
  {
    group: 2,
    title: 'refuses a column alias that may be two',
    aql: 'SELECT c/name/value AS nA, c/uid/value AS Na FROM COMPOSITION c ORDER BY NA',
    expect: invalid("'NA' may be nA or Na"),
  },
  {
    group: 3,
    title: 'gives the type of an EHR, which has no EHR_ACCESS here',
    aql: `SELECT DISTINCT e/_type, e/ehr_access, e/ehr_access/id/value FROM EHR e
      WHERE e/_type = 'EHR' AND NOT EXISTS e/ehr_access`,
    expect: { rows: [['EHR', null, null]] },
  },
  {
    group: 3,
    title: 'gives the type of a VERSION',
    aql: `SELECT DISTINCT v/_type, c/_type FROM EHR e CONTAINS VERSION v CONTAINS COMPOSITION c
      WHERE v/_type = 'ORIGINAL_VERSION'`,
    expect: { rows: [['ORIGINAL_VERSION', 'COMPOSITION']] },
  },
  { group: 3, title: 'gives whole EHRs', aql: 'SELECT e FROM EHR e', expect: { count: 3 } },
  {
    group: 3,
    title: 'gives a whole EHR with its references',
    aql: `SELECT e FROM EHR e[ehr_id/value='${EHR.E3}']`,
    expect: {
      rows: [
        [
          {
            _type: 'EHR',
            system_id: { _type: 'HIER_OBJECT_ID', value: 'local.cdr' },
            ehr_id: { _type: 'HIER_OBJECT_ID', value: EHR.E3 },
            time_created: { _type: 'DV_DATE_TIME', value: '2021-02-15T00:00:00.000000Z' },
            ehr_status: {
              _type: 'OBJECT_REF',
              id: { _type: 'OBJECT_VERSION_ID', value: versionUid('S3', 1) },
              namespace: 'local',
              type: 'EHR_STATUS',
            },
            contributions: [
              {
                _type: 'OBJECT_REF',
                id: { _type: 'HIER_OBJECT_ID', value: 'bbbbbbbb-0000-4000-8000-000000000003' },
                namespace: 'local',
                type: 'CONTRIBUTION',
              },
            ],
          },
        ],
      ],
    },
  },
  {
    group: 4,
    title: 'reads the subject',
    aql: 'SELECT e/ehr_status/subject/external_ref/id/value FROM EHR e',
    expect: { rows: column('H-1', 'H-2', null) },
  },
  {
    group: 4,
    title: 'reads the directory',
    aql: 'SELECT e/directory/name/value FROM EHR e',
    expect: { rows: column('Hilltop', null, null) },
  },
  {
    group: 4,
    title: 'gives one row per composition of the EHR',
    aql: 'SELECT e/ehr_id/value, e/compositions/id/value FROM EHR e',
    expect: {
      rows: [
        ...[OBJECT.C1, OBJECT.C2, OBJECT.C3].map((id) => [EHR.E1, id]),
        ...[OBJECT.C4, OBJECT.C5].map((id) => [EHR.E2, id]),
        [EHR.E3, null],
      ],
    },
  },
  {
    group: 4,
    title: 'gives one row per contribution',
    aql: 'SELECT e/contributions FROM EHR e',
    expect: { count: 6 + 5 + 1 },
  },
  {
    group: 4,
    title: 'gives one row per directory',
    aql: 'SELECT e/folders/id/value FROM EHR e',
    expect: { rows: column(OBJECT.D1, null, null) },
  },
  {
    group: 4,
    title: 'reads the system id',
    aql: 'SELECT e/system_id/value FROM EHR e',
    expect: { rows: column('local.cdr', 'local.cdr', 'local.cdr') },
  },
  {
    group: 4,
    title: 'reads the time of creation',
    aql: 'SELECT e/time_created/value FROM EHR e ORDER BY e/time_created DESC LIMIT 1',
    expect: { rows: column('2021-02-15T00:00:00.000000Z') },
  },
  {
    group: 5,
    title: 'reads the details of EHR_STATUS',
    aql: 'SELECT s/other_details/items[at0001]/value/id FROM EHR e CONTAINS EHR_STATUS s',
    expect: { rows: column('INS-1', null, null) },
  },
  { group: 6, title: 'gives whole compositions', aql: 'SELECT c FROM COMPOSITION c', expect: { count: 5 } },
  {
    group: 6,
    title: 'leaves deleted and hidden compositions out',
    aql: 'SELECT c/uid/value FROM COMPOSITION c',
    expect: { rows: column(...CURRENT) },
  },
  {
    group: 7,
    title: 'keeps to one EHR',
    aql: 'SELECT c/uid/value FROM EHR e[ehr_id/value=$e] CONTAINS COMPOSITION c',
    parameters: { e: EHR.E1 },
    expect: { rows: column(...CURRENT.slice(0, 3)) },
  },
  {
    group: 8,
    title: 'refuses a missing parameter',
    aql: 'SELECT c/uid/value FROM EHR e[ehr_id/value=$e] CONTAINS COMPOSITION c',
    expect: invalid('$e'),
  },
  {
    group: 8,
    title: 'refuses a list',
    aql: 'SELECT c/uid/value FROM EHR e[ehr_id/value=$e] CONTAINS COMPOSITION c',
    parameters: { e: [EHR.E1] },
    expect: invalid('does not support multiple values'),
  },
  {
    group: 8,
    title: 'finds nothing in an unknown EHR',
    aql: 'SELECT c/uid/value FROM EHR e[ehr_id/value=$e] CONTAINS COMPOSITION c',
    parameters: { e: '99999999-0000-4000-8000-000000000000' },
    expect: { rows: [] },
  },
  {
    group: 9,
    title: 'keeps to the EHR of the request',
    aql: 'SELECT c/uid/value FROM EHR e CONTAINS COMPOSITION c',
    options: { ehrId: EHR.E1 },
    expect: { rows: column(...CURRENT.slice(0, 3)) },
  },
  {
    group: 9,
    title: 'keeps to the EHR of the request without EHR in FROM',
    aql: 'SELECT c/uid/value FROM COMPOSITION c',
    options: { ehrId: EHR.E1.toUpperCase() },
    expect: { rows: column(...CURRENT.slice(0, 3)) },
  },
];

const BP_ROWS = [
  [150, 95],
  [120, null],
  [138, 88],
];

/** Groups 10 to 19: one observation, WHERE. */
const observationCases: readonly AqlCase[] = [
  {
    group: 10,
    title: 'pairs values of one event',
    aql: `SELECT ${SYS}, ${DIA} FROM EHR e CONTAINS ${O}`,
    expect: { rows: BP_ROWS },
  },
  {
    group: 11,
    title: 'takes an archetype as parameter',
    aql: `SELECT ${SYS} FROM COMPOSITION c[$a] CONTAINS ${O}`,
    parameters: { a: A.encounter },
    expect: { rows: column(150, 120, 138) },
  },
  {
    group: 11,
    title: 'refuses another text there',
    aql: `SELECT ${SYS} FROM COMPOSITION c[$a] CONTAINS ${O}`,
    parameters: { a: 'encounter' },
    expect: invalid('$a'),
  },
  {
    group: 12,
    title: 'compares numbers',
    aql: `SELECT ${SYS} FROM COMPOSITION c CONTAINS ${O} WHERE ${SYS} > 140`,
    expect: { rows: column(150) },
  },
  {
    group: 13,
    title: 'takes an integer',
    aql: `SELECT ${SYS} FROM ${O} WHERE ${SYS} > $p`,
    parameters: { p: 140 },
    expect: { rows: column(150) },
  },
  {
    group: 13,
    title: 'takes a real',
    aql: `SELECT ${SYS} FROM ${O} WHERE ${SYS} > $p`,
    parameters: { p: 140.5 },
    expect: { rows: column(150) },
  },
  {
    group: 13,
    title: 'takes a text of a query string as number',
    aql: `SELECT ${SYS} FROM ${O} WHERE ${SYS} > $p`,
    textParameters: { p: '140' },
    expect: { rows: column(150) },
  },
  {
    group: 13,
    title: 'keeps a text of a body a text',
    aql: `SELECT ${SYS} FROM ${O} WHERE ${SYS} > $p`,
    parameters: { $p: '140' },
    expect: { rows: [] },
  },
  {
    group: 14,
    title: 'joins conditions on one value',
    aql: `SELECT ${SYS} FROM ${O} WHERE ${SYS} >= 138 AND ${SYS} < 150`,
    expect: { rows: column(138) },
  },
  {
    group: 15,
    title: 'NOT keeps missing values out',
    aql: `SELECT ${DIA} FROM ${O} WHERE NOT ${DIA} > 90`,
    expect: { rows: column(88) },
  },
  {
    group: 15,
    title: 'NOT turns the comparison',
    aql: `SELECT ${SYS} FROM ${O} WHERE NOT ${SYS} > 140`,
    expect: { rows: column(120, 138) },
  },
  {
    group: 16,
    title: '!= keeps missing values out',
    aql: `SELECT ${DIA} FROM ${O} WHERE ${DIA} != 95`,
    expect: { rows: column(88) },
  },
  {
    group: 17,
    title: 'NOT EXISTS asks within the event',
    aql: `SELECT ${SYS} FROM ${O} WHERE NOT EXISTS ${DIA}`,
    expect: { rows: column(120) },
  },
  {
    group: 17,
    title: '= NULL is NOT EXISTS',
    aql: `SELECT ${SYS} FROM ${O} WHERE ${DIA} = NULL`,
    expect: { rows: column(120) },
  },
  {
    group: 17,
    title: '!= NULL is EXISTS',
    aql: `SELECT ${SYS} FROM ${O} WHERE ${DIA} != NULL`,
    expect: { rows: column(150, 138) },
  },
  {
    group: 17,
    title: 'NULL has no order',
    aql: `SELECT ${SYS} FROM ${O} WHERE ${DIA} < NULL`,
    expect: invalid('NULL'),
  },
  {
    group: 18,
    title: 'EXISTS does not multiply rows',
    aql: `SELECT c/uid/value FROM COMPOSITION c WHERE EXISTS c/content[${A.vitals}]/items`,
    expect: { rows: column(versionUid('C1', 1)) },
  },
  {
    group: 18,
    title: 'EXISTS searches every element',
    aql: `SELECT c/uid/value FROM COMPOSITION c WHERE EXISTS c/content/data/items/value/code`,
    expect: invalid('code'),
  },
  {
    group: 19,
    title: 'NOT EXISTS of a list',
    aql: `SELECT c/uid/value FROM COMPOSITION c WHERE NOT EXISTS c/links`,
    expect: { rows: column(CURRENT[0]!, ...CURRENT.slice(2)) },
  },
];

/** Groups 1 to 19: EHRs, the EHR filter, one observation, WHERE. */
export const ehrCases: readonly AqlCase[] = [...wholeEhrCases, ...observationCases];

import { EHR, OBJECT, versionUid } from '../hilltop/hilltop.js';
import { A, column, DIA, invalid, O, P, SYS, type AqlCase } from './aql-case.js';

const CURRENT = [
  versionUid('C1', 1),
  versionUid('C2', 2),
  versionUid('C3', 1),
  versionUid('C4', 1),
  versionUid('C5', 1),
];
const ALL_EHRS = column(EHR.E1, EHR.E2, EHR.E3);
const DEV = A.device;

/** Groups 1 to 9: EHR, EHR_STATUS, COMPOSITION, the EHR filter. */
const ehrCases: readonly AqlCase[] = [
  {
    group: 1,
    title: 'lists the queryable EHRs',
    aql: 'SELECT e/ehr_id/value FROM EHR e',
    expect: { rows: ALL_EHRS },
  },
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

/** Groups 20 to 36: containment. */
const containsCases: readonly AqlCase[] = [
  {
    group: 20,
    title: 'keeps compositions without the observation',
    aql: `SELECT c/uid/value FROM COMPOSITION c NOT CONTAINS ${O}`,
    expect: { rows: column(...CURRENT.slice(2)) },
  },
  {
    group: 20,
    title: 'NOT CONTAINS of an OR is neither',
    aql: `SELECT c/uid/value FROM COMPOSITION c NOT CONTAINS (${O} OR EVALUATION v)`,
    expect: { rows: column(CURRENT[2]!, CURRENT[4]!) },
  },
  {
    group: 20,
    title: 'NOT CONTAINS of an AND is not both',
    aql: `SELECT c/uid/value FROM COMPOSITION c NOT CONTAINS (${O} AND ${P})`,
    expect: { rows: column(...CURRENT.slice(1)) },
  },
  {
    group: 20,
    title: 'NOT CONTAINS of a chain',
    aql: `SELECT c/uid/value FROM COMPOSITION c NOT CONTAINS (${O} CONTAINS CLUSTER d[${DEV}])`,
    expect: { rows: column(...CURRENT.slice(1)) },
  },
  {
    group: 20,
    title: 'NOT CONTAINS below CONTAINS',
    aql: `SELECT c/uid/value FROM COMPOSITION c CONTAINS ${O} NOT CONTAINS CLUSTER d[${DEV}]`,
    expect: { rows: column(versionUid('C2', 2)) },
  },
  {
    group: 21,
    title: 'keeps EHRs without compositions',
    aql: 'SELECT e/ehr_id/value FROM EHR e NOT CONTAINS COMPOSITION c',
    expect: { rows: column(EHR.E3) },
  },
  {
    group: 21,
    title: 'keeps EHRs without such a composition',
    aql: `SELECT e/ehr_id/value FROM EHR e NOT CONTAINS COMPOSITION c[${A.report}]`,
    expect: { rows: column(EHR.E2, EHR.E3) },
  },
  {
    group: 22,
    title: 'refuses a variable below NOT CONTAINS',
    aql: 'SELECT o FROM COMPOSITION c NOT CONTAINS OBSERVATION o',
    expect: invalid('NOT CONTAINS'),
  },
  {
    group: 23,
    title: 'pairs each section with what it holds',
    aql: `SELECT s/name/value, p/name/value FROM SECTION s CONTAINS ${P}`,
    expect: {
      rows: [
        ['Vitals', 'Pulse'],
        ['Repeat', 'Pulse'],
      ],
    },
  },
  {
    group: 23,
    title: 'pairs each section with the blood pressure',
    aql: `SELECT s/name/value FROM SECTION s CONTAINS ${O}`,
    expect: { rows: column('Vitals') },
  },
  {
    group: 24,
    title: 'nests sections',
    aql: 'SELECT a/name/value, b/name/value FROM SECTION a CONTAINS SECTION b',
    expect: { rows: [['Vitals', 'Repeat']] },
  },
  {
    group: 25,
    title: 'nests clusters and never itself',
    aql: `SELECT a/name/value, b/name/value FROM CLUSTER a[${DEV}] CONTAINS CLUSTER b[${DEV}]`,
    expect: { rows: [['Cuff A', 'Sensor']] },
  },
  {
    group: 26,
    title: 'never nests compositions',
    aql: 'SELECT c FROM COMPOSITION c CONTAINS COMPOSITION d',
    expect: { rows: [] },
  },
  {
    group: 26,
    title: 'never finds a composition in an entry',
    aql: 'SELECT c FROM OBSERVATION o CONTAINS COMPOSITION c',
    expect: { rows: [] },
  },
  {
    group: 26,
    title: 'never nests EHR_STATUS',
    aql: 'SELECT s FROM EHR_STATUS s CONTAINS EHR_STATUS t',
    expect: { rows: [] },
  },
  {
    group: 27,
    title: 'refuses an observation in EHR_STATUS',
    aql: 'SELECT o FROM EHR_STATUS s CONTAINS OBSERVATION o',
    expect: invalid('different versioned objects'),
  },
  {
    group: 27,
    title: 'refuses a folder in a composition',
    aql: 'SELECT f FROM COMPOSITION c CONTAINS FOLDER f',
    expect: invalid(),
  },
  {
    group: 27,
    title: 'refuses EHR_STATUS in a folder',
    aql: 'SELECT s FROM FOLDER f CONTAINS EHR_STATUS s',
    expect: invalid(),
  },
  {
    group: 28,
    title: 'multiplies both sides of AND',
    aql: `SELECT o/name/value, p/name/value FROM COMPOSITION c CONTAINS (${O} AND ${P})`,
    expect: { rows: [['Blood pressure', 'Pulse']] },
  },
  {
    group: 28,
    title: 'binds two variables independently',
    aql: 'SELECT a/name/value, b/name/value FROM SECTION s CONTAINS (OBSERVATION a AND OBSERVATION b)',
    expect: { count: 5 },
  },
  {
    group: 28,
    title: 'joins roots per EHR',
    aql: 'SELECT a/uid/value, s/uid/value FROM COMPOSITION a AND EHR_STATUS s',
    expect: {
      rows: [
        ...CURRENT.slice(0, 3).map((uid) => [uid, versionUid('S1', 1)]),
        ...CURRENT.slice(3).map((uid) => [uid, versionUid('S2', 1)]),
      ],
    },
  },
  {
    group: 28,
    title: 'joins roots by OR per EHR',
    aql: 'SELECT a/uid/value, s/uid/value FROM COMPOSITION a OR EHR_STATUS s',
    expect: { count: 6 },
  },
  {
    group: 28,
    title: 'multiplies EHRs',
    aql: 'SELECT a/ehr_id/value, b/ehr_id/value FROM EHR a AND EHR b',
    expect: { count: 9 },
  },
  {
    group: 28,
    title: 'takes EHRs as independent even after CONTAINS',
    aql: `SELECT a/ehr_id/value, b/ehr_id/value FROM EHR a CONTAINS COMPOSITION c[${A.report}] AND EHR b CONTAINS COMPOSITION d[${A.problemList}]`,
    expect: { rows: [[EHR.E1, EHR.E2]] },
  },
  {
    group: 28,
    title: 'never finds an EHR in an EHR',
    aql: 'SELECT a FROM EHR a CONTAINS EHR b',
    expect: { rows: [] },
  },
  {
    group: 29,
    title: 'fills the missing side of OR with NULL',
    aql: `SELECT c/uid/value, o/name/value, p/name/value FROM COMPOSITION c CONTAINS (${O} OR ${P})`,
    expect: {
      rows: [
        [versionUid('C1', 1), 'Blood pressure', 'Pulse'],
        [versionUid('C2', 2), 'Blood pressure', null],
      ],
    },
  },
  {
    group: 30,
    title: 'takes a chain that does not match as absent',
    aql: `SELECT c/uid/value, o/name/value, d/name/value, v/name/value FROM COMPOSITION c CONTAINS ((${O} CONTAINS CLUSTER d[${DEV}]) OR EVALUATION v)`,
    expect: {
      rows: [
        [versionUid('C1', 1), 'Blood pressure', 'Cuff A', null],
        [versionUid('C1', 1), 'Blood pressure', 'Sensor', null],
        ...['Problem A', 'Problem B', 'Problem C'].map((name) => [versionUid('C4', 1), null, null, name]),
      ],
    },
  },
  {
    group: 30,
    title: 'takes an AND inside OR as one operand',
    aql: `SELECT c/uid/value, o/name/value, p/name/value, l/type/value FROM COMPOSITION c CONTAINS ((${O} AND ${P}) OR LINK l)`,
    expect: {
      rows: [
        [versionUid('C1', 1), 'Blood pressure', 'Pulse', null],
        [versionUid('C2', 2), null, null, 'problem'],
      ],
    },
  },
  {
    group: 31,
    title: 'CONTAINS takes all that follows',
    aql: `SELECT s/name/value, o/name/value, p/name/value FROM COMPOSITION c CONTAINS SECTION s CONTAINS ${O} AND ${P} OR EVALUATION v`,
    expect: { rows: [['Vitals', 'Blood pressure', 'Pulse']] },
  },
  {
    group: 31,
    title: 'means the same with parentheses',
    aql: `SELECT s/name/value, o/name/value, p/name/value FROM COMPOSITION c CONTAINS (SECTION s CONTAINS ((${O} AND ${P}) OR EVALUATION v))`,
    expect: { rows: [['Vitals', 'Blood pressure', 'Pulse']] },
  },
  {
    group: 31,
    title: 'differs when parentheses end the chain',
    aql: `SELECT s/name/value, o/name/value, p/name/value FROM COMPOSITION c CONTAINS ((SECTION s CONTAINS ${P}) AND ${O})`,
    expect: {
      rows: [
        ['Vitals', 'Blood pressure', 'Pulse'],
        ['Repeat', 'Blood pressure', 'Pulse'],
      ],
    },
  },
  ...(
    [
      ['CARE_ENTRY', 8],
      ['ENTRY', 9],
      ['CONTENT_ITEM', 11],
      ['EVENT', 4],
      ['ITEM', 36],
      ['ITEM_STRUCTURE', 11],
      ['LOCATABLE', 66],
      ['PATHABLE', 73],
      ['DATA_STRUCTURE', 14],
      ['EVENT_CONTEXT', 5],
      ['FEEDER_AUDIT', 1],
      ['FEEDER_AUDIT_DETAILS', 1],
      ['INSTRUCTION_DETAILS', 1],
      ['ISM_TRANSITION', 1],
      ['PARTICIPATION', 2],
      ['LINK', 1],
      ['GENERIC_ENTRY', 0],
      ['ACTIVITY', 1],
      ['HISTORY', 3],
      ['POINT_EVENT', 4],
    ] as const
  ).map(([className, count]): AqlCase => ({
    group: 32,
    title: `counts every ${className} of the compositions`,
    aql: `SELECT COUNT(*) FROM COMPOSITION c CONTAINS ${className} x`,
    expect: { rows: column(count) },
  })),
  {
    group: 33,
    title: 'searches all roots for a bare class',
    aql: 'SELECT COUNT(*) FROM ELEMENT el',
    expect: { rows: column(36) },
  },
  {
    group: 33,
    title: 'finds the element of EHR_STATUS',
    aql: "SELECT el/value/id FROM ELEMENT el[name/value='Insurance']",
    expect: { rows: column('INS-1') },
  },
  {
    group: 34,
    title: 'keeps at-codes to their archetype',
    aql: `SELECT el/name/value FROM ${O} CONTAINS ELEMENT el[at0001]`,
    expect: { rows: [] },
  },
  {
    group: 34,
    title: 'finds at-codes in their own archetype',
    aql: `SELECT d/name/value, el/value/value FROM CLUSTER d[${DEV}] CONTAINS ELEMENT el[at0001]`,
    expect: {
      rows: [
        ['Cuff A', 'Cuff A'],
        ['Sensor', 'Sensor 7'],
      ],
    },
  },
  {
    group: 34,
    title: 'finds several nodes of one code',
    aql: `SELECT el/value/magnitude FROM ${O} CONTAINS ELEMENT el[at0004]`,
    expect: { rows: column(150, 120, 138) },
  },
  {
    group: 35,
    title: 'refuses an at-code without archetype above',
    aql: 'SELECT el FROM OBSERVATION o CONTAINS ELEMENT el[at0004]',
    expect: invalid('at-code'),
  },
  {
    group: 36,
    title: 'finds nothing when the archetype contradicts the class',
    aql: `SELECT o FROM OBSERVATION o[${A.problem}]`,
    expect: { rows: [] },
  },
  {
    group: 36,
    title: 'does not match specialised archetypes',
    aql: 'SELECT v/name/value FROM EVALUATION v[openEHR-EHR-EVALUATION.problem.v1]',
    expect: { rows: [] },
  },
  {
    group: 36,
    title: 'matches specialised archetypes when asked to',
    aql: 'SELECT v/name/value FROM EVALUATION v[openEHR-EHR-EVALUATION.problem.v1]',
    options: { subsumption: true },
    expect: { rows: column('Problem A', 'Problem B', 'Problem C') },
  },
  { group: 37, title: 'refuses an unknown class', aql: 'SELECT f FROM FROB f', expect: invalid("'FROB'") },
  {
    group: 37,
    title: 'refuses an impossible path and names it',
    aql: `SELECT o/nonsense/value FROM ${O}`,
    expect: invalid('o/nonsense/value'),
  },
  {
    group: 37,
    title: 'refuses an unknown variable',
    aql: 'SELECT x/name/value FROM COMPOSITION c',
    expect: invalid("'x'"),
  },
  {
    group: 37,
    title: 'refuses a duplicate variable',
    aql: 'SELECT c FROM COMPOSITION c CONTAINS OBSERVATION C',
    expect: invalid('twice'),
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

/** Groups 1 to 37. */
export const fromCases: readonly AqlCase[] = [...ehrCases, ...observationCases, ...containsCases];

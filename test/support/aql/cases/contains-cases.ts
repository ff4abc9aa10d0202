import { EHR, versionUid } from '../../hilltop/hilltop.js';
import { A, column, CURRENT, invalid, O, P, type AqlCase } from './aql-case.js';

const DEV = A.device;

/** Groups 20 to 37: containment. */
export const containsCases: readonly AqlCase[] = [
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
    group: 29,
    title: 'multiplies the sides of OR that match',
    aql: `SELECT c/uid/value, o/name/value, d/name/value FROM COMPOSITION c CONTAINS (${O} OR CLUSTER d[${DEV}])`,
    expect: {
      rows: [
        [versionUid('C1', 1), 'Blood pressure', 'Cuff A'],
        [versionUid('C1', 1), 'Blood pressure', 'Sensor'],
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
    title: 'knows that nothing of a COMPOSITION is a FOLDER',
    aql: 'SELECT n/folders FROM COMPOSITION c CONTAINS LOCATABLE n',
    expect: invalid("'folders'"),
  },
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
    aql: 'SELECT c FROM COMPOSITION c CONTAINS OBSERVATION c',
    expect: invalid('twice'),
  },
];

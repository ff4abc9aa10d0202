import { EHR, versionUid } from '../hilltop/hilltop.js';
import { A, column, CURRENT, invalid, O, SYS, type AqlCase } from './aql-case.js';

const REPORT = `ADMIN_ENTRY a[${A.allTypes}]`;

const ok = (title: string, aql: string): AqlCase => ({ group: 79, title, aql, expect: { count: 3 } });
const syntax = (title: string, aql: string, message: string): AqlCase => ({
  group: 80,
  title,
  aql,
  expect: invalid(message),
});

/** Groups 79 to 82: the language itself. */
const languageCases: readonly AqlCase[] = [
  ok('takes comments', 'SELECT e -- a comment\nFROM EHR e -- another'),
  ok('takes tabs and line ends', 'SELECT\te\r\nFROM\n\n\tEHR\te'),
  ok('takes a byte order mark', '\uFEFFSELECT e FROM EHR e'),
  ok('takes -- at the end', 'SELECT e FROM EHR e --'),
  ok('takes -- at the end of a line', 'SELECT e --\nFROM EHR e'),
  { group: 79, title: 'refuses --x', aql: 'SELECT e FROM EHR e --x', expect: invalid('1:21') },
  { group: 79, title: 'refuses //', aql: 'SELECT e FROM EHR e // x', expect: invalid() },
  syntax('missing FROM', 'SELECT e', '1:9'),
  syntax('misspelt FROM', 'SELECT e FORM EHR e', 'did you mean FROM'),
  syntax(
    'LIMIT before ORDER BY',
    'SELECT e FROM EHR e LIMIT 1 ORDER BY e/ehr_id/value',
    'ORDER BY must stand before LIMIT',
  ),
  syntax('stray bracket', 'SELECT e] FROM EHR e', '1:9'),
  syntax('unterminated string', "SELECT e\nFROM EHR e[ehr_id/value='x", '2:25'),
  syntax('illegal escape', "SELECT 'a\\q' FROM EHR e", '1:10'),
  syntax('TIMEWINDOW', 'SELECT e FROM EHR e TIMEWINDOW PT1H', 'TIMEWINDOW'),
  syntax(
    'mixed NOT CONTAINS',
    'SELECT c FROM COMPOSITION c CONTAINS OBSERVATION o AND NOT CONTAINS EVALUATION v',
    '1:56',
  ),
  syntax('keyword as variable', 'SELECT c FROM COMPOSITION select', '1:27'),
  {
    group: 81,
    title: 'reads escapes',
    aql: `SELECT '\\'', "\\"", 'a\\nb', '\\u00e4', '\\101', '\\\\', 'ä😀' FROM EHR e[ehr_id/value='${EHR.E3}']`,
    expect: { rows: [["'", '"', 'a\nb', 'ä', 'A', '\\', 'ä😀']] },
  },
  {
    group: 81,
    title: 'finds quotes in names',
    aql: `SELECT a/data[at0001]/items[at0015, 'it\\'s']/value/value, a/data[at0001]/items[at0015, 'back\\\\slash']/value/value FROM ${REPORT}`,
    expect: {
      rows: [
        ['quote', null],
        [null, 'backslash'],
      ],
    },
  },
  {
    group: 81,
    title: 'takes reserved words as attributes',
    aql: `SELECT a/data[at0001]/items[at0012]/value/mappings/match FROM ${REPORT}`,
    expect: { rows: column('=', '>') },
  },
  {
    group: 82,
    title: 'a parameter is never AQL',
    aql: 'SELECT c/uid/value FROM COMPOSITION c WHERE c/name/value = $p',
    parameters: { p: "x' OR 1=1 --" },
    expect: { rows: [] },
  },
  {
    group: 82,
    title: 'a parameter is never an operator',
    aql: 'SELECT c/uid/value FROM COMPOSITION c WHERE c/name/value = $p',
    parameters: { p: '$name' },
    expect: { rows: [] },
  },
  {
    group: 82,
    title: 'refuses objects',
    aql: 'SELECT c/uid/value FROM COMPOSITION c WHERE c/name/value = $p',
    parameters: { p: { $ne: null } },
    expect: invalid('$p'),
  },
  {
    group: 82,
    title: 'refuses objects in lists',
    aql: 'SELECT c/uid/value FROM COMPOSITION c WHERE c/name/value matches {$p}',
    parameters: { p: ['a', { $gt: '' }] },
    expect: invalid('$p'),
  },
  {
    group: 82,
    title: 'ignores parameters that are not used',
    aql: 'SELECT c/uid/value FROM COMPOSITION c',
    parameters: { $gt: '', __proto__: 'x' },
    expect: { rows: column(...CURRENT) },
  },
];

const HIDDEN = column(versionUid('C7', 1));

/** Group 85: not queryable EHRs. */
const visibilityCases: readonly AqlCase[] = [
  {
    group: 85,
    title: 'hides its compositions from populations',
    aql: `SELECT ${SYS} FROM ${O} WHERE ${SYS} = 200`,
    expect: { rows: [] },
  },
  { group: 85, title: 'hides its status', aql: 'SELECT s/uid/value FROM EHR_STATUS s', expect: { count: 3 } },
  {
    group: 85,
    title: 'shows it to the request',
    aql: 'SELECT c/uid/value FROM COMPOSITION c',
    options: { ehrId: EHR.E4 },
    expect: { rows: HIDDEN },
  },
  {
    group: 85,
    title: 'shows it to a predicate',
    aql: `SELECT c/uid/value FROM EHR e[ehr_id/value='${EHR.E4}'] CONTAINS COMPOSITION c`,
    expect: { rows: HIDDEN },
  },
  {
    group: 85,
    title: 'shows it to WHERE',
    aql: `SELECT c/uid/value FROM EHR e CONTAINS COMPOSITION c WHERE e/ehr_id/value = $e AND c/name/value LIKE '*'`,
    parameters: { e: EHR.E4 },
    expect: { rows: HIDDEN },
  },
  {
    group: 85,
    title: 'hides it from OR in WHERE',
    aql: `SELECT c/uid/value FROM EHR e CONTAINS COMPOSITION c WHERE e/ehr_id/value = '${EHR.E4}' OR c/name/value = 'Report'`,
    expect: { rows: column(versionUid('C3', 1)) },
  },
  {
    group: 85,
    title: 'hides it from lists of ids',
    aql: `SELECT c/uid/value FROM EHR e CONTAINS COMPOSITION c WHERE e/ehr_id/value MATCHES {'${EHR.E4}'}`,
    expect: { rows: [] },
  },
];

/** Rows of the feature table that no group names; each under the group nearest to it. */
const featureCases: readonly AqlCase[] = [
  {
    group: 4,
    title: 'predicate on the EHR variable of a path',
    aql: `SELECT e/ehr_id/value, e[ehr_id/value='${EHR.E1}']/directory/name/value FROM EHR e`,
    expect: {
      rows: [
        [EHR.E1, 'Hilltop'],
        [EHR.E2, null],
        [EHR.E3, null],
      ],
    },
  },
  {
    group: 4,
    title: 'different predicates on ehr_status',
    aql: "SELECT e/ehr_status[subject/external_ref/id/value='H-1']/uid/value, e/ehr_status[subject/external_ref/id/value='H-2']/name/value FROM EHR e CONTAINS EHR_STATUS t[subject/external_ref/namespace='hill']",
    expect: {
      rows: [
        [versionUid('S1', 1), null],
        [null, 'EHR Status'],
      ],
    },
  },
  {
    group: 52,
    title: 'order of archetype_node_id in a predicate',
    aql: `SELECT a/data[at0001]/items[archetype_node_id > 'at0013' and archetype_node_id < 'at0015']/name/value FROM ${REPORT}`,
    expect: { rows: column('Unknown') },
  },
  {
    group: 49,
    title: 'predicate on a path below the element',
    aql: `SELECT v/data[at0001]/items[at0002 and value/defining_code/code_string = $c]/value/value FROM EVALUATION v[${A.problem}]`,
    parameters: { c: 'B' },
    expect: { rows: column(null, 'Bronchitis', null) },
  },
  {
    group: 67,
    title: 'MIN and MAX of name, uid, template id and archetype_node_id',
    aql: 'SELECT MIN(c/name/value), MAX(c/uid/value), MIN(c/archetype_details/template_id/value), MAX(c/archetype_node_id) FROM COMPOSITION c',
    expect: { rows: [['Control', versionUid('C5', 1), 'hill.order.v1', A.report]] },
  },
  {
    group: 67,
    title: 'MIN of times',
    aql: 'SELECT MIN(c/context/start_time/value), MAX(c/context/start_time) FROM COMPOSITION c',
    expect: {
      rows: [['2021-03-01T08:00:00+02:00', { _type: 'DV_DATE_TIME', value: '2021-03-06T10:00:00Z' }]],
    },
  },
  {
    group: 71,
    title: 'ORDER BY a VERSION path',
    aql: 'SELECT v/uid/value FROM VERSION v[ALL_VERSIONS] CONTAINS COMPOSITION c ORDER BY v/commit_audit/time_committed DESC LIMIT 2',
    expect: { rows: column(versionUid('C6', 1), versionUid('C5', 1)), ordered: true },
  },
  {
    group: 63,
    title: 'MATCHES of an object',
    aql: "SELECT c/uid/value FROM COMPOSITION c WHERE c/category MATCHES {'event'} AND c/category/defining_code MATCHES {'openehr::433'}",
    expect: { rows: column(...CURRENT) },
  },
  {
    group: 60,
    title: 'compares paths of two variables',
    aql: `SELECT o/name/value, p/name/value FROM COMPOSITION c CONTAINS (OBSERVATION o AND OBSERVATION p) WHERE o/name/value < p/name/value`,
    expect: { rows: [['Blood pressure', 'Pulse']] },
  },
  {
    group: 47,
    title: 'LIKE on uid/value and the order of uids',
    aql: `SELECT c/uid/value FROM COMPOSITION c WHERE c/uid/value LIKE '*::1' ORDER BY c/uid/value DESC LIMIT 2`,
    expect: { rows: column(versionUid('C5', 1), versionUid('C4', 1)), ordered: true },
  },
];

/** Groups 79 to 85: the language itself, hidden EHRs; and what the feature table adds. */
export const languageAndVisibilityCases: readonly AqlCase[] = [
  ...languageCases,
  ...visibilityCases,
  ...featureCases,
];

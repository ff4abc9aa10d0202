import { EHR, versionUid } from '../../hilltop/hilltop.js';
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

/** Groups 79 to 85: the language itself, hidden EHRs. */
export const languageAndVisibilityCases: readonly AqlCase[] = [...languageCases, ...visibilityCases];

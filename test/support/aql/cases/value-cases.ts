import { OBJECT, versionUid } from '../../hilltop/hilltop.js';
import { A, column, CURRENT, DIA, invalid, O, SYS, type AqlCase } from './aql-case.js';

const REPORT = `ADMIN_ENTRY a[${A.allTypes}]`;
const item = (code: string): string => `a/data[at0001]/items[${code}]`;

/** A condition on the report and whether it holds. */
const HOLDS: readonly (readonly [string, boolean])[] = [
  [`${item('at0002')}/value = 2`, true],
  [`${item('at0002')}/value > 2`, false],
  [`${item('at0002')}/value/symbol = 'moderate'`, true],
  [`${item('at0003')}/value >= 7`, true],
  [`${item('at0003')}/value/magnitude = 7.0`, true],
  [`${item('at0004')}/value = 0.25`, true],
  [`${item('at0004')}/value < 0.25`, false],
  [`${item('at0005')}/value > 'P1D'`, true],
  [`${item('at0005')}/value > 'P2D'`, false],
  [`${item('at0005')}/value = 'PT26H'`, true],
  [`${item('at0005')}/value/value = 'PT26H'`, true],
  [`${item('at0005')}/value > 'tomorrow'`, false],
  [`${item('at0006')}/value > '10:00:00'`, true],
  [`${item('at0006')}/value/value < '103100'`, true],
  [`${item('at0007')}/value = '2020-01-01'`, true],
  [`${item('at0007')}/value < '2020-03'`, true],
  [`${item('at0007')}/value = '2020'`, true],
  [`${item('at0007')}/value = '2020-01-01T00:00:00'`, false],
  [`${item('at0007')}/value < '2020-01-02T00:00:00'`, true],
  [`${item('at0007')}/value < '2020-01-01T12:00:00'`, false],
  [`${item('at0008')}/value = '2020-02-01T00:00:00Z'`, true],
  [`${item('at0008')}/value/value = '2020-02'`, true],
  [`${item('at0008')}/value < '2020-02-01T02:00:00+01:00'`, true],
  [`${item('at0009')}/value = true`, true],
  [`${item('at0009')}/value/value = true`, true],
  [`${item('at0009')}/value = 'true'`, false],
  [`${item('at0010')}/value/value = 'https://hill.example/a'`, true],
  [`${item('at0011')}/value/size > 2`, true],
  [`${item('at0012')}/value = 'Headache'`, true],
  [`${item('at0012')}/value/value = 'Headache'`, true],
  [`${item('at0012')}/value/defining_code = 'at0100'`, true],
  [`${item('at0012')}/value/defining_code = 'local::at0100'`, true],
  [`${item('at0012')}/value/defining_code = 'other::at0100'`, false],
  [`${item('at0012')}/value/defining_code != 'other::at0100'`, true],
  [`${item('at0013')}/value/lower > 0.5`, true],
  [`${item('at0013')}/value = 1`, false],
  [`${item('at0013')}/value != 1`, true],
  [`NOT ${item('at0013')}/value = 1`, true],
  [`${item('at0014')}/value = 1`, false],
  [`NOT ${item('at0014')}/value = 1`, false],
  [`${item('at0014')}/null_flavour = 'unknown'`, true],
  [`NOT EXISTS ${item('at0014')}/value`, true],
  [`${item('at0003')}/value != 'seven'`, true],
  [`${item('at0003')}/value = 'seven'`, false],
];

/** Groups 57 to 60: domains. */
const domainCases: readonly AqlCase[] = [
  ...HOLDS.map(([condition, holds]): AqlCase => ({
    group: 57,
    title: `${condition.replaceAll('a/data[at0001]/items', '…')} is ${holds ? 'true' : 'not true'}`,
    aql: `SELECT a/name/value FROM ${REPORT} WHERE ${condition}`,
    expect: { rows: holds ? column('All types') : [] },
  })),
  ...[
    '2021-03-01T08:00:00+02:00',
    '2021-03-01T06:00:00Z',
    '2021-03-01T06:00:00',
    '20210301T060000Z',
    '2021-03-01T06:00:00.000000000Z',
    '2021-03-01T08:00+0200',
  ].flatMap((time): AqlCase[] =>
    ['', '/value'].map((end) => ({
      group: 58,
      title: `start_time${end} = '${time}'`,
      aql: `SELECT c/uid/value FROM COMPOSITION c WHERE c/context/start_time${end} = '${time}'`,
      expect: { rows: column(versionUid('C1', 1)) },
    })),
  ),
  {
    group: 58,
    title: 'takes a time as parameter',
    aql: 'SELECT c/uid/value FROM COMPOSITION c WHERE c/context/start_time < $t',
    parameters: { t: '2021-03-02' },
    expect: { rows: column(versionUid('C1', 1)) },
  },
  {
    group: 59,
    title: 'ignores values of other types',
    aql: `SELECT a/data[at0001]/items/value/magnitude FROM ${REPORT} WHERE a/data[at0001]/items/value/magnitude > 1`,
    expect: { rows: column(7) },
  },
  {
    group: 59,
    title: 'reads the value of coded texts',
    aql: `SELECT a/data[at0001]/items/name/value FROM ${REPORT} WHERE a/data[at0001]/items/value/value = 'Headache'`,
    expect: { rows: column('Symptom') },
  },
  {
    group: 59,
    title: 'a text of a query string may be a number or a text',
    aql: `SELECT a/data[at0001]/items/name/value FROM ${REPORT} WHERE a/data[at0001]/items/value/value = $v`,
    textParameters: { v: '2' },
    expect: { rows: column('Ordinal') },
  },
  {
    group: 59,
    title: 'a quoted text of a query string is a text',
    aql: `SELECT a/data[at0001]/items/name/value FROM ${REPORT} WHERE a/data[at0001]/items/value/value = $v`,
    textParameters: { v: "'2'" },
    expect: { rows: [] },
  },
  {
    group: 60,
    title: 'compares paths',
    aql: `SELECT ${SYS} FROM ${O} WHERE ${SYS} > ${DIA}`,
    expect: { rows: column(150, 138) },
  },
  {
    group: 60,
    title: 'a text is never equal to a number',
    aql: `SELECT ${SYS} FROM ${O} WHERE ${SYS} = $p`,
    textParameters: { p: 'abc' },
    expect: { rows: [] },
  },
  {
    group: 60,
    title: 'a text always differs from a number',
    aql: `SELECT ${SYS} FROM ${O} WHERE ${SYS} != 'abc'`,
    expect: { count: 3 },
  },
];

const like = (pattern: string, ...names: string[]): AqlCase => ({
  group: 61,
  title: `LIKE ${pattern}`,
  aql: `SELECT a/data[at0001]/items/name/value FROM ${REPORT} WHERE a/data[at0001]/items/name/value LIKE ${pattern}`,
  expect: { rows: column(...names) },
});

const where = (group: number, condition: string, ...uids: string[]): AqlCase => ({
  group,
  title: condition,
  aql: `SELECT c/uid/value FROM COMPOSITION c WHERE ${condition}`,
  expect: { rows: column(...uids) },
});

const [C1 = '', C2 = '', C3 = '', C4 = '', C5 = ''] = CURRENT;

/** Groups 61 to 64: LIKE, comparison of identifiers, MATCHES, terminology. */
const textCases: readonly AqlCase[] = [
  where(61, "c/name/value LIKE 'Vit*'", C1),
  where(61, "c/name/value LIKE '?ital*'", C1),
  where(61, "c/name/value LIKE '*o*'", C1, C2, C3, C4),
  where(61, "c/name/value LIKE 'order'"),
  where(61, "c/name/value LIKE 'Order'", C5),
  where(61, "c/name/value LIKE 'Orde??'"),
  where(61, "c/name/value NOT LIKE '*o*'", C5),
  like("'%'"),
  like("'100%'", '100%'),
  like("'a\\\\*b'", 'a*b'),
  like("'a\\*b'", 'a*b'),
  like("'a*b'", 'a_b', 'a*b'),
  like("'wha??'", 'what?'),
  like("'what\\?'", 'what?'),
  like("'back\\\\\\\\slash'", 'back\\slash'),
  like("'it\\'s'", "it's"),
  {
    group: 61,
    title: 'takes the pattern as parameter',
    aql: 'SELECT c/name/value FROM COMPOSITION c WHERE c/name/value LIKE $p',
    parameters: { p: 'Rep\\ort' },
    expect: invalid('Invalid LIKE pattern'),
  },
  ...["'\\\\'", "'100\\\\%'", "'a\\\\b'"].map((pattern): AqlCase => ({
    group: 61,
    title: `refuses LIKE ${pattern}`,
    aql: `SELECT c FROM COMPOSITION c WHERE c/name/value LIKE ${pattern}`,
    expect: invalid('Invalid LIKE pattern'),
  })),
  {
    group: 61,
    title: 'refuses a number as pattern',
    aql: 'SELECT c FROM COMPOSITION c WHERE c/name/value LIKE $p',
    parameters: { p: 5 },
    expect: invalid('LIKE'),
  },
  where(62, "c/archetype_details/template_id/value LIKE 'hill.v*'", C1, C2),
  where(62, "c/archetype_details/template_id/value NOT LIKE 'hill.v*'", C3, C4, C5),
  where(62, "c/archetype_details/template_id/value > 'hill.problems.v1'", C1, C2, C3),
  where(62, `c/archetype_node_id <> '${A.encounter}'`, C3, C4),
  where(62, "c/archetype_node_id LIKE '*.report.*'", C3),
  where(62, `c/uid/value LIKE '${OBJECT.C2.slice(0, 8)}*2'`, C2),
  where(62, "c/context/start_time LIKE '2021-03-01*'", C1),
  where(62, "c/context/start_time/value LIKE '*T10:00*'", C3, C4, C5),
  {
    group: 62,
    title: 'change_type',
    aql: "SELECT v/uid/value FROM VERSION v CONTAINS COMPOSITION c WHERE v/commit_audit/change_type/defining_code/code_string > '249'",
    expect: { rows: column(C2) },
  },
  {
    group: 62,
    title: 'change_type as object',
    aql: "SELECT v/uid/value FROM VERSION v CONTAINS COMPOSITION c WHERE v/commit_audit/change_type/value LIKE 'mod*'",
    expect: { rows: column(C2) },
  },
  where(63, "c/composer/name matches {'Dr Wu', 'Dr Xu'}", C2, C4, C5),
  where(63, "c/composer/name NOT MATCHES {'Dr Wu', 'Dr Xu'}", C1, C3),
  {
    group: 63,
    title: 'compares numbers',
    aql: `SELECT ${SYS} FROM ${O} WHERE ${SYS} matches {120, 138.0, 2.5}`,
    expect: { rows: column(120, 138) },
  },
  {
    group: 63,
    title: 'expands a list',
    aql: 'SELECT c/uid/value FROM COMPOSITION c WHERE c/composer/name matches {$list}',
    parameters: { list: ['Dr Wu', 'Dr Xu'] },
    expect: { rows: column(C2, C4, C5) },
  },
  {
    group: 63,
    title: 'expands a list beside values',
    aql: "SELECT c/uid/value FROM COMPOSITION c WHERE c/composer/name matches {$list, 'Dr Vera'}",
    parameters: { list: ['Dr Wu', 'Dr Xu'] },
    expect: { count: 5 },
  },
  {
    group: 63,
    title: 'takes repeated texts as numbers',
    aql: `SELECT ${SYS} FROM ${O} WHERE ${SYS} matches {$list}`,
    textParameters: { list: ['120', '150'] },
    expect: { rows: column(120, 150) },
  },
  {
    group: 63,
    title: 'refuses an empty list',
    aql: 'SELECT c FROM COMPOSITION c WHERE c/composer/name matches {}',
    expect: invalid('empty'),
  },
  {
    group: 63,
    title: 'refuses an empty list parameter',
    aql: 'SELECT c FROM COMPOSITION c WHERE c/composer/name matches {$list}',
    parameters: { list: [] },
    expect: invalid('empty'),
  },
  {
    group: 63,
    title: 'refuses NULL',
    aql: 'SELECT c FROM COMPOSITION c WHERE c/composer/name matches {NULL}',
    expect: invalid('NULL'),
  },
];

const CODE = 'v/data[at0001]/items[at0002]/value/defining_code/code_string';
const URI = 'terminology://hill.example/ValueSet/$expand?url=problems';
const EXPAND = "TERMINOLOGY('expand', 'hl7.org/fhir/4.0', 'url=problems')";
const VALIDATE = "TERMINOLOGY('validate', 'hl7.org/fhir/4.0', 'code=A')";
const problems = (
  title: string,
  condition: string,
  options: AqlCase['options'],
  expect: AqlCase['expect'],
): AqlCase => ({
  group: 64,
  title,
  aql: `SELECT v/name/value FROM EVALUATION v[${A.problem}] WHERE ${condition}`,
  ...(options === undefined ? {} : { options }),
  expect,
});
const codes = (...list: string[]): { kind: 'codes'; codes: string[] } => ({ kind: 'codes', codes: list });

const terminologyCases: readonly AqlCase[] = [
  problems(
    'asks a URI',
    `${CODE} matches {${URI}}`,
    { terminology: { [`{${URI}}`]: codes('A') } },
    { rows: column('Problem A') },
  ),
  problems(
    'compares codes with a coded text',
    `v/data[at0001]/items[at0002]/value/defining_code matches {${URI}}`,
    { terminology: { [`{${URI}}`]: codes('A', 'B') } },
    { rows: column('Problem A', 'Problem B') },
  ),
  problems(
    'expands',
    `${CODE} matches ${EXPAND}`,
    { terminology: { [EXPAND]: codes('B') } },
    { rows: column('Problem B') },
  ),
  problems(
    'expands beside values',
    `${CODE} matches {${EXPAND}, 'A'}`,
    { terminology: { [EXPAND]: codes('B') } },
    { rows: column('Problem A', 'Problem B') },
  ),
  problems(
    'an empty value set matches nothing',
    `${CODE} matches {${EXPAND}}`,
    { terminology: { [EXPAND]: codes() } },
    { rows: [] },
  ),
  problems(
    'validates',
    `${VALIDATE} = true`,
    { terminology: { [VALIDATE]: { kind: 'boolean', value: true } } },
    { count: 3 },
  ),
  problems(
    'validates to false',
    `${VALIDATE} = true`,
    { terminology: { [VALIDATE]: { kind: 'boolean', value: false } } },
    { rows: [] },
  ),
  problems('needs a service', `${CODE} matches {${URI}}`, undefined, invalid('terminology')),
  problems(
    'tells a failing service',
    `${CODE} matches {${URI}}`,
    { terminology: {} },
    { error: 'bad-gateway' },
  ),
];

const E3 = "FROM EHR e[ehr_id/value='eeeeeeee-0000-4000-8000-000000000003']";
const calls: readonly (readonly [string, string | number | boolean | null])[] = [
  ["LENGTH('a😀ä')", 3],
  ['LENGTH(e/directory/name/value)', null],
  ["CONTAINS('abcd', 'bc')", true],
  ["CONTAINS('abcd', 'BC')", false],
  ["POSITION('c', 'abcd')", 3],
  ["POSITION('x', 'abcd')", 0],
  ["SUBSTRING('abcd', 2)", 'bcd'],
  ["SUBSTRING('abcd', 2, 2)", 'bc'],
  ["SUBSTRING('abcd', -1, 4)", 'ab'],
  ["CONCAT('a', 'b', e/system_id/value)", 'ablocal.cdr'],
  ["CONCAT('a', e/directory/name/value)", null],
  ["CONCAT_WS('-', 'a', e/directory/name/value, 'b')", 'a-b'],
  ['ABS(-2.5)', 2.5],
  ['MOD(-7, 3)', -1],
  ['MOD(7, 0)', null],
  ['CEIL(1.2)', 2],
  ['CEIL(-0.5)', 0],
  ['FLOOR(-1.2)', -2],
  ['ROUND(2.5)', 3],
  ['ROUND(-2.5)', -3],
  ['ROUND(1.005, 2)', 1.01],
  ['ROUND(1250, -2)', 1300],
  ['ABS(e/directory/name/value)', null],
  ["LENGTH(CONCAT('ab', 'c'))", 3],
  ['LENGTH(CURRENT_DATE())', 10],
  ['LENGTH(CURRENT_TIME())', 8],
  ['LENGTH(CURRENT_DATE_TIME())', 29],
  ['LENGTH(NOW())', 29],
  ['LENGTH(CURRENT_TIMEZONE())', 6],
  ['ROUND(1.5, -400)', 0],
  ['ROUND(-123456.5, 400)', -123456.5],
  ['ROUND(15000000000, 300)', 15_000_000_000],
  ["SUBSTRING('abcd', 10000000000, 2)", ''],
  ["SUBSTRING('abcd', 2, 10000000000)", 'bcd'],
  ["SUBSTRING('abcd', -10000000000, 20000000000)", 'abcd'],
  ["SUBSTRING('abcd', -10000000000)", 'abcd'],
  ['LENGTH(NULL)', null],
  ["CONTAINS(NULL, 'a')", null],
  ["CONTAINS('a', NULL)", null],
  ["POSITION('a', NULL)", null],
  ["SUBSTRING('a', NULL)", null],
  ["SUBSTRING('a', 1, NULL)", null],
  ["CONCAT('a', NULL)", null],
  ["CONCAT_WS('-', 'a', NULL, 'b')", 'a-b'],
  ["CONCAT_WS(NULL, 'a')", null],
  ['ABS(NULL)', null],
  ['MOD(1, NULL)', null],
  ['CEIL(NULL)', null],
  ['FLOOR(NULL)', null],
  ['ROUND(NULL)', null],
  ['ROUND(1.5, NULL)', null],
  ...["ABS('x')", 'CONCAT_WS(MOD(1, 0), e/system_id/value)'].flatMap((nothing) =>
    [
      `LENGTH(${nothing})`,
      ...[`CONTAINS(${nothing}, 'a')`, `CONTAINS('a', ${nothing})`],
      ...[`POSITION(${nothing}, 'a')`, `POSITION('a', ${nothing})`],
      ...[`SUBSTRING(${nothing}, 1)`, `SUBSTRING('a', ${nothing})`, `SUBSTRING('a', 1, ${nothing})`],
      `CONCAT('a', ${nothing})`,
      ...[`ABS(${nothing})`, `MOD(${nothing}, 2)`, `MOD(2, ${nothing})`],
      ...[`CEIL(${nothing})`, `FLOOR(${nothing})`, `ROUND(${nothing})`, `ROUND(1.5, ${nothing})`],
      `LENGTH(CONCAT(LENGTH(${nothing}), 'a'))`,
    ].map((call) => [call, null] as const),
  ),
];

/** Groups 65 and 66: functions. */
const functionCases: readonly AqlCase[] = [
  ...calls.map(([call, result]): AqlCase => ({
    group: 65,
    title: `${call} is ${String(result)}`,
    aql: `SELECT ${call} ${E3}`,
    expect: { rows: column(result) },
  })),
  ...["LENGTH('a', 'b')", 'NOW(1)', "SUBSTRING('a')", 'MOD(1)', 'CONCAT()'].map((call): AqlCase => ({
    group: 65,
    title: `refuses ${call}`,
    aql: `SELECT ${call} ${E3}`,
    expect: invalid('arguments'),
  })),
  {
    group: 65,
    title: 'refuses an unknown function',
    aql: `SELECT REVERSE('a') ${E3}`,
    expect: invalid("unknown function 'REVERSE'"),
  },
  {
    group: 65,
    title: 'compares with the present time',
    aql: 'SELECT c/uid/value FROM COMPOSITION c WHERE c/context/start_time > NOW()',
    expect: { rows: [] },
  },
  {
    group: 65,
    title: 'compares the present time with a path',
    aql: 'SELECT c/uid/value FROM COMPOSITION c WHERE CURRENT_DATE_TIME() > c/context/start_time',
    expect: { count: 5 },
  },
  {
    group: 66,
    title: 'LIKE with NUL in the pattern fits nothing',
    aql: "SELECT c/uid/value FROM COMPOSITION c WHERE c/name/value LIKE '\\u0000*' OR c/name/value = '\\u0000'",
    expect: { rows: [] },
  },
  {
    group: 66,
    title: 'functions in WHERE',
    aql: "SELECT c/uid/value FROM COMPOSITION c WHERE LENGTH(c/name/value) > 5 AND CONTAINS(c/name/value,'it') = true",
    expect: { rows: column(C1) },
  },
  {
    group: 66,
    title: 'functions of numbers in WHERE',
    aql: `SELECT ${SYS} FROM ${O} WHERE ROUND(${SYS}, -2) = 200 AND MOD(${SYS}, 10) = 0`,
    expect: { rows: column(150) },
  },
  {
    group: 66,
    title: 'functions of missing values are unknown',
    aql: `SELECT ${SYS} FROM ${O} WHERE NOT ABS(${DIA}) = 95`,
    expect: { rows: column(138) },
  },
  {
    group: 66,
    title: 'LIKE and MATCHES of functions',
    aql: "SELECT c/uid/value FROM COMPOSITION c WHERE SUBSTRING(c/name/value, 1, 1) MATCHES {'O', 'R'} AND CONCAT(c/name/value, '!') LIKE '*t!'",
    expect: { rows: column(C3) },
  },
];

/** Groups 57 to 66. */
export const valueCases: readonly AqlCase[] = [
  ...domainCases,
  ...textCases,
  ...terminologyCases,
  ...functionCases,
];

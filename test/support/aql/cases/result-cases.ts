import { A, column, DIA, EV, invalid, O, SYS, type AqlCase } from './aql-case.js';

const VALUE = `${EV}/data[at0003]/items[at0004]/value`;
const REPORT = `ADMIN_ENTRY a[${A.allTypes}]`;
const bp = (select: string, rest = ''): string => `SELECT ${select} FROM ${O} ${rest}`.trim();

/** Groups 67 to 70: aggregates, DISTINCT. */
const groupCases: readonly AqlCase[] = [
  {
    group: 67,
    title: 'counts and folds',
    aql: bp(`COUNT(*), COUNT(${DIA}), MIN(${SYS}), MAX(${SYS}), SUM(${SYS}), AVG(${SYS})`),
    expect: { rows: [[3, 2, 120, 150, 408, 136]] },
  },
  {
    group: 67,
    title: 'answers one row over nothing',
    aql: bp(
      `COUNT(*), COUNT(${DIA}), COUNT(DISTINCT ${DIA}), MIN(${SYS}), MAX(${SYS}), SUM(${SYS}), AVG(${SYS})`,
      `WHERE ${SYS} > 500`,
    ),
    expect: { rows: [[0, 0, 0, null, null, null, null]] },
  },
  {
    group: 67,
    title: 'answers no group over nothing',
    aql: bp(`o/name/value, COUNT(*)`, `WHERE ${SYS} > 500`),
    expect: { rows: [] },
  },
  {
    group: 67,
    title: 'counts distinct values',
    aql: 'SELECT COUNT(c/composer/name), COUNT(DISTINCT c/composer/name), COUNT(DISTINCT c/composer) FROM COMPOSITION c',
    expect: { rows: [[5, 3, 3]] },
  },
  {
    group: 67,
    title: 'folds texts',
    aql: 'SELECT MIN(c/name/value), MAX(c/name/value) FROM COMPOSITION c',
    expect: { rows: [['Control', 'Vitals of H-1']] },
  },
  {
    group: 67,
    title: 'folds objects',
    aql: bp(`MAX(${VALUE}), SUM(${VALUE}), AVG(${VALUE})`),
    expect: { rows: [[{ _type: 'DV_QUANTITY', magnitude: 150, units: 'mm[Hg]' }, 408, 136]] },
  },
  {
    group: 67,
    title: 'folds times across zones',
    aql: bp(`MIN(${EV}/time), MAX(${EV}/time/value)`),
    expect: {
      rows: [[{ _type: 'DV_DATE_TIME', value: '2021-03-01T08:00:00+02:00' }, '2021-03-02T09:30:00Z']],
    },
  },
  {
    group: 67,
    title: 'folds function results',
    aql: bp(`SUM(ABS(${SYS})), MAX(LENGTH(o/name/value))`),
    expect: { rows: [[408, 14]] },
  },
  {
    group: 67,
    title: 'ignores texts beside numbers',
    aql: `SELECT SUM(a/data[at0001]/items[at0003 or at0015]/value), AVG(a/data[at0001]/items[at0003 or at0015]/value) FROM ${REPORT}`,
    expect: { rows: [[7, 7]] },
  },
  {
    group: 67,
    title: 'adds proportions, ordinals and durations by their numbers',
    aql: `SELECT SUM(a/data[at0001]/items[at0004]/value), AVG(a/data[at0001]/items[at0002]/value), SUM(a/data[at0001]/items[at0005]/value), AVG(a/data[at0001]/items[at0005]/value) FROM ${REPORT}`,
    expect: { rows: [[0.25, 2, 93_600, 93_600]] },
  },
  {
    group: 67,
    title: 'adds objects with numbers of several classes',
    aql: `SELECT SUM(a/data[at0001]/items[at0002 or at0003 or at0004]/value) FROM ${REPORT}`,
    expect: { rows: [[9.25]] },
  },
  ...(['at0006', 'at0007', 'at0008'] as const).map((node): AqlCase => ({
    group: 67,
    title: `refuses to add points in time: ${node}`,
    aql: `SELECT COUNT(*), SUM(a/data[at0001]/items[${node}]/value) AS total FROM ${REPORT}`,
    expect: invalid('column total cannot be summed, as it has a DV_'),
  })),
  {
    group: 67,
    title: 'refuses to add numbers and durations',
    aql: `SELECT AVG(a/data[at0001]/items[at0003 or at0005]/value) FROM ${REPORT}`,
    expect: invalid('column #0 cannot be summed, as it has numbers and durations'),
  },
  {
    group: 67,
    title: 'refuses the sum of a typed time',
    aql: 'SELECT SUM(c/context/start_time) FROM COMPOSITION c',
    expect: invalid('SUM needs numbers or durations, and c/context/start_time has none'),
  },
  {
    group: 67,
    title: 'refuses the sum of texts',
    aql: 'SELECT SUM(c/name/value) FROM COMPOSITION c',
    expect: invalid('SUM'),
  },
  {
    group: 67,
    title: 'refuses the average of objects without number',
    aql: 'SELECT AVG(c/composer) FROM COMPOSITION c',
    expect: invalid('AVG'),
  },
  {
    group: 67,
    title: 'refuses the least of objects without order',
    aql: 'SELECT MIN(c) FROM COMPOSITION c',
    expect: invalid('MIN'),
  },
  {
    group: 67,
    title: 'refuses DISTINCT in SUM',
    aql: bp(`SUM(DISTINCT ${SYS})`),
    expect: invalid('DISTINCT'),
  },
  {
    group: 67,
    title: 'refuses an aggregate in WHERE',
    aql: bp(SYS, `WHERE COUNT(${SYS}) > 1`),
    expect: invalid('COUNT'),
  },
  {
    group: 67,
    title: 'counts bound variables',
    aql: `SELECT COUNT(o), COUNT(v) FROM COMPOSITION c CONTAINS (${O} OR EVALUATION v)`,
    expect: { rows: [[2, 3]] },
  },
  {
    group: 68,
    title: 'groups by the other columns',
    aql: 'SELECT c/composer/name, COUNT(*) FROM COMPOSITION c',
    expect: {
      rows: [
        ['Dr Vera', 2],
        ['Dr Wu', 2],
        ['Dr Xu', 1],
      ],
    },
  },
  {
    group: 68,
    title: 'keeps literals out of the keys',
    aql: "SELECT 'n', c/composer/name, COUNT(*) FROM COMPOSITION c",
    expect: {
      rows: [
        ['n', 'Dr Vera', 2],
        ['n', 'Dr Wu', 2],
        ['n', 'Dr Xu', 1],
      ],
    },
  },
  {
    group: 68,
    title: 'groups by function results',
    aql: 'SELECT LENGTH(c/composer/name), COUNT(*) FROM COMPOSITION c',
    expect: {
      rows: [
        [7, 2],
        [5, 3],
      ],
    },
  },
  {
    group: 68,
    title: 'groups NULL',
    aql: bp(`${DIA}, COUNT(${SYS})`),
    expect: {
      rows: [
        [95, 1],
        [null, 1],
        [88, 1],
      ],
    },
  },
  {
    group: 68,
    title: 'orders groups by an aggregate',
    aql: 'SELECT c/composer/name AS who, COUNT(*) AS n FROM COMPOSITION c ORDER BY n DESC, who DESC',
    expect: {
      rows: [
        ['Dr Wu', 2],
        ['Dr Vera', 2],
        ['Dr Xu', 1],
      ],
      ordered: true,
    },
  },
  {
    group: 68,
    title: 'orders groups by a repeated aggregate',
    aql: 'SELECT c/composer/name, COUNT(*) FROM COMPOSITION c ORDER BY COUNT(*), c/composer/name LIMIT 2',
    expect: {
      rows: [
        ['Dr Xu', 1],
        ['Dr Vera', 2],
      ],
      ordered: true,
    },
  },
  {
    group: 68,
    title: 'refuses another order of groups',
    aql: 'SELECT c/composer/name, COUNT(*) FROM COMPOSITION c ORDER BY c/name/value',
    expect: invalid('ORDER BY'),
  },
  {
    group: 68,
    title: 'refuses an aggregate that is not selected',
    aql: 'SELECT c/name/value FROM COMPOSITION c ORDER BY COUNT(*)',
    expect: invalid('ORDER BY'),
  },
  {
    group: 69,
    title: 'cuts after DISTINCT',
    aql: 'SELECT DISTINCT c/composer/name FROM COMPOSITION c ORDER BY c/composer/name LIMIT 1 OFFSET 1',
    expect: { rows: column('Dr Wu') },
  },
  {
    group: 69,
    title: 'refuses another order with DISTINCT',
    aql: 'SELECT DISTINCT c/composer/name FROM COMPOSITION c ORDER BY c/name/value',
    expect: invalid('DISTINCT'),
  },
  {
    group: 70,
    title: 'merges equal objects',
    aql: 'SELECT DISTINCT c/composer FROM COMPOSITION c',
    expect: { count: 3 },
  },
  {
    group: 70,
    title: 'merges NULL',
    aql: `SELECT DISTINCT e/directory/name/value FROM EHR e`,
    expect: { rows: column('Hilltop', null) },
  },
];

/** Groups 71 and 72: order. */
const orderCases: readonly AqlCase[] = [
  {
    group: 71,
    title: 'ascends',
    aql: bp(SYS, `ORDER BY ${SYS} ASC`),
    expect: { rows: column(120, 138, 150), ordered: true },
  },
  {
    group: 71,
    title: 'ascends by itself',
    aql: bp(SYS, `ORDER BY ${SYS}`),
    expect: { rows: column(120, 138, 150), ordered: true },
  },
  {
    group: 71,
    title: 'descends',
    aql: bp(SYS, `ORDER BY ${SYS} DESCENDING`),
    expect: { rows: column(150, 138, 120), ordered: true },
  },
  {
    group: 71,
    title: 'puts missing values last',
    aql: bp(`${SYS}, ${DIA}`, `ORDER BY ${DIA}`),
    expect: {
      rows: [
        [138, 88],
        [150, 95],
        [120, null],
      ],
      ordered: true,
    },
  },
  {
    group: 71,
    title: 'puts missing values first when it descends',
    aql: bp(`${SYS}, ${DIA}`, `ORDER BY ${DIA} DESC`),
    expect: {
      rows: [
        [120, null],
        [150, 95],
        [138, 88],
      ],
      ordered: true,
    },
  },
  {
    group: 71,
    title: 'orders by an alias',
    aql: bp(`${SYS} AS sys`, 'ORDER BY sys'),
    expect: { rows: column(120, 138, 150), ordered: true },
  },
  {
    group: 71,
    title: 'orders by what is not selected',
    aql: bp(DIA, `ORDER BY ${SYS}`),
    expect: { rows: column(null, 88, 95), ordered: true },
  },
  {
    group: 71,
    title: 'orders by two keys',
    aql: 'SELECT c/composer/name, c/name/value FROM COMPOSITION c ORDER BY c/composer/name DESC, c/name/value',
    expect: {
      rows: [
        ['Dr Xu', 'Problem list'],
        ['Dr Wu', 'Control'],
        ['Dr Wu', 'Order'],
        ['Dr Vera', 'Report'],
        ['Dr Vera', 'Vitals of H-1'],
      ],
      ordered: true,
    },
  },
  {
    group: 71,
    title: 'orders by a function',
    aql: 'SELECT c/name/value FROM COMPOSITION c ORDER BY LENGTH(c/name/value), c/name/value',
    expect: { rows: column('Order', 'Report', 'Control', 'Problem list', 'Vitals of H-1'), ordered: true },
  },
  {
    group: 71,
    title: 'orders texts by code point',
    aql: `SELECT a/data[at0001]/items[at0015]/name/value AS n FROM ${REPORT} ORDER BY n`,
    expect: { rows: column('100%', 'a*b', 'a_b', 'back\\slash', "it's", 'what?'), ordered: true },
  },
  { group: 71, title: 'refuses an unknown name', aql: bp(SYS, 'ORDER BY dia'), expect: invalid("'dia'") },
  {
    group: 72,
    title: 'orders times by instant',
    aql: bp(`${EV}/time/value`, `ORDER BY ${EV}/time`),
    expect: {
      rows: column('2021-03-01T08:00:00+02:00', '2021-03-01T07:00:00Z', '2021-03-02T09:30:00Z'),
      ordered: true,
    },
  },
  {
    group: 72,
    title: 'orders the text of times by instant',
    aql: bp(`${EV}/time/value AS t`, 'ORDER BY t'),
    expect: {
      rows: column('2021-03-01T08:00:00+02:00', '2021-03-01T07:00:00Z', '2021-03-02T09:30:00Z'),
      ordered: true,
    },
  },
  {
    group: 72,
    title: 'ranks mixed types',
    aql: `SELECT a/data[at0001]/items/name/value FROM ${REPORT} WHERE NOT a/data[at0001]/items/archetype_node_id MATCHES {'at0015','at0016','at0013','at0011','at0010'} ORDER BY a/data[at0001]/items/value`,
    expect: {
      rows: column(
        'Proportion',
        'Ordinal',
        'Count',
        'Duration',
        'Time',
        'Year',
        'Month',
        'Flag',
        'Symptom',
        'Unknown',
      ),
      ordered: true,
    },
  },
];

const NAMES = ['Control', 'Order', 'Problem list', 'Report', 'Vitals of H-1'];
const byName = (rest: string, head = ''): string =>
  `SELECT ${head}c/name/value FROM COMPOSITION c ORDER BY c/name/value ${rest}`.trim();

/** Groups 73 to 77: paging, literals, columns. */
const pageCases: readonly AqlCase[] = [
  {
    group: 73,
    title: 'LIMIT',
    aql: byName('LIMIT 2'),
    expect: { rows: column(...NAMES.slice(0, 2)), ordered: true },
  },
  {
    group: 73,
    title: 'LIMIT and OFFSET',
    aql: byName('LIMIT 2 OFFSET 2'),
    expect: { rows: column(...NAMES.slice(2, 4)), ordered: true },
  },
  {
    group: 73,
    title: 'OFFSET alone',
    aql: byName('OFFSET 1'),
    expect: { rows: column(...NAMES.slice(1)), ordered: true },
  },
  { group: 73, title: 'OFFSET past the end', aql: byName('LIMIT 2 OFFSET 20'), expect: { rows: [] } },
  {
    group: 73,
    title: 'takes them as parameters',
    aql: byName('LIMIT $l OFFSET $o'),
    textParameters: { l: '2', o: '1' },
    expect: { rows: column(...NAMES.slice(1, 3)), ordered: true },
  },
  { group: 73, title: 'refuses LIMIT 0', aql: byName('LIMIT 0'), expect: invalid('LIMIT') },
  {
    group: 73,
    title: 'refuses LIMIT 0 as parameter',
    aql: byName('LIMIT $l'),
    parameters: { l: 0 },
    expect: invalid('LIMIT'),
  },
  { group: 73, title: 'refuses a negative LIMIT', aql: byName('LIMIT -1'), expect: invalid('LIMIT') },
  { group: 73, title: 'refuses a broken LIMIT', aql: byName('LIMIT 1.5'), expect: invalid('LIMIT') },
  {
    group: 74,
    title: 'fetch',
    aql: byName(''),
    options: { fetch: 2 },
    expect: { rows: column(...NAMES.slice(0, 2)), ordered: true },
  },
  {
    group: 74,
    title: 'fetch and offset',
    aql: byName(''),
    options: { fetch: 2, offset: 1 },
    expect: { rows: column(...NAMES.slice(1, 3)), ordered: true },
  },
  {
    group: 74,
    title: 'offset alone',
    aql: byName(''),
    options: { offset: 4 },
    expect: { rows: column(...NAMES.slice(4)), ordered: true },
  },
  {
    group: 74,
    title: 'refuses fetch beside LIMIT',
    aql: byName('LIMIT 2'),
    options: { fetch: 2 },
    expect: {
      error: 'unprocessable',
      message: 'Query contains a LIMIT clause, fetch and offset parameters must not be used',
    },
  },
  {
    group: 74,
    title: 'refuses offset 0 beside LIMIT',
    aql: byName('LIMIT 2'),
    options: { offset: 0 },
    expect: { error: 'unprocessable' },
  },
  { group: 74, title: 'refuses fetch 0', aql: byName(''), options: { fetch: 0 }, expect: invalid('fetch') },
  {
    group: 74,
    title: 'uses the default',
    aql: byName(''),
    options: { defaultFetch: 3, maxFetch: 4 },
    expect: { rows: column(...NAMES.slice(0, 3)), ordered: true },
  },
  {
    group: 74,
    title: 'uses the cap without a default',
    aql: byName(''),
    options: { maxFetch: 4 },
    expect: { rows: column(...NAMES.slice(0, 4)), ordered: true },
  },
  {
    group: 74,
    title: 'refuses more than the cap',
    aql: byName('LIMIT 5'),
    options: { maxFetch: 4 },
    expect: invalid('4'),
  },
  {
    group: 74,
    title: 'refuses fetch above the cap',
    aql: byName(''),
    options: { fetch: 5, maxFetch: 4 },
    expect: invalid('4'),
  },
  {
    group: 74,
    title: 'refuses TOP above the cap',
    aql: byName('', 'TOP 5 '),
    options: { maxFetch: 4 },
    expect: invalid('4'),
  },
  {
    group: 75,
    title: 'TOP',
    aql: byName('', 'TOP 2 '),
    expect: { rows: column(...NAMES.slice(0, 2)), ordered: true },
  },
  {
    group: 75,
    title: 'TOP FORWARD',
    aql: byName('', 'TOP 2 FORWARD '),
    expect: { rows: column(...NAMES.slice(0, 2)), ordered: true },
  },
  {
    group: 75,
    title: 'TOP BACKWARD',
    aql: byName('', 'TOP 2 BACKWARD '),
    expect: { rows: column(...NAMES.slice(3)), ordered: true },
  },
  {
    group: 75,
    title: 'TOP with offset',
    aql: byName('', 'TOP 3 '),
    options: { offset: 1 },
    expect: { rows: column(...NAMES.slice(1, 3)), ordered: true },
  },
  { group: 75, title: 'refuses TOP with LIMIT', aql: byName('LIMIT 2', 'TOP 2 '), expect: invalid('TOP') },
  {
    group: 75,
    title: 'refuses TOP with fetch',
    aql: byName('', 'TOP 2 '),
    options: { fetch: 2 },
    expect: { error: 'invalid' },
  },
  {
    group: 76,
    title: 'repeats literals in every row',
    aql: "SELECT 1, 'x', true, NULL, -2.5e1, .5 FROM EHR e",
    expect: { rows: Array.from({ length: 3 }, () => [1, 'x', true, null, -25, 0.5]) },
  },
  {
    group: 77,
    title: 'names columns',
    aql: `SELECT e/ehr_id/value, c/name/value AS n, e/ehr_status/subject, COUNT(*), 1, LENGTH(c/name/value), c/content[${A.vitals}, 'x'] FROM EHR e CONTAINS COMPOSITION c`,
    expect: {
      columns: [
        { name: '#0', path: 'e/ehr_id/value' },
        { name: 'n', path: 'c/name/value' },
        { name: '#2', path: 's/subject' },
        { name: '#3', path: null },
        { name: '#4', path: null },
        { name: '#5', path: null },
        { name: '#6', path: `c/content[${A.vitals}, 'x']` },
      ],
    },
  },
  {
    group: 77,
    title: 'takes another name for s when it is taken',
    aql: 'SELECT e/ehr_status/uid/value FROM EHR e CONTAINS EHR_STATUS s',
    expect: { columns: [{ name: '#0', path: 's1/uid/value' }] },
  },
  {
    group: 77,
    title: 'refuses duplicate aliases',
    aql: 'SELECT c/name/value AS a, c/uid/value AS a FROM COMPOSITION c',
    expect: invalid('twice'),
  },
];

/** Groups 67 to 77: aggregates, DISTINCT, order, paging, columns. */
export const resultCases: readonly AqlCase[] = [...groupCases, ...orderCases, ...pageCases];

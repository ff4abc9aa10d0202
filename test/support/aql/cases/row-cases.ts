import type { JsonValue } from '../../../../openehr/base/json.js';
import { A, column, P, type AqlCase, type Expectation } from './aql-case.js';

const EVENTS = 'p/data[at0001]/events';
const ITEM = `${EVENTS}[at0006]/data[at0003]/items[at0008]`;
const RATE = `${ITEM}/value/magnitude`;
const PROBLEM = `EVALUATION x[${A.problem}]`;
const RATES = `${EVENTS}/data[at0003]/items`;
const FINDINGS = 'x/data[at0001]/items[at0010]/items';
const FINDING = 'x/data[at0001]/items[at0010]';
const PARTICIPATION = 'c/context/participations';

const rows = (...list: JsonValue[][]): Expectation => ({ rows: list });
const ordered = (...values: JsonValue[]): Expectation => ({ rows: column(...values), ordered: true });

const of = (group: string, ...list: (readonly [string, string, Expectation])[]): AqlCase[] =>
  list.map(([title, aql, expect]) => ({ group, title, aql, expect }));

/** Which rows paths give where something is missing, over `ROW_DATA`: docs/spec/aql.md#rows, rule 4. */
export const rowCases: readonly AqlCase[] = [
  ...of(
    'rows of ELEMENTs without value',
    [
      'each ELEMENT gives a row',
      `SELECT ${RATE} FROM ${P} WHERE ${EVENTS}[at0006]/time/value < '2021-03-01T09:00:00Z'`,
      rows([22], [null], [82]),
    ],
    ['and one with a value of another class', `SELECT ${RATE} FROM ${P}`, rows([22], [null], [82], [null])],
    [
      'whatever else of it is asked',
      `SELECT ${ITEM}/name/value, ${RATE}, ${ITEM}/null_flavour/value, ${ITEM}/value/value FROM ${P}`,
      rows(
        ['Rate', 22, null, null],
        ['Rate', null, 'unknown', null],
        ['Rate', 82, null, null],
        ['Rate', null, null, 'too fast to count'],
      ),
    ],
    [
      'also when only what none of them has is asked',
      `SELECT ${ITEM}/feeder_audit/originating_system_audit/system_id FROM ${P}`,
      rows([null], [null], [null], [null]),
    ],
    [
      'also as an object',
      `SELECT ${ITEM}/null_flavour, ${ITEM}/value/_type FROM ${P} WHERE NOT EXISTS ${ITEM}/null_flavour`,
      rows([null, 'DV_QUANTITY'], [null, 'DV_QUANTITY'], [null, 'DV_TEXT']),
    ],
    [
      'a predicate on the value leaves it NULL',
      `SELECT ${ITEM}/value[magnitude > 50]/units FROM ${P}`,
      {
        rows: column('/min', null, null, null),
      },
    ],
    [
      'a predicate on the ELEMENT leaves it out',
      `SELECT ${ITEM.replace('[at0008]', '[at0008 and value/magnitude > 50]')}/value/units FROM ${P}`,
      {
        rows: column('/min'),
      },
    ],
  ),
  ...of(
    'rows of events, clusters and lists',
    [
      'an event without width is NULL',
      `SELECT ${EVENTS}/width/value FROM ${P}`,
      rows([null], ['PT1H'], [null]),
    ],
    [
      'so is its function',
      `SELECT ${EVENTS}/time/value, ${EVENTS}/math_function/value FROM ${P} ORDER BY ${EVENTS}/time/value`,
      rows(
        ['2021-03-01T08:00:00Z', null],
        ['2021-03-01T09:00:00Z', 'maximum'],
        ['2021-03-01T10:00:00Z', null],
      ),
    ],
    [
      'an event without the ELEMENT is no alternative',
      `SELECT ${EVENTS}/data[at0003]/items[at0008]/value/magnitude FROM ${P}`,
      rows([22], [null], [82], [null]),
    ],
    [
      'unless something of the event itself is asked',
      `SELECT ${EVENTS}/archetype_node_id, ${EVENTS}/data[at0003]/items[at0004]/value/magnitude FROM ${P}`,
      rows(['at0006', null], ['at0006', null], ['at0007', 5]),
    ],
    ['no alternative at all is one NULL', `SELECT ${EVENTS}/state/items/value FROM ${P}`, rows([null])],
    [
      'a CLUSTER without the ELEMENT is no alternative',
      `SELECT ${FINDING}/items[at0011]/value/magnitude FROM ${PROBLEM}`,
      rows([1], [null]),
    ],
    [
      'unless another ELEMENT of it is asked',
      `SELECT ${FINDING}/items[at0011]/value/magnitude, ${FINDING}/items[at0012]/value/value FROM ${PROBLEM}`,
      rows([1, null], [null, null], [null, 'red']),
    ],
    [
      'each element of a list below counts',
      `SELECT ${PARTICIPATION}/performer/name FROM COMPOSITION c`,
      rows(['Nina'], [null]),
    ],
    [
      'those that a predicate keeps',
      `SELECT ${PARTICIPATION}[function/value='witness']/performer/name FROM COMPOSITION c`,
      rows([null]),
    ],
  ),
  ...of(
    'rows without a value in aggregates, ORDER BY and DISTINCT',
    [
      'COUNT(*) counts them',
      `SELECT ${ITEM}/archetype_node_id, COUNT(*), COUNT(${RATE}) FROM ${P}`,
      rows(['at0008', 4, 2]),
    ],
    [
      'aggregates of values leave them out',
      `SELECT COUNT(${RATE}), MIN(${RATE}), MAX(${RATE}), SUM(${RATE}), AVG(${RATE}) FROM ${P}`,
      rows([2, 22, 82, 104, 52]),
    ],
    ['NULL is a group', `SELECT ${RATE}, COUNT(*) FROM ${P}`, rows([22, 1], [82, 1], [null, 2])],
    ['they are last with ASC', `SELECT ${RATE} FROM ${P} ORDER BY ${RATE}`, ordered(22, 82, null, null)],
    [
      'and first with DESC',
      `SELECT ${RATE} FROM ${P} ORDER BY ${RATE} DESC LIMIT 3`,
      ordered(null, null, 82),
    ],
    ['DISTINCT has one', `SELECT DISTINCT ${RATE} FROM ${P} ORDER BY ${RATE}`, ordered(22, 82, null)],
  ),
  ...of(
    'rows without a value in WHERE',
    [
      'a comparison drops them',
      `SELECT ${RATE} FROM ${P} WHERE ${RATE} > 0 ORDER BY ${RATE} DESC LIMIT 5`,
      ordered(82, 22),
    ],
    ['and so does its negation', `SELECT ${RATE} FROM ${P} WHERE NOT ${RATE} > 50`, rows([22])],
    [
      'NOT EXISTS finds them',
      `SELECT ${ITEM}/name/value, ${RATE} FROM ${P} WHERE NOT EXISTS ${RATE}`,
      rows(['Rate', null], ['Rate', null]),
    ],
    ['= NULL too', `SELECT ${RATE} FROM ${P} WHERE ${RATE} = NULL`, rows([null], [null])],
    [
      'OR keeps both',
      `SELECT ${RATE} FROM ${P} WHERE ${RATE} > 50 OR NOT EXISTS ${RATE}`,
      rows([82], [null], [null]),
    ],
    [
      'a null flavour is found',
      `SELECT ${ITEM}/null_flavour/defining_code/code_string FROM ${P} WHERE ${ITEM}/null_flavour/value = 'unknown'`,
      rows(['253']),
    ],
  ),
  ...of(
    'rows of paths that differ in a name and a code',
    [
      'are of one element that has both',
      `SELECT ${RATES}[at0008]/value/magnitude, ${RATES}[name/value='Rate']/null_flavour/value FROM ${P}`,
      rows([22, null], [null, 'unknown'], [82, null], [null, null]),
    ],
    [
      'whichever comes first',
      `SELECT ${RATES}[name/value='Rate']/null_flavour/value, ${RATES}[at0008]/value/magnitude FROM ${P}`,
      rows([null, 22], ['unknown', null], [null, 82], [null, null]),
    ],
    [
      'also where WHERE has the one and SELECT the other',
      `SELECT ${RATES}[name/value='Rate']/value/units FROM ${P} WHERE ${RATES}[at0008]/value/magnitude > 50`,
      rows(['/min']),
    ],
    [
      'or of none',
      `SELECT ${RATES}[at0004]/value/magnitude, ${RATES}[name/value='Rate']/value/magnitude FROM ${P}`,
      rows([null, null]),
    ],
    [
      'are of one element where there is but one',
      `SELECT ${EVENTS}[at0006]/data[name/value='Tree']/items/value/magnitude FROM ${P} WHERE ${EVENTS}[at0006]/data[at0003]/items/value/magnitude < 50`,
      rows([22]),
    ],
    [
      'and EXISTS asks for the element of the row',
      `SELECT ${RATES}[at0008]/value/magnitude FROM ${P} WHERE EXISTS ${RATES}[name/value='Rate']/null_flavour`,
      rows([null]),
    ],
    [
      'but two codes and a name are three choices',
      `SELECT ${FINDINGS}[at0011]/value/magnitude, ${FINDINGS}[at0012]/value/value, ${FINDINGS}[name/value='Size']/null_flavour/value FROM ${PROBLEM}`,
      rows([1, null, null], [null, null, 'unknown'], [null, 'red', null]),
    ],
  ),
  ...of(
    'what docs/aql.md names as different from EHRbase',
    [
      'equal objects of different nodes are one group',
      `SELECT ${ITEM}/name, COUNT(*) FROM ${P}`,
      rows([{ _type: 'DV_TEXT', value: 'Rate' }, 4]),
    ],
    [
      'a path through an absent feeder_audit is NULL for each element that lacks it',
      'SELECT c/content/feeder_audit/originating_system_item_ids/type FROM COMPOSITION c',
      rows([null], [null]),
    ],
    [
      'names are less by code point, with case',
      `SELECT DISTINCT ${ITEM}/name/value FROM ${P} WHERE ${ITEM}/name/value < 'finding'`,
      rows(['Rate']),
    ],
  ),
];

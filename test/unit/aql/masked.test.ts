import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { maskedAql } from '../../../aql/syntax/masked.js';
import { parseAql } from '../../../aql/syntax/parse.js';
import { renderAql } from '../../../aql/syntax/render.js';
import { queryTrees } from '../../support/aql/trees.js';

const EHR = '7d44b88c-4199-4bad-97dc-d78268e01398';
const ARCHETYPE = 'openEHR-EHR-OBSERVATION.body_temperature.v2';

describe('a masked query', () => {
  it.each([
    [
      'a string',
      `SELECT e FROM EHR e WHERE e/a/b = 'Erika' OR e/a = "O'Neill"`,
      'SELECT e FROM EHR e WHERE e/a/b = ? OR e/a = ?',
    ],
    [
      'escapes in it',
      String.raw`SELECT e FROM EHR e WHERE e/a = 'x\' OR \u0041' AND e/b = 'y'`,
      'SELECT e FROM EHR e WHERE e/a = ? AND e/b = ?',
    ],
    [
      'dates and numbers',
      `SELECT 5, -3.5e2 FROM EHR e WHERE e/t > '1964-08-12' AND e/m < 37.5`,
      'SELECT ?, ? FROM EHR e WHERE e/t > ? AND e/m < ?',
    ],
    [
      'truth values',
      'SELECT true FROM EHR e WHERE e/a = false AND e/b != NULL',
      'SELECT ? FROM EHR e WHERE e/a = ? AND e/b != NULL',
    ],
    [
      'the ehr_id in a predicate',
      `SELECT e FROM EHR e[ehr_id/value='${EHR}']`,
      'SELECT e FROM EHR e[ehr_id/value=?]',
    ],
    [
      'names beside archetype ids and at-codes, which stay',
      `SELECT o/data[at0001, 'Erika']/b[at0002 and name/value='M'] FROM EHR e CONTAINS OBSERVATION o[${ARCHETYPE}, 'Erika']`,
      `SELECT o/data[at0001, ?]/b[at0002 and name/value=?] FROM EHR e CONTAINS OBSERVATION o[${ARCHETYPE}, ?]`,
    ],
    [
      'term codes',
      `SELECT o/data[at0001, snomed_ct(3.1)::386725007|fever of Erika|] FROM EHR e CONTAINS OBSERVATION o`,
      'SELECT o/data[at0001, ?] FROM EHR e CONTAINS OBSERVATION o',
    ],
    [
      'an id as a value',
      `SELECT c FROM EHR e CONTAINS COMPOSITION c[archetype_node_id=at1964]`,
      'SELECT c FROM EHR e CONTAINS COMPOSITION c[archetype_node_id=?]',
    ],
    [
      'LIKE',
      `SELECT e FROM EHR e WHERE e/a LIKE 'Must*' AND NOT e/b LIKE $p`,
      'SELECT e FROM EHR e WHERE e/a LIKE ? AND NOT e/b LIKE $p',
    ],
    [
      'lists',
      `SELECT e FROM EHR e WHERE e/a MATCHES {'x', 5, $p}`,
      'SELECT e FROM EHR e WHERE e/a MATCHES {?, ?, $p}',
    ],
    [
      'value sets',
      `SELECT e FROM EHR e WHERE e/a matches {terminology://snomed/v?erika} OR e/b matches TERMINOLOGY('expand', 'f', 'url=erika')`,
      'SELECT e FROM EHR e WHERE e/a matches {?} OR e/b matches TERMINOLOGY(?, ?, ?)',
    ],
    [
      'regular expressions',
      `SELECT o/data[name/value matches {/Must.*\\/x]/; 'Erika'}] FROM EHR e CONTAINS OBSERVATION o`,
      'SELECT o/data[name/value matches {?}] FROM EHR e CONTAINS OBSERVATION o',
    ],
    ['arguments', `SELECT CONCAT(e/a, 'Erika') AS n FROM EHR e`, 'SELECT CONCAT(e/a, ?) AS n FROM EHR e'],
    [
      'limits',
      'SELECT e FROM EHR e ORDER BY e/a DESC LIMIT 10 OFFSET 20',
      'SELECT e FROM EHR e ORDER BY e/a DESC LIMIT ? OFFSET ?',
    ],
    ['TOP', 'SELECT TOP 5 e FROM EHR e', 'SELECT TOP ? e FROM EHR e'],
    [
      'comments and lines',
      `SELECT e -- of Erika, '1964'\r\nFROM\n\tEHR e -- Mustermann`,
      'SELECT e FROM EHR e',
    ],
  ])('has ? for %s', (_, text, masked) => {
    expect(maskedAql(text)).toBe(masked);
  });

  it('is nothing at all when the text is no query', () => {
    for (const text of [
      '',
      'Erika Mustermann',
      `SELECT e FROM EHR e WHERE e/a = 'Erika`,
      `SELECT e FROM EHR e 'Erika'`,
    ])
      expect(maskedAql(text)).toBeNull();
  });

  it('never holds a value, whatever the query', () => {
    fc.assert(
      fc.property(queryTrees, (tree) => {
        const marked = JSON.parse(
          JSON.stringify(tree, (_key, node: unknown) => withSecret(node)),
        ) as typeof tree;
        const text = renderAql(marked);
        const masked = maskedAql(text);
        expect(parseAql(text)).toBeDefined();
        expect(masked).not.toBeNull();
        expect(masked).not.toMatch(/secret|4711/);
      }),
      { numRuns: 300 },
    );
  });
});

/** The node with a value that is found again. */
function withSecret(node: unknown): unknown {
  if (typeof node !== 'object' || node === null || !('kind' in node)) return node;
  switch (node.kind) {
    case 'string':
      return { ...node, value: "secret '--]}" };
    case 'integer':
      return { ...node, value: 4711 };
    case 'real':
      return { ...node, value: 0.4711 };
    case 'term-code':
      return { ...node, code: 'secret', text: 'secret' };
    case 'predicate-regex':
      return { ...node, pattern: 'secret.*', assumed: 'secret' };
    case 'uri':
      return { ...node, uri: 'terminology://secret' };
    default:
      return node;
  }
}

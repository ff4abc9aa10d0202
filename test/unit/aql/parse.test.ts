import { describe, expect, it } from '@jest/globals';
import { parseAql } from '../../../aql/syntax/parse.js';
import { renderAql } from '../../../aql/syntax/render.js';
import { CdrError } from '../../../openehr/base/errors.js';
import { treeOf } from '../../support/aql/tree.js';

function failureOf(aql: string): string {
  try {
    parseAql(aql);
  } catch (error) {
    if (error instanceof CdrError && error.code === 'invalid') return error.message;
    throw error;
  }
  throw new Error(`not refused: ${aql}`);
}

const column = (aql: string): unknown =>
  treeOf(parseAql(`SELECT ${aql} FROM EHR e`).select.columns[0]?.expression);
const where = (aql: string): unknown => treeOf(parseAql(`SELECT e FROM EHR e WHERE ${aql}`).where);
const from = (aql: string): string =>
  renderAql(parseAql(`SELECT 1 FROM ${aql}`)).slice('SELECT 1 FROM '.length);
const predicate = (aql: string): unknown => treeOf(parseAql(`SELECT e FROM COMPOSITION c[${aql}]`).from);

describe('literals', () => {
  it.each([
    ['12', { kind: 'integer', value: 12 }],
    ['-12', { kind: 'integer', value: -12 }],
    ['1.5', { kind: 'real', value: 1.5 }],
    ['.5', { kind: 'real', value: 0.5 }],
    ['1e3', { kind: 'real', value: 1000 }],
    ['1.5E-2', { kind: 'real', value: 0.015 }],
    ['TRUE', { kind: 'boolean', value: true }],
    ['False', { kind: 'boolean', value: false }],
    ['null', { kind: 'null' }],
    ["'2020-01-01'", { kind: 'string', value: '2020-01-01' }],
    ['"a\'b"', { kind: 'string', value: "a'b" }],
    ["'a\\tb\\u00e4\\101\\?\\*'", { kind: 'string', value: 'a\tbäA?\\*' }],
    ["'two\nlines'", { kind: 'string', value: 'two\nlines' }],
  ])('reads %s', (aql, expected) => {
    expect(column(aql)).toEqual(expected);
  });

  it('refuses numbers that are not held exactly', () => {
    expect(failureOf('SELECT 9007199254740993 FROM EHR e')).toContain('too large');
    expect(failureOf('SELECT 1e999 FROM EHR e')).toContain('too large');
    expect(failureOf('SELECT 12abc FROM EHR e')).toContain('1:8');
  });

  it('keeps the backslashes of LIKE patterns', () => {
    expect(where("e/a LIKE 'a\\*\\?\\\\'")).toMatchObject({ pattern: { value: 'a\\*\\?\\' } });
  });
});

describe('names', () => {
  it('takes words after a slash as attributes', () => {
    expect(column('e/position/min/select/_type')).toMatchObject({
      steps: ['position', 'min', 'select', '_type'].map((attribute) => ({ attribute })),
    });
  });
  it('takes names that look like node codes as variables', () => {
    expect(from('COMPOSITION id1 CONTAINS OBSERVATION at0001')).toBe(
      'COMPOSITION id1 CONTAINS OBSERVATION at0001',
    );
  });
  it.each(['SELECT', 'contains', 'max', 'LENGTH', 'terminology', 'Order'])(
    'refuses %s as variable',
    (word) => {
      expect(failureOf(`SELECT 1 FROM COMPOSITION ${word}[at0001]`)).toContain('line 1:27');
    },
  );
  it('upper-cases classes and keeps variables as written', () => {
    expect(from('Composition cComp')).toBe('COMPOSITION cComp');
  });
});

describe('predicates', () => {
  it.each([
    ['openEHR-EHR-COMPOSITION.encounter.v1', { kind: 'node', id: { isArchetypeId: true }, name: null }],
    [
      'org.openehr::openEHR-EHR-COMPOSITION.a-b_c.v1.0.2-rc.1',
      { kind: 'node', id: { value: 'org.openehr::openEHR-EHR-COMPOSITION.a-b_c.v1.0.2-rc.1' } },
    ],
    ['at0002.1', { kind: 'node', id: { value: 'at0002.1', isArchetypeId: false } }],
    ['id5', { kind: 'node', id: { value: 'id5' } }],
    ["at0004, 'it\\'s, so'", { name: { kind: 'string', value: "it's, so" } }],
    ['at0004, $n', { name: { kind: 'parameter', name: 'n' } }],
    ['at0004, at0005', { name: { kind: 'node-id', value: 'at0005' } }],
    [
      'at0004, snomed_ct(3.1)::313267000|Heart rate|',
      { name: { terminology: 'snomed_ct', version: '3.1', code: '313267000', text: 'Heart rate' } },
    ],
    ['at0004, ISO_639-1::en', { name: { terminology: 'ISO_639-1', code: 'en' } }],
    ['$p', { kind: 'node-parameter', parameter: { name: 'p' } }],
    ['uid/value = $u', { kind: 'predicate-comparison', operand: { kind: 'parameter' } }],
    ['a/b <> at0004', { operator: '!=', operand: { kind: 'node-id', value: 'at0004' } }],
    ['a/b[at0001]/c >= d/e', { operand: { kind: 'object-path' } }],
    ['min/magnitude > -3', { path: { steps: [{ attribute: 'min' }, { attribute: 'magnitude' }] } }],
    ['name/value matches {/^L.*\\/x/}', { kind: 'predicate-regex', pattern: '^L.*\\/x', assumed: null }],
    ["name/value matches { /a{2}/ ; 'b' }", { kind: 'predicate-regex', pattern: 'a{2}', assumed: 'b' }],
  ])('reads [%s]', (aql, expected) => {
    expect(predicate(aql)).toMatchObject({ predicate: { alternatives: [[expected]] } });
  });

  it('joins conditions: AND binds tighter than OR', () => {
    expect(predicate('at0001 and a/b=1 or at0002 OR c/d=2 and e/f=3')).toMatchObject({
      predicate: { alternatives: [[{ kind: 'node' }, {}], [{ kind: 'node' }], [{}, {}]] },
    });
  });

  it('knows the brackets of VERSION', () => {
    expect(
      treeOf(parseAql('SELECT v FROM VERSION v[all_versions] CONTAINS COMPOSITION c').from),
    ).toMatchObject({
      versions: 'all',
      predicate: null,
    });
    expect(
      treeOf(parseAql("SELECT v FROM ORIGINAL_VERSION v[uid/value='x'] CONTAINS COMPOSITION c").from),
    ).toMatchObject({
      className: 'ORIGINAL_VERSION',
      versions: null,
      predicate: {},
    });
  });
});

describe('precedence', () => {
  it.each([
    ['A a CONTAINS B b AND C c', 'A a CONTAINS (B b AND C c)'],
    ['A CONTAINS B CONTAINS C AND D OR E', 'A CONTAINS B CONTAINS ((C AND D) OR E)'],
    ['A CONTAINS ((B CONTAINS C) AND D)', 'A CONTAINS ((B CONTAINS C) AND D)'],
    ['A AND B CONTAINS C OR D', 'A AND (B CONTAINS (C OR D))'],
    ['A CONTAINS B OR C AND D', 'A CONTAINS (B OR (C AND D))'],
    ['A NOT CONTAINS B CONTAINS C', 'A NOT CONTAINS B CONTAINS C'],
    ['(A)', 'A'],
  ])('reads %s', (aql, expected) => {
    expect(from(aql)).toBe(expected);
  });

  it.each([
    ['NOT e/a = 1 AND e/b = 2 OR e/c = 3', 'NOT e/a = 1 AND e/b = 2 OR e/c = 3'],
    ['e/a = 1 OR e/b = 2 AND e/c = 3', 'e/a = 1 OR e/b = 2 AND e/c = 3'],
    [
      '(e/a = 1 OR e/b = 2) AND NOT (e/c = 3 AND e/d = 4)',
      '(e/a = 1 OR e/b = 2) AND NOT (e/c = 3 AND e/d = 4)',
    ],
  ])('reads WHERE %s', (aql, expected) => {
    const query = parseAql(`SELECT e FROM EHR e WHERE ${aql}`);
    expect(renderAql(query)).toBe(`SELECT e FROM EHR e WHERE ${expected}`);
  });
});

describe('conditions', () => {
  it.each([
    ['EXISTS e/a', { kind: 'exists' }],
    ['e/a <> $p', { kind: 'comparison', operator: '!=', right: { kind: 'parameter' } }],
    ['LENGTH(e/a) > e/b', { kind: 'comparison', left: { kind: 'function' }, right: { kind: 'path' } }],
    ["CONTAINS(e/a, 'x') = true", { left: { name: 'CONTAINS' } }],
    ['e/a NOT LIKE $p', { kind: 'like', negated: true }],
    [
      "e/a MATCHES {'a', 1.5, $p, TERMINOLOGY('a','b','c')}",
      { set: { items: [{}, {}, {}, { kind: 'terminology' }] } },
    ],
    ["e/a NOT MATCHES TERMINOLOGY('a', $b, 'c')", { negated: true, set: { kind: 'list', items: [{}] } }],
    [
      'e/a matches { terminology://hl7.org/ValueSet/$expand?url=x }',
      { set: { kind: 'uri', uri: 'terminology://hl7.org/ValueSet/$expand?url=x' } },
    ],
  ])('reads %s', (aql, expected) => {
    expect(where(aql)).toMatchObject(expected);
  });
});

describe('clauses', () => {
  it('reads SELECT, TOP, aliases, aggregates, ORDER BY, LIMIT', () => {
    const query = parseAql(
      'SELECT DISTINCT TOP 3 BACKWARD c/a AS x, COUNT(DISTINCT c/b), SUM(ABS(c/d)) FROM COMPOSITION c ORDER BY x DESCENDING, COUNT(DISTINCT c/b), LENGTH(c/e) ASC',
    );
    expect(treeOf(query)).toMatchObject({
      select: {
        distinct: true,
        top: { count: 3, direction: 'backward' },
        columns: [
          { alias: 'x' },
          { expression: { name: 'COUNT', distinct: true } },
          { expression: { name: 'SUM', argument: { kind: 'function' } } },
        ],
      },
      orderBy: [{ descending: true }, { descending: false }, { expression: { kind: 'function' } }],
      limit: null,
    });
    expect(query.select.columns[0]?.text).toBe('c/a');
    expect(treeOf(parseAql('SELECT e FROM EHR e LIMIT $n OFFSET 5').limit)).toEqual({
      limit: { kind: 'parameter', name: 'n' },
      offset: { kind: 'integer', value: 5 },
    });
    expect(parseAql('SELECT e FROM EHR e OFFSET 5').limit?.limit).toBeNull();
  });
});

describe('errors', () => {
  it.each([
    ['', '1:1: expected SELECT, found the end of the query'],
    ['SELEC e FROM EHR e', "1:1: expected SELECT, found 'SELEC'; did you mean SELECT?"],
    ['SELECT e FORM EHR e', 'did you mean FROM?'],
    ['SELECT e FROM EHR e WHER e/a = 1', 'did you mean WHERE?'],
    ['SELECT e FROM EHR e\nWHERE e/a = 1 ODER BY e/a', '2:15'],
    ['SELECT e FROM EHR e WHERE e/a LIEK 1', 'did you mean LIKE?'],
    ['SELECT e FROM EHR e WHERE 1 = e/a', 'expected a condition'],
    ['SELECT LENGHT(e/a) FROM EHR e', "unknown function 'LENGHT'; did you mean LENGTH?"],
    ['SELECT e FROM EHR e LIMIT 1 WHERE e/a = 1', 'WHERE must stand before'],
    ['SELECT e FROM EHR e[', 'found the end of the query'],
    ['SELECT e FROM EHR e[ehr_id/value=]', "found ']'"],
    ["SELECT e FROM EHR e WHERE e/a MATCHES {'a' 'b'}", "expected ','"],
    ['SELECT MIN(*) FROM EHR e', 'expected a path'],
    ['SELECT $p FROM EHR e', 'parameter $p'],
    ['SELECT TOP 0 e FROM EHR e', 'TOP must be 1 or more'],
    ['SELECT e FROM EHR e;;', '1:21'],
    ['SELECT e FROM EHR e; WHERE e/ehr_id/value = 1', '1:22'],
    ['SELECT * FROM EHR e', '1:8: AQL has no SELECT *'],
    ['SELECT DISTINCT e, * FROM EHR e', '1:20: AQL has no SELECT *'],
    ['SELECT COUNT(*) FROM EHR e GROUP BY e/ehr_id/value', '1:28: AQL has no GROUP BY'],
    ['SELECT COUNT(*) FROM EHR e WHERE e/ehr_id/value = 1 group by e', '1:53: AQL has no GROUP BY'],
    ['SELECT e FROM EHR e WHERE e/a = $ p', "right after '$'"],
    ['SELECT e FROM EHR e WHERE e//a = 1', 'an attribute name'],
  ])('refuses %j', (aql, message) => {
    expect(failureOf(aql)).toContain(message);
  });
});

describe('limits', () => {
  it('refuses more than 64 KiB of text', () => {
    expect(failureOf(`SELECT '${'x'.repeat(66_000)}' FROM EHR e`)).toContain(
      'has 66020 bytes, at most 65536',
    );
  });
  it('refuses more than 50 levels of every kind', () => {
    const deep = (open: string, middle: string, close: string): string =>
      open.repeat(51) + middle + close.repeat(51);
    expect(failureOf(`SELECT e FROM EHR e WHERE ${deep('(', 'EXISTS e/a', ')')}`)).toContain(
      'at most 50 levels',
    );
    expect(failureOf(`SELECT e FROM EHR e WHERE ${deep('NOT ', 'EXISTS e/a', '')}`)).toContain(
      'at most 50 levels',
    );
    expect(failureOf(`SELECT e FROM ${deep('(', 'EHR e', ')')}`)).toContain('at most 50 levels');
    expect(failureOf(`SELECT e FROM ${deep('SECTION CONTAINS ', 'SECTION', '')}`)).toContain(
      'at most 50 classes',
    );
    expect(failureOf(`SELECT ${deep('ABS(', 'e/a', ')')} FROM EHR e`)).toContain('at most 50 levels');
    expect(failureOf(`SELECT e/${deep('a[b/', 'c', '=1]')} FROM EHR e`)).toContain('at most 50 levels');
    expect(failureOf(`SELECT e${'/a'.repeat(151)} FROM EHR e`)).toContain('at most 150 steps');
  });
  it('takes long chains', () => {
    const chain = Array.from({ length: 500 }, () => 'e/a = 1').join(' AND ');
    expect(treeOf(parseAql(`SELECT e FROM EHR e WHERE ${chain}`).where)).toMatchObject({ kind: 'and' });
  });
  it('refuses more than 10,000 literals', () => {
    const list = Array.from({ length: 10_001 }, () => '1').join(',');
    expect(failureOf(`SELECT e FROM EHR e WHERE e/a MATCHES {${list}}`)).toContain('at most 10000 literals');
  });
});

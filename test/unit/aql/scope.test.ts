import { describe, expect, it } from '@jest/globals';
import { resolveScope } from '../../../aql/semantics/scope/scope.js';
import type { FromNode, Scope } from '../../../aql/semantics/scope-types.js';
import { boundQuery } from '../../support/aql/bound-query.js';

const scopeOf = (aql: string, ehrId: string | null = null): Scope => resolveScope(boundQuery(aql), { ehrId });
const fromOf = (from: string): Scope => scopeOf(`SELECT 1 FROM ${from}`);

/** FROM as text with implicit EHRs in brackets. */
function shape(node: FromNode): string {
  if (node.kind !== 'class') return `(${node.operands.map(shape).join(node.kind === 'and' ? ' & ' : ' | ')})`;
  const self = node.alias.implicit ? '[EHR]' : `${node.alias.className} ${node.alias.variable ?? ''}`.trim();
  if (node.contains === null) return self;
  return `${self} ${node.contains.negated ? '!>' : '>'} ${shape(node.contains.child)}`;
}

describe('FROM', () => {
  it.each([
    ['EHR e', 'EHR e'],
    ['COMPOSITION c', '[EHR] > COMPOSITION c'],
    ['COMPOSITION c AND EHR_STATUS s', '[EHR] > (COMPOSITION c & EHR_STATUS s)'],
    ['EHR a AND EHR b', '(EHR a & EHR b)'],
    [
      'EHR a CONTAINS COMPOSITION c AND EHR b CONTAINS COMPOSITION d',
      '(EHR a > COMPOSITION c & EHR b > COMPOSITION d)',
    ],
    [
      'EHR a CONTAINS COMPOSITION c CONTAINS OBSERVATION o AND EHR b',
      '(EHR a > COMPOSITION c > OBSERVATION o & EHR b)',
    ],
    ['EHR a OR COMPOSITION c', '(EHR a | [EHR] > COMPOSITION c)'],
    ['EHR a NOT CONTAINS COMPOSITION c', 'EHR a !> COMPOSITION c'],
  ])('%s', (from, expected) => {
    expect(shape(fromOf(from).from)).toBe(expected);
  });

  it('numbers classes in the order of the text, implicit ones last', () => {
    const { aliases } = fromOf('COMPOSITION c CONTAINS (OBSERVATION o OR EVALUATION v)');
    expect(
      aliases.map(({ index, className, implicit, optional }) => [index, className, implicit, optional]),
    ).toEqual([
      [0, 'COMPOSITION', false, false],
      [1, 'OBSERVATION', false, true],
      [2, 'EVALUATION', false, true],
      [3, 'EHR', true, false],
    ]);
  });

  it('knows the kinds of object that can hold a class', () => {
    const { aliases } = fromOf('EHR e CONTAINS FOLDER f CONTAINS CLUSTER c CONTAINS ELEMENT el');
    expect(aliases.map(({ rootTypes }) => rootTypes)).toEqual([
      ['COMPOSITION', 'EHR_STATUS', 'FOLDER'],
      ['FOLDER'],
      ['COMPOSITION', 'FOLDER'],
      ['COMPOSITION', 'FOLDER'],
    ]);
  });

  it.each([
    ['OBSERVATION o CONTAINS COMPOSITION x', true],
    ['COMPOSITION c CONTAINS COMPOSITION x', true],
    ['EHR e CONTAINS EHR x', true],
    ['COMPOSITION c CONTAINS VERSION x CONTAINS OBSERVATION o', true],
    ['FOLDER f CONTAINS VERSION x CONTAINS COMPOSITION c', false],
    ['FOLDER f CONTAINS OBSERVATION x', false],
    ['OBSERVATION o CONTAINS SECTION x', true],
    ['ELEMENT el CONTAINS CLUSTER x', false],
    ['COMPOSITION c CONTAINS LOCATABLE x', false],
  ])('%s: impossible is %s', (from, impossible) => {
    expect(fromOf(from).variables.get('x')?.impossible).toBe(impossible);
  });

  it.each([
    ['EHR_STATUS s CONTAINS COMPOSITION c', 'different versioned objects'],
    ['OBSERVATION o CONTAINS EHR_STATUS s', 'different versioned objects'],
    ['VERSION v CONTAINS VERSION w CONTAINS COMPOSITION c', 'cannot contain a VERSION'],
    ['COMPOSITION c CONTAINS (EHR e OR OBSERVATION o)', 'below OR'],
    ['COMPOSITON c', 'did you mean COMPOSITION'],
    ['DV_TEXT t', 'cannot name'],
    ['EVENT_CONTEXT x CONTAINS ITEM_TREE t[at0001]', 'at-code'],
  ])('refuses %s', (from, message) => {
    expect(() => fromOf(from)).toThrow(message);
  });

  it('fixes an EHR by predicate, WHERE or request', () => {
    const id = 'eeeeeeee-0000-4000-8000-000000000001';
    const fixed = (aql: string, ehrId: string | null = null): (string | null)[] =>
      scopeOf(aql, ehrId)
        .aliases.filter(({ kind }) => kind === 'ehr')
        .map(({ fixedEhrId }) => fixedEhrId);
    expect(fixed(`SELECT 1 FROM EHR e[ehr_id/value='${id.toUpperCase()}']`)).toEqual([id]);
    expect(fixed(`SELECT 1 FROM EHR e WHERE e/ehr_id/value = '${id}' AND e/system_id/value = 'x'`)).toEqual([
      id,
    ]);
    expect(fixed(`SELECT 1 FROM EHR e WHERE e/ehr_id/value = '${id}' OR e/system_id/value = 'x'`)).toEqual([
      null,
    ]);
    expect(fixed(`SELECT 1 FROM EHR e WHERE NOT e/ehr_id/value = '${id}'`)).toEqual([null]);
    expect(fixed('SELECT 1 FROM COMPOSITION c', id)).toEqual([id]);
    expect(fixed(`SELECT 1 FROM EHR e[ehr_id/value='${id}' or system_id/value='x']`)).toEqual([null]);
  });
});

describe('paths', () => {
  const typed = (path: string): unknown => {
    const use = scopeOf(
      `SELECT ${path} FROM EHR e CONTAINS VERSION v CONTAINS COMPOSITION c CONTAINS (OBSERVATION o AND FOLDER f OR EHR_STATUS s)`.replace(
        'AND FOLDER f OR EHR_STATUS s',
        '',
      ),
    ).paths[0];
    return {
      classes: [...(use?.type.classes ?? [])].sort(),
      domains: [...(use?.type.domains ?? [])].sort(),
      identifier: use?.type.identifier,
    };
  };

  it.each([
    ['e/ehr_id/value', ['String'], ['text'], 'ehr'],
    ['e/ehr_status/is_queryable', ['Boolean'], ['boolean'], null],
    ['e/directory/folders/name', ['DV_CODED_TEXT', 'DV_TEXT'], ['text'], null],
    ['e/directory/uid/value', ['String'], ['text'], 'folder'],
    ['c/uid/value', ['String'], ['text'], 'version'],
    ['v/uid/value', ['String'], ['text'], 'version'],
    ['v/preceding_version_uid/value', ['String'], ['text'], null],
    ['v/commit_audit/time_committed/value', ['Iso8601_date_time'], ['instant'], null],
    ['v/data', ['COMPOSITION', 'EHR_STATUS', 'FOLDER'], [], null],
    ['o/data/events/data/items/value/magnitude', ['Integer64', 'Real'], ['number'], null],
    ['o/uid/value', ['String'], ['text'], null],
    ['c/_type', ['String'], ['text'], null],
  ])('%s', (path, classes, domains, identifier) => {
    expect(typed(path)).toEqual({ classes, domains, identifier });
  });

  it.each([
    ['o/data/evnets/time', "'evnets'; did you mean events?"],
    ['c/name/value/value', "String has no attribute 'value'"],
    ['c/content[nonsense/value=1]/name', "'nonsense'"],
    ['c/content[name/valu=1]/name', "'valu'"],
    ['e/nonsense', 'EHR has no attribute'],
  ])('refuses %s', (path, message) => {
    expect(() => typed(path)).toThrow(message);
  });

  it('lets predicates on missing names just not match', () => {
    expect(typed("c/links[name/value='x']/type")).toBeDefined();
  });

  it('takes a column alias before a variable in ORDER BY', () => {
    const { orderBy } = scopeOf(
      'SELECT c/name/value AS c, c/uid/value FROM COMPOSITION c ORDER BY c, c/uid/value DESC, c/composer/name',
    );
    expect(orderBy.map(({ column, descending }) => [column, descending])).toEqual([
      [0, false],
      [1, true],
      [null, false],
    ]);
  });
});

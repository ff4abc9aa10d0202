import { describe, expect, it } from '@jest/globals';
import { compileTemplate, type CompiledTemplate } from '../../../openehr/template/compile.js';
import { aliasesOf, pathAlias } from '../../../openehr/template/upgrade/alias.js';
import type { PathAlias } from '../../../openehr/template/upgrade/path-alias.js';
import { readRules } from '../../../openehr/template/upgrade/rules.js';
import { aliasSummary } from '../../../aql/result/aliases.js';
import { unknownNames } from '../../../aql/result/unknown-names.js';
import { executedAql } from '../../../aql/result/executed.js';
import { pageOf } from '../../../aql/semantics/page.js';
import { resolveScope } from '../../../aql/semantics/scope/scope.js';
import type { Scope } from '../../../aql/semantics/scope-types.js';
import { boundQuery } from '../../support/aql/bound-query.js';
import { element, evaluation, multiple, node, template } from '../../support/openehr/opt-builder.js';

const TEST = 'openEHR-EHR-EVALUATION.test.v1';
const TREE = `/content[${TEST}]/data[at0001]`;
const TERMS = { at0002: 'Mass', at0003: 'Weight', at0004: 'Other', at0020: 'Group' };
const text = (id: string): string => element(id, node('DV_TEXT'));
const group = (items: string): string =>
  node('CLUSTER', { id: 'at0020', occurrences: '0..1', inside: multiple('items', items, '1..*', '1..1') });
const compiled = (items: string): CompiledTemplate => compileTemplate(template(evaluation(items, TERMS)));

function aliases(
  before: string,
  after: string,
  ...moves: readonly (readonly [string, string])[]
): readonly PathAlias[] {
  const rules = { rules: moves.map(([move, to]) => ({ move: TREE + move, to: TREE + to })) };
  const stored = aliasesOf(readRules(rules), compiled(before), compiled(after), 'job');
  return stored.map((each) => pathAlias(each, ['test']));
}

const RENAMED = aliases(text('at0002') + text('at0004'), text('at0003') + text('at0004'), [
  '/items[at0002]',
  '/items[at0003]',
]);
const GROUPED = aliases(text('at0002'), group(text('at0002')), [
  '/items[at0002]',
  '/items[at0020]/items[at0002]',
]);

const scopeOf = (aql: string, seen: readonly PathAlias[]): Scope =>
  resolveScope(boundQuery(aql), { aliases: seen });

/** What explain says that something is read as besides. */
function seenAs(aql: string, seen: readonly PathAlias[]): unknown[] {
  return aliasSummary(scopeOf(aql, seen)).flatMap(({ as }) =>
    (as as { readonly text: string }[]).map((each) => each.text),
  );
}

const IN_ENTRY = `FROM EHR e CONTAINS EVALUATION o[${TEST}]`;

describe('a path of a query', () => {
  it('is read at its other place, whichever of both it names, from whatever it begins at', () => {
    const tail = 'value/value';
    expect(seenAs(`SELECT o/data[at0001]/items[at0002]/${tail} ${IN_ENTRY}`, GROUPED)).toEqual([
      `o/data[at0001]/items[at0020]/items[at0002]/${tail}`,
    ]);
    expect(seenAs(`SELECT o/data[at0001]/items[at0020]/items[at0002]/${tail} ${IN_ENTRY}`, GROUPED)).toEqual([
      `o/data[at0001]/items[at0002]/${tail}`,
    ]);
    expect(seenAs(`SELECT c${TREE}/items[at0002]/${tail} FROM COMPOSITION c`, GROUPED)).toEqual([
      `c${TREE}/items[at0020]/items[at0002]/${tail}`,
    ]);
  });

  it('keeps what is written of shared steps and of the moved node', () => {
    const written = `o/data[at0001, 'Tree']/items[at0002 and value/value > 'a']`;
    expect(seenAs(`SELECT ${written} ${IN_ENTRY}`, GROUPED)).toEqual([
      `o/data[at0001, 'Tree']/items[at0020]/items[at0002 and value/value>'a']`,
    ]);
  });

  it('may say what the template calls the node, or the name of a node that keeps its id', () => {
    const named = (name: string): string => `SELECT o/data[at0001]/items[at0002, '${name}'] ${IN_ENTRY}`;
    expect(seenAs(named('Mass'), RENAMED)).toEqual(['o/data[at0001]/items[at0003]']);
    expect(seenAs(named('Else'), RENAMED)).toEqual([]);
    expect(seenAs(named('Else'), GROUPED)).toEqual([
      `o/data[at0001]/items[at0020]/items[at0002 and name/value='Else']`,
    ]);
  });

  it('has no other place where it names other nodes, archetypes, or none', () => {
    for (const path of [
      'o/data[at0001]/items/value/value',
      'o/data[at0001]/items[at0004]/value/value',
      'o/data[at0001]',
      "o/data[at0001]/items[name/value='Mass']/value",
    ])
      expect([path, scopeOf(`SELECT ${path} ${IN_ENTRY}`, RENAMED).seesAliases]).toEqual([path, undefined]);
    const other = `SELECT o/data[at0001]/items[at0002] FROM EVALUATION o[openEHR-EHR-EVALUATION.other.v1]`;
    expect(seenAs(other, RENAMED)).toEqual([]);
    expect(seenAs('SELECT o/data[at0001]/items[at0002] FROM EVALUATION o', RENAMED)).toEqual([]);
  });

  it('is followed over several upgrades, never into another template', () => {
    const [first] = RENAMED;
    const further = { ...first!, from: first!.to, to: GROUPED[0]!.to };
    const path = `SELECT o/data[at0001]/items[at0002]/value ${IN_ENTRY}`;
    expect(seenAs(path, [first!, further])).toEqual([
      'o/data[at0001]/items[at0003]/value',
      'o/data[at0001]/items[at0020]/items[at0002]/value',
    ]);
    expect(seenAs(path, [first!, { ...further, templateIds: ['another'] }])).toHaveLength(1);
  });

  it('changes no step that the query shares, no column and no text', () => {
    const aql = `SELECT o/data[at0001]/items[name/value='Mass']/value AS a, o/data[at0001]/items[at0002]/value AS b ${IN_ENTRY}`;
    const [without, seen] = [scopeOf(aql, []), scopeOf(aql, RENAMED)];
    expect(seen.paths.map(({ path }) => path)).toEqual(without.paths.map(({ path }) => path));
    expect(seen.paths[1]?.steps[2]?.node.identity).toEqual(without.paths[1]?.steps[2]?.node.identity);
    expect(seen.columns).toEqual(without.columns);
    const page = pageOf(seen.query, { fetch: null, offset: null }, { defaultFetch: null, maxFetch: null });
    expect(executedAql(seen.query, page)).toBe(executedAql(without.query, page));
  });
});

describe('FROM', () => {
  it('finds a node by both ids where neither means anything else', () => {
    const aql = `SELECT x/value FROM EVALUATION o[${TEST}] CONTAINS ELEMENT x[at0002]`;
    expect(RENAMED[0]?.renames).toBe(true);
    expect(seenAs(aql, RENAMED)).toEqual(['ELEMENT x[at0003]']);
    expect(seenAs(aql.replace('at0002', 'at0003'), RENAMED)).toEqual(['ELEMENT x[at0002]']);
    expect(seenAs(aql, GROUPED)).toEqual([]);
    const both = aliases(text('at0002') + text('at0003'), text('at0003'), [
      '/items[at0002]',
      '/items[at0003]',
    ]);
    expect(both[0]?.renames).toBe(false);
  });
});

describe('what is an alias', () => {
  it('no move whose target another one moves away', () => {
    const both = text('at0002') + text('at0003');
    const swapped = aliases(
      both,
      both,
      ['/items[at0002]', '/items[at0003]'],
      ['/items[at0003]', '/items[at0002]'],
    );
    expect(swapped).toEqual([]);
  });
});

it('warns of no name that a template has moved', () => {
  const vocabulary = {
    templates: new Set(['test']),
    archetypes: new Map([[TEST, new Set(['at0000', 'at0001', 'at0003', 'at0004'])]]),
  };
  const aql = `SELECT o/data[at0001]/items[at0002]/value FROM EVALUATION o[${TEST}] CONTAINS ELEMENT x[at0002] WHERE EXISTS o/data[at0001]/items[at0002]/name`;
  const unknown = (seen: readonly PathAlias[]): number =>
    unknownNames(scopeOf(aql, seen), vocabulary, { subsumption: false, limit: 10 }).length;
  expect(unknown([])).toBeGreaterThan(0);
  expect(unknown(RENAMED)).toBe(0);
});

import { describe, expect, it } from '@jest/globals';
import { bindParameters } from '../../../aql/semantics/bind/bind.js';
import { queryParameters } from '../../../aql/semantics/bind/parameters.js';
import { parseAql } from '../../../aql/syntax/parse.js';
import { within, Work } from '../../../openehr/base/work.js';
import { testSettings } from '../../support/settings.js';

const limited = (expressionNodes: number): Work =>
  new Work({ ...testSettings().work, expressionNodes, timeMs: Infinity }, () => 0);

/** Nodes that reading a query and putting in its parameters counts. */
function nodesOf(q: string, parameters: Readonly<Record<string, string>> = {}): number {
  const work = limited(Infinity);
  within(work, () => bindParameters(parseAql(q), queryParameters('text', Object.entries(parameters))));
  return work.used.expressionNodes;
}
const FROM = 'FROM EHR e CONTAINS COMPOSITION c';
const where = (condition: string): string => `SELECT c ${FROM} WHERE ${condition}`;
const ADDED = (condition: string, parameters?: Readonly<Record<string, string>>): number =>
  nodesOf(where(condition), parameters) - nodesOf(`SELECT c ${FROM}`);

describe('the nodes of the expressions of a query', () => {
  it.each([
    ['a path, whatever its length', 'EXISTS c/name/value', 2],
    ['a comparison with its sides', "c/name/value = 'x'", 3],
    ['NOT', 'NOT EXISTS c/name', 3],
    ['what joins conditions, once for a chain', 'EXISTS c/name OR EXISTS c/uid OR EXISTS c/links', 7],
    ['AND inside OR', 'EXISTS c/name OR EXISTS c/uid AND EXISTS c/links', 8],
    ['a function with its arguments', "CONCAT(c/name/value, 'a', 'b') = 'x'", 6],
    ['a list as nothing, for it has limits of its own', "c/name/value MATCHES {'a', 'b', 'c'}", 2],
    ['conditions of predicates', "EXISTS c/links[type/value = 'x' and meaning/value = 'y']", 6],
  ])('count %s', (_, condition, nodes) => {
    expect(ADDED(condition)).toBe(nodes);
  });

  it('count what one parameter becomes that can be read in two ways', () => {
    const path = 'c/content/data/events/data/items/value/magnitude';
    expect(ADDED(`${path} = $x`, { x: '1' })).toBe(ADDED(`${path} = 1`));
    const element = 'c/content/data/items';
    const both = ADDED(`EXISTS ${element}[value/value = $x and value/value = $x]`, { x: '1' });
    // Four groups of two, of which two comparisons were written.
    expect(both).toBe(ADDED(`EXISTS ${element}[value/value = 1 and value/value = 1]`) + 6);
  });

  it('are counted as the query is read: one too many ends it, and says which, how many and what to change', () => {
    const q = where(Array.from({ length: 400 }, (_, index) => `c/name/value = '${index}'`).join(' OR '));
    const nodes = nodesOf(q);
    const read = (most: number): unknown => within(limited(most), () => parseAql(q));
    expect(() => read(nodes)).not.toThrow();
    expect(() => read(nodes - 1)).toThrow(
      `the request needs ${nodes} nodes of expressions (paths, values, function calls, conditions and what joins them), ` +
        `at most ${nodes - 1} are possible (AQL_MAX_EXPRESSION_NODES): ask for fewer columns, arguments and conditions at a time`,
    );
    expect(() => read(10)).toThrow('the request needs 11 nodes');
  });

  it('are at most 5,000 by default: all conditions of the largest query have room, arguments without end have not', () => {
    const { expressionNodes } = testSettings().work;
    const conditions = Array.from(
      { length: 499 },
      (_, index) => `LENGTH(c/name/value) = LENGTH(c/uid/value) AND NOT EXISTS c/content[at${index}]`,
    ).slice(0, 250);
    expect(nodesOf(where(conditions.join(' OR ')))).toBeLessThan(expressionNodes);
    const text = `SELECT CONCAT(c/name/value${", 'a'".repeat(9_000)}) ${FROM}`;
    expect(() => within(limited(expressionNodes), () => parseAql(text))).toThrow(/AQL_MAX_EXPRESSION_NODES/);
  });
});

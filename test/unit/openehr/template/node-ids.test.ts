import { describe, expect, it } from '@jest/globals';
import type { Constraint } from '../../../../openehr/template/opt/constraint.js';
import { nodeIdsOf } from '../../../../openehr/template/opt/node-ids.js';
import { fixtureText, templateNames } from '../../../support/fixture.js';
import { parseOpt } from '../../../../openehr/template/compile.js';
import { growth, LINEAR } from '../../../support/growth.js';

/** Archetypes with the codes of their nodes and terms, from the compiled tree. */
function compiledCodes(
  constraint: Constraint,
  archetype: string,
  found = new Map<string, Set<string>>(),
): Map<string, Set<string>> {
  const root = constraint.kind === 'object' ? constraint.archetype : null;
  const own = root?.archetypeId ?? archetype;
  const codes = found.get(own) ?? new Set<string>();
  found.set(own, codes);
  if (constraint.nodeId !== '') codes.add(constraint.nodeId);
  if (constraint.kind !== 'object') return found;
  root?.terms.forEach((_, code) => codes.add(code));
  for (const { children } of constraint.attributes)
    for (const child of children) compiledCodes(child, own, found);
  return found;
}

describe('archetypes and codes read from the text of a template', () => {
  it.each(templateNames())('are those of the compiled tree: %s', (name) => {
    const read = nodeIdsOf(fixtureText(`opt/${name}.opt`));
    const compiled = compiledCodes(parseOpt(fixtureText(`opt/${name}.opt`)).definition, '');
    expect([...read.keys()].sort()).toEqual([...compiled.keys()].sort());
    for (const [archetype, codes] of compiled)
      for (const code of codes)
        expect([archetype, code, read.get(archetype)?.has(code)]).toEqual([archetype, code, true]);
  });

  it('ends with a text that is no template, in time that grows with its length', () => {
    expect(nodeIdsOf('')).toEqual(new Map());
    expect(nodeIdsOf('</children></definition><node_id>at1')).toEqual(new Map());
    expect(growth((length) => nodeIdsOf('<children '.repeat(length)), 25_000)).toBeLessThan(LINEAR);
    expect(growth((length) => nodeIdsOf('<archetype_id> '.repeat(length)), 25_000)).toBeLessThan(LINEAR);
    const terms = (length: number): unknown => nodeIdsOf(`<term_definitions ${'code="'.repeat(length)}`);
    expect(growth(terms, 25_000)).toBeLessThan(LINEAR);
  });
});

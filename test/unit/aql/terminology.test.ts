import { describe, expect, it } from '@jest/globals';
import { bindParameters } from '../../../aql/semantics/bind/bind.js';
import { queryParameters } from '../../../aql/semantics/bind/parameters.js';
import type { Query, Unanswered } from '../../../aql/syntax/ast.js';
import { parseAql } from '../../../aql/syntax/parse.js';
import { renderAql } from '../../../aql/syntax/render.js';
import {
  resolveTerminology,
  terminologyQuestions,
  type TerminologyAnswer,
} from '../../../aql/semantics/terminology.js';

const EXPAND = "TERMINOLOGY('expand', 'hl7.org/fhir/4.0', 'url=x')";

const asking = (aql: string): Query<Unanswered> => bindParameters(parseAql(aql), queryParameters('json', []));

describe('terminology', () => {
  const resolved = (condition: string, answers: Record<string, TerminologyAnswer>): string =>
    renderAql(
      resolveTerminology(asking(`SELECT e FROM EHR e WHERE ${condition}`), new Map(Object.entries(answers))),
    ).slice('SELECT e FROM EHR e WHERE '.length);

  it('collects every question once', () => {
    const query = asking(
      `SELECT ${EXPAND} FROM EHR e WHERE e/a MATCHES {terminology://x/y} AND (e/b MATCHES {${EXPAND}, 1} OR NOT LENGTH(TERMINOLOGY('LOOKUP','b','c')) = 1)`,
    );
    expect(terminologyQuestions(query)).toEqual([
      { kind: 'call', key: EXPAND, operation: 'expand', service: 'hl7.org/fhir/4.0', parameters: 'url=x' },
      { kind: 'uri', key: '{terminology://x/y}', uri: 'terminology://x/y' },
      {
        kind: 'call',
        key: "TERMINOLOGY('LOOKUP', 'b', 'c')",
        operation: 'lookup',
        service: 'b',
        parameters: 'c',
      },
    ]);
    expect(terminologyQuestions(asking('SELECT e FROM EHR e'))).toEqual([]);
  });

  it('puts answers in', () => {
    expect(resolved(`e/a MATCHES {${EXPAND}, 'c'}`, { [EXPAND]: { kind: 'codes', codes: ['a', 'b'] } })).toBe(
      "e/a MATCHES {'a', 'b', 'c'}",
    );
    expect(resolved(`${EXPAND} = true`, { [EXPAND]: { kind: 'boolean', value: false } })).toBe(
      'false = true',
    );
    expect(resolved(`e/a = ${EXPAND}`, { [EXPAND]: { kind: 'text', value: 'x' } })).toBe("e/a = 'x'");
    expect(resolved(`e/a = ${EXPAND}`, { [EXPAND]: { kind: 'text', value: null } })).toBe('e/a = NULL');
    expect(resolved('e/a MATCHES {http://x/y}', { '{http://x/y}': { kind: 'codes', codes: ['a'] } })).toBe(
      "e/a MATCHES {'a'}",
    );
  });

  it('puts answers into functions of aggregates and ORDER BY', () => {
    const lengthOf = `LENGTH(${EXPAND})`;
    const query = asking(`SELECT MAX(${lengthOf}) FROM EHR e ORDER BY ${lengthOf}`);
    const answers = new Map([[EXPAND, { kind: 'text', value: 'x' } as const]]);
    expect(terminologyQuestions(query)).toHaveLength(1);
    expect(renderAql(resolveTerminology(query, answers))).toBe(
      "SELECT MAX(LENGTH('x')) FROM EHR e ORDER BY LENGTH('x')",
    );
  });

  it('refuses answers that do not fit', () => {
    expect(() => resolved(`e/a = ${EXPAND}`, { [EXPAND]: { kind: 'codes', codes: [] } })).toThrow('MATCHES');
    expect(() => resolved(`e/a MATCHES {${EXPAND}}`, { [EXPAND]: { kind: 'boolean', value: true } })).toThrow(
      '= true',
    );
  });
});

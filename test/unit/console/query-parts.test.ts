import { describe, expect, it } from '@jest/globals';
import { parseAql } from '../../../aql/syntax/parse.js';
import {
  classesOf,
  readQuery,
  withArchetype,
  writeQuery,
} from '../../../console/src/pages/query/builder/query-parts.js';
import { aqlCases } from '../../support/aql/cases/cases.js';
import { randomCase } from '../../support/aql/random.js';

const WHOLE = `SELECT DISTINCT TOP 5 o/a[at0001]/value/magnitude AS systolic, COUNT(*) AS n, concat(c/name/value, ', x')
FROM EHR e CONTAINS COMPOSITION c[openEHR-EHR-COMPOSITION.encounter.v1] CONTAINS OBSERVATION o[openEHR-EHR-OBSERVATION.bp.v1]
WHERE o/a/value/magnitude >= 140 AND c/name/value LIKE 'a AND b*' AND EXISTS o/b AND c/limit/value matches {'x', 'y'} AND NOT c/x = 1
ORDER BY systolic DESC, c/name/value`;

describe('a query in its parts', () => {
  it('is read, with what it is of and what it asks', () => {
    const parts = readQuery(WHOLE);
    expect(parts.prefix).toBe('DISTINCT TOP 5');
    expect(parts.columns).toEqual([
      { text: 'o/a[at0001]/value/magnitude', alias: 'systolic' },
      { text: 'COUNT(*)', alias: 'n' },
      { text: "concat(c/name/value, ', x')", alias: '' },
    ]);
    expect(parts.conditions).toEqual([
      { text: 'o/a/value/magnitude', operator: '>=', value: '140' },
      { text: 'c/name/value', operator: 'LIKE', value: "'a AND b*'" },
      { text: 'o/b', operator: 'EXISTS', value: '' },
      { text: 'c/limit/value', operator: 'MATCHES', value: "{'x', 'y'}" },
      { text: 'NOT c/x = 1', operator: '', value: '' },
    ]);
    expect(parts.order).toEqual([
      { text: 'systolic', isDescending: true },
      { text: 'c/name/value', isDescending: false },
    ]);
    expect(
      classesOf(parts.from).map(({ className, variable, archetype }) => [className, variable, archetype]),
    ).toEqual([
      ['EHR', 'e', null],
      ['COMPOSITION', 'c', 'openEHR-EHR-COMPOSITION.encounter.v1'],
      ['OBSERVATION', 'o', 'openEHR-EHR-OBSERVATION.bp.v1'],
    ]);
  });

  it('keeps an OR in one piece, and knows of comments that it would lose', () => {
    const parts = readQuery('SELECT c -- all\nFROM COMPOSITION c WHERE c/a = 1 OR c/b = 2 LIMIT 5 OFFSET 2');
    expect(parts.conditions).toEqual([{ text: '(c/a = 1 OR c/b = 2)', operator: '', value: '' }]);
    expect([parts.limit, parts.offset, parts.hasComments]).toEqual(['5', '2', true]);
    expect(readQuery("SELECT '-- no' FROM EHR e").hasComments).toBe(false);
  });

  it('means the same when it is written again, whatever it was', () => {
    const random = Array.from({ length: 400 }, (_, seed) => randomCase(seed, 1).aql);
    let read = 0;
    for (const text of [WHOLE, ...random, ...aqlCases.map(({ aql }) => aql)]) {
      // What is no query is refused as the server refuses it.
      if (!isQuery(text)) continue;
      read += 1;
      expect([text, meaning(writeQuery(readQuery(text)))]).toEqual([text, meaning(text)]);
    }
    expect(read).toBeGreaterThan(800);
  });

  it('takes one more archetype where documents have it', () => {
    const bp = { id: 'openEHR-EHR-OBSERVATION.bp.v1', className: 'OBSERVATION' };
    const once = withArchetype('', bp);
    expect(once).toBe(`EHR e CONTAINS COMPOSITION c CONTAINS OBSERVATION o[${bp.id}]`);
    const twice = withArchetype(once, { ...bp, id: 'openEHR-EHR-OBSERVATION.pulse.v1' });
    expect(twice).toBe(
      `EHR e CONTAINS COMPOSITION c CONTAINS (OBSERVATION o[${bp.id}] AND OBSERVATION o2[openEHR-EHR-OBSERVATION.pulse.v1])`,
    );
    for (const from of [once, twice]) parseAql(`SELECT c FROM ${from}`);
  });
});

/** A query without where its parts stand and how they were written. */
function meaning(text: string): unknown {
  return JSON.parse(
    JSON.stringify(parseAql(text), (key, value: unknown) =>
      key === 'at' || key === 'text' ? undefined : value,
    ),
  );
}

function isQuery(text: string): boolean {
  try {
    parseAql(text);
    return true;
  } catch {
    return false;
  }
}

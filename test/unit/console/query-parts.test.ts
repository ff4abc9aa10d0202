import { describe, expect, it } from '@jest/globals';
import { parseAql } from '../../../aql/syntax/parse.js';
import { freshAlias } from '../../../console/src/pages/query/builder/builder-labels.js';
import {
  classesOf,
  readQuery,
  withColumns,
  writeQuery,
} from '../../../console/src/pages/query/builder/query-parts.js';
import { withArchetype } from '../../../console/src/pages/query/builder/with-archetype.js';
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

  it('is sorted by what it was sorted by, whatever becomes of the name of a column', () => {
    const parts = readQuery('SELECT c/a AS one, c/b AS two FROM COMPOSITION c ORDER BY one DESC, two, c/d');
    const [one, two] = parts.columns;
    const orders = (columns: typeof parts.columns) =>
      withColumns(parts, columns).order.map(({ text }) => text);
    expect(orders([{ ...one!, alias: 'first' }, two!])).toEqual(['first', 'two', 'c/d']);
    expect(orders([{ ...one!, alias: '' }, two!])).toEqual(['c/a', 'two', 'c/d']);
    expect(orders([one!])).toEqual(['one', 'c/b', 'c/d']);
    expect(withColumns(parts, [one!]).order[0]?.isDescending).toBe(true);
  });

  it('names a column by its term, never by a word of AQL or by the name of another', () => {
    const named = (term: string, ...taken: string[]) =>
      freshAlias(
        `${term} · Blood pressure o`,
        taken.map((alias) => ({ text: 'c/a', alias })),
      );
    expect(named('Systolic')).toBe('systolic');
    expect(named('Systolic', 'systolic', 'SYSTOLIC_2')).toBe('systolic_3');
    expect(named('Körperlänge (cm)')).toBe('korperlange_cm');
    expect(named('37 °')).toBe('value');
    for (const term of ['Length', 'Order', 'Version', 'Max', 'Like', 'Count', 'Null']) {
      const alias = named(term);
      expect(readQuery(`SELECT c/a AS ${alias} FROM COMPOSITION c`).columns).toEqual([
        { text: 'c/a', alias },
      ]);
    }
  });

  const BP = { id: 'openEHR-EHR-OBSERVATION.bp.v1', className: 'OBSERVATION' };
  const PULSE = { ...BP, id: 'openEHR-EHR-OBSERVATION.pulse.v1' };
  const VISIT = { id: 'openEHR-EHR-COMPOSITION.visit.v1', className: 'COMPOSITION' };

  it('takes one more archetype where documents have it', () => {
    const once = withArchetype('', BP);
    expect(once).toBe(`EHR e CONTAINS COMPOSITION c CONTAINS OBSERVATION o[${BP.id}]`);
    const twice = withArchetype(once ?? '', PULSE);
    expect(twice).toBe(
      `EHR e CONTAINS COMPOSITION c CONTAINS (OBSERVATION o[${BP.id}] AND OBSERVATION o2[${PULSE.id}])`,
    );
    for (const [from, archetype, expected] of [
      ['EHR x', BP, `EHR x CONTAINS COMPOSITION c CONTAINS OBSERVATION o[${BP.id}]`],
      ['EHR c[ehr_id/value=$id]', VISIT, `EHR c[ehr_id/value=$id] CONTAINS COMPOSITION c2[${VISIT.id}]`],
      ['COMPOSITION c CONTAINS CLUSTER k', VISIT, `COMPOSITION c[${VISIT.id}] CONTAINS CLUSTER k`],
      [
        `COMPOSITION c[${VISIT.id}] CONTAINS SECTION s CONTAINS CLUSTER k`,
        BP,
        `COMPOSITION c[${VISIT.id}] CONTAINS ((SECTION s CONTAINS CLUSTER k) AND OBSERVATION o[${BP.id}])`,
      ],
      [
        'COMPOSITION c CONTAINS CLUSTER a OR CLUSTER b',
        BP,
        `COMPOSITION c CONTAINS ((CLUSTER a OR CLUSTER b) AND OBSERVATION o[${BP.id}])`,
      ],
    ] as const)
      expect([from, withArchetype(from, archetype)]).toEqual([from, expected]);
  });

  it('takes none where it would lose what it names', () => {
    for (const [from, archetype] of [
      ['EHR e CONTAINS OBSERVATION o', BP],
      ['EHR e CONTAINS OBSERVATION o', VISIT],
      ['EHR e CONTAINS (COMPOSITION c CONTAINS CLUSTER a AND COMPOSITION d)', BP],
      ['EHR e CONTAINS (COMPOSITION c CONTAINS CLUSTER a)', BP],
      ['EHR e NOT CONTAINS COMPOSITION c', BP],
      [`EHR e CONTAINS COMPOSITION c[${VISIT.id}]`, { ...VISIT, id: 'openEHR-EHR-COMPOSITION.other.v1' }],
      ['VERSION v', BP],
    ] as const)
      expect([from, withArchetype(from, archetype)]).toEqual([from, null]);
    let taken = 0;
    const sources = Array.from({ length: 400 }, (_, seed) => randomCase(seed, 1).aql).filter(isQuery);
    for (const { from } of sources.map(readQuery))
      for (const archetype of [BP, VISIT]) {
        const next = withArchetype(from, archetype);
        if (next === null) continue;
        taken += 1;
        const after = classesOf(next).map(({ variable }) => variable);
        for (const { variable } of classesOf(from))
          expect([from, after]).toEqual([from, expect.arrayContaining([variable])]);
      }
    expect(taken).toBeGreaterThan(10);
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

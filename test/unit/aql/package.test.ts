import { gzipSync } from 'node:zlib';
import { describe, expect, it } from '@jest/globals';
import { build } from 'esbuild';
import fc from 'fast-check';
import { canonicalText } from '../../../aql/evaluate/canonical-text.js';
import { checkScope } from '../../../aql/semantics/check.js';
import { resolveScope } from '../../../aql/semantics/scope/scope.js';
import { parseAql } from '../../../aql/syntax/parse.js';
import { renderAql } from '../../../aql/syntax/render.js';
import { CdrError } from '../../../openehr/base/errors.js';
import type { JsonValue } from '../../../openehr/base/json.js';
import { nodeIdsOf } from '../../../openehr/template/opt/node-ids.js';
import {
  Catalogue,
  completions,
  diagnose,
  formatAql,
  hoverAt,
  queryTypes,
  type WebTemplate,
} from '../../../packages/aql/src/main.js';
import { aqlCases } from '../../support/aql/cases/cases.js';
import { treeOf } from '../../support/aql/tree.js';
import { queryTrees } from '../../support/aql/trees.js';
import { boundQuery } from '../../support/aql/bound-query.js';
import { fixtureText, templateNames } from '../../support/fixture.js';
import { publicTemplate } from '../../support/openehr/templates.js';
import { growth, LINEAR } from '../../support/growth.js';

const catalogue = new Catalogue();
const ofWebTemplates = new Catalogue();
for (const name of templateNames()) {
  const web = JSON.parse(publicTemplate(name).webTemplateText.toString()) as WebTemplate;
  catalogue.add(web, nodeIdsOf(fixtureText(`opt/${name}.opt`)));
  ofWebTemplates.add(web);
}

const tree = (text: string): string => canonicalText(treeOf(parseAql(text)) as JsonValue);
const isReadable = (text: string): boolean => {
  try {
    parseAql(text);
    return true;
  } catch {
    return false;
  }
};

const BP = 'openEHR-EHR-OBSERVATION.sample_blood_pressure.v1';
const FROM = `FROM EHR e CONTAINS OBSERVATION o[${BP}]`;
const SYSTOLIC = 'o/data[at0001]/events[at0002]/data[at0003]/items[at0004]/value';

describe('formatAql', () => {
  it('means the same, and changes nothing the second time: every query of the test groups', () => {
    const texts = aqlCases.map(({ aql }) => aql).filter(isReadable);
    expect(texts.length).toBeGreaterThan(200);
    for (const text of texts) {
      const formatted = formatAql(text);
      expect([text, tree(formatted)]).toEqual([text, tree(text)]);
      expect(formatAql(formatted)).toBe(formatted);
    }
  });

  it('means the same, and changes nothing the second time: any query', () => {
    fc.assert(
      fc.property(queryTrees, (query) => {
        const text = renderAql(query);
        const formatted = formatAql(text);
        expect(tree(formatted)).toBe(tree(text));
        expect(formatAql(formatted)).toBe(formatted);
      }),
      { numRuns: 100 },
    );
  });

  it('keeps comments, breaks what is long', () => {
    const text = `-- pressures
select ${SYSTOLIC}/magnitude as systolic, -- mm[Hg]
  o/name/value from ehr e contains observation o[${BP}] where ${SYSTOLIC}/magnitude>=$least and exists o/uid order by o/name/value desc limit 5`;
    const formatted = formatAql(text);
    expect(formatted).toBe(`-- pressures
SELECT ${SYSTOLIC}/magnitude AS systolic, -- mm[Hg]
  o/name/value
FROM EHR e CONTAINS OBSERVATION o[${BP}]
WHERE ${SYSTOLIC}/magnitude >= $least
  AND EXISTS o/uid
ORDER BY o/name/value DESC
LIMIT 5`);
    expect(formatAql(formatted)).toBe(formatted);
  });
});

describe('diagnose', () => {
  it('says what the server says of every query without parameters', () => {
    for (const { aql, parameters, textParameters, options } of aqlCases) {
      if (
        parameters !== undefined ||
        textParameters !== undefined ||
        options !== undefined ||
        aql.includes('$')
      )
        continue;
      const [first] = diagnose(aql, null, { systemId: 'local.cdr' }).filter(
        ({ severity }) => severity === 'error',
      );
      expect([aql, first?.message ?? null]).toEqual([aql, serverMessage(aql)]);
    }
  });

  it('takes parameters as whatever fits', () => {
    const cases = aqlCases.filter(
      ({ parameters, expect: expected }) => parameters !== undefined && !('error' in expected),
    );
    expect(cases.length).toBeGreaterThan(10);
    for (const { aql } of cases) expect([aql, diagnose(aql)]).toEqual([aql, []]);
  });

  it('calls names unknown that no template has, with what was meant and where it stands', () => {
    const text = `SELECT o/data[at0001]/events[at0099]/time/value\nFROM EHR e CONTAINS OBSERVATION o[${BP}]`;
    expect(diagnose(text, catalogue)).toEqual([
      expect.objectContaining({
        severity: 'warning',
        code: 'unknown_node',
        line: 1,
        column: 30,
        endColumn: 36,
      }),
    ]);
    const [archetype] = diagnose(text.replace('sample_blood', 'simple_blood'), ofWebTemplates);
    expect(archetype).toMatchObject({ code: 'unknown_archetype', nearest: BP, line: 2, column: 35 });
    // A web template does not name all codes.
    expect(diagnose(text, ofWebTemplates)).toEqual([]);
    expect(diagnose(text)).toEqual([]);
  });
});

function serverMessage(aql: string): string | null {
  try {
    checkScope(resolveScope(boundQuery(aql)), { systemId: 'local.cdr' });
    return null;
  } catch (error) {
    if (error instanceof CdrError) return error.message;
    throw error;
  }
}

/** Completions where `|` stands. */
function at(text: string) {
  const offset = text.indexOf('|');
  return completions(text.replace('|', ''), offset, catalogue);
}
const labels = (text: string): string[] => at(text).map(({ label }) => label);

describe('completions', () => {
  it('are classes that can be contained', () => {
    expect(labels('SELECT e FROM |')).toEqual(expect.arrayContaining(['EHR', 'COMPOSITION', 'VERSION']));
    const below = labels('SELECT e FROM EHR e CONTAINS OBSERVATION o CONTAINS |');
    expect(below).toEqual(expect.arrayContaining(['CLUSTER', 'ELEMENT']));
    expect(below).not.toContain('COMPOSITION');
    expect(below).not.toContain('EHR');
    // AND stands beside what CONTAINS took, a parenthesis ends it.
    expect(labels('SELECT e FROM EHR e CONTAINS (COMPOSITION c CONTAINS CLUSTER x) AND |')).toContain(
      'COMPOSITION',
    );
  });

  it('are archetypes that templates have below the class above', () => {
    expect(labels('SELECT o FROM EHR e CONTAINS OBSERVATION o[|')).toContain(BP);
    const corona = 'openEHR-EHR-COMPOSITION.report.v1';
    const found = labels(`SELECT o FROM EHR e CONTAINS COMPOSITION c[${corona}] CONTAINS OBSERVATION o[|`);
    expect(found.length).toBeGreaterThan(0);
    expect(found).not.toContain(BP);
  });

  it('are attributes, and paths of templates with their terms', () => {
    const found = at(`SELECT o/| ${FROM}`);
    expect(found.map(({ label }) => label)).toEqual(expect.arrayContaining(['data', 'subject']));
    expect(found.find(({ label }) => label === `${SYSTOLIC.slice(2)}/magnitude`)).toMatchObject({
      term: expect.stringMatching(/^Systol/),
      detail: 'DV_QUANTITY',
    });
    expect(labels(`SELECT ${SYSTOLIC}/| ${FROM}`)).toContain('magnitude');
  });

  it('are paths behind a variable where a value can stand, found by their terms', () => {
    for (const text of [`SELECT | ${FROM}`, `SELECT e ${FROM} WHERE |`, `SELECT e ${FROM} ORDER BY sys|`])
      expect(at(text).find(({ label }) => label === `${SYSTOLIC}/magnitude`)?.term).toMatch(/^Systol/);
    // Below another archetype nobody knows where an object without one stands.
    const unknown = FROM.replace(
      'OBSERVATION o',
      'COMPOSITION c[openEHR-EHR-COMPOSITION.report.v1] CONTAINS OBSERVATION o',
    );
    expect(at(`SELECT o/| ${unknown.replace(`[${BP}]`, '')}`).filter(({ kind }) => kind === 'path')).toEqual(
      [],
    );
  });

  it('are codes in brackets, values where they are compared', () => {
    expect(labels(`SELECT o/data[at0001]/events[at0002]/data[at0003]/items[| ${FROM}`)).toContain('at0004');
    expect(labels(`SELECT e ${FROM} WHERE ${SYSTOLIC}/units = |`)).toContain("'mm[Hg]'");
  });

  it('are variables and functions where a value can stand, nothing in comments', () => {
    expect(labels(`SELECT | ${FROM}`)).toEqual(expect.arrayContaining(['e', 'o', 'COUNT']));
    expect(labels(`SELECT e ${FROM} WHERE |`)).toContain('o');
    expect(labels(`SELECT e -- |`)).toEqual([]);
  });

  it('and hover never fail, wherever the cursor stands in whatever text', () => {
    fc.assert(
      fc.property(fc.constantFrom(...aqlCases), fc.nat(), fc.nat(), ({ aql }, from, cut) => {
        const text = aql.slice(0, cut % (aql.length + 1));
        completions(text, from % (text.length + 1), catalogue);
        hoverAt(text, from % (text.length + 1), catalogue);
      }),
      { numRuns: 500 },
    );
  });

  it('take time that grows with the length of the text', () => {
    const long = (length: number): void => {
      completions(`SELECT ${'a/b[c/d] '.repeat(length)} FROM EHR e`, 8 * length, catalogue);
      completions('['.repeat(8 * length), 8 * length, catalogue);
      completions('a/'.repeat(4 * length), 8 * length, catalogue);
    };
    expect(growth(long, 1_000)).toBeLessThan(LINEAR);
  });
});

describe('hoverAt', () => {
  const text = `SELECT ${SYSTOLIC}/magnitude ${FROM}`;
  it('gives the term of a code and of an archetype, the class of an attribute and of a variable', () => {
    expect(hoverAt(text, text.indexOf('at0004') + 1, catalogue)?.text).toMatch(/^\*\*Systol/);
    expect(hoverAt(text, text.indexOf(BP), catalogue)?.text).toContain(BP);
    expect(hoverAt(text, text.indexOf('magnitude'), catalogue)?.text).toContain('Real');
    expect(hoverAt(text, text.indexOf('o['), catalogue)?.text).toContain('OBSERVATION');
    expect(hoverAt(text, text.indexOf('OBSERVATION o'), catalogue)?.text).toMatch(/^\*\*OBSERVATION/);
    expect(hoverAt(text, text.indexOf('FROM'), catalogue)).toBeNull();
  });
});

describe('queryTypes', () => {
  it('are those that templates leave, null where nothing demands a value', () => {
    const { columns, parameters, diagnostics } = queryTypes(
      `SELECT e/ehr_id/value AS ehr_id, ${SYSTOLIC}/magnitude AS systolic, ${SYSTOLIC} AS quantity,
        o/name/value AS name, COUNT(*) AS n, MAX(${SYSTOLIC}/magnitude)
       ${FROM} WHERE ${SYSTOLIC}/magnitude > $least AND o/name/value MATCHES {$names} LIMIT $most`,
      catalogue,
    );
    expect(diagnostics).toEqual([]);
    expect(columns).toEqual([
      { name: 'ehr_id', types: ['string'], isNullable: false },
      { name: 'systolic', types: ['number'], isNullable: false },
      { name: 'quantity', types: ['DV_QUANTITY'], isNullable: true },
      { name: 'name', types: ['string'], isNullable: false },
      { name: 'n', types: ['number'], isNullable: false },
      { name: '#5', types: ['number'], isNullable: true },
    ]);
    expect(parameters).toEqual([
      { name: 'least', types: ['number'], isList: false },
      { name: 'names', types: ['string'], isList: true },
      { name: 'most', types: ['number'], isList: false },
    ]);
  });
});

it('works in a browser, and is small: at most 100 KB compressed', async () => {
  const { outputFiles } = await build({
    entryPoints: ['packages/aql/src/main.ts'],
    absWorkingDir: process.cwd(),
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    write: false,
  });
  const [file] = outputFiles;
  expect(gzipSync(file!.contents).length).toBeLessThan(100 * 1024);
  expect(file!.text).not.toMatch(/\bBuffer\b|\bprocess\./);
});

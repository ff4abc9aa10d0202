import { describe, expect, it } from '@jest/globals';
import { checkScope } from '../../../aql/semantics/check.js';
import { queryParameters } from '../../../aql/semantics/bind/parameters.js';
import { renderAql } from '../../../aql/syntax/render.js';
import { resolveScope } from '../../../aql/semantics/scope/scope.js';
import { FUNCTION_WORDS, KEYWORDS } from '../../../aql/syntax/words.js';
import { CdrError } from '../../../openehr/base/errors.js';
import { aqlCases } from '../../support/aql/cases/cases.js';
import { randomCase } from '../../support/aql/random.js';
import { Random } from '../../support/random.js';
import { boundQuery } from '../../support/aql/bound-query.js';

const PARAMETERS = queryParameters('text', [
  ['p', '140'],
  ['e', "x' OR 1=1 --"],
  ['a', 'at0004'],
]);

/** Reads a text as far as it goes: a scope, or a refusal. Anything else is a defect. */
function outcomeOf(aql: string): 'valid' | 'refused' {
  try {
    const query = boundQuery(aql, PARAMETERS);
    checkScope(resolveScope(query), { systemId: 'local.cdr' });
    renderAql(query);
    return 'valid';
  } catch (error) {
    if (error instanceof CdrError && error.code === 'invalid') return 'refused';
    throw new Error(`not a refusal for ${aql.slice(0, 2000)}`, { cause: error });
  }
}

/** As `outcomeOf`, within half a second of processor time in one of three runs: the heap may be collected in any of them. */
function quickOutcomeOf(aql: string): 'valid' | 'refused' {
  let outcome: 'valid' | 'refused' = 'refused';
  let least = Infinity;
  for (let run = 0; run < 3 && least >= 500; run += 1) {
    const started = process.cpuUsage();
    outcome = outcomeOf(aql);
    const { user, system } = process.cpuUsage(started);
    least = (user + system) / 1000;
  }
  expect(least).toBeLessThan(500);
  return outcome;
}

const TOKEN = /'(?:[^'\\]|\\.)*'|[A-Za-z_][\w.-]*|\d+(?:\.\d+)?|\s+|[^\s\w]/gu;
const WORDS = [...KEYWORDS, ...FUNCTION_WORDS];
const ODD = [
  ...[
    '(',
    ')',
    '[',
    ']',
    '{',
    '}',
    ',',
    '/',
    '//',
    '--',
    '-',
    '$',
    '$p',
    '$gt',
    '|',
    '::',
    '.',
    ';',
    "'",
    '"',
  ],
  ...[
    '\\',
    '\0',
    '\u2028',
    '😀',
    '\ud800',
    '__proto__',
    'constructor',
    'at0004',
    'at0.1',
    '1e999',
    '-1',
    '0x10',
  ],
  ...[
    'openEHR-EHR-OBSERVATION.x.v1',
    'local::at1|x|',
    '{/(a+)+$/}',
    '{terminology://x/y}',
    "'\\'",
    "'*?*?*?'",
    'NULL',
  ],
];

/** One to three tokens dropped, swapped, doubled, replaced or added. */
function mutated(aql: string, random: Random): string {
  const tokens = aql.match(TOKEN) ?? [];
  const changes = 1 + random.below(3);
  for (let change = 0; change < changes && tokens.length > 1; change++) {
    const [at, other] = [random.below(tokens.length), random.below(tokens.length)];
    const token = tokens[at] ?? '';
    random.pick([
      () => tokens.splice(at, 1),
      () => tokens.splice(at, 0, token, ' '),
      () => tokens.splice(at, 1, tokens[other] ?? ''),
      () => tokens.splice(at, 1, random.pick(WORDS)),
      () => tokens.splice(at, 0, ' ', random.pick(WORDS), ' '),
      () => tokens.splice(at, 1, random.pick(ODD)),
      () => tokens.splice(at, 0, random.pick(ODD)),
      () => tokens.splice(at, 1, token.slice(0, -1)),
      () => tokens.splice(at),
    ])();
  }
  return tokens.join('');
}

describe('mutated queries', () => {
  const sources = [
    ...aqlCases.map(({ aql }) => aql),
    ...Array.from({ length: 150 }, (_, seed) => randomCase(seed, 1).aql),
  ];

  it.each([1, 2, 3, 4])('give a scope or a refusal (part %i of 4 of 4,000)', (part) => {
    const random = new Random(part);
    const counts = { valid: 0, refused: 0 };
    for (let run = 0; run < 1000; run++) counts[quickOutcomeOf(mutated(random.pick(sources), random))]++;
    expect(counts.valid).toBeGreaterThan(10);
    expect(counts.refused).toBeGreaterThan(200);
  });
});

describe('hostile queries', () => {
  it.each(WORDS)('%s as a name of every kind', (word) => {
    for (const aql of [
      `SELECT ${word}/name/value FROM COMPOSITION ${word}`,
      `SELECT c/name/value AS ${word} FROM COMPOSITION c ORDER BY ${word}`,
      `SELECT c/${word} FROM COMPOSITION c`,
      `SELECT c[${word}/value='x']/name FROM COMPOSITION c`,
      `SELECT c FROM ${word} c`,
      `SELECT ${word}(c/name/value) FROM COMPOSITION c`,
      `SELECT c FROM COMPOSITION c WHERE c/name/value = $${word}`,
      `SELECT c FROM COMPOSITION c WHERE c/name/value = ${word}`,
    ])
      quickOutcomeOf(aql);
  });

  const wide = (count: number, part: (index: number) => string, joined: string): string =>
    Array.from({ length: count }, (_, index) => part(index)).join(joined);

  it.each([
    ['a huge literal', `SELECT '${'x'.repeat(60_000)}' FROM EHR e`],
    ['a huge number', `SELECT ${'9'.repeat(60_000)} FROM EHR e`],
    ['a huge name', `SELECT ${'x'.repeat(60_000)} FROM EHR e`],
    ['many open brackets', `SELECT e FROM EHR e WHERE ${'('.repeat(60_000)}`],
    ['many open predicates', `SELECT e${'[a'.repeat(20_000)} FROM EHR e`],
    ['many quotes', `SELECT ${"'".repeat(60_001)} FROM EHR e`],
    ['many backslashes', `SELECT '${'\\'.repeat(60_000)}' FROM EHR e`],
    ['many comments', `SELECT e ${'--\n'.repeat(20_000)} FROM EHR e`],
    ['many dashes', `SELECT ${'-'.repeat(60_000)} FROM EHR e`],
    ['many NOTs', `SELECT e FROM EHR e WHERE ${'NOT '.repeat(15_000)} EXISTS e`],
    ['many containments', `SELECT s FROM SECTION s ${'CONTAINS SECTION '.repeat(3_500)}`],
    ['many columns', `SELECT ${wide(6_000, () => 'e/a', ',')} FROM EHR e`],
    ['many valid columns', `SELECT ${wide(3_000, () => 'e/ehr_id/value', ',')} FROM EHR e`],
    [
      'many different predicates',
      `SELECT ${wide(1_500, (index) => `o/data[at${index}]/name`, ',')} FROM OBSERVATION o`,
    ],
    [
      'many archetypes of one attribute',
      `SELECT ${wide(700, (index) => `c/content[openEHR-EHR-SECTION.a${index}.v1,'x']/name`, ',')} FROM COMPOSITION c`,
    ],
    ['many classes', `SELECT 1 FROM ${wide(4_000, (index) => `COMPOSITION c${index}`, ' AND ')}`],
    ['many EHRs', `SELECT 1 FROM ${wide(4_000, (index) => `EHR e${index}`, ' AND ')}`],
    ['a deep path', `SELECT c${'/items'.repeat(140)} FROM CLUSTER c`],
    ['a very deep path', `SELECT c${'/items'.repeat(10_000)} FROM CLUSTER c`],
    ['many wildcards', `SELECT c FROM COMPOSITION c WHERE c/name/value LIKE '${'*?'.repeat(30_000)}'`],
    [
      'many list items',
      `SELECT c FROM COMPOSITION c WHERE c/name/value MATCHES {${wide(4_900, () => "'a'", ',')}}`,
    ],
    [
      'an endless regular expression',
      'SELECT c/content[name/value matches {/(a+)+(b+)+$/}] FROM COMPOSITION c',
    ],
    ['term codes without end', `SELECT c[at0001, ${'a::'.repeat(10_000)}] FROM COMPOSITION c`],
    ['an archetype id without end', `SELECT c FROM COMPOSITION c[${'a-'.repeat(30_000)}]`],
    ['a namespace without end', `SELECT c FROM COMPOSITION c[${'a.'.repeat(30_000)}]`],
    ['words without end', `SELECT ${'a '.repeat(30_000)}`],
    [
      'two readings in every condition',
      `SELECT c/content[${wide(30, () => 'name/value = $p and uid/value = $p', ' and ')}] FROM COMPOSITION c`,
    ],
    [
      'two real readings in every condition',
      `SELECT e/value[${wide(30, () => 'value = $p', ' and ')}] FROM ELEMENT e`,
    ],
  ])('%s', (_, aql) => {
    quickOutcomeOf(aql);
  });
});

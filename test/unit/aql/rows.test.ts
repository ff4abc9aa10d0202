import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { evaluateQuery } from '../../../aql/evaluate/evaluate.js';
import { resolveScope } from '../../../aql/semantics/scope/scope.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../openehr/base/json.js';
import { differenceOf } from '../../support/aql/compare.js';
import { boundQuery } from '../../support/aql/bound-query.js';
import { randomData } from '../../support/aql/differential/random-data.js';
import { naiveColumn, type NaiveStep } from '../../support/aql/naive-rows.js';
import { Random } from '../../support/random.js';

const ALL = { top: null, offset: 0, limit: null };
const OPTIONS = { systemId: 'local.cdr', now: new Date(0) };

/** LOCATABLE steps below each class, and what may stand below them. */
const LOCATED: Readonly<Record<string, readonly (readonly NaiveStep[])[]>> = {
  OBSERVATION: ['at0006', 'at0007', null].flatMap((event): NaiveStep[][] => {
    const events: NaiveStep[] = [
      ['data', 'at0001'],
      ['events', event],
    ];
    const below = (attribute: string): NaiveStep[][] =>
      ['at0004', 'at0008', null].map((node) => [...events, [attribute, null], ['items', node]]);
    return [events, ...below('data'), ...below('state')];
  }),
  EVALUATION: ['at0002', 'at0009', null].flatMap((node): NaiveStep[][] => {
    const items: NaiveStep[] = [
      ['data', null],
      ['items', node],
    ];
    return [items, [...items, ['items', null]], [...items, ['items', 'at0004']]];
  }),
};
const BELOW = {
  events: ['width', 'width/value', 'math_function/defining_code/code_string', 'time/value', 'sample_count'],
  items: [
    'value/magnitude',
    'value',
    'null_flavour/value',
    'value/mappings/target/code_string',
    'links/type/value',
  ],
};

const queries = fc.constantFrom(...Object.entries(LOCATED)).chain(([className, paths]) =>
  fc.record({
    className: fc.constant(className),
    located: fc.constantFrom(...paths),
    seed: fc.nat(),
    choice: fc.nat({ max: 4 }),
  }),
);

const pathOf = (steps: readonly NaiveStep[]): string =>
  steps.map(([attribute, nodeId]) => `/${attribute}${nodeId === null ? '' : `[${nodeId}]`}`).join('');

function objectsOf(value: JsonValue, className: string): JsonObject[] {
  if (Array.isArray(value)) return value.flatMap((each) => objectsOf(each, className));
  if (!isJsonObject(value)) return [];
  const below = Object.values(value).flatMap((each) => objectsOf(each ?? null, className));
  return value['_type'] === className ? [value, ...below] : below;
}

describe('the rows of one path', () => {
  it('are those of a naive reading: the deepest LOCATABLE decides', () => {
    let withNull = 0;
    fc.assert(
      fc.property(queries, ({ className, located, seed, choice }) => {
        const all = randomData(new Random(seed));
        const ehrs = all.ehrs.map((ehr) => ({ ...ehr, isQueryable: true }));
        const last = located.at(-1)?.[0] === 'events' ? BELOW.events : BELOW.items;
        const rest = (last[choice] ?? '').split('/').map((attribute): NaiveStep => [attribute, null]);
        // The versions as they were written, deletions too: the pipeline of versions is not what is looked at here.
        const versions = all.versions.filter(({ data, type }) => data !== null && type === 'COMPOSITION');
        const data = { ehrs, versions };
        const query = boundQuery(
          `SELECT o${pathOf(located)}${pathOf(rest)} FROM VERSION v[ALL_VERSIONS] CONTAINS COMPOSITION c CONTAINS ${className} o`,
        );
        const wanted = versions.flatMap((version) =>
          objectsOf(version.data, className).flatMap((object) => naiveColumn(object, located, rest)),
        );
        if (wanted.includes(null)) withNull++;
        const found = evaluateQuery(resolveScope(query), data, OPTIONS);
        expect(
          differenceOf(
            found,
            ALL,
            wanted.map((value) => [value]),
          ),
        ).toBeNull();
      }),
      { numRuns: 200, seed: 20_260_105 },
    );
    expect(withNull).toBeGreaterThan(50);
  });
});

import fc from 'fast-check';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../openehr/base/json.js';
import type { CompiledTemplate } from '../../../openehr/template/compile.js';
import type { ExampleChoices } from '../../../openehr/template/example/example-value.js';
import { composedBy } from '../../../openehr/template/example/example.js';

/** Objects that are repeated or optional are left out once a composition has this many of them. */
const MAX_REPEATED = 150;

/** Choices read off a list of numbers, over and over; 0 is the smallest choice. */
function choicesFrom(tape: readonly number[]): ExampleChoices {
  let position = 0;
  let repeated = 0;
  const next = () => tape[position++ % tape.length] ?? 0;
  return {
    pick: (size) => (size === 0 ? 0 : next() % size),
    count(_, min, max) {
      const most = max === -1 ? min + 2 : Math.min(max, min + 2);
      const count = repeated >= MAX_REPEATED ? min : min + (next() % (most - min + 1));
      repeated += count;
      return count;
    },
  };
}

/**
 * Valid COMPOSITIONs of a template in canonical JSON: which optional objects there are, how often repeated ones
 * stand there, which alternatives and codes are taken. They shrink towards what is required.
 */
export function compositionsOf(template: CompiledTemplate): fc.Arbitrary<JsonObject> {
  return fc
    .array(fc.nat({ max: 30 }), { minLength: 1, maxLength: 120 })
    .map((tape) => composedBy(template, choicesFrom(tape)));
}

/** A change to some place of a JSON document. */
interface Mutation {
  /** Which place, counted in document order, modulo the number of places. */
  readonly place: number;
  readonly kind: 'remove' | 'replace' | 'repeat' | 'rename' | 'retype';
  readonly value: JsonValue;
}

const TYPES = [
  'DV_TEXT',
  'DV_CODED_TEXT',
  'DV_QUANTITY',
  'CLUSTER',
  'ELEMENT',
  'ITEM_TREE',
  'NO_SUCH_CLASS',
  '',
];

const mutations: fc.Arbitrary<Mutation> = fc.record({
  place: fc.nat(),
  kind: fc.constantFrom('remove', 'replace', 'repeat', 'rename', 'retype'),
  value: fc.oneof(
    fc.jsonValue() as fc.Arbitrary<JsonValue>,
    fc.constantFrom<JsonValue>(null, '', '\u0000', -0, 1e308, [], {}, [[]], 'PT1H', '2021-13', '__proto__'),
  ),
});

type Holder = JsonValue[] | JsonObject;

function places(value: JsonValue, found: [Holder, string | number][] = []): [Holder, string | number][] {
  if (Array.isArray(value)) value.forEach((item, index) => (found.push([value, index]), places(item, found)));
  else if (isJsonObject(value))
    for (const name of Object.keys(value)) {
      found.push([value, name]);
      places(value[name]!, found);
    }
  return found;
}

function mutate(composition: JsonObject, { place, kind, value }: Mutation): void {
  const all = places(composition);
  const found = all[place % Math.max(all.length, 1)];
  if (found === undefined) return;
  const [holder, key] = found;
  const before = (holder as JsonObject)[key]!;
  const set = (after: JsonValue) => ((holder as JsonObject)[key] = after);
  if (kind === 'replace') set(value);
  else if (kind === 'repeat') set(Array.isArray(before) ? [...before, ...before] : [before, before]);
  else if (kind === 'retype' && isJsonObject(before)) before['_type'] = TYPES[place % TYPES.length]!;
  else if (Array.isArray(holder)) holder.splice(Number(key), 1);
  else {
    Reflect.deleteProperty(holder, key);
    if (kind === 'rename') holder[`${key}x`] = before;
  }
}

/** COMPOSITIONs that were valid before up to five changes: most are not any more. */
export function mutatedCompositionsOf(template: CompiledTemplate): fc.Arbitrary<JsonObject> {
  const changes = fc.array(mutations, { minLength: 1, maxLength: 5 });
  return fc.tuple(compositionsOf(template), changes).map(([valid, list]) => {
    const composition = structuredClone(valid);
    for (const change of list) mutate(composition, change);
    return composition;
  });
}

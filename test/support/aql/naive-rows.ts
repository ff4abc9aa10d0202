import { isJsonObject, type JsonObject, type JsonValue } from '../../../openehr/base/json.js';

/** A step of a path: an attribute and the node code that its values must have, null for any. */
export type NaiveStep = readonly [attribute: string, nodeId: string | null];

/**
 * The column that one path alone makes, written a second time to check the evaluator, which production uses too
 * (docs/spec/aql.md#rows). `located`: the steps as far as the deepest LOCATABLE; `rest`: those below.
 */
export function naiveColumn(
  object: JsonObject,
  located: readonly NaiveStep[],
  rest: readonly NaiveStep[],
): readonly JsonValue[] {
  const there = along([object], located);
  return there.length === 0 ? [null] : there.flatMap((node) => leftOuter(node, rest));
}

function along(values: readonly JsonValue[], steps: readonly NaiveStep[]): readonly JsonValue[] {
  const [step, ...rest] = steps;
  if (step === undefined) return values;
  return along(
    values.flatMap((value) => membersOf(value, step)),
    rest,
  );
}

function leftOuter(value: JsonValue, steps: readonly NaiveStep[]): readonly JsonValue[] {
  const [step, ...rest] = steps;
  if (step === undefined) return [value];
  const members = membersOf(value, step);
  return members.length === 0 ? [null] : members.flatMap((member) => leftOuter(member, rest));
}

function membersOf(value: JsonValue, [attribute, nodeId]: NaiveStep): readonly JsonValue[] {
  const member = isJsonObject(value) ? (value[attribute] ?? null) : null;
  const members = Array.isArray(member) ? member : member === null ? [] : [member];
  return members.filter(
    (each) => nodeId === null || (isJsonObject(each) && each['archetype_node_id'] === nodeId),
  );
}

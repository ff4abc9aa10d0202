import { CdrError } from '../../base/errors.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.js';
import { textAt } from '../../rm/access.js';
import { concreteClass, codedText, identity } from '../example/sample.js';
import { withoutParameters } from '../../rm/model/classes.js';
import type { WebTemplateNode } from '../web-template/web-template.js';

/** An empty object of a node, as far as one can be made without data; null when it cannot. */
export function emptyNode(node: WebTemplateNode, language: string): JsonObject | null {
  const type = concreteClass(withoutParameters(node.rmType));
  if (!EMPTY.has(type) || node.archetypeNodeId === null) return null;
  return { _type: type, ...identity(node.archetypeNodeId, nameIn(node, language)), ...detailsOf(node) };
}

/** What the root of an archetype says of itself; nothing of other nodes. */
export function detailsOf({ constraint }: WebTemplateNode): { archetype_details?: JsonObject } {
  const archetype = constraint?.kind === 'object' ? constraint.archetype : null;
  return archetype === null ? {} : { archetype_details: archetyped(archetype.archetypeId) };
}

/** Classes that need nothing but what stands in them. */
const EMPTY = new Set(['SECTION', 'CLUSTER', 'ELEMENT', 'ITEM_TREE', 'ITEM_LIST']);

function archetyped(archetypeId: string): JsonObject {
  return {
    _type: 'ARCHETYPED',
    archetype_id: { _type: 'ARCHETYPE_ID', value: archetypeId },
    rm_version: '1.0.4',
  };
}

/** What a node is called. */
export function nameIn({ name, nameConstraint, localizedNames }: WebTemplateNode, language: string): string {
  return nameConstraint ?? localizedNames?.[language] ?? name;
}

/**
 * A value of a node: an object in canonical JSON as it is; else a text, number or boolean for the classes that have one.
 * @throws invalid when it is none of the node
 */
export function valueOf(node: WebTemplateNode, value: JsonValue, language: string): JsonObject {
  if (isJsonObject(value)) return { _type: node.rmType, ...structuredClone(value) };
  const made = VALUES[node.rmType]?.(value, node, language);
  if (made === undefined || made === null)
    throw new CdrError('invalid', `${JSON.stringify(value)} is no value of ${node.aqlPath} (${node.rmType})`);
  return made;
}

type ValueMaker = (value: JsonValue, node: WebTemplateNode, language: string) => JsonObject | null;

const text: ValueMaker = (value, { rmType }) =>
  typeof value === 'string' && value !== '' ? { _type: rmType, value } : null;

const VALUES: Readonly<Record<string, ValueMaker>> = {
  DV_TEXT: text,
  DV_URI: text,
  DV_DATE: text,
  DV_TIME: text,
  DV_DATE_TIME: text,
  DV_DURATION: text,
  DV_BOOLEAN: (value) => (typeof value === 'boolean' ? { _type: 'DV_BOOLEAN', value } : null),
  DV_COUNT: (value) => {
    const magnitude = typeof value === 'string' && value !== '' ? Number(value) : value;
    return Number.isSafeInteger(magnitude) ? { _type: 'DV_COUNT', magnitude } : null;
  },
  DV_CODED_TEXT: (value, node, language) =>
    typeof value === 'string' ? codedAs(value, node, language) : null,
};

function codedAs(code: string, node: WebTemplateNode, language: string): JsonObject | null {
  const label = labelOf(node, code, language);
  const input = node.inputs.find(({ suffix }) => suffix === 'code');
  return label === null ? null : codedText(input?.terminology ?? 'local', code, label);
}

/** What a listed code of a node is called; null: it lists no such code. */
export function labelOf({ inputs }: WebTemplateNode, code: string, language: string): string | null {
  const item = inputs.flatMap(({ list }) => list ?? []).find(({ value }) => value === code);
  return item === undefined ? null : (item.localizedLabels?.[language] ?? item.label ?? code);
}

/** Code of the language that a COMPOSITION is written in. */
export function languageOf(composition: JsonObject): string {
  return textAt(composition, 'language', 'code_string') ?? 'en';
}

/** Digits of which every decimal number of JSON has less. */
const DIGITS = 15;

/** A DV_QUANTITY in another unit, with its accuracy and the ranges that are in the former unit. */
export function converted(
  quantity: JsonObject,
  unit: { readonly from: string; readonly to: string; readonly factor: number; readonly offset?: number },
): JsonObject {
  const number = (value: JsonValue | undefined, offset: number): JsonValue | undefined =>
    typeof value === 'number' ? Number((value * unit.factor + offset).toPrecision(DIGITS)) : value;
  const below = Object.entries(quantity).map(([name, value]): [string, JsonValue] => [
    name,
    eachConverted(value, unit),
  ]);
  const object: JsonObject = Object.fromEntries(below);
  if (object._type !== 'DV_QUANTITY' || object.units !== unit.from) return object;
  const { magnitude, accuracy, accuracy_is_percent: isPercent } = object;
  const changed = { ...object, units: unit.to, magnitude: number(magnitude, unit.offset ?? 0) ?? 0 };
  if (typeof accuracy !== 'number' || isPercent === true || accuracy < 0) return changed;
  return { ...changed, accuracy: Math.abs(Number((accuracy * unit.factor).toPrecision(DIGITS))) };
}

function eachConverted(value: JsonValue, unit: Parameters<typeof converted>[1]): JsonValue {
  if (Array.isArray(value)) return value.map((item) => eachConverted(item, unit));
  return isJsonObject(value) ? converted(value, unit) : value;
}

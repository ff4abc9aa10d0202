import type { JsonObject, JsonValue } from '../../base/json.js';
import { isJsonObject } from '../../base/json.js';
import type { Violation } from '../../base/violation.js';
import { typeOf } from '../../rm/access.js';
import type { CompiledTemplate } from '../../template/compile.js';
import type { PlanNode, FlatPlace } from './plan.js';
import { readFlat } from './read.js';
import { tableOf } from './value/fields.js';
import { writeFlat } from './write.js';
import { counted } from '../../base/work.js';

/** Keys for attributes of the root that FLAT gives by `ctx/`. */
const ROOT_KEYS: Readonly<Record<string, string>> = {
  composer: 'ctx/composer_name',
  language: 'ctx/language',
  territory: 'ctx/territory',
};
/** Suffixes of attributes that are objects. */
const SUFFIXES: Readonly<Record<string, string>> = {
  defining_code: 'code',
  symbol: 'code',
  code_string: 'code',
  terminology_id: 'terminology',
};

/** Where a violation stands: the nearest object that a key made, and the attributes from there. */
interface Reached {
  readonly place: FlatPlace;
  readonly object: JsonObject;
  readonly rest: readonly string[];
}

/**
 * The violations with the keys of the FLAT body that they are about (docs/spec/rest.md#violations): the key that was
 * sent, or for what is missing the one that would be right. The body is read once more, since nothing is traced as long
 * as nothing is wrong.
 */
export function withFlatPaths(
  violations: readonly Violation[],
  flat: JsonObject,
  template: CompiledTemplate,
): Violation[] {
  const places = new Map<JsonObject, FlatPlace>();
  const composition = readFlat(flat, template, { now: new Date(0), places });
  return withFlatKeys(violations, { flat, composition, places });
}

/**
 * The violations of a canonical COMPOSITION with the keys that it would have in FLAT: by them a form finds its field,
 * whatever it sends. Of what the template does not describe the key is that of the nearest object above.
 * @param composition `_type` on every object
 */
export function withFormPaths(
  violations: readonly Violation[],
  composition: JsonObject,
  template: CompiledTemplate,
): Violation[] {
  const places = new Map<JsonObject, FlatPlace>();
  const flat = writeFlat(composition, template, places);
  return withFlatKeys(violations, { flat, composition, places });
}

/** A body as FLAT, the COMPOSITION of it, and what key each of its objects has. */
interface Keyed {
  readonly flat: JsonObject;
  readonly composition: JsonObject;
  readonly places: ReadonlyMap<JsonObject, FlatPlace>;
}

function withFlatKeys(violations: readonly Violation[], { flat, composition, places }: Keyed): Violation[] {
  return counted(violations).map((violation) => {
    if (violation.flatPath !== undefined) return violation;
    const flatPath = flatKeyOf(violation, flat, composition, places);
    return flatPath === null ? violation : { ...violation, flatPath };
  });
}

function flatKeyOf(
  violation: Violation,
  flat: JsonObject,
  composition: JsonObject,
  places: ReadonlyMap<JsonObject, FlatPlace>,
): string | null {
  const reached = reachNode(violation.path, composition, places);
  if (reached === null) return null;
  const { place, object, rest } = reached;
  const [first] = rest;
  if (object === composition && first !== undefined && Object.hasOwn(ROOT_KEYS, first))
    return ROOT_KEYS[first] ?? null;
  if (rest.length === 0) return withSuffix(place.path, violation.attribute, object, flat);
  if (!place.plan.isStructure) return withSuffix(place.path, rest[0], object, flat);
  return [place.path, ...idsBelow(place.plan, rest, expectedNodeId(violation))].join('/');
}

function reachNode(
  path: string,
  composition: JsonObject,
  places: ReadonlyMap<JsonObject, FlatPlace>,
): Reached | null {
  let value: JsonValue | undefined = composition;
  const root = places.get(composition);
  let reached: Reached | null = root === undefined ? null : { place: root, object: composition, rest: [] };
  for (const step of counted(path === '/' ? [] : path.slice(1).split('/'))) {
    const [, name = step, index] = /^(\w+)(?:\[(\d+)\])?$/.exec(step) ?? [];
    value = memberAt(value, name, index);
    const object = isJsonObject(value ?? null) ? (value as JsonObject) : null;
    const place = object === null ? undefined : places.get(object);
    if (object !== null && place !== undefined) reached = { place, object, rest: [] };
    else if (reached !== null) reached = { ...reached, rest: [...reached.rest, name] };
  }
  return reached;
}

function memberAt(value: JsonValue | undefined, name: string, index?: string): JsonValue | undefined {
  const member = value !== undefined && isJsonObject(value) ? value[name] : undefined;
  return index !== undefined && Array.isArray(member) ? member[Number(index)] : member;
}

/** The ids of the nodes below a node that stand for attributes which are not there. */
function idsBelow(plan: PlanNode, attributes: readonly string[], nodeId: string | null): string[] {
  const ids: string[] = [];
  let at = plan;
  for (const [index, attribute] of counted(attributes).entries()) {
    const children: readonly PlanNode[] = at.attributes.get(attribute) ?? [];
    const isLast = index === attributes.length - 1;
    const named = isLast ? counted(children).find(({ node }) => node.archetypeNodeId === nodeId) : undefined;
    const next = named ?? children[0];
    if (next === undefined) break;
    at = next;
    if (at.id !== null) ids.push(at.id);
  }
  return ids;
}

function expectedNodeId({ expected }: Violation): string | null {
  const [first] = expected ?? [];
  const nodeId = isJsonObject(first ?? null) ? (first as JsonObject).node_id : undefined;
  return typeof nodeId === 'string' ? nodeId : null;
}

/** The key with the suffix of an attribute; without it when the client sent it so. */
function withSuffix(
  key: string,
  attribute: string | undefined,
  object: JsonObject,
  flat: JsonObject,
): string {
  if (attribute === undefined) return key;
  const { fields } = tableOf(typeOf(object));
  const suffix =
    counted(fields).find((field) => field.attribute === attribute)?.suffixes[0] ??
    SUFFIXES[attribute] ??
    (typeOf(object) === 'DV_CODED_TEXT' && attribute === 'value' ? 'value' : '');
  if (suffix === '') return key;
  const whole = `${key}|${suffix}`;
  return Object.hasOwn(flat, key) && !Object.hasOwn(flat, whole) ? key : whole;
}

import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.js';
import { isKindOf, isLocatable } from '../../rm/model/classes.js';
import type { CompiledTemplate } from '../../template/compile.js';
import { writeValue } from './value/data-values.js';
import { earliest } from './defaults.js';
import { objectAt, objectsAt, textAt } from '../../rm/access.js';
import { writeOwnKeys } from './keys/own-keys.js';
import { PARTY } from './value/parties.js';
import { planOf, type FlatPlace, type PlanNode } from './plan.js';
import { boundType } from './value/quantities.js';
import type { WriteEnvironment } from './plan.js';
import { counted } from '../../base/work.js';

/**
 * Writes a COMPOSITION as FLAT (docs/spec/formats.md#writing-flat): its data values and the keys of its structures,
 * in the order of the template. Content that the template does not describe is left out.
 *
 * @param composition canonical JSON of this template, `_type` on every object
 * @param places filled with where each object went to
 */
export function writeFlat(
  composition: JsonObject,
  template: CompiledTemplate,
  places: Map<JsonObject, FlatPlace> | null = null,
): JsonObject {
  const environment: WriteEnvironment = { template, out: {}, places, writeValue };
  const plan = planOf(template);
  places?.set(composition, { path: plan.id ?? '', plan });
  writeStructure(plan, composition, plan.id ?? '', environment);
  return environment.out;
}

function writeStructure(
  plan: PlanNode,
  object: JsonObject,
  key: string,
  environment: WriteEnvironment,
): void {
  writeOwnKeys(plan, object, key, environment);
  if (plan.type === 'HISTORY' && !plan.claimed.has('history_origin'))
    writeOrigin(object, key, environment.out);
  for (const [attribute, children] of counted(plan.attributes)) {
    const value = object[attribute];
    if (value === undefined || isSpecial(plan, attribute, value, { key, environment })) continue;
    if (Array.isArray(value)) writeFlatList(children, value, key, environment);
    else {
      const child = matching(children, value);
      if (child !== undefined) writeInstance(child, value, { key, index: 0 }, environment);
    }
  }
  if (plan.type === 'SECTION' && object.items === undefined) writeEmptySection(object, key, environment);
}

/** A SECTION without items has no keys but that of its name, without which it would be lost. */
function writeEmptySection(section: JsonObject, key: string, environment: WriteEnvironment): void {
  const name = section.name;
  if (name !== undefined) environment.writeValue(name, `${key}/_name`, { environment, plan: null });
}

function writeFlatList(
  children: readonly PlanNode[],
  values: readonly JsonValue[],
  key: string,
  environment: WriteEnvironment,
): void {
  const counts = new Map<PlanNode, number>();
  for (const value of counted(values)) {
    const first = matching(children, value);
    if (first === undefined) continue;
    const hasRoom = (node: PlanNode) => node.max === -1 || (counts.get(node) ?? 0) < node.max;
    const child = closest(counted(twinsOf(first, children)).filter(hasRoom), value, environment) ?? first;
    const index = counts.get(child) ?? 0;
    const mayBeSilent = MAY_BE_SILENT.has(child.type) && values.length > 1;
    if (!mayBeSilent) writeInstance(child, value, { key, index }, environment);
    if (!mayBeSilent || writeIfAny(child, value, { key, index }, environment)) counts.set(child, index + 1);
  }
}

/** The node itself and the siblings with the same node id and name. */
function twinsOf({ node }: PlanNode, children: readonly PlanNode[]): PlanNode[] {
  return counted(children).filter(
    (child) =>
      child.node === node ||
      (child.node.archetypeNodeId === node.archetypeNodeId &&
        child.node.nameConstraint === node.nameConstraint &&
        node.archetypeNodeId !== null),
  );
}

/** The node that has keys for most of what a value holds, the first one of several. */
function closest(
  nodes: readonly PlanNode[],
  value: JsonValue,
  environment: WriteEnvironment,
): PlanNode | undefined {
  const [first, ...others] = nodes;
  if (first === undefined || others.length === 0) return first;
  const keys = counted(nodes).map((node) => {
    const out: JsonObject = {};
    writeInstance(node, value, { key: '', index: 0 }, { ...environment, out, places: null });
    return Object.keys(out).length;
  });
  return nodes[keys.indexOf(Math.max(...keys))];
}

/** Classes of which an instance may have no keys: all it holds is in slots. It would be a gap among the others. */
const MAY_BE_SILENT = new Set(['CLUSTER', 'SECTION']);

function writeIfAny(
  child: PlanNode,
  value: JsonValue,
  position: Position,
  environment: WriteEnvironment,
): boolean {
  const out: JsonObject = {};
  writeInstance(child, value, position, { ...environment, out });
  Object.assign(environment.out, out);
  return Object.keys(out).length > 0;
}

interface Position {
  /** Of the node above. */
  readonly key: string;
  readonly index: number;
}

function writeInstance(
  child: PlanNode,
  value: JsonValue,
  { key, index }: Position,
  environment: WriteEnvironment,
): void {
  const own =
    child.id === null ? key : `${key}/${child.id}${child.max !== 1 || index > 0 ? `:${index}` : ''}`;
  if (!hasKeys(child)) return;
  if (isJsonObject(value)) environment.places?.set(value, { path: own, plan: child });
  if (child.isStructure && isJsonObject(value)) writeStructure(child, value, own, environment);
  else if (child.id !== null || child.isInline) writeValue(value, own, { environment, plan: child });
}

function hasKeys({ id, isInline, isStructure }: PlanNode): boolean {
  return id !== null || isInline || isStructure;
}

/** The node of the template that a value stands for; of several data types the one that is meant exactly. */
function matching(children: readonly PlanNode[], value: JsonValue): PlanNode | undefined {
  if (!isJsonObject(value)) return children[0];
  const type = textAt(value, '_type') ?? '';
  if (isLocatable(type)) return matchingNode(children, value, type);
  const fitting = counted(children).filter((child) => accepts(child, type) && sameBounds(child, value));
  return counted(fitting).find((child) => child.type === type) ?? fitting[0];
}

function matchingNode(children: readonly PlanNode[], value: JsonObject, type: string): PlanNode | undefined {
  const name = textAt(value, 'name', 'value');
  let unnamed: PlanNode | undefined;
  for (const child of counted(children)) {
    const { archetypeNodeId, nameConstraint } = child.node;
    if (archetypeNodeId !== null && archetypeNodeId !== value.archetype_node_id) continue;
    if (!isKindOf(type, child.type)) continue;
    if (nameConstraint === null) unnamed ??= child;
    else if (nameConstraint === name) return child;
  }
  return unnamed;
}

function accepts(child: PlanNode, type: string): boolean {
  if (isKindOf(type, child.type)) return true;
  return type === 'DV_TEXT' && counted(child.inputs).some((input) => input.suffix === 'other');
}

function sameBounds(child: PlanNode, value: JsonObject): boolean {
  if (child.parameter === null) return true;
  const bound = boundType(value);
  return bound === null || isKindOf(bound, child.parameter);
}

interface KeyedValue {
  readonly key: string;
  readonly environment: WriteEnvironment;
}

/** Attributes whose keys are not those of their type. */
function isSpecial(
  plan: PlanNode,
  attribute: string,
  value: JsonValue,
  { key, environment }: KeyedValue,
): boolean {
  const { out } = environment;
  const isSelf = isJsonObject(value) && value._type === 'PARTY_SELF';
  if (attribute === 'composer' && isSelf) {
    out['ctx/composer_self'] = true;
    PARTY.write({ ...value, _type: 'PARTY_PROXY' }, `${key}/composer`, { environment, plan: null });
    return true;
  }
  if (attribute === 'subject') return isSelf && objectAt(value, 'external_ref') === undefined;
  if (attribute === 'encoding' && isKindOf(plan.type, 'ENTRY')) {
    out[`${key}/encoding|code`] = 'UTF-8';
    out[`${key}/encoding|terminology`] = 'IANA_character-sets';
    return true;
  }
  return plan.type === 'INSTRUCTION_DETAILS' && attribute !== 'wf_details';
}

/** The origin is said only where it is not that of the earliest event. */
function writeOrigin(history: JsonObject, key: string, out: JsonObject): void {
  const origin = textAt(history, 'origin', 'value');
  if (origin === undefined || origin === earliest(objectsAt(history, 'events'))) return;
  out[`${key}/history_origin`] = origin;
}

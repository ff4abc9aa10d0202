import { type JsonObject, isJsonObject, type JsonValue } from '../../base/json.js';
import type { CompiledTemplate } from '../compile.js';
import {
  choicesFor,
  type DetailLevel,
  type ExampleChoices,
  exampleText,
  exampleValue,
  isRmAttribute,
  type ValueContext,
} from './example-value.js';
import {
  localeOf,
  addRequired,
  codedText,
  concreteClass,
  identity,
  INTERVAL_FLAGS,
  sampleObject,
  type SampleLocale,
} from './sample.js';
import { typeOf } from '../../rm/access.js';
import { attributesOf, isLocatable, withoutParameters } from '../../rm/model/classes.js';
import { INSTRUCTION_TRANSITIONS, OPENEHR, rubric, type GroupName } from '../../rm/terminology/openehr.js';
import { codeString } from '../validate/code-check.js';
import type { SlotConstraint } from '../opt/constraint.js';
import { textMatching } from './pattern-example.js';
import { codedNameOf } from '../opt/constraint-text.js';
import { slotCheck } from '../opt/slot.js';
import type { WebTemplateNode } from '../web-template/web-template.js';

/** What an example shall look like (ITS-REST: definition_template_adl1.4_example_get). */
interface ExampleOptions {
  readonly detailLevel: DetailLevel;
  /** `output` has a `uid`, as a committed COMPOSITION has. */
  readonly type: 'input' | 'output';
  /** ISO 639-1; the default language of the template when missing. */
  readonly language?: string;
}

const EXAMPLE_UID = '00000000-0000-4000-8000-000000000001::example.org::1';

/** An example COMPOSITION in canonical JSON: valid against the reference model and the template. */
export function exampleComposition(template: CompiledTemplate, options: ExampleOptions): JsonObject {
  const language = options.language ?? template.defaultLanguage;
  const { _type, ...attributes } = composedBy(template, choicesFor(options.detailLevel), language);
  const uid = { _type: 'OBJECT_VERSION_ID', value: EXAMPLE_UID };
  return { _type: _type ?? 'COMPOSITION', ...(options.type === 'output' ? { uid } : {}), ...attributes };
}

/** A valid COMPOSITION of a template by other choices than those of the detail levels. */
export function composedBy(
  template: CompiledTemplate,
  choices: ExampleChoices,
  language = template.defaultLanguage,
): JsonObject {
  const context = { choices, locale: localeOf(language) };
  const composition = exampleObject(template.fullTree, context) ?? { _type: 'COMPOSITION' };
  const details = composition.archetype_details;
  composition.archetype_details = {
    ...(typeof details === 'object' && details !== null && !Array.isArray(details) ? details : {}),
    template_id: { _type: 'TEMPLATE_ID', value: template.templateId },
  };
  return composition;
}

/** Containers that must not be empty, by RM class. */
const NEVER_EMPTY: Readonly<Record<string, string>> = { CLUSTER: 'items', HISTORY: 'events' };
/** Structures that may be empty in canonical form only: simplified forms do not show an empty one. */
const ITEM_LISTS = new Set(['ITEM_TREE', 'ITEM_LIST']);
const RM_VERSION = '1.0.4';

/**
 * Builds an example of what a node of the full tree describes. Null when there can be none: a slot that nothing is
 * known to fill, or a container that must not be empty and has nothing to hold.
 */
function exampleObject(node: WebTemplateNode, context: ValueContext): JsonObject | null {
  if (node.constraint?.kind === 'slot') return slotFiller(node.constraint, context);
  const value = exampleValue(node, context);
  if (value !== null) return value;
  const object: JsonObject = { _type: concreteClass(withoutParameters(node.rmType)) };
  if (isLocatable(node.rmType)) Object.assign(object, archetypeIdentity(node));
  for (const [attribute, children] of byAttribute(node)) {
    const values =
      children[0]?.multiple === true ? exampleValues(children, context) : singleOf(children, context);
    if (values !== undefined) object[attribute] = values;
  }
  addPrimitives(object, node, context);
  addUnnamed(object, node, context.locale);
  if (!finishExample(object, node, context)) return null;
  addRequired(object, context.locale);
  return inModelOrder(object);
}

function archetypeIdentity(node: WebTemplateNode): JsonObject {
  const identified = identity(node.archetypeNodeId ?? 'at0001', node.name);
  const coded = codedNameOf(node.constraint);
  if (coded !== null) {
    const code = node.nameCode?.code ?? coded.codes[0] ?? 'at0001';
    identified.name = codedText(
      node.nameCode?.terminologyId ?? coded.terminologyId ?? 'local',
      code,
      node.name,
    );
  }
  const { constraint } = node;
  if (constraint?.kind !== 'object' || constraint.archetype === null) return identified;
  return { ...identified, archetype_details: archetyped(constraint.archetype.archetypeId) };
}

function archetyped(archetypeId: string): JsonObject {
  return {
    _type: 'ARCHETYPED',
    archetype_id: { _type: 'ARCHETYPE_ID', value: archetypeId },
    rm_version: RM_VERSION,
  };
}

/** Children by the attributes that data have, in the order of the tree. */
function byAttribute(node: WebTemplateNode): Map<string, WebTemplateNode[]> {
  const groups = new Map<string, WebTemplateNode[]>();
  for (const child of node.children)
    if (isRmAttribute(node.rmType, child.attribute))
      groups.set(child.attribute, [...(groups.get(child.attribute) ?? []), child]);
  return groups;
}

/** Values of a container: what the children ask for, and more when the container as a whole has to hold more. */
function exampleValues(
  children: readonly WebTemplateNode[],
  context: ValueContext,
): JsonObject[] | undefined {
  const lists = children.map((child) => instances(child, context));
  let lacking = leastSize(children[0]) - lists.flat().length;
  for (const [index, child] of children.entries()) {
    if (lacking <= 0) break;
    if (lists[index]?.length !== 0 || child.max === 0) continue;
    lists[index] = instances(child, context, 1).slice(0, 1);
    lacking -= lists[index].length;
  }
  const values = lists.flat();
  return values.length > 0 ? values : undefined;
}

function leastSize(child: WebTemplateNode | undefined): number {
  const constraint = child?.parent?.constraint;
  if (constraint?.kind !== 'object') return 0;
  return constraint.attributes.find(({ name }) => name === child?.attribute)?.cardinality?.min ?? 0;
}

function singleOf(children: readonly WebTemplateNode[], context: ValueContext): JsonObject | undefined {
  const possible = children.filter((child) => child.max !== 0);
  const chosen = possible[context.choices.pick(possible.length)];
  if (chosen === undefined) return undefined;
  const isValue = chosen.attribute === 'value' || chosen.parent?.rmType.startsWith('DV_INTERVAL') === true;
  const min = isValue ? 1 : Math.min(...possible.map((child) => child.existenceMin));
  if (context.choices.count(chosen, min, 1) === 0) return undefined;
  return exampleObject(chosen, context) ?? undefined;
}

function instances(node: WebTemplateNode, context: ValueContext, least = 0): JsonObject[] {
  const count = Math.max(least, context.choices.count(node, node.existenceMin, node.max));
  const objects: JsonObject[] = [];
  for (let index = 0; index < count; index += 1) {
    const object = exampleObject(node, context);
    if (object !== null) objects.push(object);
  }
  return objects;
}

/** Texts that the template gives primitive attributes, and STRINGs that were added from the RM. */
function addPrimitives(object: JsonObject, node: WebTemplateNode, context: ValueContext): void {
  const { constraint } = node;
  for (const child of node.children)
    if (child.rmType === 'STRING') object[child.attribute] = undefinedText(child);
  if (constraint?.kind !== 'object') return;
  for (const { name } of constraint.attributes) {
    const text = isRmAttribute(node.rmType, name) ? exampleText(node, name, context) : null;
    if (text !== null) object[name] = text;
  }
}

/** Any objects where the template says how many there must be, and not which. */
function addUnnamed(
  object: JsonObject,
  { rmType, children, constraint }: WebTemplateNode,
  locale: SampleLocale,
): void {
  if (constraint?.kind !== 'object') return;
  for (const { name, cardinality, existence } of constraint.attributes) {
    const type = attributesOf(withoutParameters(rmType)).get(name)?.type;
    const least = existence.max === 0 ? 0 : (cardinality?.min ?? 0);
    if (type === undefined || least === 0 || children.some(({ attribute }) => attribute === name)) continue;
    object[name] = Array.from({ length: least }, () => sampleObject(type, name, locale));
  }
}

function undefinedText({ attribute }: WebTemplateNode): string {
  return attribute === 'action_archetype_id' ? '/.*/' : 'activities[at0001]';
}

/** What single classes need beyond their attributes. False when the object cannot be made valid. */
function finishExample(object: JsonObject, node: WebTemplateNode, context: ValueContext): boolean {
  const container = NEVER_EMPTY[withoutParameters(node.rmType)];
  if (container !== undefined && object[container] === undefined)
    return fillContainer(object, container, node, context);
  if (ITEM_LISTS.has(node.rmType) && object.items === undefined)
    fillContainer(object, 'items', node, context);
  switch (withoutParameters(node.rmType)) {
    case 'ELEMENT':
      finishExampleElement(object);
      break;
    case 'DV_INTERVAL':
      if (object.lower !== undefined || object.upper !== undefined)
        Object.assign(object, statusFlags(object));
      else Object.assign(object, sampleObject('DV_INTERVAL', node.attribute, context.locale));
      break;
    case 'ISM_TRANSITION':
      finishTransition(object, node);
      break;
    default:
      if (node.attribute === 'composer')
        Object.assign(object, sampleObject('PARTY_IDENTIFIED', 'composer', context.locale));
      else if (isSampled(node)) Object.assign(object, sampleAround(object, node, context));
  }
  return true;
}

function isSampled({ rmType }: WebTemplateNode): boolean {
  return rmType.startsWith('DV_') || rmType.startsWith('PARTY_');
}

/** A sample of the class, of which the constrained attributes are kept. */
function sampleAround(object: JsonObject, node: WebTemplateNode, { locale }: ValueContext): JsonObject {
  return { ...sampleObject(withoutParameters(node.rmType), node.attribute, locale), ...object };
}

function finishExampleElement(object: JsonObject): void {
  if (object.value !== undefined) delete object.null_flavour;
  if (object.value !== undefined || object.null_flavour === undefined) delete object.null_reason;
}

function statusFlags(object: JsonObject): JsonObject {
  const isMissing = (bound: string) => object[bound] === undefined;
  return {
    ...INTERVAL_FLAGS,
    ...(isMissing('lower') ? { lower_unbounded: true, lower_included: false } : {}),
    ...(isMissing('upper') ? { upper_unbounded: true, upper_included: false } : {}),
  };
}

/** Step, state and transition that go together. */
function finishTransition(object: JsonObject, node: WebTemplateNode): void {
  const steps = node.children.find((child) => child.attribute === 'careflow_step')?.inputs[0]?.list ?? [];
  const step = steps.find((item) => item.value === codeOfText(object.careflow_step));
  const stepState = step?.currentStates?.[0];
  if (stepState !== undefined) object.current_state = terminologyText('instruction states', stepState);
  if (object.transition === undefined) return;
  const state = codeOfText(object.current_state);
  const transition = [...INSTRUCTION_TRANSITIONS].find(([, { to }]) => to === state)?.[0];
  if (transition === undefined) delete object.transition;
  else object.transition = terminologyText('instruction transitions', transition);
}

function terminologyText(group: GroupName, code: string): JsonObject {
  return codedText(OPENEHR, code, rubric(group, code, 'en') ?? code);
}

function codeOfText(value: JsonValue | undefined): string {
  return isJsonObject(value) ? codeString(value.defining_code) : '';
}

function fillContainer(
  object: JsonObject,
  container: string,
  node: WebTemplateNode,
  context: ValueContext,
): boolean {
  const children = node.children.filter((child) => child.attribute === container && child.max !== 0);
  for (const child of children.toSorted((left, right) => Number(left.isSlot) - Number(right.isSlot))) {
    const [made] = instances(child, context, 1);
    if (made !== undefined) {
      object[container] = [made];
      return true;
    }
  }
  // Without children any content will do, which the RM sample brings.
  return children.length === 0;
}

function slotFiller(slot: SlotConstraint, { locale }: ValueContext): JsonObject | null {
  const rmType = concreteClass(slot.rmType);
  const allows = slotCheck(slot);
  const patterns = slot.includes.map((assertion) => assertion.archetypeIdPattern);
  const ids = patterns.map((pattern) => (pattern === null ? null : textMatching(pattern)));
  const archetypeId = [...ids, `openEHR-EHR-${rmType}.example.v1`].find((id) => id !== null && allows(id));
  const found = archetypeId == null ? undefined : /^\w+-\w+-(\w+)\./.exec(archetypeId)?.[1];
  if (archetypeId == null || found === undefined || concreteClass(found) !== found) return null;
  const filler = sampleObject(found, '', locale);
  filler.archetype_node_id = archetypeId;
  filler.archetype_details = archetyped(archetypeId);
  return inModelOrder(filler);
}

/** The attributes in the order of the class. */
function inModelOrder(object: JsonObject): JsonObject {
  const type = typeOf(object);
  const ordered: JsonObject = { _type: type };
  for (const name of attributesOf(type).keys()) {
    const value = object[name];
    if (value !== undefined) ordered[name] = value;
  }
  return ordered;
}

import { CdrError } from '../../base/errors.js';
import { formatUtc } from '../../base/iso8601.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.js';
import { attributesOf, isKindOf } from '../../rm/model/classes.js';
import type { CompiledTemplate } from '../../template/compile.js';
import { nameCodeOf } from '../../template/opt/constraint-text.js';
import { codedText } from './value/coded.js';
import { moveContextAliases } from './keys/context-aliases.js';
import { ignoredContextKeys } from './keys/context-keys.js';
import { flatContext } from './context.js';
import { readValue, takeRaw } from './value/data-values.js';
import { fillDefaults, fillHistory, settleEvent } from './defaults.js';
import { childOf, conflict, flatKeys, instancesOf, type FlatScope } from './keys/keys.js';
import { readOwnKeys, templateName } from './keys/own-keys.js';
import { childPlan, planOf, type PlanNode } from './plan.js';
import { unconsumed } from './keys/suggest.js';
import { temporalOf } from './value/values.js';
import type { FlatPlace, ReadEnvironment } from './plan.js';
import { counted } from '../../base/work.js';

/** What reading FLAT needs beside the body and the template. */
export interface ReadFlatOptions {
  /** The time of the request: what `now` and missing times become. */
  readonly now: Date;
  /** Filled with what was ignored or replaced, one sentence each; left alone when missing. */
  readonly warnings?: string[];
  /** Filled with where each object came from; left alone when missing. */
  readonly places?: Map<JsonObject, FlatPlace>;
}

const RM_VERSION = '1.0.4';

/**
 * Reads a FLAT body into a COMPOSITION in canonical JSON (docs/spec/formats.md#flat-paths), with
 * docs/spec/formats.md#flat-defaults. Nothing is validated beyond what reading needs: root attributes may be
 * missing, values may break the template.
 *
 * @throws invalid naming every key that no node takes, or the key that is malformed, contradicts another one or
 * has a value that cannot be read
 */
export function readFlat(flat: JsonObject, template: CompiledTemplate, options: ReadFlatOptions): JsonObject {
  const keys = flatKeys(flat);
  const plan = planOf(template);
  const rootId = plan.id ?? '';
  const root = childOf(keys.top, rootId) ?? { path: rootId, values: new Map(), children: new Map() };
  moveContextAliases(plan, root);
  const now = formatUtc(options.now);
  const { warnings = [], places = null } = options;
  for (const name of counted(ignoredContextKeys(keys.contextNames)))
    warnings.push(`ctx/${name} is not known and was ignored`);
  const context = flatContext(keys.context, now, template.defaultLanguage);
  const language = ownLanguage(root) ?? context.language ?? template.defaultLanguage;
  const begun = ownStart(plan, root, now) ?? now;
  const environment: ReadEnvironment = {
    template,
    context,
    now,
    begun,
    language,
    warnings,
    places,
    readValue,
  };
  const composition = readFlatStructure(plan, root, environment);
  const left = counted(keys.values).filter((value) => !value.used);
  if (left.length > 0) throw unconsumed(left, plan, keys.top.children.has(rootId));
  if (composition === null) throw new CdrError('invalid', 'the body has no keys that the template knows');
  places?.set(composition, { path: root.path, plan });
  return composition;
}

function ownLanguage(root: FlatScope): string | null {
  const language = childOf(root, 'language');
  const code = language === undefined ? undefined : language.values.get('code')?.value;
  return typeof code === 'string' ? code : null;
}

/** When the context began, as the body says; null when it does not. */
function ownStart(plan: PlanNode, root: FlatScope, now: string): string | null {
  const id = childPlan(plan, 'context')?.id;
  const context = id == null ? undefined : childOf(root, id);
  const start = context === undefined ? undefined : childOf(context, 'start_time')?.values.get('');
  return start === undefined ? null : temporalOf(start, 'date-time', now);
}

/** The object of a node; null when no key says anything about it or below it. */
function readFlatStructure(
  plan: PlanNode,
  scope: FlatScope,
  environment: ReadEnvironment,
): JsonObject | null {
  const raw = plan.id === null ? null : readRaw(plan, scope, environment);
  if (raw !== null) return raw;
  const object = newPlannedObject(plan, environment);
  let found = false;
  for (const child of counted(plan.children)) if (readChild(child, object, scope, environment)) found = true;
  if (readOwnKeys(plan, object, scope, environment)) found = true;
  if (plan.type === 'HISTORY' && namesOrigin(plan, scope)) found = true;
  const isRoot = plan.node.parent === null;
  if (!found && !isRoot) return null;
  finishObject(plan, object, { scope, environment });
  return isHollow(plan.type, object) ? null : object;
}

function namesOrigin(plan: PlanNode, scope: FlatScope): boolean {
  return scope.children.has('history_origin') && !plan.claimed.has('history_origin');
}

/** `|raw` at a node; for a skipped ELEMENT it may be the ELEMENT or its value. */
function readRaw(plan: PlanNode, scope: FlatScope, environment: ReadEnvironment): JsonObject | null {
  if (plan.type !== 'ELEMENT') return takeRaw(scope, plan.type);
  const raw = takeRaw(scope, 'ELEMENT', 'DATA_VALUE');
  if (raw === null || raw._type === 'ELEMENT') return raw;
  return { ...newPlannedObject(plan, environment), value: raw };
}

function newPlannedObject(plan: PlanNode, { template }: ReadEnvironment): JsonObject {
  const object: JsonObject = { _type: plan.type === 'ITEM_STRUCTURE' ? 'ITEM_TREE' : plan.type };
  const { archetypeNodeId, constraint } = plan.node;
  const nameCode = nameCodeOf(plan.node);
  if (archetypeNodeId === null) return object;
  const value = templateName(plan);
  object.name =
    nameCode === null
      ? { _type: 'DV_TEXT', value }
      : codedText({ code: nameCode.code, value, terminology: nameCode.terminologyId });
  object.archetype_node_id = archetypeNodeId;
  if (constraint?.kind !== 'object' || constraint.archetype === null) return object;
  object.archetype_details = {
    _type: 'ARCHETYPED',
    archetype_id: { _type: 'ARCHETYPE_ID', value: archetypeNodeId },
    ...(plan.node.parent === null
      ? { template_id: { _type: 'TEMPLATE_ID', value: template.templateId } }
      : {}),
    rm_version: RM_VERSION,
  };
  return object;
}

/** Reads all instances of a child node into the object. Gives whether there is any. */
function readChild(
  child: PlanNode,
  object: JsonObject,
  scope: FlatScope,
  environment: ReadEnvironment,
): boolean {
  if (child.id === null) return readShared(child, object, scope, environment);
  if (!scope.children.has(child.id)) return false;
  let found = false;
  for (const [index, inner] of counted(instancesOf(scope, child.id))) {
    // Nothing can hold a second instance: its keys stay unread and are named.
    if (index > 0 && !child.node.multiple) continue;
    const value = readNode(child, inner, environment);
    found = true;
    if (value !== null) attachValue(object, child, value, inner);
  }
  return found;
}

/** A child without id of its own: the value of a skipped ELEMENT, or a structure that clients do not see. */
function readShared(
  child: PlanNode,
  object: JsonObject,
  scope: FlatScope,
  environment: ReadEnvironment,
): boolean {
  if (!child.isInline && !(child.isStructure && reaches(child, scope))) return false;
  const value = readNode(child, scope, environment);
  if (value === null) return false;
  attachValue(object, child, value, scope);
  return true;
}

function reaches(child: PlanNode, scope: FlatScope): boolean {
  for (const id of counted(scope.children).keys()) if (child.reach.has(id)) return true;
  return isKindOf(child.type, 'EVENT') && scope.values.has('sample_count');
}

function readNode(plan: PlanNode, scope: FlatScope, environment: ReadEnvironment): JsonValue | null {
  const { node, parameter } = plan;
  const value = plan.isStructure
    ? readFlatStructure(plan, scope, environment)
    : readValue(plan.type, scope, { environment, plan, attribute: node.attribute, parameter });
  if (isJsonObject(value)) environment.places?.set(value, { path: scope.path, plan });
  return value;
}

function attachValue(object: JsonObject, child: PlanNode, value: JsonValue, scope: FlatScope): void {
  const { attribute, multiple } = child.node;
  const before = object[attribute];
  if (multiple) {
    if (Array.isArray(before)) before.push(value);
    else object[attribute] = [value];
  } else if (before === undefined) object[attribute] = value;
  else throw conflict(scope.path, `another value of ${attribute}`);
}

interface ReadScope {
  readonly scope: FlatScope;
  readonly environment: ReadEnvironment;
}

function finishObject(plan: PlanNode, object: JsonObject, { scope, environment }: ReadScope): void {
  if (plan.type === 'COMPOSITION') addContextValues(plan, object, { scope, environment });
  if (plan.type === 'ACTION') addTransition(plan, object, environment);
  if (plan.type === 'ELEMENT' && object.null_flavour !== undefined) delete object.value;
  if (isKindOf(plan.type, 'EVENT')) settleEvent(object, plan, environment);
  if (plan.type === 'HISTORY') fillHistory(object, plan, scope, environment);
  addRequiredStructures(plan, object, environment);
  fillDefaults(object, plan, environment);
}

/** `data` and `description` that the RM requires are there even when all they may hold is optional and missing. */
function addRequiredStructures(plan: PlanNode, object: JsonObject, environment: ReadEnvironment): void {
  for (const [attribute, [child]] of counted(plan.attributes)) {
    if (object[attribute] !== undefined || child === undefined) continue;
    if (!isKindOf(child.type, 'ITEM_STRUCTURE') || child.type === 'ITEM_SINGLE') continue;
    if (attributesOf(plan.type).get(attribute)?.required === true)
      object[attribute] = newPlannedObject(child, environment);
  }
}

/** A context is there even when neither the keys nor the template name one. */
function addContextValues(plan: PlanNode, object: JsonObject, { environment }: ReadScope): void {
  const [context] = plan.attributes.get('context') ?? [];
  if (context === undefined || object.context !== undefined) return;
  const created: JsonObject = { _type: 'EVENT_CONTEXT' };
  fillDefaults(created, context, environment);
  object.context = created;
}

function addTransition(plan: PlanNode, object: JsonObject, environment: ReadEnvironment): void {
  const [transition] = plan.attributes.get('ism_transition') ?? [];
  if (transition === undefined || object.ism_transition !== undefined) return;
  const created: JsonObject = { _type: 'ISM_TRANSITION' };
  fillDefaults(created, transition, environment);
  object.ism_transition = created;
}

/** Whether nothing is left that makes the object worth keeping (docs/spec/formats.md#flat-defaults). */
function isHollow(type: string, object: JsonObject): boolean {
  if (type === 'ELEMENT') return object.value === undefined && object.null_flavour === undefined;
  if (type === 'ITEM_SINGLE') return object.item === undefined;
  if (type === 'CLUSTER' || isKindOf(type, 'ITEM_STRUCTURE'))
    return !isJsonObject(object) || object.items === undefined;
  return false;
}

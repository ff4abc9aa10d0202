import { isDeepStrictEqual } from 'node:util';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../base/json.js';
import { isKindOf } from '../../../rm/model/classes.js';
import { nameCodeOf } from '../../../template/opt/constraint-text.js';
import { objectAt, textAt } from '../../../rm/access.js';
import { childOf, conflict, instancesOf, take, type FlatScope } from './keys.js';
import { childPlan, type PlanNode } from '../plan.js';
import type { ReadEnvironment, ReadTarget, WriteEnvironment, WriteTarget } from '../plan.js';
import { integerOf } from '../value/values.js';
import { counted } from '../../../base/work.js';

/** An RM attribute that FLAT reaches at a fixed id, whether the template mentions it or not. */
interface OwnKey {
  readonly rmClass: string;
  readonly id: string;
  readonly attribute: string;
  readonly type: string;
  readonly isList: boolean;
  /** Whether the key also stands where the node shares the keys of the node above. */
  readonly isShared: boolean;
}

function own(rmClass: string, id: string, type: string, more: Partial<OwnKey> = {}): OwnKey {
  return { rmClass, id, attribute: id.slice(1), type, isList: false, isShared: false, ...more };
}

/** A key without `_`. */
function shownKey(rmClass: string, id: string, type: string, more: Partial<OwnKey> = {}): OwnKey {
  return own(rmClass, id, type, { attribute: id, ...more });
}

const LIST = { isList: true };
const SHARED = { isShared: true };

/** Keys with `_` by RM class: docs/spec/formats.md#flat-structures */
const OWN_KEYS: readonly OwnKey[] = [
  own('LOCATABLE', '_uid', 'UID_BASED_ID'),
  own('LOCATABLE', '_name', 'DV_TEXT'),
  own('LOCATABLE', '_link', 'LINK', { attribute: 'links', ...LIST }),
  own('LOCATABLE', '_feeder_audit', 'FEEDER_AUDIT'),
  own('EVENT_CONTEXT', '_end_time', 'DV_DATE_TIME'),
  own('EVENT_CONTEXT', '_location', 'String'),
  own('EVENT_CONTEXT', '_health_care_facility', 'PARTY_IDENTIFIED'),
  own('EVENT_CONTEXT', '_participation', 'PARTICIPATION', { attribute: 'participations', ...LIST }),
  own('ENTRY', '_provider', 'PARTY_PROXY'),
  own('ENTRY', '_other_participation', 'PARTICIPATION', { attribute: 'other_participations', ...LIST }),
  own('ENTRY', '_work_flow_id', 'OBJECT_REF', { attribute: 'workflow_id' }),
  own('CARE_ENTRY', '_guideline_id', 'OBJECT_REF'),
  own('EVALUATION', '_time_asserted', 'DV_DATE_TIME'),
  own('INSTRUCTION', '_wf_definition', 'DV_PARSABLE'),
  own('ELEMENT', '_null_flavour', 'DV_CODED_TEXT'),
  own('ELEMENT', '_null_reason', 'DV_TEXT'),
  own('ACTION', '_instruction_details', 'INSTRUCTION_DETAILS'),
  own('ISM_TRANSITION', '_reason', 'DV_TEXT', LIST),
  shownKey('EVENT', 'time', 'DV_DATE_TIME', SHARED),
  shownKey('EVENT', 'math_function', 'DV_CODED_TEXT', SHARED),
  shownKey('EVENT', 'width', 'DV_DURATION', SHARED),
  // Usually nodes of the tree; not where the template makes them optional.
  shownKey('COMPOSITION', 'language', 'CODE_PHRASE'),
  shownKey('COMPOSITION', 'territory', 'CODE_PHRASE'),
  shownKey('COMPOSITION', 'category', 'DV_CODED_TEXT'),
  shownKey('EVENT_CONTEXT', 'start_time', 'DV_DATE_TIME'),
  shownKey('EVENT_CONTEXT', 'setting', 'DV_CODED_TEXT'),
  shownKey('INSTRUCTION', 'narrative', 'DV_TEXT'),
  shownKey('INSTRUCTION', 'expiry_time', 'DV_DATE_TIME'),
  shownKey('ACTIVITY', 'timing', 'DV_PARSABLE'),
  shownKey('ACTIVITY', 'action_archetype_id', 'String'),
  shownKey('ACTION', 'time', 'DV_DATE_TIME'),
  shownKey('ISM_TRANSITION', 'current_state', 'DV_CODED_TEXT'),
  shownKey('ISM_TRANSITION', 'careflow_step', 'DV_CODED_TEXT'),
  shownKey('ISM_TRANSITION', 'transition', 'DV_CODED_TEXT'),
];

const BY_CLASS = new Map<string, readonly OwnKey[]>();

/** Reads the keys of 3.3 of a node into its object. Gives whether any key said something. */
export function readOwnKeys(
  plan: PlanNode,
  object: JsonObject,
  scope: FlatScope,
  environment: ReadEnvironment,
): boolean {
  let found = isKindOf(plan.type, 'EVENT') && readSampleCount(object, scope);
  if (scope.children.size === 0) return found;
  for (const key of counted(ownKeysOf(plan))) {
    if (!scope.children.has(key.id) || plan.claimed.has(key.id)) continue;
    const inner = childPlan(plan, key.attribute);
    const target: ReadTarget = { environment, plan: inner, attribute: key.attribute, parameter: null };
    const value = key.isList ? readKeyList(key, scope, target) : readOne(key, scope, target);
    if (value === null) continue;
    setOwn(object, key, value, scope);
    found = true;
  }
  return found;
}

/** Writes what `readOwnKeys` reads, as far as the object has it and the children of the node do not write it. */
export function writeOwnKeys(
  plan: PlanNode,
  object: JsonObject,
  key: string,
  environment: WriteEnvironment,
): void {
  const target: WriteTarget = { environment, plan: null };
  for (const own of counted(ownKeysOf(plan))) {
    const value = object[own.attribute];
    if (value === undefined || isWrittenElsewhere(own, plan, value)) continue;
    const path = `${key}/${own.id}`;
    if (Array.isArray(value))
      counted(value).forEach((item, index) => environment.writeValue(item, `${path}:${index}`, target));
    else if (own.id === '_wf_definition') writeDefinition(value, path, environment);
    else environment.writeValue(value, path, target);
  }
  const samples = object.sample_count;
  if (samples !== undefined && isKindOf(plan.type, 'EVENT')) environment.out[`${key}|sample_count`] = samples;
}

/** Those of a node: all where it has an id, else those that it may share. */
function ownKeysOf(plan: PlanNode): readonly OwnKey[] {
  const isRoot = plan.node.parent === null;
  const name = `${plan.type} ${plan.id !== null || isRoot}`;
  let keys = BY_CLASS.get(name);
  if (keys === undefined) {
    keys = OWN_KEYS.filter(
      (key) => isKindOf(plan.type, key.rmClass) && (plan.id !== null || isRoot || key.isShared),
    );
    BY_CLASS.set(name, keys);
  }
  return keys;
}

function readOne(key: OwnKey, scope: FlatScope, target: ReadTarget): JsonValue | null {
  const child = childOf(scope, key.id);
  return child === undefined ? null : target.environment.readValue(key.type, child, target);
}

function readKeyList(key: OwnKey, scope: FlatScope, target: ReadTarget): JsonValue | null {
  const items: JsonValue[] = [];
  for (const [, child] of counted(instancesOf(scope, key.id))) {
    const item = target.environment.readValue(key.type, child, target);
    if (item !== null) items.push(item);
  }
  return items.length === 0 ? null : items;
}

/**
 * What a key with `_` says, together with what keys of the template's nodes said about the same attribute: the same
 * twice (`feeder_audit` and `_feeder_audit`) is no conflict.
 */
function setOwn(object: JsonObject, key: OwnKey, value: JsonValue, scope: FlatScope): void {
  const before = object[key.attribute];
  if (key.attribute === 'name' || before === undefined) object[key.attribute] = value;
  else if (key.attribute === 'instruction_details' && isJsonObject(before) && isJsonObject(value))
    object[key.attribute] = { ...before, ...value };
  else if (!isDeepStrictEqual(before, value))
    throw conflict(`${scope.path}/${key.attribute}`, `${scope.path}/${key.id}`);
}

function readSampleCount(object: JsonObject, scope: FlatScope): boolean {
  const given = take(scope, 'sample_count');
  if (given === undefined) return false;
  object.sample_count = integerOf(given);
  return true;
}

function isWrittenElsewhere(own: OwnKey, plan: PlanNode, value: JsonValue): boolean {
  if (own.attribute === 'name') return isTemplateName(plan, value);
  return plan.claimed.has(own.id) || childPlan(plan, own.attribute)?.id != null;
}

/** Whether a name says no more than the template does. */
function isTemplateName(plan: PlanNode, name: JsonValue): boolean {
  if (!isJsonObject(name) || textAt(name, 'value') !== templateName(plan)) return false;
  const code = textAt(objectAt(name, 'defining_code'), 'code_string') ?? null;
  return code === (nameCodeOf(plan.node)?.code ?? null);
}

/** The name of a node in data. */
export function templateName(plan: PlanNode): string {
  return plan.node.nameConstraint ?? plan.node.name;
}

/** `_wf_definition|value`: a DV_PARSABLE whose value is always written with suffix. */
function writeDefinition(definition: JsonValue, key: string, environment: WriteEnvironment): void {
  if (!isJsonObject(definition)) return;
  const { value, ...rest } = definition;
  if (value !== undefined) environment.out[`${key}|value`] = value;
  environment.writeValue(rest, key, { environment, plan: null });
}

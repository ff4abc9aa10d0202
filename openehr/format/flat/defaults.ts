import { parseDateTime, parseDuration, type Iso8601Duration } from '../../base/iso8601.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.js';
import { isKindOf } from '../../rm/model/classes.js';
import { rubric } from '../../rm/terminology/openehr.js';
import { codedText, codeInput, codePhrase, onlyCode, openehrText } from './value/coded.js';
import { objectAt, objectsAt, textAt } from '../../rm/access.js';
import { childOf, take, type FlatScope } from './keys/keys.js';
import { childPlan, type PlanNode } from './plan.js';
import type { ReadEnvironment } from './plan.js';
import { temporalOf } from './value/values.js';
import type { Constraint } from '../../template/opt/constraint.js';
import { counted } from '../../base/work.js';

type Fill = (object: JsonObject, plan: PlanNode, environment: ReadEnvironment) => void;

/** docs/spec/formats.md#flat-defaults by RM class; all that fit an object are applied in this order. */
const FILLS: readonly (readonly [string, Fill])[] = [
  ['LOCATABLE', fillLinks],
  ['COMPOSITION', fillCompositionDefaults],
  ['EVENT_CONTEXT', fillEventContext],
  ['ENTRY', fillEntryDefaults],
  ['INSTRUCTION', fillInstruction],
  ['ACTIVITY', fillActivityDefaults],
  ['ACTION', fillAction],
  ['ISM_TRANSITION', fillTransition],
];
const BY_CLASS = new Map<string, readonly Fill[]>();

/** Fills in what the keys left open: values of `ctx/`, of the template, fixed defaults. */
export function fillDefaults(object: JsonObject, plan: PlanNode, environment: ReadEnvironment): void {
  let fills = BY_CLASS.get(plan.type);
  if (fills === undefined) {
    fills = FILLS.filter(([rmClass]) => isKindOf(plan.type, rmClass)).map(([, fill]) => fill);
    BY_CLASS.set(plan.type, fills);
  }
  for (const fill of counted(fills)) fill(object, plan, environment);
}

/**
 * Gives a HISTORY its origin and its events their times: `history_origin`, else `ctx/history_origin`, `ctx/time`,
 * the earliest event, the start of the context, now; an event without time is at the origin plus the offset of the template.
 */
export function fillHistory(
  history: JsonObject,
  plan: PlanNode,
  scope: FlatScope,
  environment: ReadEnvironment,
): void {
  const { context } = environment;
  const events = objectsAt(history, 'events');
  const origin = givenOrigin(history, plan, scope, environment) ?? earliest(events) ?? environment.begun;
  history.origin = dateTime(origin);
  const plans = plan.attributes.get('events') ?? [];
  for (const event of counted(events)) {
    const nodeId = event.archetype_node_id;
    const eventPlan = counted(plans).find((candidate) => candidate.node.archetypeNodeId === nodeId);
    const offset = parseDuration(textAt(event, 'offset', 'value') ?? '') ?? leastOffset(eventPlan);
    // The offset is a function of the RM, no attribute: only the time is kept.
    delete event.offset;
    event.time ??= dateTime(offset === null ? (context.time ?? origin) : addDuration(origin, offset));
  }
}

function givenOrigin(
  history: JsonObject,
  plan: PlanNode,
  scope: FlatScope,
  environment: ReadEnvironment,
): string | null {
  const { context, now } = environment;
  const child = plan.claimed.has('history_origin') ? undefined : childOf(scope, 'history_origin');
  const given = child === undefined ? undefined : take(child, '');
  if (given !== undefined) return temporalOf(given, 'date-time', now);
  return textAt(history, 'origin', 'value') ?? context.historyOrigin ?? context.time;
}

/** Makes an EVENT of the template a POINT_EVENT or, when it says so, an INTERVAL_EVENT. */
export function settleEvent(event: JsonObject, plan: PlanNode, environment: ReadEnvironment): void {
  const isInterval =
    plan.type === 'INTERVAL_EVENT' ||
    ['math_function', 'width', 'sample_count'].some((attribute) => event[attribute] !== undefined);
  event._type = isInterval ? 'INTERVAL_EVENT' : 'POINT_EVENT';
  if (!isInterval) return;
  // Nothing is said about the interval: an actual value, of no duration.
  if (event.math_function === undefined) event.width ??= { _type: 'DV_DURATION', value: 'P0D' };
  const only = onlyCode(childPlan(plan, 'math_function'), environment.language);
  event.math_function ??=
    only === null ? openehrText('math_function', '640', environment.language) : codedText(only);
}

/** The earliest time of some events as written, null when none has any. */
export function earliest(events: readonly JsonObject[]): string | null {
  let first: { text: string; instant: number } | null = null;
  for (const event of counted(events)) {
    const text = textAt(event, 'time', 'value');
    const instant = text === undefined ? undefined : parseDateTime(text)?.lower;
    if (text === undefined || instant === undefined) continue;
    if (first === null || instant < first.instant) first = { text, instant };
  }
  return first?.text ?? null;
}

function fillLinks(object: JsonObject, _plan: PlanNode, { context }: ReadEnvironment): void {
  if (context.links.length > 0) object.links ??= [...context.links];
}

function fillCompositionDefaults(object: JsonObject, plan: PlanNode, environment: ReadEnvironment): void {
  const { context, language } = environment;
  object.language ??= codePhrase('ISO_639-1', language);
  if (context.territory !== null) object.territory ??= codePhrase('ISO_3166-1', context.territory);
  fillCode(object, 'category', plan, environment);
  const composer = objectAt(object, 'composer');
  if (composer === undefined) fillValue(object, 'composer', context.composer);
  else if (context.composerIsSelf && isOnlyReference(composer)) composer._type = 'PARTY_SELF';
}

function isOnlyReference(party: JsonObject): boolean {
  return counted(Object.keys(party)).every((name) => name === '_type' || name === 'external_ref');
}

function fillEventContext(object: JsonObject, plan: PlanNode, environment: ReadEnvironment): void {
  const { context, now, language } = environment;
  object.start_time ??= dateTime(context.time ?? now);
  if (context.endTime !== null) object.end_time ??= dateTime(context.endTime);
  fillValue(object, 'location', context.location);
  fillValue(object, 'health_care_facility', context.healthCareFacility);
  fillValue(object, 'setting', context.setting);
  fillCode(object, 'setting', plan, environment);
  object.setting ??= openehrText('setting', '238', language);
  if (context.participations.length > 0) object.participations ??= [...context.participations];
}

function fillEntryDefaults(object: JsonObject, plan: PlanNode, environment: ReadEnvironment): void {
  const { context, language } = environment;
  object.language ??= codePhrase('ISO_639-1', context.language ?? language);
  object.encoding = codePhrase('IANA_character-sets', 'UTF-8');
  object.subject ??= defaultSubject(plan, language);
  fillValue(object, 'provider', context.provider);
  fillValue(object, 'workflow_id', context.workFlowId);
  if (context.participations.length > 0) object.other_participations ??= [...context.participations];
}

function defaultSubject(plan: PlanNode, language: string): JsonObject {
  const subject = childPlan(plan, 'subject');
  if (subject?.type !== 'PARTY_RELATED') return { _type: 'PARTY_SELF' };
  const relationship = onlyCode(childPlan(subject, 'relationship'), language);
  return {
    _type: 'PARTY_RELATED',
    ...(relationship === null ? {} : { relationship: codedText(relationship) }),
  };
}

function fillInstruction(object: JsonObject, _plan: PlanNode, { context }: ReadEnvironment): void {
  object.narrative ??= { _type: 'DV_TEXT', value: context.narrative ?? '<none>' };
}

function fillActivityDefaults(object: JsonObject, _plan: PlanNode, { context }: ReadEnvironment): void {
  const timing = (object.timing ??= { _type: 'DV_PARSABLE' });
  if (isJsonObject(timing)) {
    timing.value ??= context.activityTiming ?? 'R1';
    timing.formalism ??= 'timing';
  }
  object.action_archetype_id ??= '/.*/';
}

function fillAction(object: JsonObject, _plan: PlanNode, { context, begun }: ReadEnvironment): void {
  object.time ??= dateTime(context.actionTime ?? context.time ?? begun);
}

function fillTransition(object: JsonObject, plan: PlanNode, environment: ReadEnvironment): void {
  if (object.current_state !== undefined) return;
  const { context, language } = environment;
  const step = textAt(object, 'careflow_step', 'defining_code', 'code_string');
  const item = counted(codeInput(childPlan(plan, 'careflow_step'))?.list)?.find(
    (candidate) => candidate.value === step,
  );
  const [code] = step === undefined ? [] : (item?.currentStates ?? []);
  const fromStep = code === undefined ? null : stateText(code, language);
  fillValue(object, 'current_state', fromStep ?? context.currentState);
  fillCode(object, 'current_state', plan, environment);
  object.current_state ??= openehrText('current_state', '532', language);
}

function stateText(code: string, language: string): JsonObject {
  const value = rubric('instruction states', code, language) ?? undefined;
  return codedText({ code, value, terminology: 'openehr' });
}

/** The only code that the template allows for an attribute. */
function fillCode(
  object: JsonObject,
  attribute: string,
  plan: PlanNode,
  { language }: ReadEnvironment,
): void {
  const only = onlyCode(childPlan(plan, attribute), language);
  if (only !== null) object[attribute] ??= codedText(only);
}

function fillValue(object: JsonObject, attribute: string, value: JsonValue): void {
  if (value !== null) object[attribute] ??= value;
}

function dateTime(value: string): JsonObject {
  return { _type: 'DV_DATE_TIME', value };
}

const TIME_PARTS = /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2}):(\d{2})((?:[.,]\d+)?)(.*)$/;

/** The least offset from the origin of the HISTORY that a template asks of an event, null when it asks none. */
function leastOffset(event: PlanNode | undefined): Iso8601Duration | null {
  const offset = childConstraint(event?.node.constraint ?? null, 'offset');
  const value = childConstraint(offset, 'value');
  if (value?.kind !== 'primitive' || value.item.kind !== 'duration') return null;
  const lower = value.item.range?.lower ?? null;
  return lower === null ? null : parseDuration(lower);
}

function childConstraint(constraint: Constraint | null, name: string): Constraint | null {
  if (constraint?.kind !== 'object') return null;
  const attribute = counted(constraint.attributes).find((candidate) => candidate.name === name);
  return attribute?.children[0] ?? null;
}

/** A date and time plus a duration, in the zone and with the fraction of the former; itself when it is partial. */
export function addDuration(dateTime: string, duration: Iso8601Duration): string {
  const parts = TIME_PARTS.exec(dateTime);
  if (parts === null || parseDateTime(dateTime) === null) return dateTime;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = counted(parts.slice(1, 7)).map(
    Number,
  );
  const sign = duration.negative ? -1 : 1;
  const months = year * 12 + month - 1 + sign * (duration.years * 12 + duration.months);
  const inYear = Math.floor(months / 12);
  const inMonth = months - inYear * 12;
  const lastDay = new Date(Date.UTC(inYear, inMonth + 1, 0)).getUTCDate();
  const start = Date.UTC(inYear, inMonth, Math.min(day, lastDay), hour, minute, second);
  const { weeks, days, hours, minutes, seconds } = duration;
  const added = (((weeks * 7 + days) * 24 + hours) * 60 + minutes) * 60 + Math.trunc(seconds);
  const sum = new Date(start + sign * added * 1000);
  return `${sum.toISOString().slice(0, 19)}${parts.slice(7).join('')}`;
}

import type { JsonObject } from '../../base/json.js';
import { codeSetCodes, codeSetHas } from '../../rm/terminology/openehr.js';
import { openehrText } from './value/coded.js';
import type { FlatKeys, FlatValue } from './keys/keys.js';
import { identifierObject, partyRef, withIdentifiers } from './value/parties.js';
import type { FlatContext } from './plan.js';
import { booleanOf, temporalOf, textOf, unknownValue } from './value/values.js';
import { counted } from '../../base/work.js';

type Values = FlatKeys['context'];

/**
 * Reads the `ctx/` keys that are known (docs/spec/formats.md#ctx-keys).
 *
 * @throws invalid for a language, setting, state or mode that is unknown, a bad time, a value of the wrong type
 */
export function flatContext(values: Values, now: string, defaultLanguage: string): FlatContext {
  const text = (name: string): string | null => givenText(values, name);
  const time = (name: string): string | null => {
    const given = values.get(name);
    return given === undefined ? null : temporalOf(given, 'date-time', now);
  };
  const language = languageCode(text('language'));
  const coded = (name: string, attribute: string): JsonObject | null => {
    const given = text(name);
    return given === null ? null : openehrText(attribute, given, language ?? defaultLanguage);
  };
  const scheme = text('id_scheme');
  const references: References = {
    scheme,
    namespace: text('id_namespace'),
    language: language ?? defaultLanguage,
  };
  return {
    language,
    territory: text('territory'),
    ...composerOf(values, references),
    idScheme: scheme,
    idNamespace: references.namespace,
    time: time('time'),
    endTime: time('end_time'),
    historyOrigin: time('history_origin'),
    actionTime: time('action_time'),
    currentState: coded('action_ism_transition_current_state', 'current_state'),
    activityTiming: text('activity_timing'),
    narrative: text('instruction_narrative'),
    provider: contextParty(text('provider_name'), text('provider_id'), references),
    healthCareFacility: contextParty(
      text('health_care_facility|name'),
      text('health_care_facility|id'),
      references,
    ),
    location: text('location'),
    setting: coded('setting', 'setting'),
    participations: participationsOf(values, references),
    workFlowId: workFlowIdOf(values),
    links: linksOf(values),
  };
}

interface References {
  readonly scheme: string | null;
  readonly namespace: string | null;
  readonly language: string;
}

function givenText(values: Values, name: string): string | null {
  const given = values.get(name);
  return given === undefined ? null : textOf(given);
}

/** A code of ISO 639-1 or the English name of a language. */
function languageCode(text: string | null): string | null {
  if (text === null || codeSetHas('ISO_639-1', text)) return text;
  for (const [code, name] of counted(codeSetCodes('ISO_639-1')))
    if (name.toLowerCase() === text.toLowerCase()) return code;
  throw unknownValue(text, 'ISO_639-1');
}

function composerOf(
  values: Values,
  references: References,
): Pick<FlatContext, 'composer' | 'composerIsSelf'> {
  const self = values.get('composer_self');
  const composerIsSelf = self !== undefined && booleanOf(self);
  const id = givenText(values, 'composer_id');
  if (!composerIsSelf)
    return { composer: contextParty(givenText(values, 'composer_name'), id, references), composerIsSelf };
  const composer: JsonObject = { _type: 'PARTY_SELF' };
  if (id !== null)
    composer.external_ref = partyRef(identifierObject(id, references.scheme), references.namespace);
  return { composer, composerIsSelf };
}

function contextParty(
  name: string | null,
  id: string | null,
  { scheme, namespace }: References,
): JsonObject | null {
  if (name === null && id === null) return null;
  const party: JsonObject = { _type: 'PARTY_IDENTIFIED' };
  if (id !== null) party.external_ref = partyRef(identifierObject(id, scheme), namespace);
  if (name !== null) party.name = name;
  return party;
}

function workFlowIdOf(values: Values): JsonObject | null {
  const id = givenText(values, 'work_flow_id|id');
  if (id === null) return null;
  const reference: JsonObject = {
    _type: 'OBJECT_REF',
    id: identifierObject(id, givenText(values, 'work_flow_id|id_scheme')),
  };
  for (const attribute of ['namespace', 'type']) {
    const text = givenText(values, `work_flow_id|${attribute}`);
    if (text !== null) reference[attribute] = text;
  }
  return reference;
}

/** Collects the values of keys `<name><index><rest>` by index; a missing index is 0. */
function byIndex(values: Values, pattern: RegExp): [number, Map<string, FlatValue>][] {
  const found = new Map<number, Map<string, FlatValue>>();
  for (const [name, value] of counted(values)) {
    const groups = pattern.exec(name)?.groups;
    if (groups === undefined) continue;
    const index = Number(groups.index ?? 0);
    const item = found.get(index) ?? new Map<string, FlatValue>();
    item.set(`${groups.part ?? ''}${groups.rest ?? ''}`, value);
    found.set(index, item);
  }
  return counted([...found]).sort(([a], [b]) => a - b);
}

const PARTICIPATION =
  /^participation_(?<part>name|function|mode|id|identifiers)(?::(?<index>\d{1,4}))?(?<rest>\|(?:id|type|issuer|assigner)(?::\d{1,4})?)?$/;
const LINK = /^link(?::(?<index>\d{1,4}))?\|(?<part>meaning|type|target)$/;

function participationsOf(values: Values, references: References): JsonObject[] {
  return counted(byIndex(values, PARTICIPATION)).map(([, given]) => {
    const text = (part: string): string | null => givenText(given, part);
    const purpose = text('function');
    const mode = text('mode');
    const performer = contextParty(text('name'), text('id'), references);
    return {
      _type: 'PARTICIPATION',
      ...(purpose === null ? {} : { function: { _type: 'DV_TEXT', value: purpose } }),
      performer: withIdentifiers(performer, identifiersOf(given)),
      ...(mode === null ? {} : { mode: openehrText('mode', mode, references.language) }),
    };
  });
}

const IDENTIFIER_ORDER = ['issuer', 'assigner', 'id', 'type'] as const;

/** Either one text `issuer::assigner::id::type;…` or keys `identifiers|issuer:0` and so on. */
function identifiersOf(given: ReadonlyMap<string, FlatValue>): JsonObject[] {
  const listed = givenText(given, 'identifiers')?.split(';') ?? [];
  const identifiers = counted(listed)
    .filter((entry) => entry !== '')
    .map(identifierOf);
  const keyed = byIndex(given, /^identifiers\|(?<part>id|type|issuer|assigner)(?::(?<index>\d{1,4}))?$/);
  for (const [, parts] of counted(keyed)) {
    const identifier: JsonObject = { _type: 'DV_IDENTIFIER' };
    for (const [part, value] of counted(parts)) identifier[part] = textOf(value);
    identifiers.push(identifier);
  }
  return identifiers;
}

function identifierOf(entry: string): JsonObject {
  const identifier: JsonObject = { _type: 'DV_IDENTIFIER' };
  counted(entry.split('::')).forEach((part, position) => {
    const attribute = IDENTIFIER_ORDER[position];
    if (attribute !== undefined && part !== '') identifier[attribute] = part;
  });
  return identifier;
}

function linksOf(values: Values): JsonObject[] {
  return counted(byIndex(values, LINK)).map(([, given]) => linkOf((part) => givenText(given, part)));
}

/** A LINK from the texts of its three attributes. */
export function linkOf(text: (part: string) => string | null): JsonObject {
  const link: JsonObject = { _type: 'LINK' };
  for (const part of ['meaning', 'type', 'target']) {
    const value = text(part);
    if (value !== null) link[part] = { _type: part === 'target' ? 'DV_EHR_URI' : 'DV_TEXT', value };
  }
  return link;
}

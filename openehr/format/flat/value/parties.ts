import { uidParts } from '../../../base/object-version-id.js';
import { CdrError } from '../../../base/errors.js';
import { isJsonObject, type JsonObject } from '../../../base/json.js';
import { codeOf } from '../../../rm/terminology/openehr.js';
import { codedText, onlyCode, openehrText } from './coded.js';
import { objectAt, objectsAt, textAt } from '../../../rm/access.js';
import { childOf, conflict, instancesOf, take, type FlatScope, type FlatValue } from '../keys/keys.js';
import { childPlan } from '../plan.js';
import type { Codec, ReadTarget, WriteTarget } from '../plan.js';
import { textOf } from './values.js';
import { counted } from '../../../base/work.js';

const PARTY_TYPES = ['PARTY_SELF', 'PARTY_IDENTIFIED', 'PARTY_RELATED'] as const;
type PartyType = (typeof PARTY_TYPES)[number];

/** PARTY_PROXY and its descendants (docs/spec/formats.md#flat-data-types): the keys decide which. */
export const PARTY: Codec = {
  read(scope, target, declared) {
    const type = take(scope, '_type');
    const party = partyOf(
      {
        name: takeName(scope),
        reference: takeReference(scope, target),
        identifiers: takeIdentifiers(scope, target),
      },
      takeRelationship(scope, target),
    );
    if (type === undefined && Object.keys(party).length === 0) return null;
    return { _type: partyType(type, party, declared), ...withRelationship(party, target, type) };
  },
  write(value, key, target) {
    const { out } = target.environment;
    if (value.name !== undefined) out[`${key}|name`] = value.name;
    writeReference(value, key, target);
    counted(objectsAt(value, 'identifiers')).forEach((identifier, index) => {
      target.environment.writeValue(identifier, `${key}/_identifier:${index}`, target);
    });
    const relationship = objectAt(value, 'relationship');
    if (relationship !== undefined)
      target.environment.writeValue(relationship, `${key}/relationship`, target);
    if (value._type === 'PARTY_SELF') out[`${key}|_type`] = 'PARTY_SELF';
  },
};

const IDENTIFIER_PARTS = ['id', 'type', 'issuer', 'assigner'] as const;

/**
 * PARTICIPATION: the performer's keys stand beside those of the participation
 * (docs/spec/formats.md#flat-structures).
 */
export const PARTICIPATION: Codec = {
  read(scope, target) {
    const given = take(scope, 'function');
    const mode = take(scope, 'mode');
    const listed = takeListedIdentifiers(scope);
    const performer = PARTY.read(scope, { ...target, plan: null }, 'PARTY_PROXY');
    const participation: JsonObject = { _type: 'PARTICIPATION' };
    if (given !== undefined) participation.function = { _type: 'DV_TEXT', value: textOf(given) };
    participation.performer = withIdentifiers(isJsonObject(performer) ? performer : null, listed);
    if (mode !== undefined)
      participation.mode = openehrText('mode', textOf(mode), target.environment.language);
    return participation;
  },
  write(value, key, target) {
    const { out } = target.environment;
    const purpose = textAt(value, 'function', 'value');
    const mode = modeText(objectAt(value, 'mode'));
    if (purpose !== undefined) out[`${key}|function`] = purpose;
    if (mode !== undefined) out[`${key}|mode`] = mode;
    const { identifiers, ...performer } = objectAt(value, 'performer') ?? {};
    const isBare = performer._type === 'PARTY_SELF' && performer.external_ref === undefined;
    if (!isBare) PARTY.write(performer, key, target);
    if (!Array.isArray(identifiers)) return;
    counted(identifiers)
      .filter(isJsonObject)
      .forEach((identifier, index) => {
        for (const part of IDENTIFIER_PARTS)
          if (identifier[part] !== undefined) out[`${key}|identifiers_${part}:${index}`] = identifier[part];
      });
  },
};

/** OBJECT_REF of a work flow or guideline: `|id |id_scheme |namespace |type`. */
export const OBJECT_REF: Codec = {
  read(scope) {
    const id = take(scope, 'id');
    const scheme = take(scope, 'id_scheme');
    const reference: JsonObject = { _type: 'OBJECT_REF' };
    if (id !== undefined)
      reference.id = identifierObject(textOf(id), scheme === undefined ? null : textOf(scheme));
    let found = id !== undefined || scheme !== undefined;
    for (const attribute of ['namespace', 'type']) {
      const given = take(scope, attribute);
      if (given === undefined) continue;
      reference[attribute] = textOf(given);
      found = true;
    }
    return found ? reference : null;
  },
  write(value, key, { environment: { out } }) {
    const id = textAt(value, 'id', 'value');
    const scheme = textAt(value, 'id', 'scheme');
    if (id !== undefined) out[`${key}|id`] = id;
    if (scheme !== undefined) out[`${key}|id_scheme`] = scheme;
    for (const attribute of ['namespace', 'type'])
      if (value[attribute] !== undefined) out[`${key}|${attribute}`] = value[attribute];
  },
};

/** A GENERIC_ID; without scheme a UID_BASED_ID. */
export function identifierObject(value: string, scheme: string | null): JsonObject {
  return scheme === null ? uidOf(value) : { _type: 'GENERIC_ID', value, scheme };
}

/** A UID_BASED_ID: with two `::` an OBJECT_VERSION_ID. */
export function uidOf(value: string): JsonObject {
  const isVersion = uidParts(value).length === 3;
  return { _type: isVersion ? 'OBJECT_VERSION_ID' : 'HIER_OBJECT_ID', value };
}

/** A PARTY_REF to a party. */
export function partyRef(id: JsonObject, namespace: string | null): JsonObject {
  return { _type: 'PARTY_REF', id, ...(namespace === null ? {} : { namespace }), type: 'PARTY' };
}

/** The performer with identifiers added; a participation has one in any case. */
export function withIdentifiers(
  performer: JsonObject | null,
  identifiers: readonly JsonObject[],
): JsonObject {
  if (identifiers.length === 0) return performer ?? { _type: 'PARTY_SELF' };
  const type = performer?._type === 'PARTY_RELATED' ? 'PARTY_RELATED' : 'PARTY_IDENTIFIED';
  const before = performer === null ? [] : objectsAt(performer, 'identifiers');
  return { ...performer, _type: type, identifiers: [...before, ...identifiers] };
}

interface PartyParts {
  readonly name: string | null;
  readonly reference: JsonObject | null;
  readonly identifiers: readonly JsonObject[];
}

function partyOf({ name, reference, identifiers }: PartyParts, relationship: JsonObject | null): JsonObject {
  return {
    ...(reference === null ? {} : { external_ref: reference }),
    ...(name === null ? {} : { name }),
    ...(identifiers.length === 0 ? {} : { identifiers: [...identifiers] }),
    ...(relationship === null ? {} : { relationship }),
  };
}

function partyType(type: FlatValue | undefined, party: JsonObject, declared: string): PartyType {
  if (type !== undefined) {
    const known = PARTY_TYPES.find((candidate) => candidate === type.value);
    if (known !== undefined) return known;
    throw new CdrError('invalid', `the value of ${type.key} must be one of ${PARTY_TYPES.join(', ')}`);
  }
  const fixed = PARTY_TYPES.find((candidate) => candidate === declared);
  if (party.relationship !== undefined || fixed === 'PARTY_RELATED') return 'PARTY_RELATED';
  return fixed ?? 'PARTY_IDENTIFIED';
}

/** A relationship that the template fixes is filled in. */
function withRelationship(party: JsonObject, target: ReadTarget, type: FlatValue | undefined): JsonObject {
  if (party.relationship !== undefined || target.plan?.type !== 'PARTY_RELATED' || type !== undefined)
    return party;
  const only = onlyCode(childPlan(target.plan, 'relationship'), target.environment.language);
  return only === null ? party : { ...party, relationship: codedText(only) };
}

function takeName(scope: FlatScope): string | null {
  let name = take(scope, 'name');
  for (const id of ['name', '_name']) {
    const child = childOf(scope, id);
    const given = child === undefined ? undefined : take(child, '');
    if (given === undefined) continue;
    if (name !== undefined && name.value !== given.value) throw conflict(name.key, given.key);
    name ??= given;
  }
  return name === undefined ? null : textOf(name);
}

function takeReference(scope: FlatScope, target: ReadTarget): JsonObject | null {
  const id = take(scope, 'id');
  const scheme = take(scope, 'id_scheme');
  const namespace = take(scope, 'id_namespace');
  if (id === undefined) return null;
  const { idScheme, idNamespace } = target.environment.context;
  return partyRef(
    identifierObject(textOf(id), scheme === undefined ? idScheme : textOf(scheme)),
    namespace === undefined ? idNamespace : textOf(namespace),
  );
}

function writeReference(party: JsonObject, key: string, { environment: { out } }: WriteTarget): void {
  const reference = objectAt(party, 'external_ref');
  const id = textAt(reference, 'id', 'value');
  if (reference === undefined || id === undefined) return;
  const scheme = textAt(reference, 'id', 'scheme');
  out[`${key}|id`] = id;
  if (scheme !== undefined) out[`${key}|id_scheme`] = scheme;
  if (reference.namespace !== undefined) out[`${key}|id_namespace`] = reference.namespace;
}

function takeIdentifiers(scope: FlatScope, target: ReadTarget): JsonObject[] {
  const identifiers: JsonObject[] = [];
  for (const [, child] of counted(instancesOf(scope, '_identifier'))) {
    const identifier = target.environment.readValue('DV_IDENTIFIER', child, { ...target, plan: null });
    if (isJsonObject(identifier)) identifiers.push(identifier);
  }
  return identifiers;
}

function takeRelationship(scope: FlatScope, target: ReadTarget): JsonObject | null {
  const child = childOf(scope, 'relationship');
  if (child === undefined) return null;
  const plan = childPlan(target.plan, 'relationship');
  const inner = { ...target, plan, attribute: 'relationship' };
  const relationship = target.environment.readValue('DV_CODED_TEXT', child, inner);
  return isJsonObject(relationship) ? relationship : null;
}

/** `|identifiers_id:0`, `|identifiers_issuer:0` … of a participation. */
function takeListedIdentifiers(scope: FlatScope): JsonObject[] {
  const found = new Map<number, JsonObject>();
  for (const attribute of counted(scope.values).keys()) {
    const [, part, index = '0'] = /^identifiers_([a-z]+)(?::(\d+))?$/.exec(attribute) ?? [];
    const known = IDENTIFIER_PARTS.find((candidate) => candidate === part);
    const given = known === undefined ? undefined : take(scope, attribute);
    if (known === undefined || given === undefined) continue;
    const identifier = found.get(Number(index)) ?? { _type: 'DV_IDENTIFIER' };
    identifier[known] = textOf(given);
    found.set(Number(index), identifier);
  }
  return counted([...found])
    .sort(([a], [b]) => a - b)
    .map(([, identifier]) => identifier);
}

/** The rubric where it leads back to the code, else the code. */
function modeText(mode: JsonObject | undefined): string | undefined {
  const rubric = textAt(mode, 'value');
  const code = textAt(mode, 'defining_code', 'code_string');
  if (rubric === undefined || code === undefined) return rubric ?? code;
  return codeOf('participation mode', rubric) === code ? rubric : code;
}

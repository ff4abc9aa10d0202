import type { JsonObject, JsonValue } from '../../../openehr/base/json.js';

/** An object with its class; attributes given as undefined and empty lists are left out. */
function rm(type: string, attributes: Readonly<Record<string, JsonValue | undefined>>): JsonObject {
  const object: JsonObject = { _type: type };
  for (const [name, value] of Object.entries(attributes))
    if (value !== undefined && !(Array.isArray(value) && value.length === 0)) object[name] = value;
  return object;
}

export const text = (value: string, more: JsonObject = {}): JsonObject => rm('DV_TEXT', { value, ...more });

export const codePhrase = (terminology: string, code: string): JsonObject =>
  rm('CODE_PHRASE', {
    terminology_id: rm('TERMINOLOGY_ID', { value: terminology }),
    code_string: code,
  });

export const coded = (value: string, terminology: string, code: string, more: JsonObject = {}): JsonObject =>
  rm('DV_CODED_TEXT', { value, ...more, defining_code: codePhrase(terminology, code) });

export const quantity = (magnitude: number, units: string): JsonObject =>
  rm('DV_QUANTITY', { magnitude, units });

export const dateTime = (value: string): JsonObject => rm('DV_DATE_TIME', { value });

export const value = (type: string, attributes: JsonObject): JsonObject => rm(type, attributes);

/** What every LOCATABLE has; a given name may be coded. */
interface Locatable {
  readonly nodeId: string;
  readonly name: string | JsonObject;
}

function locatable({ nodeId, name }: Locatable): JsonObject {
  return { name: typeof name === 'string' ? text(name) : name, archetype_node_id: nodeId };
}

function archetyped(node: Locatable): JsonObject {
  return {
    ...locatable(node),
    archetype_details: rm('ARCHETYPED', {
      archetype_id: rm('ARCHETYPE_ID', { value: node.nodeId }),
      rm_version: '1.1.0',
    }),
  };
}

export const element = (nodeId: string, name: string | JsonObject, dataValue: JsonObject): JsonObject =>
  rm('ELEMENT', { ...locatable({ nodeId, name }), value: dataValue });

export const nullElement = (nodeId: string, name: string): JsonObject =>
  rm('ELEMENT', {
    ...locatable({ nodeId, name }),
    null_flavour: coded('unknown', 'openehr', '253'),
  });

export const cluster = (nodeId: string, name: string | JsonObject, items: JsonObject[]): JsonObject =>
  rm('CLUSTER', {
    ...(nodeId.startsWith('at') ? locatable({ nodeId, name }) : archetyped({ nodeId, name })),
    items,
  });

export const tree = (nodeId: string, items: JsonObject[], name = 'Tree'): JsonObject =>
  rm('ITEM_TREE', { ...locatable({ nodeId, name }), items });

export const pointEvent = (nodeId: string, time: string, items: JsonObject[]): JsonObject =>
  rm('POINT_EVENT', {
    ...locatable({ nodeId, name: 'Any event' }),
    time: dateTime(time),
    data: tree('at0003', items),
  });

export const history = (origin: string, events: JsonObject[]): JsonObject =>
  rm('HISTORY', { ...locatable({ nodeId: 'at0001', name: 'History' }), origin: dateTime(origin), events });

const ENTRY: JsonObject = {
  language: codePhrase('ISO_639-1', 'en'),
  encoding: codePhrase('IANA_character-sets', 'UTF-8'),
  subject: rm('PARTY_SELF', {}),
};

/** An ENTRY of any class: its own attributes beside those every entry has. */
export const entry = (
  type: string,
  node: Locatable,
  attributes: Readonly<Record<string, JsonValue | undefined>>,
): JsonObject => rm(type, { ...archetyped(node), ...ENTRY, ...attributes });

export const section = (name: string, items: JsonObject[], nodeId: string): JsonObject =>
  rm('SECTION', { ...archetyped({ nodeId, name }), items });

export const identified = (name: string, identifiers?: JsonObject[]): JsonObject =>
  rm('PARTY_IDENTIFIED', { name, identifiers });

export const identifier = (id: string): JsonObject => rm('DV_IDENTIFIER', { id, type: 'staff' });

export const participation = (role: string, name: string, ids: string[]): JsonObject =>
  rm('PARTICIPATION', { function: text(role), performer: identified(name, ids.map(identifier)) });

export const objectRef = (idType: string, id: string, type: string): JsonObject =>
  rm('OBJECT_REF', { id: rm(idType, { value: id }), namespace: 'local', type });

/** What a composition of the fixture may differ in. */
export interface CompositionParts {
  readonly archetypeId: string;
  readonly templateId: string;
  readonly name: string;
  readonly composer: string;
  readonly startTime: string;
  readonly content: JsonObject[];
  readonly links?: JsonObject[];
  readonly feederAudit?: JsonObject;
  readonly participations?: JsonObject[];
  readonly otherContext?: JsonObject;
}

export function composition(parts: CompositionParts): JsonObject {
  return rm('COMPOSITION', {
    name: text(parts.name),
    archetype_node_id: parts.archetypeId,
    links: parts.links,
    archetype_details: rm('ARCHETYPED', {
      archetype_id: rm('ARCHETYPE_ID', { value: parts.archetypeId }),
      template_id: rm('TEMPLATE_ID', { value: parts.templateId }),
      rm_version: '1.1.0',
    }),
    feeder_audit: parts.feederAudit,
    language: codePhrase('ISO_639-1', 'en'),
    territory: codePhrase('ISO_3166-1', 'DE'),
    category: coded('event', 'openehr', '433'),
    composer: identified(parts.composer),
    context: rm('EVENT_CONTEXT', {
      start_time: dateTime(parts.startTime),
      setting: coded('other care', 'openehr', '238'),
      other_context: parts.otherContext,
      participations: parts.participations,
    }),
    content: parts.content,
  });
}

/** A FOLDER; references are VERSIONED_COMPOSITIONs by container id, or COMPOSITIONs by version id. */
export function folder(
  name: string,
  parts: { readonly items?: JsonObject[]; readonly folders?: JsonObject[]; readonly details?: JsonObject },
): JsonObject {
  return rm('FOLDER', {
    ...locatable({ nodeId: 'openEHR-EHR-FOLDER.generic.v1', name }),
    folders: parts.folders,
    items: parts.items,
    details: parts.details,
  });
}

/** An EHR_STATUS. */
export function ehrStatus(parts: {
  readonly subjectId?: string;
  readonly isQueryable: boolean;
  readonly otherDetails?: JsonObject;
}): JsonObject {
  const reference =
    parts.subjectId === undefined
      ? undefined
      : rm('PARTY_REF', {
          id: rm('GENERIC_ID', { value: parts.subjectId, scheme: 'hill' }),
          namespace: 'hill',
          type: 'PERSON',
        });
  return rm('EHR_STATUS', {
    ...locatable({ nodeId: 'openEHR-EHR-EHR_STATUS.generic.v1', name: 'EHR Status' }),
    subject: rm('PARTY_SELF', { external_ref: reference }),
    is_queryable: parts.isQueryable,
    is_modifiable: true,
    other_details: parts.otherDetails,
  });
}

import type {
  DV_IDENTIFIER,
  EHR_STATUS,
  FOLDER,
  HIER_OBJECT_ID,
  OBJECT_REF,
  OBJECT_VERSION_ID,
  PARTY_IDENTIFIED,
  PARTY_REF,
  PARTY_SELF,
} from './generated/types.js';
import { dvText } from './data-values.js';

/** `hierObjectId('7d44b88c-4199-4bad-97dc-d78268e01398')`. */
export function hierObjectId(value: string): HIER_OBJECT_ID {
  return { _type: 'HIER_OBJECT_ID', value };
}

/** A version uid: `objectVersionId('7d44b88c-4199-4bad-97dc-d78268e01398::hilltop::1')`. */
export function objectVersionId(value: string): OBJECT_VERSION_ID {
  return { _type: 'OBJECT_VERSION_ID', value };
}

/** A reference to a patient or person by an id of another system: `partyRef('4711', 'hospital')`. */
export function partyRef(id: string, namespace: string, type = 'PERSON'): PARTY_REF {
  return { _type: 'PARTY_REF', id: { _type: 'GENERIC_ID', value: id, scheme: namespace }, namespace, type };
}

/** The subject of the record; with a reference in the EHR_STATUS only. */
export function partySelf(externalRef?: PARTY_REF): PARTY_SELF {
  return { _type: 'PARTY_SELF', ...(externalRef && { external_ref: externalRef }) };
}

/** `partyIdentified('Ada Moe')`. */
export function partyIdentified(name: string, identifiers: DV_IDENTIFIER[] = []): PARTY_IDENTIFIED {
  return { _type: 'PARTY_IDENTIFIED', name, ...(identifiers.length > 0 && { identifiers }) };
}

const STATUS_ARCHETYPE = 'openEHR-EHR-EHR_STATUS.generic.v1';

/** An EHR_STATUS, of a patient who is known elsewhere: `ehrStatus(partyRef('4711', 'hospital'))`. */
export function ehrStatus(subject?: PARTY_REF): EHR_STATUS {
  return {
    _type: 'EHR_STATUS',
    archetype_node_id: STATUS_ARCHETYPE,
    archetype_details: {
      _type: 'ARCHETYPED',
      archetype_id: { _type: 'ARCHETYPE_ID', value: STATUS_ARCHETYPE },
      rm_version: '1.0.4',
    },
    name: dvText('EHR Status'),
    subject: partySelf(subject),
    is_queryable: true,
    is_modifiable: true,
  };
}

/** A FOLDER that refers to COMPOSITIONs by the UUIDs of their containers. */
export function folder(name: string, items: readonly string[] = [], folders: FOLDER[] = []): FOLDER {
  return {
    _type: 'FOLDER',
    archetype_node_id: 'openEHR-EHR-FOLDER.generic.v1',
    name: dvText(name),
    items: items.map(compositionRef),
    folders,
  };
}

function compositionRef(id: string): OBJECT_REF {
  return { _type: 'OBJECT_REF', id: hierObjectId(id), namespace: 'local', type: 'VERSIONED_COMPOSITION' };
}

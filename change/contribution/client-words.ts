import { isJsonObject, type JsonObject, type JsonValue } from '../../openehr/base/json.js';
import { withoutAttributes } from '../../openehr/rm/access.js';

/**
 * Names of the classes of a CONTRIBUTION in the documents and libraries that clients are made of: the official OpenAPI
 * documents, EHRbase's SDK, pyehr (docs/spec/rest.md#words-of-clients).
 */
const CLIENT_TYPES: Readonly<Record<string, string>> = {
  CONTRIBUTION_CREATE_DTO: 'CONTRIBUTION',
  NEW_CONTRIBUTION: 'CONTRIBUTION',
  UPDATE_CONTRIBUTION: 'CONTRIBUTION',
  UPDATE_VERSION: 'ORIGINAL_VERSION',
  UPDATE_AUDIT: 'AUDIT_DETAILS',
  UPDATE_ATTESTATION: 'ATTESTATION',
};

/** The class of the reference model that a `_type` means; any other `_type` is given back as it is. */
export function typeMeant(type: JsonValue | undefined): JsonValue | undefined {
  return typeof type === 'string' ? (CLIENT_TYPES[type] ?? type) : type;
}

/** AUDIT_DETAILS or ATTESTATION in the words of the reference model; its class where it names none is `type`. */
export function auditInRmWords(given: JsonObject, type: 'AUDIT_DETAILS' | 'ATTESTATION'): JsonObject {
  return withCodedText({ ...given, _type: typeMeant(given._type) ?? type }, 'change_type');
}

/** ORIGINAL_VERSION in the words of the reference model, its `commit_audit` and `data` left as they are. */
export function versionInRmWords(given: JsonObject): JsonObject {
  const version = withCodedText({ ...given, _type: 'ORIGINAL_VERSION' }, 'lifecycle_state');
  const { attestations } = version;
  if (!Array.isArray(attestations)) return version;
  const inRmWords = (each: JsonValue) => (isJsonObject(each) ? auditInRmWords(each, 'ATTESTATION') : each);
  return { ...version, attestations: attestations.map(inRmWords) };
}

/** A coded text may be given as its code alone: CODE_PHRASE or TERMINOLOGY_CODE. */
function withCodedText(object: JsonObject, name: string): JsonObject {
  const coded = object[name];
  if (!isJsonObject(coded)) return object;
  const isCodeAlone = coded.code_string !== undefined && coded.defining_code === undefined;
  const text: JsonObject = isCodeAlone
    ? { _type: 'DV_CODED_TEXT', defining_code: codePhrase(coded) }
    : {
        ...coded,
        ...(isJsonObject(coded.defining_code) && { defining_code: codePhrase(coded.defining_code) }),
      };
  return { ...object, [name]: text };
}

/** A TERMINOLOGY_CODE has its terminology as text, and may have a URI. */
function codePhrase(given: JsonObject): JsonObject {
  const isTerminologyCode = given._type === 'TERMINOLOGY_CODE';
  const rest = isTerminologyCode ? withoutAttributes(given, ['uri', '_type']) : given;
  if (typeof given.terminology_id !== 'string') return rest;
  return { ...rest, terminology_id: { _type: 'TERMINOLOGY_ID', value: given.terminology_id } };
}

import { isAbsent } from '../access.js';
import { codedBy, invariant, isCodeOf, notEmpty, oneOf, type Invariant } from './invariant.js';
import { valueSetOf } from '../terminology/openehr.js';

const MULTIMEDIA_GROUP = { kind: 'group', name: 'MultiMedia', terminologyId: 'openehr' } as const;
const MEDIA_TYPES = valueSetOf('media_type');
const NAMESPACE = /^[a-zA-Z][a-zA-Z0-9_.:/&?=+-]*$/;
const VERSION_TREE_ID = /^[1-9]\d*(?:\.\d+\.\d+)?$/;

/** Rules of texts, codes, URIs, encapsulated data, time specifications (docs/spec/formats.md#rm-rules). */
export const DATA_TYPE_INVARIANTS: readonly Invariant[] = [
  codedBy('DV_TEXT', 'Language_valid', 'language'),
  codedBy('DV_TEXT', 'Encoding_valid', 'encoding'),
  notEmpty('DV_TEXT', 'Formatting_valid', 'formatting'),
  notEmpty('CODE_PHRASE', 'Code_string_valid', 'code_string'),
  codedBy('TERM_MAPPING', 'Purpose_valid', 'purpose'),
  oneOf('TERM_MAPPING', 'Match_valid', 'match', '>', '=', '<', '?'),
  notEmpty('DV_IDENTIFIER', 'Id_valid', 'id'),

  notEmpty('DV_URI', 'Value_valid', 'value'),
  invariant('DV_EHR_URI', {
    name: 'Scheme_valid',
    attribute: 'value',
    expected: 'the scheme ehr',
    holds: (uri) => isAbsent(uri.value) || /^ehr:/i.test(uri.value),
  }),

  codedBy('DV_ENCAPSULATED', 'Language_valid', 'language'),
  codedBy('DV_ENCAPSULATED', 'Charset_valid', 'charset'),
  notEmpty('DV_PARSABLE', 'Formalism_valid', 'formalism'),
  invariant('DV_MULTIMEDIA', {
    name: 'Not_empty',
    expected: 'data or uri',
    holds: (media) => !isAbsent(media.data) || !isAbsent(media.uri),
    isLowerLimit: true,
  }),
  invariant('DV_MULTIMEDIA', {
    name: 'Media_type_valid',
    expected: 'a code of IANA_media-types, or of group MultiMedia of openehr',
    holds: ({ media_type: type }) =>
      (MEDIA_TYPES !== null && isCodeOf(type, MEDIA_TYPES)) || isCodeOf(type, MULTIMEDIA_GROUP),
  }),
  codedBy('DV_MULTIMEDIA', 'Compression_algorithm_valid', 'compression_algorithm'),
  invariant('DV_MULTIMEDIA', {
    name: 'Integrity_check_validity',
    expected: 'an integrity_check_algorithm beside integrity_check',
    holds: (media) => isAbsent(media.integrity_check) || !isAbsent(media.integrity_check_algorithm),
  }),
  codedBy('DV_MULTIMEDIA', 'Integrity_check_algorithm_validity', 'integrity_check_algorithm'),
  invariant('DV_MULTIMEDIA', {
    name: 'Size_valid',
    attribute: 'size',
    expected: 'size above 0',
    holds: ({ size }) => isAbsent(size) || size > 0,
  }),

  invariant('DV_PERIODIC_TIME_SPECIFICATION', {
    name: 'Value_valid',
    expected: 'formalism HL7:PIVL or HL7:EIVL',
    holds: (specification) => {
      const formalism = specification.value?.formalism;
      return formalism === undefined || formalism === 'HL7:PIVL' || formalism === 'HL7:EIVL';
    },
  }),

  invariant('OBJECT_REF', {
    name: 'Namespace_valid',
    attribute: 'namespace',
    expected: NAMESPACE.source.slice(1, -1),
    holds: (ref) => isAbsent(ref.namespace) || NAMESPACE.test(ref.namespace),
  }),
  oneOf(
    'PARTY_REF',
    'Type_validity',
    'type',
    ...['PERSON', 'ORGANISATION', 'GROUP', 'AGENT', 'ROLE', 'PARTY', 'ACTOR'],
  ),
  invariant('VERSION_TREE_ID', {
    name: 'Value_valid',
    attribute: 'value',
    expected: 'a trunk version, or trunk.branch.version',
    holds: (id) => isAbsent(id.value) || VERSION_TREE_ID.test(id.value),
  }),
  ...[
    { type: 'UUID', isValid: isUuidText } as const,
    { type: 'ISO_OID', isValid: isOid } as const,
    { type: 'INTERNET_ID', isValid: isInternetId } as const,
  ].map(({ type, isValid }) =>
    invariant(type, {
      name: 'Value_valid',
      attribute: 'value',
      expected: `the form of ${type}`,
      holds: (uid) => isAbsent(uid.value) || isValid(uid.value),
    }),
  ),
];

const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;
const OID = /^\d{1,40}(?:\.\d{1,40})*$/;
const INTERNET_ID = /^[a-z](?:[\w-]{0,62}\.){0,30}[\w-]{0,62}$/i;

/** Whether the text is a UUID. BASE: UUID. */
function isUuidText(text: string): boolean {
  return UUID.test(text);
}

/** Whether the text is an ISO object identifier. BASE: ISO_OID. */
function isOid(text: string): boolean {
  return OID.test(text);
}

/** Whether the text is a reverse domain name. BASE: INTERNET_ID. */
function isInternetId(text: string): boolean {
  return text.length <= 256 && INTERNET_ID.test(text);
}

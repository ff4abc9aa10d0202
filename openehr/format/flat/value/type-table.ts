import { isKindOf } from '../../../rm/model/classes.js';

/** How one attribute of a data type is written as text, number or boolean. */
export type FieldKind =
  | 'instant'
  | 'text'
  | 'number'
  | 'integer'
  | 'boolean'
  | 'date'
  | 'time'
  | 'date-time'
  | 'uri'
  | 'code'
  | 'text-bytes';

/** One attribute of a data type that has a suffix of its own. */
export interface Field {
  /** RM attribute. */
  readonly attribute: string;
  readonly kind: FieldKind;
  /** The suffix that is written, then those also read; `''` is the key without `|`. */
  readonly suffixes: readonly [string, ...string[]];
}

/** One attribute of a data type that is an object with keys of its own. */
export interface Part {
  readonly attribute: string;
  /** Id below the keys of the owner; null when it shares them. */
  readonly id: string | null;
  /** RM class; `T` is the parameter of the owner, `OWNER` the class of the owner. */
  readonly type: string;
  /** What the parameter of the part is: that of the owner, or the class of the owner. */
  readonly parameter?: 'T' | 'OWNER';
  readonly isList?: boolean;
}

/** Fields and parts of a class, own ones. */
interface OwnTable {
  readonly fields?: readonly Field[];
  readonly parts?: readonly Part[];
}

/** Fields and parts of a class, inherited ones included. */
export interface TypeTable {
  readonly fields: readonly Field[];
  readonly parts: readonly Part[];
}

function field(kind: FieldKind, attribute: string, ...suffixes: string[]): Field {
  const [first = attribute, ...others] = suffixes;
  return { attribute, kind, suffixes: [first, ...others] };
}

function part(attribute: string, id: string | null, type: string, more: Partial<Part> = {}): Part {
  return { attribute, id, type, ...more };
}

const IDENTIFIER_FIELDS = ['type', 'issuer', 'assigner'].map((attribute) => field('text', attribute));
const ACCURACY = part('accuracy', '_accuracy', 'DV_DURATION');

/** docs/spec/formats.md#flat-data-types and `_feeder_audit`, except what needs look-ups: texts, ordinals, parties. */
const OWN: Readonly<Record<string, OwnTable>> = {
  DV_ORDERED: {
    fields: [field('code', 'normal_status')],
    parts: [
      part('normal_range', '_normal_range', 'DV_INTERVAL', { parameter: 'OWNER' }),
      part('other_reference_ranges', '_other_reference_ranges', 'REFERENCE_RANGE', {
        parameter: 'OWNER',
        isList: true,
      }),
    ],
  },
  REFERENCE_RANGE: {
    parts: [part('meaning', 'meaning', 'DV_TEXT'), part('range', null, 'DV_INTERVAL', { parameter: 'T' })],
  },
  DV_INTERVAL: { parts: [part('lower', 'lower', 'T'), part('upper', 'upper', 'T')] },
  DV_QUANTIFIED: { fields: [field('text', 'magnitude_status')] },
  DV_AMOUNT: { fields: [field('number', 'accuracy'), field('boolean', 'accuracy_is_percent')] },
  DV_QUANTITY: {
    fields: [
      field('number', 'magnitude'),
      field('text', 'units', 'unit', 'units'),
      field('integer', 'precision'),
      field('text', 'units_system'),
      field('text', 'units_display_name'),
    ],
  },
  DV_COUNT: { fields: [field('integer', 'magnitude', '', 'value')] },
  DV_PROPORTION: {
    fields: [
      field('number', 'numerator'),
      field('number', 'denominator'),
      field('integer', 'type'),
      field('integer', 'precision'),
    ],
  },
  DV_DATE: { fields: [field('date', 'value', '', 'value')], parts: [ACCURACY] },
  DV_TIME: { fields: [field('time', 'value', '', 'value')], parts: [ACCURACY] },
  DV_DATE_TIME: { fields: [field('date-time', 'value', '', 'value')], parts: [ACCURACY] },
  DV_BOOLEAN: { fields: [field('boolean', 'value', '', 'value')] },
  DV_URI: { fields: [field('text', 'value', '', 'value')] },
  DV_IDENTIFIER: { fields: [field('text', 'id', 'id', '', 'value'), ...IDENTIFIER_FIELDS] },
  DV_ENCAPSULATED: {
    parts: [part('charset', '_charset', 'CODE_PHRASE'), part('language', '_language', 'CODE_PHRASE')],
  },
  DV_PARSABLE: { fields: [field('text', 'value', '', 'value'), field('text', 'formalism')] },
  DV_MULTIMEDIA: {
    fields: [
      field('uri', 'uri', '', 'url', 'value'),
      field('code', 'media_type', 'mediatype'),
      field('text', 'alternate_text', 'alternatetext'),
      field('integer', 'size'),
      field('text', 'data'),
      field('code', 'compression_algorithm'),
      field('text-bytes', 'integrity_check'),
      field('code', 'integrity_check_algorithm'),
    ],
    parts: [part('thumbnail', '_thumbnail', 'DV_MULTIMEDIA')],
  },
  DV_TEXT: {
    fields: [field('text', 'formatting')],
    parts: [
      part('language', '_language', 'CODE_PHRASE'),
      part('encoding', '_encoding', 'CODE_PHRASE'),
      part('mappings', '_mapping', 'TERM_MAPPING', { isList: true }),
    ],
  },
  FEEDER_AUDIT: {
    parts: [
      part('originating_system_audit', 'originating_system_audit', 'FEEDER_AUDIT_DETAILS'),
      part('feeder_system_audit', 'feeder_system_audit', 'FEEDER_AUDIT_DETAILS'),
      part('originating_system_item_ids', 'originating_system_item_id', 'DV_IDENTIFIER', { isList: true }),
      part('feeder_system_item_ids', 'feeder_system_item_id', 'DV_IDENTIFIER', { isList: true }),
    ],
  },
  FEEDER_AUDIT_DETAILS: {
    fields: [field('text', 'system_id'), field('text', 'version_id'), field('instant', 'time')],
    parts: [
      part('location', 'location', 'PARTY_IDENTIFIED'),
      part('provider', 'provider', 'PARTY_IDENTIFIED'),
      part('subject', 'subject', 'PARTY_PROXY'),
    ],
  },
  TERM_MAPPING: {
    fields: [field('text', 'match')],
    parts: [part('target', 'target', 'CODE_PHRASE'), part('purpose', 'purpose', 'DV_CODED_TEXT')],
  },
};

const TABLES = new Map<string, TypeTable>();

/** Fields and parts of a class with those it inherits; both empty for classes without. */
export function tableOf(type: string): TypeTable {
  let table = TABLES.get(type);
  if (table === undefined) {
    const own = Object.entries(OWN).filter(([name]) => isKindOf(type, name));
    table = {
      fields: own.flatMap(([, { fields }]) => fields ?? []),
      parts: own.flatMap(([, { parts }]) => parts ?? []),
    };
    TABLES.set(type, table);
  }
  return table;
}

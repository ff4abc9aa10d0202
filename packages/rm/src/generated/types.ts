// Made from the class table of the reference model by `npm run generate`: change that, not this.

/** Any value of a data type: what an ELEMENT holds. */
export type DATA_VALUE =
  | DV_BOOLEAN
  | DV_STATE
  | DV_IDENTIFIER
  | DV_TEXT
  | DV_CODED_TEXT
  | DV_PARAGRAPH
  | DV_URI
  | DV_EHR_URI
  | DV_MULTIMEDIA
  | DV_PARSABLE
  | DV_GENERAL_TIME_SPECIFICATION
  | DV_PERIODIC_TIME_SPECIFICATION
  | DV_INTERVAL
  | DV_ORDINAL
  | DV_SCALE
  | DV_QUANTITY
  | DV_COUNT
  | DV_PROPORTION
  | DV_DURATION
  | DV_DATE
  | DV_TIME
  | DV_DATE_TIME;
/** True or false. */
export interface DV_BOOLEAN {
  _type: 'DV_BOOLEAN';
  value: boolean;
}
/** A state of a state machine. */
export interface DV_STATE {
  _type: 'DV_STATE';
  value: DV_CODED_TEXT;
  is_terminal: boolean;
}
/** An identifier of a real-world entity, such as a licence or an order number. */
export interface DV_IDENTIFIER {
  _type: 'DV_IDENTIFIER';
  issuer?: string | undefined;
  assigner?: string | undefined;
  id: string;
  type?: string | undefined;
}
/** Text of any length, without a code. */
export interface DV_TEXT {
  _type: 'DV_TEXT';
  value: string;
  hyperlink?: DV_URI | DV_EHR_URI | undefined;
  formatting?: string | undefined;
  mappings?: TERM_MAPPING[] | undefined;
  /** ISO 639-1. */
  language?: CODE_PHRASE | undefined;
  /** Character set, by IANA. */
  encoding?: CODE_PHRASE | undefined;
}
/** Text that is the rubric of a code. */
export interface DV_CODED_TEXT {
  _type: 'DV_CODED_TEXT';
  value: string;
  hyperlink?: DV_URI | DV_EHR_URI | undefined;
  formatting?: string | undefined;
  mappings?: TERM_MAPPING[] | undefined;
  /** ISO 639-1. */
  language?: CODE_PHRASE | undefined;
  /** Character set, by IANA. */
  encoding?: CODE_PHRASE | undefined;
  /** The code whose rubric the text is. */
  defining_code: CODE_PHRASE;
}
/** Several texts that are read as one; deprecated. */
export interface DV_PARAGRAPH {
  _type: 'DV_PARAGRAPH';
  items: (DV_TEXT | DV_CODED_TEXT)[];
}
/** A code with its terminology. */
export interface CODE_PHRASE {
  _type: 'CODE_PHRASE';
  terminology_id: TERMINOLOGY_ID;
  code_string: string;
  preferred_term?: string | undefined;
}
/** A code of another terminology for the same text. */
export interface TERM_MAPPING {
  _type: 'TERM_MAPPING';
  /** How wide the code is: =, <, > or ?. */
  match: string;
  purpose?: DV_CODED_TEXT | undefined;
  target: CODE_PHRASE;
}
/** A reference by URI. */
export interface DV_URI {
  _type: 'DV_URI';
  value: string;
}
/** A reference into an EHR, scheme `ehr`. */
export interface DV_EHR_URI {
  _type: 'DV_EHR_URI';
  value: string;
}
/** Content with a format of its own. */
export type DV_ENCAPSULATED = DV_MULTIMEDIA | DV_PARSABLE;
/** Audio, images, documents: inline or by URI. */
export interface DV_MULTIMEDIA {
  _type: 'DV_MULTIMEDIA';
  charset?: CODE_PHRASE | undefined;
  /** ISO 639-1. */
  language?: CODE_PHRASE | undefined;
  alternate_text?: string | undefined;
  uri?: DV_URI | DV_EHR_URI | undefined;
  /** Base64. */
  data?: string | undefined;
  /** By IANA. */
  media_type: CODE_PHRASE;
  compression_algorithm?: CODE_PHRASE | undefined;
  integrity_check?: string | undefined;
  integrity_check_algorithm?: CODE_PHRASE | undefined;
  /** Bytes. */
  size: number;
  thumbnail?: DV_MULTIMEDIA | undefined;
}
/** Text in a formalism, such as a timing or a guideline. */
export interface DV_PARSABLE {
  _type: 'DV_PARSABLE';
  charset?: CODE_PHRASE | undefined;
  /** ISO 639-1. */
  language?: CODE_PHRASE | undefined;
  value: string;
  formalism: string;
  size?: number | undefined;
}
/** Points in time by a rule. */
export type DV_TIME_SPECIFICATION = DV_GENERAL_TIME_SPECIFICATION | DV_PERIODIC_TIME_SPECIFICATION;
/** Points in time by a rule in HL7 GTS. */
export interface DV_GENERAL_TIME_SPECIFICATION {
  _type: 'DV_GENERAL_TIME_SPECIFICATION';
  value: DV_PARSABLE;
}
/** Points in time that repeat, in HL7 PIVL or EIVL. */
export interface DV_PERIODIC_TIME_SPECIFICATION {
  _type: 'DV_PERIODIC_TIME_SPECIFICATION';
  value: DV_PARSABLE;
}
/** Any value with an order, and its reference ranges. */
export type DV_ORDERED =
  | DV_ORDINAL
  | DV_SCALE
  | DV_QUANTITY
  | DV_COUNT
  | DV_PROPORTION
  | DV_DURATION
  | DV_DATE
  | DV_TIME
  | DV_DATE_TIME;
/** A range between two values of one type; either end may be open. */
export interface DV_INTERVAL {
  _type: 'DV_INTERVAL';
  lower?: DV_ORDERED | undefined;
  upper?: DV_ORDERED | undefined;
  lower_included?: boolean | undefined;
  upper_included?: boolean | undefined;
  lower_unbounded: boolean;
  upper_unbounded: boolean;
}
/** A named range, such as normal or critical. */
export interface REFERENCE_RANGE {
  _type: 'REFERENCE_RANGE';
  meaning: DV_TEXT | DV_CODED_TEXT;
  range: DV_INTERVAL;
}
/** A whole number with a coded meaning, such as a score. */
export interface DV_ORDINAL {
  _type: 'DV_ORDINAL';
  normal_range?: DV_INTERVAL | undefined;
  other_reference_ranges?: REFERENCE_RANGE[] | undefined;
  /** Where it lies in the normal range: HHH … LLL. */
  normal_status?: CODE_PHRASE | undefined;
  value: number;
  symbol: DV_CODED_TEXT;
}
/** A number, maybe with decimals, with a coded meaning. */
export interface DV_SCALE {
  _type: 'DV_SCALE';
  normal_range?: DV_INTERVAL | undefined;
  other_reference_ranges?: REFERENCE_RANGE[] | undefined;
  /** Where it lies in the normal range: HHH … LLL. */
  normal_status?: CODE_PHRASE | undefined;
  value: number;
  symbol: DV_CODED_TEXT;
}
/** Any value with a magnitude. */
export type DV_QUANTIFIED =
  DV_QUANTITY | DV_COUNT | DV_PROPORTION | DV_DURATION | DV_DATE | DV_TIME | DV_DATE_TIME;
/** Any value that can be added. */
export type DV_AMOUNT = DV_QUANTITY | DV_COUNT | DV_PROPORTION | DV_DURATION;
/** A measured number with its unit. */
export interface DV_QUANTITY {
  _type: 'DV_QUANTITY';
  normal_range?: DV_INTERVAL | undefined;
  other_reference_ranges?: REFERENCE_RANGE[] | undefined;
  /** Where it lies in the normal range: HHH … LLL. */
  normal_status?: CODE_PHRASE | undefined;
  /** One of =, <, >, <=, >=, ~. */
  magnitude_status?: string | undefined;
  /** Half the width of the range in which the true value is; 0: exact, -1: not known. */
  accuracy?: number | undefined;
  accuracy_is_percent?: boolean | undefined;
  magnitude: number;
  /** UCUM unless `units_system` names another system. */
  units: string;
  /** Digits after the decimal point; -1: not limited. */
  precision?: number | undefined;
  units_system?: string | undefined;
  units_display_name?: string | undefined;
}
/** A whole number without a unit. */
export interface DV_COUNT {
  _type: 'DV_COUNT';
  normal_range?: DV_INTERVAL | undefined;
  other_reference_ranges?: REFERENCE_RANGE[] | undefined;
  /** Where it lies in the normal range: HHH … LLL. */
  normal_status?: CODE_PHRASE | undefined;
  /** One of =, <, >, <=, >=, ~. */
  magnitude_status?: string | undefined;
  /** Half the width of the range in which the true value is; 0: exact, -1: not known. */
  accuracy?: number | undefined;
  accuracy_is_percent?: boolean | undefined;
  magnitude: number;
}
/** A ratio, percentage or fraction. */
export interface DV_PROPORTION {
  _type: 'DV_PROPORTION';
  normal_range?: DV_INTERVAL | undefined;
  other_reference_ranges?: REFERENCE_RANGE[] | undefined;
  /** Where it lies in the normal range: HHH … LLL. */
  normal_status?: CODE_PHRASE | undefined;
  /** One of =, <, >, <=, >=, ~. */
  magnitude_status?: string | undefined;
  /** Half the width of the range in which the true value is; 0: exact, -1: not known. */
  accuracy?: number | undefined;
  accuracy_is_percent?: boolean | undefined;
  numerator: number;
  denominator: number;
  /** 0 ratio, 1 unitary, 2 percent, 3 fraction, 4 integer fraction. */
  type: number;
  /** Digits after the decimal point; -1: not limited. */
  precision?: number | undefined;
}
/** A length of time in ISO 8601. */
export interface DV_DURATION {
  _type: 'DV_DURATION';
  normal_range?: DV_INTERVAL | undefined;
  other_reference_ranges?: REFERENCE_RANGE[] | undefined;
  /** Where it lies in the normal range: HHH … LLL. */
  normal_status?: CODE_PHRASE | undefined;
  /** One of =, <, >, <=, >=, ~. */
  magnitude_status?: string | undefined;
  /** Half the width of the range in which the true value is; 0: exact, -1: not known. */
  accuracy?: number | undefined;
  accuracy_is_percent?: boolean | undefined;
  value: string;
}
/** Any value that is a point on a scale. */
export type DV_ABSOLUTE_QUANTITY = DV_DATE | DV_TIME | DV_DATE_TIME;
/** Any date or time. */
export type DV_TEMPORAL = DV_DATE | DV_TIME | DV_DATE_TIME;
/** A date in ISO 8601, maybe partial. */
export interface DV_DATE {
  _type: 'DV_DATE';
  normal_range?: DV_INTERVAL | undefined;
  other_reference_ranges?: REFERENCE_RANGE[] | undefined;
  /** Where it lies in the normal range: HHH … LLL. */
  normal_status?: CODE_PHRASE | undefined;
  /** One of =, <, >, <=, >=, ~. */
  magnitude_status?: string | undefined;
  /** Half the width of the range in which the true value is; 0: exact, -1: not known. */
  accuracy?: DV_DURATION | undefined;
  value: string;
}
/** A time of the day in ISO 8601, maybe partial. */
export interface DV_TIME {
  _type: 'DV_TIME';
  normal_range?: DV_INTERVAL | undefined;
  other_reference_ranges?: REFERENCE_RANGE[] | undefined;
  /** Where it lies in the normal range: HHH … LLL. */
  normal_status?: CODE_PHRASE | undefined;
  /** One of =, <, >, <=, >=, ~. */
  magnitude_status?: string | undefined;
  /** Half the width of the range in which the true value is; 0: exact, -1: not known. */
  accuracy?: DV_DURATION | undefined;
  value: string;
}
/** A date and time in ISO 8601, maybe partial. */
export interface DV_DATE_TIME {
  _type: 'DV_DATE_TIME';
  normal_range?: DV_INTERVAL | undefined;
  other_reference_ranges?: REFERENCE_RANGE[] | undefined;
  /** Where it lies in the normal range: HHH … LLL. */
  normal_status?: CODE_PHRASE | undefined;
  /** One of =, <, >, <=, >=, ~. */
  magnitude_status?: string | undefined;
  /** Half the width of the range in which the true value is; 0: exact, -1: not known. */
  accuracy?: DV_DURATION | undefined;
  value: string;
}
/** Any structure of data. */
export type DATA_STRUCTURE = ITEM_SINGLE | ITEM_LIST | ITEM_TABLE | ITEM_TREE | HISTORY;
/** Any structure of ELEMENTs and CLUSTERs. */
export type ITEM_STRUCTURE = ITEM_SINGLE | ITEM_LIST | ITEM_TABLE | ITEM_TREE;
/** One ELEMENT. */
export interface ITEM_SINGLE {
  _type: 'ITEM_SINGLE';
  /** Archetype id of an archetype root, else the code of its node, such as at0004. */
  archetype_node_id: string;
  /** As shown; unlike that of the archetype when several nodes have one code. */
  name: DV_TEXT | DV_CODED_TEXT;
  /** Identifier; of a stored version its version uid. */
  uid?: UID_BASED_ID | undefined;
  /** To other parts of the record. */
  links?: LINK[] | undefined;
  /** Of archetype roots only. */
  archetype_details?: ARCHETYPED | undefined;
  /** Where it came from, when from another system. */
  feeder_audit?: FEEDER_AUDIT | undefined;
  item: ELEMENT;
}
/** A list of ELEMENTs. */
export interface ITEM_LIST {
  _type: 'ITEM_LIST';
  /** Archetype id of an archetype root, else the code of its node, such as at0004. */
  archetype_node_id: string;
  /** As shown; unlike that of the archetype when several nodes have one code. */
  name: DV_TEXT | DV_CODED_TEXT;
  /** Identifier; of a stored version its version uid. */
  uid?: UID_BASED_ID | undefined;
  /** To other parts of the record. */
  links?: LINK[] | undefined;
  /** Of archetype roots only. */
  archetype_details?: ARCHETYPED | undefined;
  /** Where it came from, when from another system. */
  feeder_audit?: FEEDER_AUDIT | undefined;
  items?: ELEMENT[] | undefined;
}
/** A table: each row is a CLUSTER. */
export interface ITEM_TABLE {
  _type: 'ITEM_TABLE';
  /** Archetype id of an archetype root, else the code of its node, such as at0004. */
  archetype_node_id: string;
  /** As shown; unlike that of the archetype when several nodes have one code. */
  name: DV_TEXT | DV_CODED_TEXT;
  /** Identifier; of a stored version its version uid. */
  uid?: UID_BASED_ID | undefined;
  /** To other parts of the record. */
  links?: LINK[] | undefined;
  /** Of archetype roots only. */
  archetype_details?: ARCHETYPED | undefined;
  /** Where it came from, when from another system. */
  feeder_audit?: FEEDER_AUDIT | undefined;
  rows?: CLUSTER[] | undefined;
}
/** A tree of CLUSTERs and ELEMENTs. */
export interface ITEM_TREE {
  _type: 'ITEM_TREE';
  /** Archetype id of an archetype root, else the code of its node, such as at0004. */
  archetype_node_id: string;
  /** As shown; unlike that of the archetype when several nodes have one code. */
  name: DV_TEXT | DV_CODED_TEXT;
  /** Identifier; of a stored version its version uid. */
  uid?: UID_BASED_ID | undefined;
  /** To other parts of the record. */
  links?: LINK[] | undefined;
  /** Of archetype roots only. */
  archetype_details?: ARCHETYPED | undefined;
  /** Where it came from, when from another system. */
  feeder_audit?: FEEDER_AUDIT | undefined;
  items?: ITEM[] | undefined;
}
/** CLUSTER or ELEMENT. */
export type ITEM = CLUSTER | ELEMENT;
/** Several ITEMs that belong together. */
export interface CLUSTER {
  _type: 'CLUSTER';
  /** Archetype id of an archetype root, else the code of its node, such as at0004. */
  archetype_node_id: string;
  /** As shown; unlike that of the archetype when several nodes have one code. */
  name: DV_TEXT | DV_CODED_TEXT;
  /** Identifier; of a stored version its version uid. */
  uid?: UID_BASED_ID | undefined;
  /** To other parts of the record. */
  links?: LINK[] | undefined;
  /** Of archetype roots only. */
  archetype_details?: ARCHETYPED | undefined;
  /** Where it came from, when from another system. */
  feeder_audit?: FEEDER_AUDIT | undefined;
  items: ITEM[];
}
/** One named value, or why there is none. */
export interface ELEMENT {
  _type: 'ELEMENT';
  /** Archetype id of an archetype root, else the code of its node, such as at0004. */
  archetype_node_id: string;
  /** As shown; unlike that of the archetype when several nodes have one code. */
  name: DV_TEXT | DV_CODED_TEXT;
  /** Identifier; of a stored version its version uid. */
  uid?: UID_BASED_ID | undefined;
  /** To other parts of the record. */
  links?: LINK[] | undefined;
  /** Of archetype roots only. */
  archetype_details?: ARCHETYPED | undefined;
  /** Where it came from, when from another system. */
  feeder_audit?: FEEDER_AUDIT | undefined;
  value?: DATA_VALUE | undefined;
  /** Why there is no value: openEHR codes 253, 271, 272, 273. */
  null_flavour?: DV_CODED_TEXT | undefined;
  null_reason?: DV_TEXT | DV_CODED_TEXT | undefined;
}
/** Events over time. */
export interface HISTORY {
  _type: 'HISTORY';
  /** Archetype id of an archetype root, else the code of its node, such as at0004. */
  archetype_node_id: string;
  /** As shown; unlike that of the archetype when several nodes have one code. */
  name: DV_TEXT | DV_CODED_TEXT;
  /** Identifier; of a stored version its version uid. */
  uid?: UID_BASED_ID | undefined;
  /** To other parts of the record. */
  links?: LINK[] | undefined;
  /** Of archetype roots only. */
  archetype_details?: ARCHETYPED | undefined;
  /** Where it came from, when from another system. */
  feeder_audit?: FEEDER_AUDIT | undefined;
  /** The time that the history begins at. */
  origin: DV_DATE_TIME;
  period?: DV_DURATION | undefined;
  duration?: DV_DURATION | undefined;
  events?: EVENT[] | undefined;
  summary?: ITEM_STRUCTURE | undefined;
}
/** What was observed at a time. */
export type EVENT = POINT_EVENT | INTERVAL_EVENT;
/** What was observed at one moment. */
export interface POINT_EVENT {
  _type: 'POINT_EVENT';
  /** Archetype id of an archetype root, else the code of its node, such as at0004. */
  archetype_node_id: string;
  /** As shown; unlike that of the archetype when several nodes have one code. */
  name: DV_TEXT | DV_CODED_TEXT;
  /** Identifier; of a stored version its version uid. */
  uid?: UID_BASED_ID | undefined;
  /** To other parts of the record. */
  links?: LINK[] | undefined;
  /** Of archetype roots only. */
  archetype_details?: ARCHETYPED | undefined;
  /** Where it came from, when from another system. */
  feeder_audit?: FEEDER_AUDIT | undefined;
  time: DV_DATE_TIME;
  data: ITEM_STRUCTURE;
  state?: ITEM_STRUCTURE | undefined;
}
/** What was observed over a span of time: its mean, maximum, …. */
export interface INTERVAL_EVENT {
  _type: 'INTERVAL_EVENT';
  /** Archetype id of an archetype root, else the code of its node, such as at0004. */
  archetype_node_id: string;
  /** As shown; unlike that of the archetype when several nodes have one code. */
  name: DV_TEXT | DV_CODED_TEXT;
  /** Identifier; of a stored version its version uid. */
  uid?: UID_BASED_ID | undefined;
  /** To other parts of the record. */
  links?: LINK[] | undefined;
  /** Of archetype roots only. */
  archetype_details?: ARCHETYPED | undefined;
  /** Where it came from, when from another system. */
  feeder_audit?: FEEDER_AUDIT | undefined;
  time: DV_DATE_TIME;
  data: ITEM_STRUCTURE;
  state?: ITEM_STRUCTURE | undefined;
  /** How long the event took; it ends at `time`. */
  width: DV_DURATION;
  sample_count?: number | undefined;
  math_function: DV_CODED_TEXT;
}
/** What is committed as one document: who, when, where, and its content. */
export interface COMPOSITION {
  _type: 'COMPOSITION';
  /** Archetype id of an archetype root, else the code of its node, such as at0004. */
  archetype_node_id: string;
  /** As shown; unlike that of the archetype when several nodes have one code. */
  name: DV_TEXT | DV_CODED_TEXT;
  /** Identifier; of a stored version its version uid. */
  uid?: UID_BASED_ID | undefined;
  /** To other parts of the record. */
  links?: LINK[] | undefined;
  /** Of archetype roots only. */
  archetype_details?: ARCHETYPED | undefined;
  /** Where it came from, when from another system. */
  feeder_audit?: FEEDER_AUDIT | undefined;
  /** ISO 639-1. */
  language: CODE_PHRASE;
  /** ISO 3166-1, two letters. */
  territory: CODE_PHRASE;
  /** event, episodic, persistent: openEHR codes 433, 451, 431. */
  category: DV_CODED_TEXT;
  /** Who is responsible for the content. */
  composer: PARTY_PROXY;
  context?: EVENT_CONTEXT | undefined;
  content?: CONTENT_ITEM[] | undefined;
}
/** The encounter in which a COMPOSITION was made. */
export interface EVENT_CONTEXT {
  _type: 'EVENT_CONTEXT';
  start_time: DV_DATE_TIME;
  end_time?: DV_DATE_TIME | undefined;
  location?: string | undefined;
  setting: DV_CODED_TEXT;
  other_context?: ITEM_STRUCTURE | undefined;
  health_care_facility?: PARTY_IDENTIFIED | PARTY_RELATED | undefined;
  participations?: PARTICIPATION[] | undefined;
}
/** What a COMPOSITION or a SECTION holds. */
export type CONTENT_ITEM =
  SECTION | GENERIC_ENTRY | ADMIN_ENTRY | OBSERVATION | EVALUATION | INSTRUCTION | ACTION;
/** A heading with content below it. */
export interface SECTION {
  _type: 'SECTION';
  /** Archetype id of an archetype root, else the code of its node, such as at0004. */
  archetype_node_id: string;
  /** As shown; unlike that of the archetype when several nodes have one code. */
  name: DV_TEXT | DV_CODED_TEXT;
  /** Identifier; of a stored version its version uid. */
  uid?: UID_BASED_ID | undefined;
  /** To other parts of the record. */
  links?: LINK[] | undefined;
  /** Of archetype roots only. */
  archetype_details?: ARCHETYPED | undefined;
  /** Where it came from, when from another system. */
  feeder_audit?: FEEDER_AUDIT | undefined;
  items?: CONTENT_ITEM[] | undefined;
}
/** An entry from another system, not yet in a form of its own. */
export interface GENERIC_ENTRY {
  _type: 'GENERIC_ENTRY';
  /** Archetype id of an archetype root, else the code of its node, such as at0004. */
  archetype_node_id: string;
  /** As shown; unlike that of the archetype when several nodes have one code. */
  name: DV_TEXT | DV_CODED_TEXT;
  /** Identifier; of a stored version its version uid. */
  uid?: UID_BASED_ID | undefined;
  /** To other parts of the record. */
  links?: LINK[] | undefined;
  /** Of archetype roots only. */
  archetype_details?: ARCHETYPED | undefined;
  /** Where it came from, when from another system. */
  feeder_audit?: FEEDER_AUDIT | undefined;
  data: ITEM_TREE;
}
/** A clinical or administrative statement. */
export type ENTRY = ADMIN_ENTRY | OBSERVATION | EVALUATION | INSTRUCTION | ACTION;
/** Administrative information, such as an admission. */
export interface ADMIN_ENTRY {
  _type: 'ADMIN_ENTRY';
  /** Archetype id of an archetype root, else the code of its node, such as at0004. */
  archetype_node_id: string;
  /** As shown; unlike that of the archetype when several nodes have one code. */
  name: DV_TEXT | DV_CODED_TEXT;
  /** Identifier; of a stored version its version uid. */
  uid?: UID_BASED_ID | undefined;
  /** To other parts of the record. */
  links?: LINK[] | undefined;
  /** Of archetype roots only. */
  archetype_details?: ARCHETYPED | undefined;
  /** Where it came from, when from another system. */
  feeder_audit?: FEEDER_AUDIT | undefined;
  /** ISO 639-1. */
  language: CODE_PHRASE;
  /** Character set, by IANA. */
  encoding: CODE_PHRASE;
  /** Who it is about, as a rule the subject of the record. */
  subject: PARTY_PROXY;
  /** Who provided the information, where not the composer. */
  provider?: PARTY_PROXY | undefined;
  other_participations?: PARTICIPATION[] | undefined;
  workflow_id?: OBJECT_REF | PARTY_REF | ACCESS_GROUP_REF | LOCATABLE_REF | undefined;
  data: ITEM_STRUCTURE;
}
/** A clinical statement. */
export type CARE_ENTRY = OBSERVATION | EVALUATION | INSTRUCTION | ACTION;
/** What was measured or seen, at points or over spans of time. */
export interface OBSERVATION {
  _type: 'OBSERVATION';
  /** Archetype id of an archetype root, else the code of its node, such as at0004. */
  archetype_node_id: string;
  /** As shown; unlike that of the archetype when several nodes have one code. */
  name: DV_TEXT | DV_CODED_TEXT;
  /** Identifier; of a stored version its version uid. */
  uid?: UID_BASED_ID | undefined;
  /** To other parts of the record. */
  links?: LINK[] | undefined;
  /** Of archetype roots only. */
  archetype_details?: ARCHETYPED | undefined;
  /** Where it came from, when from another system. */
  feeder_audit?: FEEDER_AUDIT | undefined;
  /** ISO 639-1. */
  language: CODE_PHRASE;
  /** Character set, by IANA. */
  encoding: CODE_PHRASE;
  /** Who it is about, as a rule the subject of the record. */
  subject: PARTY_PROXY;
  /** Who provided the information, where not the composer. */
  provider?: PARTY_PROXY | undefined;
  other_participations?: PARTICIPATION[] | undefined;
  workflow_id?: OBJECT_REF | PARTY_REF | ACCESS_GROUP_REF | LOCATABLE_REF | undefined;
  protocol?: ITEM_STRUCTURE | undefined;
  guideline_id?: OBJECT_REF | PARTY_REF | ACCESS_GROUP_REF | LOCATABLE_REF | undefined;
  data: HISTORY;
  state?: HISTORY | undefined;
}
/** What was concluded: a diagnosis, a risk, a goal. */
export interface EVALUATION {
  _type: 'EVALUATION';
  /** Archetype id of an archetype root, else the code of its node, such as at0004. */
  archetype_node_id: string;
  /** As shown; unlike that of the archetype when several nodes have one code. */
  name: DV_TEXT | DV_CODED_TEXT;
  /** Identifier; of a stored version its version uid. */
  uid?: UID_BASED_ID | undefined;
  /** To other parts of the record. */
  links?: LINK[] | undefined;
  /** Of archetype roots only. */
  archetype_details?: ARCHETYPED | undefined;
  /** Where it came from, when from another system. */
  feeder_audit?: FEEDER_AUDIT | undefined;
  /** ISO 639-1. */
  language: CODE_PHRASE;
  /** Character set, by IANA. */
  encoding: CODE_PHRASE;
  /** Who it is about, as a rule the subject of the record. */
  subject: PARTY_PROXY;
  /** Who provided the information, where not the composer. */
  provider?: PARTY_PROXY | undefined;
  other_participations?: PARTICIPATION[] | undefined;
  workflow_id?: OBJECT_REF | PARTY_REF | ACCESS_GROUP_REF | LOCATABLE_REF | undefined;
  protocol?: ITEM_STRUCTURE | undefined;
  guideline_id?: OBJECT_REF | PARTY_REF | ACCESS_GROUP_REF | LOCATABLE_REF | undefined;
  data: ITEM_STRUCTURE;
  time_asserted?: DV_DATE_TIME | undefined;
}
/** What shall be done: an order, a prescription. */
export interface INSTRUCTION {
  _type: 'INSTRUCTION';
  /** Archetype id of an archetype root, else the code of its node, such as at0004. */
  archetype_node_id: string;
  /** As shown; unlike that of the archetype when several nodes have one code. */
  name: DV_TEXT | DV_CODED_TEXT;
  /** Identifier; of a stored version its version uid. */
  uid?: UID_BASED_ID | undefined;
  /** To other parts of the record. */
  links?: LINK[] | undefined;
  /** Of archetype roots only. */
  archetype_details?: ARCHETYPED | undefined;
  /** Where it came from, when from another system. */
  feeder_audit?: FEEDER_AUDIT | undefined;
  /** ISO 639-1. */
  language: CODE_PHRASE;
  /** Character set, by IANA. */
  encoding: CODE_PHRASE;
  /** Who it is about, as a rule the subject of the record. */
  subject: PARTY_PROXY;
  /** Who provided the information, where not the composer. */
  provider?: PARTY_PROXY | undefined;
  other_participations?: PARTICIPATION[] | undefined;
  workflow_id?: OBJECT_REF | PARTY_REF | ACCESS_GROUP_REF | LOCATABLE_REF | undefined;
  protocol?: ITEM_STRUCTURE | undefined;
  guideline_id?: OBJECT_REF | PARTY_REF | ACCESS_GROUP_REF | LOCATABLE_REF | undefined;
  /** For people: what shall be done. */
  narrative: DV_TEXT | DV_CODED_TEXT;
  expiry_time?: DV_DATE_TIME | undefined;
  wf_definition?: DV_PARSABLE | undefined;
  activities?: ACTIVITY[] | undefined;
}
/** One thing that an INSTRUCTION asks for. */
export interface ACTIVITY {
  _type: 'ACTIVITY';
  /** Archetype id of an archetype root, else the code of its node, such as at0004. */
  archetype_node_id: string;
  /** As shown; unlike that of the archetype when several nodes have one code. */
  name: DV_TEXT | DV_CODED_TEXT;
  /** Identifier; of a stored version its version uid. */
  uid?: UID_BASED_ID | undefined;
  /** To other parts of the record. */
  links?: LINK[] | undefined;
  /** Of archetype roots only. */
  archetype_details?: ARCHETYPED | undefined;
  /** Where it came from, when from another system. */
  feeder_audit?: FEEDER_AUDIT | undefined;
  description: ITEM_STRUCTURE;
  /** When it shall be done. */
  timing?: DV_PARSABLE | undefined;
  action_archetype_id: string;
}
/** What was done, as a rule for an INSTRUCTION. */
export interface ACTION {
  _type: 'ACTION';
  /** Archetype id of an archetype root, else the code of its node, such as at0004. */
  archetype_node_id: string;
  /** As shown; unlike that of the archetype when several nodes have one code. */
  name: DV_TEXT | DV_CODED_TEXT;
  /** Identifier; of a stored version its version uid. */
  uid?: UID_BASED_ID | undefined;
  /** To other parts of the record. */
  links?: LINK[] | undefined;
  /** Of archetype roots only. */
  archetype_details?: ARCHETYPED | undefined;
  /** Where it came from, when from another system. */
  feeder_audit?: FEEDER_AUDIT | undefined;
  /** ISO 639-1. */
  language: CODE_PHRASE;
  /** Character set, by IANA. */
  encoding: CODE_PHRASE;
  /** Who it is about, as a rule the subject of the record. */
  subject: PARTY_PROXY;
  /** Who provided the information, where not the composer. */
  provider?: PARTY_PROXY | undefined;
  other_participations?: PARTICIPATION[] | undefined;
  workflow_id?: OBJECT_REF | PARTY_REF | ACCESS_GROUP_REF | LOCATABLE_REF | undefined;
  protocol?: ITEM_STRUCTURE | undefined;
  guideline_id?: OBJECT_REF | PARTY_REF | ACCESS_GROUP_REF | LOCATABLE_REF | undefined;
  time: DV_DATE_TIME;
  description: ITEM_STRUCTURE;
  /** The state that it brings the INSTRUCTION to. */
  ism_transition: ISM_TRANSITION;
  instruction_details?: INSTRUCTION_DETAILS | undefined;
}
/** The state that an ACTION brought its INSTRUCTION to. */
export interface ISM_TRANSITION {
  _type: 'ISM_TRANSITION';
  current_state: DV_CODED_TEXT;
  transition?: DV_CODED_TEXT | undefined;
  careflow_step?: DV_CODED_TEXT | undefined;
  reason?: (DV_TEXT | DV_CODED_TEXT)[] | undefined;
}
/** Which ACTIVITY of which INSTRUCTION an ACTION carried out. */
export interface INSTRUCTION_DETAILS {
  _type: 'INSTRUCTION_DETAILS';
  instruction_id: LOCATABLE_REF;
  activity_id: string;
  wf_details?: ITEM_STRUCTURE | undefined;
}
/** Anything that a path can lead to. */
export type PATHABLE =
  | ITEM_SINGLE
  | ITEM_LIST
  | ITEM_TABLE
  | ITEM_TREE
  | CLUSTER
  | ELEMENT
  | HISTORY
  | POINT_EVENT
  | INTERVAL_EVENT
  | COMPOSITION
  | EVENT_CONTEXT
  | SECTION
  | GENERIC_ENTRY
  | ADMIN_ENTRY
  | OBSERVATION
  | EVALUATION
  | INSTRUCTION
  | ACTIVITY
  | ACTION
  | ISM_TRANSITION
  | INSTRUCTION_DETAILS
  | FOLDER
  | EHR_STATUS
  | EHR_ACCESS;
/** A node of archetyped data, with a name and the code of its archetype node. */
export type LOCATABLE =
  | ITEM_SINGLE
  | ITEM_LIST
  | ITEM_TABLE
  | ITEM_TREE
  | CLUSTER
  | ELEMENT
  | HISTORY
  | POINT_EVENT
  | INTERVAL_EVENT
  | COMPOSITION
  | SECTION
  | GENERIC_ENTRY
  | ADMIN_ENTRY
  | OBSERVATION
  | EVALUATION
  | INSTRUCTION
  | ACTIVITY
  | ACTION
  | FOLDER
  | EHR_STATUS
  | EHR_ACCESS;
/** The archetype, template and version of the reference model of a root node. */
export interface ARCHETYPED {
  _type: 'ARCHETYPED';
  archetype_id: ARCHETYPE_ID;
  template_id?: TEMPLATE_ID | undefined;
  rm_version: string;
}
/** A typed link to another part of the record. */
export interface LINK {
  _type: 'LINK';
  meaning: DV_TEXT | DV_CODED_TEXT;
  type: DV_TEXT | DV_CODED_TEXT;
  target: DV_EHR_URI;
}
/** Where data from another system came from. */
export interface FEEDER_AUDIT {
  _type: 'FEEDER_AUDIT';
  originating_system_item_ids?: DV_IDENTIFIER[] | undefined;
  feeder_system_item_ids?: DV_IDENTIFIER[] | undefined;
  original_content?: DV_ENCAPSULATED | undefined;
  originating_system_audit: FEEDER_AUDIT_DETAILS;
  feeder_system_audit?: FEEDER_AUDIT_DETAILS | undefined;
}
/** One system that data came through. */
export interface FEEDER_AUDIT_DETAILS {
  _type: 'FEEDER_AUDIT_DETAILS';
  system_id: string;
  location?: PARTY_IDENTIFIED | PARTY_RELATED | undefined;
  /** Who provided the information, where not the composer. */
  provider?: PARTY_IDENTIFIED | PARTY_RELATED | undefined;
  /** Who it is about, as a rule the subject of the record. */
  subject?: PARTY_PROXY | undefined;
  time?: DV_DATE_TIME | undefined;
  version_id?: string | undefined;
  other_details?: ITEM_STRUCTURE | undefined;
}
/** A person or thing, maybe known elsewhere. */
export type PARTY_PROXY = PARTY_SELF | PARTY_IDENTIFIED | PARTY_RELATED;
/** The subject of the record. */
export interface PARTY_SELF {
  _type: 'PARTY_SELF';
  external_ref?: PARTY_REF | undefined;
}
/** A person or organisation by name or identifiers. */
export interface PARTY_IDENTIFIED {
  _type: 'PARTY_IDENTIFIED';
  external_ref?: PARTY_REF | undefined;
  /** As people know it. */
  name?: string | undefined;
  identifiers?: DV_IDENTIFIER[] | undefined;
}
/** A person by the relationship to the subject of the record. */
export interface PARTY_RELATED {
  _type: 'PARTY_RELATED';
  external_ref?: PARTY_REF | undefined;
  /** As shown; unlike that of the archetype when several nodes have one code. */
  name?: string | undefined;
  identifiers?: DV_IDENTIFIER[] | undefined;
  relationship: DV_CODED_TEXT;
}
/** Who took part, and how. */
export interface PARTICIPATION {
  _type: 'PARTICIPATION';
  function: DV_TEXT | DV_CODED_TEXT;
  performer: PARTY_PROXY;
  time?: DV_INTERVAL | undefined;
  mode?: DV_CODED_TEXT | undefined;
}
/** A folder of the directory of an EHR. */
export interface FOLDER {
  _type: 'FOLDER';
  /** Archetype id of an archetype root, else the code of its node, such as at0004. */
  archetype_node_id: string;
  /** As shown; unlike that of the archetype when several nodes have one code. */
  name: DV_TEXT | DV_CODED_TEXT;
  /** Identifier; of a stored version its version uid. */
  uid?: UID_BASED_ID | undefined;
  /** To other parts of the record. */
  links?: LINK[] | undefined;
  /** Of archetype roots only. */
  archetype_details?: ARCHETYPED | undefined;
  /** Where it came from, when from another system. */
  feeder_audit?: FEEDER_AUDIT | undefined;
  folders?: FOLDER[] | undefined;
  items?: (OBJECT_REF | PARTY_REF | ACCESS_GROUP_REF | LOCATABLE_REF)[] | undefined;
  details?: ITEM_STRUCTURE | undefined;
}
/** Who committed what kind of change, when, and why. */
export interface AUDIT_DETAILS {
  _type: 'AUDIT_DETAILS';
  system_id: string;
  committer: PARTY_PROXY;
  /** By the clock of the server. */
  time_committed: DV_DATE_TIME;
  /** openEHR codes 249 creation, 251 modification, 523 deleted, …. */
  change_type: DV_CODED_TEXT;
  description?: DV_TEXT | DV_CODED_TEXT | undefined;
}
/** A signature of somebody under a version. */
export interface ATTESTATION {
  _type: 'ATTESTATION';
  system_id: string;
  committer: PARTY_PROXY;
  /** By the clock of the server. */
  time_committed: DV_DATE_TIME;
  /** openEHR codes 249 creation, 251 modification, 523 deleted, …. */
  change_type: DV_CODED_TEXT;
  description?: DV_TEXT | DV_CODED_TEXT | undefined;
  attested_view?: DV_MULTIMEDIA | undefined;
  proof?: string | undefined;
  items?: DV_EHR_URI[] | undefined;
  reason: DV_TEXT | DV_CODED_TEXT;
  is_pending: boolean;
}
/** The audits of one version. */
export interface REVISION_HISTORY_ITEM {
  _type: 'REVISION_HISTORY_ITEM';
  version_id: OBJECT_VERSION_ID;
  audits: (AUDIT_DETAILS | ATTESTATION)[];
}
/** The audits of all versions, oldest first. */
export interface REVISION_HISTORY {
  _type: 'REVISION_HISTORY';
  items?: REVISION_HISTORY_ITEM[] | undefined;
}
/** Versions that were committed together. */
export interface CONTRIBUTION {
  _type: 'CONTRIBUTION';
  /** Identifier; of a stored version its version uid. */
  uid: HIER_OBJECT_ID;
  versions: (OBJECT_REF | PARTY_REF | ACCESS_GROUP_REF | LOCATABLE_REF)[];
  audit: AUDIT_DETAILS | ATTESTATION;
}
/** One version of an object, with its audit. */
export type VERSION = ORIGINAL_VERSION | IMPORTED_VERSION;
/** A version made in this system; without `data` it is a deletion. */
export interface ORIGINAL_VERSION {
  _type: 'ORIGINAL_VERSION';
  contribution: OBJECT_REF | PARTY_REF | ACCESS_GROUP_REF | LOCATABLE_REF;
  commit_audit: AUDIT_DETAILS | ATTESTATION;
  signature?: string | undefined;
  /** Identifier; of a stored version its version uid. */
  uid: OBJECT_VERSION_ID;
  data?: LOCATABLE | undefined;
  /** Of the version that this one follows. */
  preceding_version_uid?: OBJECT_VERSION_ID | undefined;
  other_input_version_uids?: OBJECT_VERSION_ID[] | undefined;
  attestations?: ATTESTATION[] | undefined;
  /** openEHR codes 532 complete, 553 incomplete, 523 deleted, 800 inactive, 801 abandoned. */
  lifecycle_state: DV_CODED_TEXT;
}
/** A version made in another system. */
export interface IMPORTED_VERSION {
  _type: 'IMPORTED_VERSION';
  contribution: OBJECT_REF | PARTY_REF | ACCESS_GROUP_REF | LOCATABLE_REF;
  commit_audit: AUDIT_DETAILS | ATTESTATION;
  signature?: string | undefined;
  item: ORIGINAL_VERSION;
}
/** All versions of one object: identity, owner and time of creation. */
export interface VERSIONED_OBJECT {
  _type: 'VERSIONED_OBJECT';
  /** Identifier; of a stored version its version uid. */
  uid: HIER_OBJECT_ID;
  owner_id: OBJECT_REF | PARTY_REF | ACCESS_GROUP_REF | LOCATABLE_REF;
  time_created: DV_DATE_TIME;
  versions?: VERSION[] | undefined;
}
/** All versions of a COMPOSITION. */
export interface VERSIONED_COMPOSITION {
  _type: 'VERSIONED_COMPOSITION';
  /** Identifier; of a stored version its version uid. */
  uid: HIER_OBJECT_ID;
  owner_id: OBJECT_REF | PARTY_REF | ACCESS_GROUP_REF | LOCATABLE_REF;
  time_created: DV_DATE_TIME;
  versions?: VERSION[] | undefined;
}
/** All versions of the EHR_STATUS. */
export interface VERSIONED_EHR_STATUS {
  _type: 'VERSIONED_EHR_STATUS';
  /** Identifier; of a stored version its version uid. */
  uid: HIER_OBJECT_ID;
  owner_id: OBJECT_REF | PARTY_REF | ACCESS_GROUP_REF | LOCATABLE_REF;
  time_created: DV_DATE_TIME;
  versions?: VERSION[] | undefined;
}
/** All versions of the EHR_ACCESS. */
export interface VERSIONED_EHR_ACCESS {
  _type: 'VERSIONED_EHR_ACCESS';
  /** Identifier; of a stored version its version uid. */
  uid: HIER_OBJECT_ID;
  owner_id: OBJECT_REF | PARTY_REF | ACCESS_GROUP_REF | LOCATABLE_REF;
  time_created: DV_DATE_TIME;
  versions?: VERSION[] | undefined;
}
/** All versions of a directory. */
export interface VERSIONED_FOLDER {
  _type: 'VERSIONED_FOLDER';
  /** Identifier; of a stored version its version uid. */
  uid: HIER_OBJECT_ID;
  owner_id: OBJECT_REF | PARTY_REF | ACCESS_GROUP_REF | LOCATABLE_REF;
  time_created: DV_DATE_TIME;
  versions?: VERSION[] | undefined;
}
/** The record of one subject. */
export interface EHR {
  _type: 'EHR';
  system_id: HIER_OBJECT_ID;
  ehr_id: HIER_OBJECT_ID;
  time_created: DV_DATE_TIME;
  contributions?: (OBJECT_REF | PARTY_REF | ACCESS_GROUP_REF | LOCATABLE_REF)[] | undefined;
  ehr_access?: OBJECT_REF | PARTY_REF | ACCESS_GROUP_REF | LOCATABLE_REF | undefined;
  ehr_status: OBJECT_REF | PARTY_REF | ACCESS_GROUP_REF | LOCATABLE_REF;
  directory?: OBJECT_REF | PARTY_REF | ACCESS_GROUP_REF | LOCATABLE_REF | undefined;
  folders?: (OBJECT_REF | PARTY_REF | ACCESS_GROUP_REF | LOCATABLE_REF)[] | undefined;
  compositions?: (OBJECT_REF | PARTY_REF | ACCESS_GROUP_REF | LOCATABLE_REF)[] | undefined;
}
/** Who the EHR is about, and whether it may be queried and changed. */
export interface EHR_STATUS {
  _type: 'EHR_STATUS';
  /** Archetype id of an archetype root, else the code of its node, such as at0004. */
  archetype_node_id: string;
  /** As shown; unlike that of the archetype when several nodes have one code. */
  name: DV_TEXT | DV_CODED_TEXT;
  /** Identifier; of a stored version its version uid. */
  uid?: UID_BASED_ID | undefined;
  /** To other parts of the record. */
  links?: LINK[] | undefined;
  /** Of archetype roots only. */
  archetype_details?: ARCHETYPED | undefined;
  /** Where it came from, when from another system. */
  feeder_audit?: FEEDER_AUDIT | undefined;
  /** Who it is about, as a rule the subject of the record. */
  subject: PARTY_SELF;
  /** Whether queries over all EHRs see it. */
  is_queryable: boolean;
  /** Whether its content may be changed. */
  is_modifiable: boolean;
  other_details?: ITEM_STRUCTURE | undefined;
}
/** Who may see the EHR; not kept by this server. */
export interface EHR_ACCESS {
  _type: 'EHR_ACCESS';
  /** Archetype id of an archetype root, else the code of its node, such as at0004. */
  archetype_node_id: string;
  /** As shown; unlike that of the archetype when several nodes have one code. */
  name: DV_TEXT | DV_CODED_TEXT;
  /** Identifier; of a stored version its version uid. */
  uid?: UID_BASED_ID | undefined;
  /** To other parts of the record. */
  links?: LINK[] | undefined;
  /** Of archetype roots only. */
  archetype_details?: ARCHETYPED | undefined;
  /** Where it came from, when from another system. */
  feeder_audit?: FEEDER_AUDIT | undefined;
  settings?: ACCESS_CONTROL_SETTINGS | undefined;
}
/** Rules of an EHR_ACCESS. */
export type ACCESS_CONTROL_SETTINGS = never;
/** A globally unique identifier. */
export type UID = UUID | ISO_OID | INTERNET_ID;
/** A UUID. */
export interface UUID {
  _type: 'UUID';
  value: string;
}
/** An ISO object identifier. */
export interface ISO_OID {
  _type: 'ISO_OID';
  value: string;
}
/** An identifier in the form of a reversed domain name. */
export interface INTERNET_ID {
  _type: 'INTERNET_ID';
  value: string;
}
/** The number of a version, with branches. */
export interface VERSION_TREE_ID {
  _type: 'VERSION_TREE_ID';
  value: string;
}
/** An identifier of an object in a system. */
export type OBJECT_ID =
  HIER_OBJECT_ID | OBJECT_VERSION_ID | ARCHETYPE_ID | TEMPLATE_ID | TERMINOLOGY_ID | GENERIC_ID;
/** An identifier that begins with a UID. */
export type UID_BASED_ID = HIER_OBJECT_ID | OBJECT_VERSION_ID;
/** An identifier `root::extension`; the extension may be missing. */
export interface HIER_OBJECT_ID {
  _type: 'HIER_OBJECT_ID';
  value: string;
}
/** A version uid: `object_id::creating_system_id::version_tree_id`. */
export interface OBJECT_VERSION_ID {
  _type: 'OBJECT_VERSION_ID';
  value: string;
}
/** An archetype id, such as `openEHR-EHR-OBSERVATION.blood_pressure.v2`. */
export interface ARCHETYPE_ID {
  _type: 'ARCHETYPE_ID';
  value: string;
}
/** A template id. */
export interface TEMPLATE_ID {
  _type: 'TEMPLATE_ID';
  value: string;
}
/** The name of a terminology, maybe with its version: `SNOMED-CT(2024)`. */
export interface TERMINOLOGY_ID {
  _type: 'TERMINOLOGY_ID';
  value: string;
}
/** An identifier of a named scheme. */
export interface GENERIC_ID {
  _type: 'GENERIC_ID';
  value: string;
  scheme: string;
}
/** A reference to an object by its id. */
export interface OBJECT_REF {
  _type: 'OBJECT_REF';
  id: OBJECT_ID;
  namespace: string;
  type: string;
}
/** A reference to a person or organisation in a demographic service. */
export interface PARTY_REF {
  _type: 'PARTY_REF';
  id: OBJECT_ID;
  namespace: string;
  type: string;
}
/** A reference to a group of an access control service. */
export interface ACCESS_GROUP_REF {
  _type: 'ACCESS_GROUP_REF';
  id: OBJECT_ID;
  namespace: string;
  type: string;
}
/** A reference to a node in a version, by its path. */
export interface LOCATABLE_REF {
  _type: 'LOCATABLE_REF';
  id: OBJECT_ID;
  namespace: string;
  type: string;
  path?: string | undefined;
}
/** Every class by name; of one with descendants any of them. */
export interface RmClasses {
  DATA_VALUE:
    | DV_BOOLEAN
    | DV_STATE
    | DV_IDENTIFIER
    | DV_TEXT
    | DV_CODED_TEXT
    | DV_PARAGRAPH
    | DV_URI
    | DV_EHR_URI
    | DV_MULTIMEDIA
    | DV_PARSABLE
    | DV_GENERAL_TIME_SPECIFICATION
    | DV_PERIODIC_TIME_SPECIFICATION
    | DV_INTERVAL
    | DV_ORDINAL
    | DV_SCALE
    | DV_QUANTITY
    | DV_COUNT
    | DV_PROPORTION
    | DV_DURATION
    | DV_DATE
    | DV_TIME
    | DV_DATE_TIME;
  DV_BOOLEAN: DV_BOOLEAN;
  DV_STATE: DV_STATE;
  DV_IDENTIFIER: DV_IDENTIFIER;
  DV_TEXT: DV_TEXT | DV_CODED_TEXT;
  DV_CODED_TEXT: DV_CODED_TEXT;
  DV_PARAGRAPH: DV_PARAGRAPH;
  CODE_PHRASE: CODE_PHRASE;
  TERM_MAPPING: TERM_MAPPING;
  DV_URI: DV_URI | DV_EHR_URI;
  DV_EHR_URI: DV_EHR_URI;
  DV_ENCAPSULATED: DV_MULTIMEDIA | DV_PARSABLE;
  DV_MULTIMEDIA: DV_MULTIMEDIA;
  DV_PARSABLE: DV_PARSABLE;
  DV_TIME_SPECIFICATION: DV_GENERAL_TIME_SPECIFICATION | DV_PERIODIC_TIME_SPECIFICATION;
  DV_GENERAL_TIME_SPECIFICATION: DV_GENERAL_TIME_SPECIFICATION;
  DV_PERIODIC_TIME_SPECIFICATION: DV_PERIODIC_TIME_SPECIFICATION;
  DV_ORDERED:
    | DV_ORDINAL
    | DV_SCALE
    | DV_QUANTITY
    | DV_COUNT
    | DV_PROPORTION
    | DV_DURATION
    | DV_DATE
    | DV_TIME
    | DV_DATE_TIME;
  DV_INTERVAL: DV_INTERVAL;
  REFERENCE_RANGE: REFERENCE_RANGE;
  DV_ORDINAL: DV_ORDINAL;
  DV_SCALE: DV_SCALE;
  DV_QUANTIFIED: DV_QUANTITY | DV_COUNT | DV_PROPORTION | DV_DURATION | DV_DATE | DV_TIME | DV_DATE_TIME;
  DV_AMOUNT: DV_QUANTITY | DV_COUNT | DV_PROPORTION | DV_DURATION;
  DV_QUANTITY: DV_QUANTITY;
  DV_COUNT: DV_COUNT;
  DV_PROPORTION: DV_PROPORTION;
  DV_DURATION: DV_DURATION;
  DV_ABSOLUTE_QUANTITY: DV_DATE | DV_TIME | DV_DATE_TIME;
  DV_TEMPORAL: DV_DATE | DV_TIME | DV_DATE_TIME;
  DV_DATE: DV_DATE;
  DV_TIME: DV_TIME;
  DV_DATE_TIME: DV_DATE_TIME;
  DATA_STRUCTURE: ITEM_SINGLE | ITEM_LIST | ITEM_TABLE | ITEM_TREE | HISTORY;
  ITEM_STRUCTURE: ITEM_SINGLE | ITEM_LIST | ITEM_TABLE | ITEM_TREE;
  ITEM_SINGLE: ITEM_SINGLE;
  ITEM_LIST: ITEM_LIST;
  ITEM_TABLE: ITEM_TABLE;
  ITEM_TREE: ITEM_TREE;
  ITEM: CLUSTER | ELEMENT;
  CLUSTER: CLUSTER;
  ELEMENT: ELEMENT;
  HISTORY: HISTORY;
  EVENT: POINT_EVENT | INTERVAL_EVENT;
  POINT_EVENT: POINT_EVENT;
  INTERVAL_EVENT: INTERVAL_EVENT;
  COMPOSITION: COMPOSITION;
  EVENT_CONTEXT: EVENT_CONTEXT;
  CONTENT_ITEM: SECTION | GENERIC_ENTRY | ADMIN_ENTRY | OBSERVATION | EVALUATION | INSTRUCTION | ACTION;
  SECTION: SECTION;
  GENERIC_ENTRY: GENERIC_ENTRY;
  ENTRY: ADMIN_ENTRY | OBSERVATION | EVALUATION | INSTRUCTION | ACTION;
  ADMIN_ENTRY: ADMIN_ENTRY;
  CARE_ENTRY: OBSERVATION | EVALUATION | INSTRUCTION | ACTION;
  OBSERVATION: OBSERVATION;
  EVALUATION: EVALUATION;
  INSTRUCTION: INSTRUCTION;
  ACTIVITY: ACTIVITY;
  ACTION: ACTION;
  ISM_TRANSITION: ISM_TRANSITION;
  INSTRUCTION_DETAILS: INSTRUCTION_DETAILS;
  PATHABLE:
    | ITEM_SINGLE
    | ITEM_LIST
    | ITEM_TABLE
    | ITEM_TREE
    | CLUSTER
    | ELEMENT
    | HISTORY
    | POINT_EVENT
    | INTERVAL_EVENT
    | COMPOSITION
    | EVENT_CONTEXT
    | SECTION
    | GENERIC_ENTRY
    | ADMIN_ENTRY
    | OBSERVATION
    | EVALUATION
    | INSTRUCTION
    | ACTIVITY
    | ACTION
    | ISM_TRANSITION
    | INSTRUCTION_DETAILS
    | FOLDER
    | EHR_STATUS
    | EHR_ACCESS;
  LOCATABLE:
    | ITEM_SINGLE
    | ITEM_LIST
    | ITEM_TABLE
    | ITEM_TREE
    | CLUSTER
    | ELEMENT
    | HISTORY
    | POINT_EVENT
    | INTERVAL_EVENT
    | COMPOSITION
    | SECTION
    | GENERIC_ENTRY
    | ADMIN_ENTRY
    | OBSERVATION
    | EVALUATION
    | INSTRUCTION
    | ACTIVITY
    | ACTION
    | FOLDER
    | EHR_STATUS
    | EHR_ACCESS;
  ARCHETYPED: ARCHETYPED;
  LINK: LINK;
  FEEDER_AUDIT: FEEDER_AUDIT;
  FEEDER_AUDIT_DETAILS: FEEDER_AUDIT_DETAILS;
  PARTY_PROXY: PARTY_SELF | PARTY_IDENTIFIED | PARTY_RELATED;
  PARTY_SELF: PARTY_SELF;
  PARTY_IDENTIFIED: PARTY_IDENTIFIED | PARTY_RELATED;
  PARTY_RELATED: PARTY_RELATED;
  PARTICIPATION: PARTICIPATION;
  FOLDER: FOLDER;
  AUDIT_DETAILS: AUDIT_DETAILS | ATTESTATION;
  ATTESTATION: ATTESTATION;
  REVISION_HISTORY_ITEM: REVISION_HISTORY_ITEM;
  REVISION_HISTORY: REVISION_HISTORY;
  CONTRIBUTION: CONTRIBUTION;
  VERSION: ORIGINAL_VERSION | IMPORTED_VERSION;
  ORIGINAL_VERSION: ORIGINAL_VERSION;
  IMPORTED_VERSION: IMPORTED_VERSION;
  VERSIONED_OBJECT:
    VERSIONED_OBJECT | VERSIONED_COMPOSITION | VERSIONED_EHR_STATUS | VERSIONED_EHR_ACCESS | VERSIONED_FOLDER;
  VERSIONED_COMPOSITION: VERSIONED_COMPOSITION;
  VERSIONED_EHR_STATUS: VERSIONED_EHR_STATUS;
  VERSIONED_EHR_ACCESS: VERSIONED_EHR_ACCESS;
  VERSIONED_FOLDER: VERSIONED_FOLDER;
  EHR: EHR;
  EHR_STATUS: EHR_STATUS;
  EHR_ACCESS: EHR_ACCESS;
  ACCESS_CONTROL_SETTINGS: never;
  UID: UUID | ISO_OID | INTERNET_ID;
  UUID: UUID;
  ISO_OID: ISO_OID;
  INTERNET_ID: INTERNET_ID;
  VERSION_TREE_ID: VERSION_TREE_ID;
  OBJECT_ID: HIER_OBJECT_ID | OBJECT_VERSION_ID | ARCHETYPE_ID | TEMPLATE_ID | TERMINOLOGY_ID | GENERIC_ID;
  UID_BASED_ID: HIER_OBJECT_ID | OBJECT_VERSION_ID;
  HIER_OBJECT_ID: HIER_OBJECT_ID;
  OBJECT_VERSION_ID: OBJECT_VERSION_ID;
  ARCHETYPE_ID: ARCHETYPE_ID;
  TEMPLATE_ID: TEMPLATE_ID;
  TERMINOLOGY_ID: TERMINOLOGY_ID;
  GENERIC_ID: GENERIC_ID;
  OBJECT_REF: OBJECT_REF | PARTY_REF | ACCESS_GROUP_REF | LOCATABLE_REF;
  PARTY_REF: PARTY_REF;
  ACCESS_GROUP_REF: ACCESS_GROUP_REF;
  LOCATABLE_REF: LOCATABLE_REF;
}
/** The name of a class that has instances: what `_type` can be. */
export type RmTypeName =
  | 'DV_BOOLEAN'
  | 'DV_STATE'
  | 'DV_IDENTIFIER'
  | 'DV_TEXT'
  | 'DV_CODED_TEXT'
  | 'DV_PARAGRAPH'
  | 'CODE_PHRASE'
  | 'TERM_MAPPING'
  | 'DV_URI'
  | 'DV_EHR_URI'
  | 'DV_MULTIMEDIA'
  | 'DV_PARSABLE'
  | 'DV_GENERAL_TIME_SPECIFICATION'
  | 'DV_PERIODIC_TIME_SPECIFICATION'
  | 'DV_INTERVAL'
  | 'REFERENCE_RANGE'
  | 'DV_ORDINAL'
  | 'DV_SCALE'
  | 'DV_QUANTITY'
  | 'DV_COUNT'
  | 'DV_PROPORTION'
  | 'DV_DURATION'
  | 'DV_DATE'
  | 'DV_TIME'
  | 'DV_DATE_TIME'
  | 'ITEM_SINGLE'
  | 'ITEM_LIST'
  | 'ITEM_TABLE'
  | 'ITEM_TREE'
  | 'CLUSTER'
  | 'ELEMENT'
  | 'HISTORY'
  | 'POINT_EVENT'
  | 'INTERVAL_EVENT'
  | 'COMPOSITION'
  | 'EVENT_CONTEXT'
  | 'SECTION'
  | 'GENERIC_ENTRY'
  | 'ADMIN_ENTRY'
  | 'OBSERVATION'
  | 'EVALUATION'
  | 'INSTRUCTION'
  | 'ACTIVITY'
  | 'ACTION'
  | 'ISM_TRANSITION'
  | 'INSTRUCTION_DETAILS'
  | 'ARCHETYPED'
  | 'LINK'
  | 'FEEDER_AUDIT'
  | 'FEEDER_AUDIT_DETAILS'
  | 'PARTY_SELF'
  | 'PARTY_IDENTIFIED'
  | 'PARTY_RELATED'
  | 'PARTICIPATION'
  | 'FOLDER'
  | 'AUDIT_DETAILS'
  | 'ATTESTATION'
  | 'REVISION_HISTORY_ITEM'
  | 'REVISION_HISTORY'
  | 'CONTRIBUTION'
  | 'ORIGINAL_VERSION'
  | 'IMPORTED_VERSION'
  | 'VERSIONED_OBJECT'
  | 'VERSIONED_COMPOSITION'
  | 'VERSIONED_EHR_STATUS'
  | 'VERSIONED_EHR_ACCESS'
  | 'VERSIONED_FOLDER'
  | 'EHR'
  | 'EHR_STATUS'
  | 'EHR_ACCESS'
  | 'UUID'
  | 'ISO_OID'
  | 'INTERNET_ID'
  | 'VERSION_TREE_ID'
  | 'HIER_OBJECT_ID'
  | 'OBJECT_VERSION_ID'
  | 'ARCHETYPE_ID'
  | 'TEMPLATE_ID'
  | 'TERMINOLOGY_ID'
  | 'GENERIC_ID'
  | 'OBJECT_REF'
  | 'PARTY_REF'
  | 'ACCESS_GROUP_REF'
  | 'LOCATABLE_REF';

/**
 * The constraint tree of an operational template, as the XML has it (openEHR AOM 1.4,
 * docs/spec/formats.md#opt-constraints). Plain data: built once by `openehr/template/compile.ts`, never changed
 * afterwards.
 */

/** How often something may occur. `max` -1 = any number. */
export interface Multiplicity {
  readonly min: number;
  readonly max: number;
}

/** An interval of numbers, or of ISO 8601 texts. `null` = unbounded on that side. */
export interface Interval<T> {
  readonly lower: T | null;
  readonly upper: T | null;
  readonly lowerIncluded: boolean;
  readonly upperIncluded: boolean;
}

/** A code with the terminology it belongs to. RM: CODE_PHRASE. */
export interface Code {
  readonly terminologyId: string;
  readonly code: string;
}

/** A term of an archetype in one language. `text` and `description` are the usual items. */
export type Term = Readonly<Record<string, string>>;

/** Terms by code (`at0001`, or `terminology::code` for codes of other terminologies). */
export type Terms = ReadonlyMap<string, Term>;

/** What a C_ARCHETYPE_ROOT adds to an object. */
export interface ArchetypeRoot {
  readonly archetypeId: string;
  readonly templateId: string | null;
  readonly terms: Terms;
  /** terminology → node code → bound code. */
  readonly termBindings: ReadonlyMap<string, ReadonlyMap<string, Code>>;
}

/** An attribute of a constrained object. Several children of a single attribute are alternatives. */
export interface AttributeConstraint {
  /** RM attribute name. */
  readonly name: string;
  readonly existence: Multiplicity;
  /** C_MULTIPLE_ATTRIBUTE. */
  readonly multiple: boolean;
  readonly cardinality: CardinalityConstraint | null;
  readonly children: readonly Constraint[];
}

/** Size of the container as a whole. */
export interface CardinalityConstraint extends Multiplicity {
  readonly isOrdered: boolean;
  readonly isUnique: boolean;
}

interface ConstraintBase {
  /** RM class as written, with generic parameter: `DV_INTERVAL<DV_QUANTITY>`. */
  readonly rmType: string;
  readonly occurrences: Multiplicity;
  /** at-code; '' when the object has none or its class is not LOCATABLE. */
  readonly nodeId: string;
}

/** C_COMPLEX_OBJECT, C_ARCHETYPE_ROOT, and ARCHETYPE_INTERNAL_REF with the attributes of its target. */
export interface ObjectConstraint extends ConstraintBase {
  readonly kind: 'object';
  readonly attributes: readonly AttributeConstraint[];
  /** Set for C_ARCHETYPE_ROOT only. */
  readonly archetype: ArchetypeRoot | null;
}

/** ARCHETYPE_SLOT. */
export interface SlotConstraint extends ConstraintBase {
  readonly kind: 'slot';
  readonly includes: readonly SlotAssertion[];
  readonly excludes: readonly SlotAssertion[];
}

/** ASSERTION of a slot, reduced to what is decided with it. */
export interface SlotAssertion {
  readonly expression: string;
  /** Regular expression that an archetype id must match as a whole; null when none could be read. */
  readonly archetypeIdPattern: string | null;
}

/** C_PRIMITIVE_OBJECT. */
interface PrimitiveObjectConstraint extends ConstraintBase {
  readonly kind: 'primitive';
  readonly item: PrimitiveConstraint;
}

/** C_CODE_PHRASE and C_CODE_REFERENCE. */
export interface CodePhraseConstraint extends ConstraintBase {
  readonly kind: 'code-phrase';
  readonly terminologyId: string | null;
  /** Empty = any code of that terminology. */
  readonly codes: readonly string[];
  /** C_CODE_REFERENCE only: `terminology:http://…` as written. */
  readonly referenceSetUri: string | null;
  readonly assumedValue: Code | null;
}

/** CONSTRAINT_REF: an external constraint by ac-code, treated as any CODE_PHRASE. */
interface ConstraintRef extends ConstraintBase {
  readonly kind: 'constraint-ref';
  readonly reference: string;
}

/** C_DV_QUANTITY. */
export interface QuantityConstraint extends ConstraintBase {
  readonly kind: 'quantity';
  readonly property: Code | null;
  /** Empty = any unit. */
  readonly units: readonly UnitConstraint[];
  readonly assumedValue: { readonly magnitude: number; readonly units: string } | null;
}

/** C_QUANTITY_ITEM. */
export interface UnitConstraint {
  readonly units: string;
  readonly magnitude: Interval<number> | null;
  readonly precision: Interval<number> | null;
}

/** C_DV_ORDINAL. */
export interface OrdinalConstraint extends ConstraintBase {
  readonly kind: 'ordinal';
  /** Empty = any ordinal. */
  readonly options: readonly OrdinalOption[];
  /** Ordinal value. */
  readonly assumedValue: number | null;
}

/** One permitted ordinal. */
export interface OrdinalOption {
  readonly value: number;
  readonly symbol: Code;
  /** Text of the symbol as written; '' when the code's term has to be taken. */
  readonly text: string;
}

/** Any object below an attribute. */
export type Constraint =
  | ObjectConstraint
  | SlotConstraint
  | PrimitiveObjectConstraint
  | CodePhraseConstraint
  | ConstraintRef
  | QuantityConstraint
  | OrdinalConstraint;

/** C_BOOLEAN. */
interface BooleanConstraint {
  readonly kind: 'boolean';
  readonly trueValid: boolean;
  readonly falseValid: boolean;
  readonly assumedValue: boolean | null;
}

/** C_STRING. */
export interface StringConstraint {
  readonly kind: 'string';
  /** Regular expression for the whole text. */
  readonly pattern: string | null;
  readonly list: readonly string[];
  readonly listOpen: boolean;
  readonly assumedValue: string | null;
}

/** C_INTEGER and C_REAL. */
export interface NumberConstraint {
  readonly kind: 'integer' | 'real';
  readonly list: readonly number[];
  readonly range: Interval<number> | null;
  readonly assumedValue: number | null;
}

/** C_DATE, C_TIME, C_DATE_TIME and C_DURATION. */
export interface TemporalConstraint {
  readonly kind: 'date' | 'time' | 'date-time' | 'duration';
  /** `yyyy-mm-ddTHH:MM:SS` with `??` (optional) and `XX` (not allowed) parts; for durations the allowed units. */
  readonly pattern: string | null;
  /** RM Validity_kind: 1001 mandatory, 1002 optional, 1003 disallowed. */
  readonly timezoneValidity: number | null;
  /** ISO 8601 texts. */
  readonly range: Interval<string> | null;
  readonly assumedValue: string | null;
}

/** `item` of a C_PRIMITIVE_OBJECT. */
export type PrimitiveConstraint =
  BooleanConstraint | StringConstraint | NumberConstraint | TemporalConstraint;

/** One `details` of the description. */
export interface DescriptionDetails {
  readonly language: string;
  readonly purpose: string;
  readonly keywords: readonly string[];
  readonly use: string;
  readonly misuse: string;
  readonly copyright: string;
}

/** `description` of a template. */
export interface TemplateDescription {
  readonly originalAuthor: Readonly<Record<string, string>>;
  readonly lifecycleState: string;
  readonly otherDetails: Readonly<Record<string, string>>;
  readonly details: readonly DescriptionDetails[];
}

/** A default value (`constraints/attributes`). */
export interface DefaultValue {
  /** Path of the object that holds the attribute, as written (`differential_path`). */
  readonly path: string;
  readonly attribute: string;
  readonly rmType: string;
  /** RM attributes of the value as texts: `value`, `magnitude`, `units`, `defining_code/code_string`, … */
  readonly attributes: Readonly<Record<string, string>>;
}

/** Items of one `annotations` element. */
export interface Annotation {
  /** As written: `[archetype id]/path`. */
  readonly path: string;
  readonly items: Readonly<Record<string, string>>;
}

/** An operational template (OPT 1.4). */
export interface OperationalTemplate {
  readonly templateId: string;
  readonly concept: string;
  /** `uid/value`; kept with the document only, never an identity. */
  readonly uid: string | null;
  readonly isControlled: boolean | null;
  /** ISO 639-1 code of the default language. */
  readonly defaultLanguage: string;
  /** Languages of `description/details`, in order, at least one. */
  readonly languages: readonly string[];
  readonly description: TemplateDescription;
  readonly definition: ObjectConstraint & { readonly archetype: ArchetypeRoot };
  /** archetype id → language → terms, from `ontology` and `component_ontologies`. */
  readonly translations: ReadonlyMap<string, ReadonlyMap<string, Terms>>;
  readonly annotations: readonly Annotation[];
  readonly defaults: readonly DefaultValue[];
  /** Why it is refused as a new template. One that was stored before these rules stays in use. */
  readonly refusedAsNew: readonly string[];
}

import type { JsonValue } from './json.js';

/**
 * What kind of rule is broken. Programs compare these words: they are never renamed
 * (docs/spec/rest.md#violations).
 */
export type ViolationCode =
  | 'unknown-attribute'
  | 'wrong-type'
  | 'malformed-value'
  | 'missing'
  | 'cardinality'
  | 'occurrences'
  | 'invariant'
  | 'unknown-code'
  | 'code-not-listed'
  | 'wrong-terminology'
  | 'wrong-rubric'
  | 'not-in-value-set'
  | 'value-not-allowed'
  | 'unit-not-allowed'
  | 'wrong-transition'
  | 'not-in-template'
  | 'unknown-key'
  | 'unknown-parameter'
  | 'unknown-template'
  | 'wrong-form'
  | 'syntax'
  | 'too-deep'
  | 'invalid'
  | 'more';

/** What is wrong with one object, without its place. */
export interface Finding {
  readonly code: ViolationCode;
  /** What is wrong, without the path. */
  readonly message: string;
  /** Attribute of the object that is wrong, where the place names the object only. */
  readonly attribute?: string;
  /** Name of the invariant of the reference model, or of the constraint of the archetype model that lenient validation accepts. */
  readonly rule?: string;
  /** What may stand there: one of these. Ranges have `lower` and `upper`, as an INTERVAL. */
  readonly expected?: readonly JsonValue[];
  /** What stands there instead. */
  readonly found?: JsonValue;
}

/** A finding at its place. */
export interface Violation extends Finding {
  /** Attributes with positions (`/content[0]/data/events[1]`), `/` for the whole; `?name` of a query parameter. */
  readonly path: string;
  /** The same with archetype ids and at-codes, as AQL takes it behind a variable; absent for the whole. */
  readonly aqlPath?: string;
  /** The key of a FLAT or STRUCTURED body. */
  readonly flatPath?: string;
  /** Where it stands in a text, both from 1. */
  readonly line?: number;
  readonly column?: number;
}

/** A violation of which nothing more is known than its place and text. */
export function violationAt(path: string, message: string, code: ViolationCode = 'invalid'): Violation {
  return { path, code, message };
}

/** What is wrong at a line and column of a text. */
export function syntaxViolation(at: { line: number; column: number }, message: string): Violation {
  return { ...violationAt('/', message, 'syntax'), line: at.line, column: at.column };
}

/** `<path>: <message>`, as `validationErrors` lists it. */
export function violationText({ path, message }: Violation): string {
  return `${path}: ${message}`;
}

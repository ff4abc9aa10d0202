import { CdrError } from '../base/errors.js';
import { isJsonObject, type JsonValue } from '../base/json.js';
import type { Violation, ViolationCode } from '../base/violation.js';

/** A rule that content breaks and that lenient validation does not insist on (docs/spec/formats.md#lenient-validation). */
export interface AcceptedFinding {
  /** Instance path of what breaks it; of something left out the object that held it. */
  readonly path: string;
  readonly code: ViolationCode;
  readonly message: string;
  /** What was left out of the object; absent: the content is as it was given. */
  readonly dropped?: {
    /** The unknown attribute. */
    readonly name: string;
    /** Its value as JSON text. */
    readonly value: string;
  };
}

/** A kind of finding; every member that is given must be that of the finding. */
interface AcceptedKind {
  readonly code: ViolationCode;
  /** The last attribute of its path is one of these. */
  readonly at?: readonly string[];
  readonly attribute?: string;
  readonly rule?: string;
  /** One of these was expected. */
  readonly expected?: readonly string[];
  /** One of these was expected, as a pattern of dates and times: `yyyy-mm-XX`. */
  readonly isTemporalPattern?: true;
  readonly found?: string;
  /** The root of the object. */
  readonly path?: '/';
}

/** Constraints of the archetype model that EHRbase does not check, by the names that findings give as their `rule`. */
export const DURATION_PATTERN = 'C_DURATION.pattern';
/** As `DURATION_PATTERN`: texts of a DV_IDENTIFIER. */
export const IDENTIFIER_TEXT = 'C_STRING';
/** As `DURATION_PATTERN`: units of a DV_QUANTITY of which the template lists none. */
export const UNIT_PROPERTY = 'C_DV_QUANTITY.property';

/** What lenient validation accepts in an object that could be read: what EHRbase accepts against the archetype model. */
const ACCEPTED_KINDS: readonly AcceptedKind[] = [
  { code: 'wrong-type', expected: ['DV_URI', 'DV_EHR_URI'], found: 'DV_TEXT' },
  { code: 'invariant', rule: 'Media_type_valid' },
  { code: 'unknown-code', at: ['media_type'] },
  { code: 'code-not-listed', at: ['media_type'] },
  { code: 'wrong-terminology', at: ['media_type'] },
  { code: 'value-not-allowed', attribute: 'formalism' },
  { code: 'invariant', rule: 'Archetyped_valid' },
  { code: 'invariant', rule: 'Fraction_validity', attribute: 'precision' },
  { code: 'value-not-allowed', rule: DURATION_PATTERN },
  { code: 'value-not-allowed', rule: IDENTIFIER_TEXT },
  { code: 'unit-not-allowed', rule: UNIT_PROPERTY },
  { code: 'value-not-allowed', isTemporalPattern: true },
  { code: 'cardinality' },
  { code: 'not-in-template', path: '/' },
  { code: 'wrong-rubric', at: ['function', 'mode', 'relationship'] },
];

/** What is accepted of an object yet: nothing; undefined where validation is strict. */
export function noFindings(isLenient: boolean): AcceptedFinding[] | undefined {
  return isLenient ? [] : undefined;
}

/** The violations that lenient validation insists on; the others are put into `accepted`. */
export function insistedOn(violations: readonly Violation[], accepted: AcceptedFinding[]): Violation[] {
  const [insisted, others]: [Violation[], Violation[]] = [[], []];
  for (const violation of violations) (isAccepted(violation) ? others : insisted).push(violation);
  for (const { path, code, message } of others) accept(accepted, { path, code, message });
  return insisted;
}

function isAccepted(violation: Violation): boolean {
  const last = /(?<![a-z_])([a-z_]+)(?:\[\d+\])?$/.exec(violation.path)?.[1] ?? '';
  return ACCEPTED_KINDS.some(
    ({ at, expected, isTemporalPattern, ...same }) =>
      Object.entries(same).every(([name, value]) => violation[name as keyof typeof same] === value) &&
      (at === undefined || at.includes(last)) &&
      (isTemporalPattern === undefined || violation.expected?.some(isPatternOfTime) === true) &&
      (expected === undefined ||
        violation.expected?.some((value) => typeof value === 'string' && expected.includes(value))),
  );
}

function isPatternOfTime(expected: JsonValue): boolean {
  const pattern = isJsonObject(expected) ? expected.pattern : null;
  return typeof pattern === 'string' && /^(?:yyyy|HH|T)[-:.TyMmdDHhSsX?Z]*$/.test(pattern);
}

/** Findings that are accepted of one object. */
export const MAX_ACCEPTED_FINDINGS = 1000;
/** Characters of everything that is left out of one object. */
export const MAX_DROPPED_LENGTH = 256 * 1024;

/**
 * Notes a finding as accepted. Nothing that was left out is forgotten: too much of it is refused.
 * @throws too-large beyond `MAX_ACCEPTED_FINDINGS` or `MAX_DROPPED_LENGTH`
 */
export function accept(accepted: AcceptedFinding[], finding: AcceptedFinding): void {
  accepted.push(finding);
  if (accepted.length > MAX_ACCEPTED_FINDINGS)
    throw beyondLenience(`${MAX_ACCEPTED_FINDINGS} findings are accepted of one object`);
  if (finding.dropped === undefined) return;
  const length = accepted.reduce((sum, { dropped }) => sum + droppedLength(dropped), 0);
  if (length > MAX_DROPPED_LENGTH)
    throw beyondLenience(`${MAX_DROPPED_LENGTH} characters of unknown attributes are left out of one object`);
}

/** An unknown attribute of the object at `path`, which is left out. @throws as `accept` */
export function leaveOut(
  accepted: AcceptedFinding[],
  { path, message }: Pick<AcceptedFinding, 'path' | 'message'>,
  [name, value]: readonly [string, JsonValue],
): void {
  const dropped = { name, value: JSON.stringify(value) };
  accept(accepted, { path, code: 'unknown-attribute', message, dropped });
}

function droppedLength(dropped: AcceptedFinding['dropped']): number {
  return dropped === undefined ? 0 : dropped.name.length + dropped.value.length;
}

function beyondLenience(limit: string): CdrError {
  return new CdrError('too-large', `lenient validation: at most ${limit}`);
}

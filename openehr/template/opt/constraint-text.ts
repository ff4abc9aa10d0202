import type { JsonObject, JsonValue } from '../../base/json.js';
import type { Interval, Code, Constraint } from './constraint.js';

/** One of the things that a value may be. */
export interface Expected {
  /** As a message says it. */
  readonly text: string;
  /** As a program reads it: the value, or `lower` and `upper` of a range. */
  readonly value: JsonValue;
  /** The constraint, where lenient validation does not insist on it (`openehr/rm/lenient.ts`). */
  readonly rule?: string;
}

/** A range of numbers, with both its bounds. */
export function numberRange(range: Interval<number>): Expected {
  return { text: intervalText(range), value: intervalValue(range) };
}

/** A range of durations, dates or times; the text names `broken`, the part of it that a value breaks. */
export function temporalRange(range: Interval<string>, broken: Interval<string>): Expected {
  return { text: operatorText(broken), value: intervalValue(range) };
}

/** A range in the words of an INTERVAL of the reference model, as a program reads it. */
export function intervalValue({
  lower,
  upper,
  lowerIncluded,
  upperIncluded,
}: Interval<number | string>): JsonObject {
  return {
    ...(lower === null ? {} : { lower, lower_included: lowerIncluded }),
    ...(upper === null ? {} : { upper, upper_included: upperIncluded }),
  };
}

/** Of a range that a value is outside of only the bound that it breaks. */
export function brokenBound<T>(range: Interval<T>, bounds: Interval<number>, value: number): Interval<T> {
  const { lower, upper, lowerIncluded, upperIncluded } = bounds;
  const isAbove = upper !== null && (upperIncluded ? value > upper : value >= upper);
  const isBelow = lower !== null && (lowerIncluded ? value < lower : value <= lower);
  return { ...range, lower: isBelow ? range.lower : null, upper: isAbove ? range.upper : null };
}

/** `at least 0 and less than 100`: what a number must be (docs/spec/formats.md#template-rules). */
function intervalText({ lower, upper, lowerIncluded, upperIncluded }: Interval<number>): string {
  if (lower === null && upper === null) return 'anything';
  if (lower !== null && lower === upper && lowerIncluded && upperIncluded) return `equal to ${lower}`;
  const bounds: string[] = [];
  if (lower !== null) bounds.push(`${lowerIncluded ? 'at least' : 'greater than'} ${lower}`);
  if (upper !== null) bounds.push(`${upperIncluded ? 'at most' : 'less than'} ${upper}`);
  return bounds.join(' and ');
}

/** `>= PT24H and < P7D`: what a duration, date or time must be. */
function operatorText({ lower, upper, lowerIncluded, upperIncluded }: Interval<string>): string {
  const bounds: string[] = [];
  if (lower !== null) bounds.push(`${lowerIncluded ? '>=' : '>'} ${lower}`);
  if (upper !== null) bounds.push(`${upperIncluded ? '<=' : '<'} ${upper}`);
  return bounds.length === 0 ? 'anything' : bounds.join(' and ');
}

/** `The value X must be …`, with one line per constraint when there are several. */
export function mustBe(value: string, constraints: readonly string[]): string {
  const [only, ...others] = [...new Set(constraints)];
  if (others.length === 0) return `The value ${value} must be ${only ?? 'anything'}`;
  return `The value ${value} must be one of:\n${[only, ...others].map((text) => ` -\t${text ?? ''}`).join('\n')}`;
}

/** `0..1`, `3..*`. */
export function multiplicityText(min: number, max: number): string {
  return `${min}..${max === -1 ? '*' : max}`;
}

const MAX_LISTED = 20;

/** What was expected, as it follows a text in brackets: at most twenty values are listed. */
export function expectedText(values: Iterable<string>): string {
  const all = [...new Set(values)];
  const listed = all.slice(0, MAX_LISTED).join(', ');
  return `(expected: ${all.length === 0 ? 'nothing' : listed}${all.length > MAX_LISTED ? ', …' : ''})`;
}

/** Whether a number lies within the bounds. */
export function isWithin(
  value: number,
  { lower, upper, lowerIncluded, upperIncluded }: Interval<number>,
): boolean {
  if (lower !== null && (lowerIncluded ? value < lower : value <= lower)) return false;
  return upper === null || (upperIncluded ? value <= upper : value < upper);
}

/** What a template asks of a name that must be a DV_CODED_TEXT. */
interface CodedName {
  /** Null when any terminology will do, or when the codes are those of an external value set. */
  readonly terminologyId: string | null;
  /** Empty = any code. */
  readonly codes: readonly string[];
}

/** What the `name` of an object must be when it must be a DV_CODED_TEXT, null when a DV_TEXT will do as well. */
export function codedNameOf(constraint: Constraint | null): CodedName | null {
  const [name, ...others] = childrenAt(constraint, 'name');
  if (name?.rmType !== 'DV_CODED_TEXT' || others.length > 0) return null;
  const [phrase] = childrenAt(name, 'defining_code');
  if (phrase?.kind !== 'code-phrase') return { terminologyId: null, codes: [] };
  return {
    terminologyId: phrase.referenceSetUri === null ? phrase.terminologyId : null,
    codes: phrase.codes,
  };
}

function childrenAt(constraint: Constraint | null, attribute: string): readonly Constraint[] {
  if (constraint?.kind !== 'object') return [];
  return constraint.attributes.find(({ name }) => name === attribute)?.children ?? [];
}

/** The code that the name of a node has in data: the only one that the template lets it have, null when it is open. */
export function nameCodeOf(node: {
  readonly nameCode: Code | null;
  readonly constraint: Constraint | null;
}): Code | null {
  if (node.nameCode !== null) return node.nameCode;
  const coded = codedNameOf(node.constraint);
  const [code, ...others] = coded?.codes ?? [];
  if (coded === null || code === undefined || others.length > 0) return null;
  return { terminologyId: coded.terminologyId ?? 'local', code };
}

import { parseDate, parseDateTime, parseDuration, parseTime } from '../../openehr/base/iso8601.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../../openehr/base/json.js';
import { orderedValue } from '../../openehr/rm/ordered-value.js';
import type { CodeItem, ComparisonOperator, Literal } from '../syntax/ast.js';
import type { Domain } from '../semantics/scope-types.js';
import { domainOfType } from '../semantics/typing.js';
import { counted, step } from '../../openehr/base/work.js';
import { required } from '../../openehr/base/required.js';

/** A value that a path found; never null. */
export interface Found {
  readonly value: JsonValue;
  /** The object whose attribute it is, null at a variable. */
  readonly parent: JsonObject | null;
  /** That attribute's name. */
  readonly attribute: string | null;
}

/** A value in its domain (docs/spec/aql.md#domains). */
export interface Reading {
  readonly domain: Domain;
  readonly key: number | string | boolean;
  /** `terminology::code` of a CODE_PHRASE. */
  readonly coded: string | null;
}

/** A value that stands for itself. */
export function plain(value: JsonValue): Found {
  return { value, parent: null, attribute: null };
}

/** The values of an attribute, one per element of a list. */
export function attributeValues(from: Found, attribute: string): readonly Found[] {
  const parent = from.value;
  if (!isJsonObject(parent)) return [];
  if (!Object.hasOwn(parent, attribute)) return rubricValues(from, attribute);
  const value = parent[attribute] ?? null;
  const values = Array.isArray(value) ? value : [value];
  return counted(values)
    .filter((each) => each !== null)
    .map((each) => ({ value: each, parent, attribute }));
}

/** The rubric of a `defining_code` without `preferred_term` is the value of its DV_CODED_TEXT. */
function rubricValues({ parent, attribute: code }: Found, attribute: string): readonly Found[] {
  if (attribute !== 'preferred_term' || code !== 'defining_code') return [];
  const rubric = parent?.['value'];
  return typeof rubric === 'string' ? [plain(rubric)] : [];
}

/** The domain of a value and its key in it; null for what never compares. */
export function readingOf(found: Found | null): Reading | null {
  if (found === null) return null;
  const { value, parent, attribute } = found;
  if (typeof value === 'number') return reading('number', value);
  if (typeof value === 'boolean') return reading('boolean', value);
  if (isJsonObject(value)) return readingOfObject(value);
  if (typeof value !== 'string') return null;
  const isValue = parent !== null && attribute === 'value' && TEMPORAL.has(rmTypeName(parent));
  return isValue ? readingOfObject(parent) : reading('text', value);
}

/** Their `value` is compared as the object itself is. */
const TEMPORAL: ReadonlySet<string> = new Set(['DV_DATE', 'DV_TIME', 'DV_DATE_TIME', 'DV_DURATION']);

function readingOfObject(object: JsonObject): Reading | null {
  const domain = domainOfType(rmTypeName(object));
  if (domain === null) return null;
  if (domain === 'text') return textReading(object);
  if (domain === 'boolean') {
    const value = object['value'];
    return typeof value === 'boolean' ? reading('boolean', value) : null;
  }
  const key = orderedValue(object);
  return key === null ? null : reading(domain, key);
}

function textReading(object: JsonObject): Reading | null {
  const isCode = object['_type'] === 'CODE_PHRASE';
  const text = object[isCode ? 'code_string' : 'value'];
  if (typeof text !== 'string') return null;
  const terminology = isCode ? object['terminology_id'] : null;
  const name = isJsonObject(terminology) ? terminology['value'] : null;
  return { domain: 'text', key: text, coded: typeof name === 'string' ? `${name}::${text}` : null };
}

function reading(domain: Domain, key: Reading['key']): Reading {
  return { domain, key, coded: null };
}

function rmTypeName(object: JsonObject): string {
  const type = object['_type'];
  return typeof type === 'string' ? type : '';
}

/** `value operator literal` for a value that is there: what differs in domain is just not equal. */
export function compareWithLiteral(
  left: Reading | null,
  operator: ComparisonOperator,
  literal: Literal | CodeItem,
): boolean {
  step();
  if (operator === '!=') return !compareWithLiteral(left, '=', literal);
  if (left === null) return false;
  const key = comparisonKey(left.domain, literal);
  if (key === null) return left.domain === 'date' && compareDayWithTime(left.key, operator, literal);
  return holds(compareKeys(left.key, key), operator) || (operator === '=' && left.coded === key);
}

/** `left operator right` for two values that are there. */
export function compareReadings(
  left: Reading | null,
  operator: ComparisonOperator,
  right: Reading | null,
): boolean {
  step();
  if (operator === '!=') return !compareReadings(left, '=', right);
  if (left === null || right === null || left.domain !== right.domain) return false;
  return holds(compareKeys(left.key, right.key), operator);
}

function comparisonKey(domain: Domain, literal: Literal | CodeItem): Reading['key'] | null {
  switch (literal.kind) {
    case 'null':
      return null;
    case 'integer':
    case 'real':
      return domain === 'number' ? literal.value : null;
    case 'boolean':
      return domain === 'boolean' ? literal.value : null;
    case 'code':
      return domain === 'text' ? literal.code : null;
    case 'string':
      return TEXT_READERS[domain](literal.value);
  }
}

const BASIC = { basic: true };

/** How a text is read in each domain; numbers and booleans are never written as text. */
const TEXT_READERS: Readonly<Record<Domain, (text: string) => Reading['key'] | null>> = {
  text: (text) => text,
  date: (text) => parseDate(text, BASIC)?.lower ?? null,
  time: (text) => parseTime(text, BASIC)?.lower ?? null,
  instant: (text) => parseDateTime(text, BASIC)?.lower ?? null,
  duration: (text) => parseDuration(text)?.totalSeconds ?? null,
  number: () => null,
  boolean: () => null,
};

/** A DV_DATE never equals a literal with a time; the order looks at the literal's date. */
function compareDayWithTime(
  day: Reading['key'],
  operator: ComparisonOperator,
  literal: Literal | CodeItem,
): boolean {
  if (literal.kind !== 'string' || operator === '=') return false;
  if (parseDateTime(literal.value, BASIC) === null) return false;
  const date = parseDate(required(literal.value.split('T')[0], 'date'), BASIC);
  return date !== null && holds(compareKeys(day, date.lower), operator);
}

/** Negative, zero or positive; texts by code point. */
export function compareKeys(a: Reading['key'], b: Reading['key']): number {
  if (typeof a === 'string' && typeof b === 'string') return Buffer.compare(Buffer.from(a), Buffer.from(b));
  return Number(a) - Number(b);
}

/** Whether an order result fits an operator. */
export function holds(order: number, operator: ComparisonOperator): boolean {
  switch (operator) {
    case '=':
      return order === 0;
    case '!=':
      return order !== 0;
    case '<':
      return order < 0;
    case '<=':
      return order <= 0;
    case '>':
      return order > 0;
    case '>=':
      return order >= 0;
  }
}

/** The value as text, for LIKE and text functions; null when it has no text form. */
export function textForm(found: Found | null): string | null {
  if (found === null) return null;
  const { value } = found;
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (!isJsonObject(value)) return null;
  const type = value['_type'];
  if (type === 'CODE_PHRASE') return stringValue(value['code_string']);
  return stringValue(type === 'DV_QUANTITY' || type === 'DV_COUNT' ? value['magnitude'] : value['value']);
}

function stringValue(value: JsonValue | undefined): string | null {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : null;
}

import { CdrError } from '../base/errors.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../base/json.js';

/** One step of an RM path: an attribute and what narrows its values down. */
export interface PathStep {
  readonly attribute: string;
  /** Archetype node id or archetype id; null when the step does not name one. */
  readonly nodeId: string | null;
  /** `name/value` that the object must have; null when the step does not name one. */
  readonly name: string | null;
}

interface Cursor {
  readonly text: string;
  at: number;
}

const MAX_STEPS = 200;
const ATTRIBUTE = /[A-Za-z_]\w*/y;
const NODE_ID = /[A-Za-z][\w.-]*/y;
const BLANKS = /[ \t]*/y;
const NAME_EQUALS = /name\/value[ \t]*=[ \t]*/y;
const AND = /(?:,|and\b|AND\b)[ \t]*/y;

/**
 * Reads an RM path such as `/content[openEHR-EHR-OBSERVATION.bp.v1]/data[at0001]/events[at0006, 'any event']`.
 * Predicates: `[at0001]`, `[archetype id]`, `['name']`, `[name/value='name']`, a node id with a name behind
 * `,` or `and`. The leading slash may be missing; `/` and the empty text are the path of the object itself.
 * BASE architecture overview: paths and locators.
 * @throws invalid when the text is no path
 */
export function parseRmPath(text: string): readonly PathStep[] {
  const cursor: Cursor = { text, at: text.startsWith('/') ? 1 : 0 };
  const steps: PathStep[] = [];
  if (cursor.at === text.length) return steps;
  for (;;) {
    if (steps.length === MAX_STEPS) throw malformed(cursor);
    steps.push(parseStep(cursor));
    if (cursor.at === text.length) return steps;
    if (text[cursor.at] !== '/') throw malformed(cursor);
    cursor.at += 1;
  }
}

function parseStep(cursor: Cursor): PathStep {
  const attribute = take(cursor, ATTRIBUTE);
  if (attribute === '') throw malformed(cursor);
  if (cursor.text[cursor.at] !== '[') return { attribute, nodeId: null, name: null };
  cursor.at += 1;
  take(cursor, BLANKS);
  const predicate = parsePredicate(cursor);
  take(cursor, BLANKS);
  if (cursor.text[cursor.at] !== ']') throw malformed(cursor);
  cursor.at += 1;
  return { attribute, ...predicate };
}

function parsePredicate(cursor: Cursor): { nodeId: string | null; name: string | null } {
  const name = parseName(cursor);
  if (name !== null) return { nodeId: null, name };
  const nodeId = take(cursor, NODE_ID);
  if (nodeId === '') throw malformed(cursor);
  take(cursor, BLANKS);
  if (take(cursor, AND) === '') return { nodeId, name: null };
  const second = parseName(cursor);
  if (second === null) throw malformed(cursor);
  return { nodeId, name: second };
}

/** `name/value='…'` or only `'…'`; null when neither stands here. */
function parseName(cursor: Cursor): string | null {
  const isNamed = take(cursor, NAME_EQUALS) !== '';
  const quote = cursor.text[cursor.at];
  if (quote === "'" || quote === '"') return parseQuoted(cursor, quote);
  if (isNamed) throw malformed(cursor);
  return null;
}

function parseQuoted(cursor: Cursor, quote: string): string {
  let name = '';
  for (let at = cursor.at + 1; at < cursor.text.length; at += 1) {
    const character = cursor.text[at] ?? '';
    if (character === quote) {
      cursor.at = at + 1;
      return name;
    }
    if (character === '\\') at += 1;
    name += character === '\\' ? (cursor.text[at] ?? '') : character;
  }
  throw malformed(cursor);
}

function take(cursor: Cursor, pattern: RegExp): string {
  pattern.lastIndex = cursor.at;
  const found = pattern.exec(cursor.text)?.[0] ?? '';
  cursor.at += found.length;
  return found;
}

function malformed(cursor: Cursor): CdrError {
  return new CdrError('invalid', `the RM path is malformed at position ${cursor.at}`);
}

/**
 * All values at a path below an object of canonical JSON, in document order; the values of a list one by one.
 * Empty when there is none.
 */
export function valuesAt(object: JsonObject, path: string | readonly PathStep[]): JsonValue[] {
  let values: JsonValue[] = [object];
  for (const step of typeof path === 'string' ? parseRmPath(path) : path) {
    const next: JsonValue[] = [];
    for (const value of values) if (isJsonObject(value)) pushMatching(next, value, step);
    if (next.length === 0) return next;
    values = next;
  }
  return values;
}

/** The first value at a path below an object of canonical JSON; undefined when there is none. */
export function valueAt(object: JsonObject, path: string | readonly PathStep[]): JsonValue | undefined {
  return valuesAt(object, path)[0];
}

/** Whether an object has the node id and the name of a step. */
export function matchesStep(value: JsonValue, step: PathStep): boolean {
  if (step.nodeId === null && step.name === null) return true;
  if (!isJsonObject(value)) return false;
  if (step.nodeId !== null && value['archetype_node_id'] !== step.nodeId) return false;
  return step.name === null || nameOf(value) === step.name;
}

/** `name/value` of a LOCATABLE; null when it has none. */
export function nameOf(locatable: JsonObject): string | null {
  const name = locatable['name'];
  const text = isJsonObject(name) ? name['value'] : null;
  return typeof text === 'string' ? text : null;
}

function pushMatching(into: JsonValue[], parent: JsonObject, step: PathStep): void {
  if (!Object.hasOwn(parent, step.attribute)) return;
  const value = parent[step.attribute] ?? null;
  if (Array.isArray(value)) {
    for (const item of value) if (matchesStep(item, step)) into.push(item);
  } else if (value !== null && matchesStep(value, step)) into.push(value);
}

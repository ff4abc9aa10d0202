import { CdrError, DEFAULT_MAX_NODES } from '../../../base/errors.js';
import type { JsonObject, JsonValue } from '../../../base/json.js';
import { nodesOfJson } from '../../canonical-json.js';
import { beginsAsContextKey } from './context-keys.js';
import { counted, step } from '../../../base/work.js';

/** A value that FLAT can give. */
type FlatPrimitive = string | number | boolean;

/** One key of a FLAT body with its value. */
export interface FlatValue {
  readonly key: string;
  readonly value: FlatPrimitive;
  /** Whether some node has taken it. */
  used: boolean;
}

/** What the keys say about one node: `path|attribute` are its values, `path/id:index/…` its children. */
export interface FlatScope {
  /** The path as the first key wrote it. */
  readonly path: string;
  /** By attribute; `''` for the value of the key without `|`. */
  readonly values: Map<string, FlatValue>;
  /** By id, then by index. */
  readonly children: Map<string, Map<number, FlatScope>>;
}

/** A FLAT body, taken apart. */
export interface FlatKeys {
  /** Above the root node of the template. */
  readonly top: FlatScope;
  /** Values below `ctx/`, by the rest of the key. */
  readonly context: ReadonlyMap<string, FlatValue>;
  /** The rest of every key below `ctx/`, whether it is known or not. */
  readonly contextNames: readonly string[];
  /** Every value outside `ctx/`, in the order given. */
  readonly values: readonly FlatValue[];
}

/** No template is that deep; a key of more segments is left unread. */
const MAX_SEGMENTS = 100;
const INDEX = /^(?:0|[1-9]\d{0,3})$/;
const CONTEXT_PREFIX = 'ctx/';

/**
 * Takes the keys of a FLAT body apart (docs/spec/formats.md#flat-paths): a missing index is 0, nulls are absent
 * values.
 *
 * @throws invalid for an index that is none (0 to 9999), a value that is an array or object, and for two keys
 * that give one value differently; too-large when the paths name, or the `|raw` texts hold, more objects
 * than a body may
 */
export function flatKeys(flat: JsonObject): FlatKeys {
  const top = newScope('');
  const scopes = new Map<string, FlatScope>([['', top]]);
  const context = new Map<string, FlatValue>();
  const values: FlatValue[] = [];
  const contextNames: string[] = [];
  let rawNodes = 0;
  for (const key of counted(Object.keys(flat))) {
    const given = flat[key];
    if (given === null || given === undefined) continue;
    if (key.startsWith(CONTEXT_PREFIX)) {
      contextNames.push(key.slice(CONTEXT_PREFIX.length));
      addContextKey(context, key, given);
      continue;
    }
    const value: FlatValue = { key, value: flatPrimitive(key, given), used: false };
    values.push(value);
    addValue(scopes, value);
    if (key.endsWith('|raw')) rawNodes += nodesOfJson(String(value.value));
    if (rawNodes > DEFAULT_MAX_NODES)
      throw new CdrError('too-large', `the |raw texts of the body have more than ${DEFAULT_MAX_NODES} nodes`);
  }
  return { top, context, contextNames, values };
}

/** The instances of a child by rising index; empty when no key names it. */
export function instancesOf(scope: FlatScope, id: string): readonly (readonly [number, FlatScope])[] {
  const instances = scope.children.get(id);
  if (instances === undefined) return [];
  return instances.size === 1 ? [...instances] : counted([...instances]).sort(([a], [b]) => a - b);
}

/** The only instance of a child that is no list: the one of index 0. */
export function childOf(scope: FlatScope, id: string): FlatScope | undefined {
  return scope.children.get(id)?.get(0);
}

/** Takes the value of an attribute, `''` for the plain value. */
export function take(scope: FlatScope, attribute: string): FlatValue | undefined {
  const value = scope.values.get(attribute);
  if (value !== undefined) value.used = true;
  return value;
}

/**
 * Takes the value that any of several spellings of an attribute gives.
 *
 * @throws invalid when two of them differ
 */
export function takeEither(scope: FlatScope, ...attributes: readonly string[]): FlatValue | undefined {
  let taken: FlatValue | undefined;
  for (const attribute of counted(attributes)) {
    const value = take(scope, attribute);
    if (value === undefined) continue;
    if (taken !== undefined && taken.value !== value.value) throw conflict(taken.key, value.key);
    taken ??= value;
  }
  return taken;
}

/** The error of two keys that give the same value differently. */
export function conflict(key: string, other: string): CdrError {
  return new CdrError('invalid', `${key} and ${other} give different values for the same attribute`);
}

function newScope(path: string): FlatScope {
  return { path, values: new Map(), children: new Map() };
}

/** Unknown keys of `ctx/` may hold anything: they are ignored. */
function addContextKey(context: Map<string, FlatValue>, key: string, given: JsonValue): void {
  const name = key.slice(CONTEXT_PREFIX.length);
  if (typeof given === 'object' && !beginsAsContextKey(name)) return;
  context.set(name, { key, value: flatPrimitive(key, given), used: false });
}

function addValue(scopes: Map<string, FlatScope>, value: FlatValue): void {
  const { key } = value;
  const bar = key.indexOf('|', key.lastIndexOf('/') + 1);
  const path = bar < 0 ? key : key.slice(0, bar);
  const scope = scopeAt(scopes, path);
  if (scope === null) return;
  const attribute = bar < 0 ? '' : attributeName(key.slice(bar + 1), key);
  const before = scope.values.get(attribute);
  if (before === undefined) scope.values.set(attribute, value);
  else if (before.value !== value.value) throw conflict(before.key, key);
  else value.used = true;
}

/** Attributes of lists carry an index like nodes do (`identifiers_id:0`), 0 may be missing. */
function attributeName(attribute: string, key: string): string {
  const colon = attribute.lastIndexOf(':');
  if (colon < 0) return attribute;
  const index = keyIndex(attribute.slice(colon + 1), key);
  return index === 0 ? attribute.slice(0, colon) : attribute;
}

/** The scope of a path, made with those above it; null when there are too many. Empty segments count as ids. */
function scopeAt(scopes: Map<string, FlatScope>, path: string): FlatScope | null {
  const known = path === '' ? undefined : scopes.get(path);
  if (known !== undefined) return known;
  const missing: string[] = [];
  let above = path;
  let scope: FlatScope | undefined;
  while (scope === undefined) {
    step();
    missing.push(above);
    if (missing.length > MAX_SEGMENTS) return null;
    const slash = above.lastIndexOf('/');
    above = slash < 0 ? '' : above.slice(0, slash);
    scope = slash <= 0 ? scopes.get('') : scopes.get(above);
  }
  for (const next of counted(missing.reverse())) {
    scope = childScope(scope, next);
    scopes.set(next, scope);
    // Few keys of many segments each would make far more objects than the body has nodes.
    if (scopes.size > DEFAULT_MAX_NODES)
      throw new CdrError('too-large', `the keys of the body name more than ${DEFAULT_MAX_NODES} objects`);
  }
  return scope;
}

function childScope(parent: FlatScope, path: string): FlatScope {
  const segment = path.slice(path.lastIndexOf('/') + 1);
  const colon = segment.lastIndexOf(':');
  const id = colon < 0 ? segment : segment.slice(0, colon);
  const index = colon < 0 ? 0 : keyIndex(segment.slice(colon + 1), path);
  let instances = parent.children.get(id);
  if (instances === undefined) parent.children.set(id, (instances = new Map<number, FlatScope>()));
  let scope = instances.get(index);
  if (scope === undefined) instances.set(index, (scope = newScope(path)));
  return scope;
}

function keyIndex(text: string, key: string): number {
  if (INDEX.test(text)) return Number(text);
  throw new CdrError('invalid', `the index :${text} in ${key} must be a whole number from 0 to 9999`);
}

function flatPrimitive(key: string, value: JsonValue): FlatPrimitive {
  if (value !== null && typeof value !== 'object') return value;
  throw new CdrError('invalid', `the value of ${key} must be text, a number or a boolean`);
}

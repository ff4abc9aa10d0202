import type { Context } from 'koa';
import { CdrError } from '../../../openehr/base/errors.js';

/** Commit metadata of a request: values by key, keys as in docs/spec/rest.md#commit-metadata. */
export interface CommitPairs {
  readonly audit: ReadonlyMap<string, string>;
  readonly version: ReadonlyMap<string, string>;
}

const AUDIT_KEYS = new Set([
  'change_type.code_string',
  'change_type.value',
  'description.value',
  'committer.name',
  'committer.external_ref.id',
  'committer.external_ref.namespace',
  'committer.external_ref.type',
  'committer.identifiers.id',
  'committer.identifiers.issuer',
  'committer.identifiers.assigner',
  'committer.identifiers.type',
  'system_id',
]);
const VERSION_KEYS = new Set(['lifecycle_state.code_string', 'lifecycle_state.value', 'signature']);

const HEADER = /^(?:openehr|std)[-_](audit[-_]details|version)(?:\.([\w.-]+))?$/;
const PAIR = /\s*([\w.-]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s",;=]+))\s*(?:[,;]|$)/y;
const BARE_STATE = /^\s*"?([A-Za-z]+|\d+)"?\s*$/;

/**
 * Reads `openEHR-AUDIT_DETAILS` and `openEHR-VERSION` (or `std-`) in their three syntaxes, mixed as they come.
 * @throws invalid for bad syntax, an unknown key, or one key or header with two values
 */
export function commitPairs(ctx: Context): CommitPairs {
  const audit = new Map<string, string>();
  const version = new Map<string, string>();
  const seen = new Map<string, string>();
  for (const [name, header] of Object.entries(ctx.headers)) {
    const match = HEADER.exec(name);
    if (match === null || header === undefined) continue;
    const text = utf8(Array.isArray(header) ? header.join(', ') : header);
    const prefix = match[2] === undefined ? '' : `${normal(match[2])}.`;
    const isVersion = match[1] === 'version';
    keepOne(seen, `${isVersion ? 'version' : 'audit-details'}.${prefix}`.replace(/(?<!\.)\.+$/, ''), text);
    for (const [key, value] of pairsOf(prefix, text)) {
      if (!(isVersion ? VERSION_KEYS : AUDIT_KEYS).has(key)) throw bad(`${key} is not known`);
      keepOne(isVersion ? version : audit, key, value);
    }
  }
  return { audit, version };
}

function keepOne(values: Map<string, string>, key: string, value: string): void {
  const other = values.get(key);
  if (other !== undefined && other !== value) throw bad(`${key} is given with two values`);
  values.set(key, value);
}

function pairsOf(prefix: string, text: string): [string, string][] {
  const bare = BARE_STATE.exec(text)?.[1];
  if (prefix === 'lifecycle_state.' && bare !== undefined)
    return [[/^\d/.test(bare) ? `${prefix}code_string` : `${prefix}value`, bare]];
  if (prefix === 'signature.' || prefix === 'system_id.') return [[prefix.slice(0, -1), unquoted(text)]];
  const pairs: [string, string][] = [];
  PAIR.lastIndex = 0;
  while (PAIR.lastIndex < text.length) {
    const match = PAIR.exec(text);
    if (match === null) throw bad('pairs must have the form key="value"');
    pairs.push(pairOf(prefix, match));
  }
  return pairs;
}

function pairOf(prefix: string, [, key = '', quoted, token]: RegExpExecArray): [string, string] {
  return [normal(prefix + key), quoted?.replaceAll(/\\(.)/g, '$1') ?? token ?? ''];
}

function unquoted(text: string): string {
  const quoted = /^\s*"((?:[^"\\]|\\.)*)"\s*$/.exec(text)?.[1];
  return quoted?.replaceAll(/\\(.)/g, '$1') ?? text.trim();
}

function normal(key: string): string {
  return key.toLowerCase().replaceAll('-', '_');
}

/** Text of a header: Node gives its bytes as Latin-1; clients send UTF-8. */
export function utf8(header: string): string {
  const text = Buffer.from(header, 'latin1').toString('utf8');
  return text.includes('\ufffd') ? header : text;
}

function bad(reason: string): CdrError {
  return new CdrError('invalid', `the commit metadata header cannot be read: ${reason}`);
}

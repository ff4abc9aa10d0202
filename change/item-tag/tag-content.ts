import { CdrError } from '../../openehr/base/errors.js';

/** Content of an ITEM_TAG. RM common: ITEM_TAG. */
export interface TagContent {
  readonly key: string;
  readonly value: string | null;
  readonly targetPath: string | null;
}

/** Tags of one container or version: every read of it looks them all up. */
export const MAX_TAGS = 1000;

/** With a dot only those that policies of access see: docs/access.md#tags */
const KEY = /^(?:access\.)?[a-zA-Z0-9/_:-]{1,500}$/;
/** Characters of the value of an item tag. */
export const MAX_VALUE_LENGTH = 10_000;
/** Characters of the path an item tag points to. */
export const MAX_PATH_LENGTH = 2_000;

const QUOTED = String.raw`(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")`;
const NODE_ID = String.raw`[A-Za-z][\w.-]*`;
const NODE = String.raw`(?:archetype_node_id\s*=\s*(?:${QUOTED}|${NODE_ID})|${NODE_ID}(?!\s*[/=]))`;
const NAME = String.raw`(?:name(?:/value)?\s*=\s*${QUOTED})`;
const PREDICATE = String.raw`(?:${NODE}(?:\s*,\s*(?:${QUOTED}|${NAME})|\s+and\s+${NAME})?|${NAME}(?:\s+and\s+${NODE})?)`;
const PATH = new RegExp(String.raw`^(?:/|(?:/[a-z_][a-z0-9_]*(?:\[\s*${PREDICATE}\s*\])?)+)$`, 'i');

/**
 * What docs/spec/rest.md#tag-content has against the content of a tag, null when nothing. `target_path` may have
 * predicates on archetype_node_id and name only.
 */
export function tagFault(tag: TagContent): string | null {
  if (!KEY.test(tag.key)) return BAD_KEY;
  if (tag.value !== null && tag.value.trim() === '') return 'value must not be blank';
  if (tag.value !== null && tag.value.length > MAX_VALUE_LENGTH)
    return `value must not be longer than ${MAX_VALUE_LENGTH} characters`;
  return tag.targetPath === null ? null : pathFault(tag.targetPath);
}

const BAD_KEY = 'key must not be blank and may hold letters, digits, / _ : - only';

function pathFault(path: string): string | null {
  const shown = path.slice(0, 200);
  if (!path.startsWith('/')) return `target_path '${shown}' does not start at root`;
  if (path.length > MAX_PATH_LENGTH)
    return `target_path must not be longer than ${MAX_PATH_LENGTH} characters`;
  if (PATH.test(path)) return null;
  return `target_path '${shown}' must be a path with predicates on archetype_node_id and name only`;
}

const ABOUT = { about: 'item-tag' } as const;

/** The refusal of a key. */
export function badKey(code: 'invalid' | 'unprocessable'): CdrError {
  return new CdrError(code, BAD_KEY, ABOUT);
}

/** The refusal of more tags than one container or version may have. */
export function tooManyTags(code: 'invalid' | 'unprocessable'): CdrError {
  return new CdrError(code, `an object may have at most ${MAX_TAGS} item tags`, ABOUT);
}

/**
 * Refuses bad tags, two tags of one target with the same key and path, and too many of them.
 * @throws CdrError of the given code
 */
export function requireTags(tags: readonly TagContent[], code: 'invalid' | 'unprocessable'): void {
  if (tags.length > MAX_TAGS) throw tooManyTags(code);
  const seen = new Set<string>();
  for (const tag of tags) {
    const fault = tagFault(tag);
    if (fault !== null) throw new CdrError(code, fault, ABOUT);
    const identity = JSON.stringify([tag.key, tag.targetPath]);
    if (seen.has(identity))
      throw new CdrError(code, `the tag ${tag.key} is given twice for the same target_path`, ABOUT);
    seen.add(identity);
  }
}

import { CdrError } from '../../openehr/base/errors.js';
import type { TagContent } from '../../change/item-tag/tag-content.js';
import type { ItemTagDoc } from '../../models/item-tag.js';

interface Pair {
  readonly name: string;
  readonly value: string;
}

const PAIR = /^\s*([A-Za-z_]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s",;=]*))\s*/;
const MAX_HEADER_TAGS = 1000;

/** The header form of tags, UTF-8 bytes as Node wants them (one character a byte), without control characters. */
export function formatTags(tags: readonly Pick<ItemTagDoc, 'key' | 'value' | 'target_path'>[]): string {
  const text = tags.map(formatTag).join('; ');
  // eslint-disable-next-line no-control-regex -- a header value must not hold any
  return Buffer.from(text.replaceAll(/[\u0000-\u001f\u007f]/g, ' '), 'utf8').toString('latin1');
}

function formatTag(tag: Pick<ItemTagDoc, 'key' | 'value' | 'target_path'>): string {
  const pairs = [
    ['key', tag.key],
    ['value', tag.value],
    ['target_path', tag.target_path],
  ].filter((pair): pair is [string, string] => pair[1] !== null);
  return pairs.map(([name, value]) => `${name}="${value.replaceAll(/["\\]/g, '\\$&')}"`).join(',');
}

/**
 * Reads `key="a",value="b",target_path="/x"; key="c"`. A tag begins after `;`, or with another `key` (a header
 * that was sent twice arrives joined by commas). @throws invalid for bad syntax
 */
export function parseTags(text: string): TagContent[] {
  const tags: Map<string, string>[] = [];
  for (const group of groupsOf(text)) {
    const hasKey = group.some(({ name }) => name === 'key');
    if (hasKey || tags.length === 0) tags.push(new Map());
    for (const { name, value } of group) {
      if (name === 'key' && tags.at(-1)?.has('key') === true) tags.push(new Map());
      if (tags.at(-1)?.has(name) === true) throw badHeader(`${name} is given twice for one tag`);
      tags.at(-1)?.set(name, value);
    }
  }
  if (tags.length > MAX_HEADER_TAGS) throw badHeader('there are too many tags');
  return tags.map(contentOf);
}

function contentOf(pairs: ReadonlyMap<string, string>): TagContent {
  const key = pairs.get('key');
  if (key === undefined) throw badHeader('a tag has no key');
  const targetPath = pairs.get('target_path');
  return {
    key,
    value: pairs.get('value') ?? null,
    targetPath: targetPath === undefined || targetPath === '' ? null : targetPath,
  };
}

/** The pairs between semicolons. */
function groupsOf(text: string): Pair[][] {
  const groups: Pair[][] = [];
  let group: Pair[] = [];
  let rest = text;
  while (rest.trim() !== '') {
    const { pair, length } = nextPair(rest);
    group.push(pair);
    const separator = rest[length];
    if (separator !== undefined && separator !== ',' && separator !== ';')
      throw badHeader('pairs must be separated by , or ;');
    rest = rest.slice(length + 1);
    if (separator === ',') continue;
    groups.push(group);
    group = [];
  }
  return group.length === 0 ? groups : [...groups, group];
}

function nextPair(text: string): { pair: Pair; length: number } {
  const match = PAIR.exec(text);
  const name = match?.[1]?.toLowerCase();
  if (match === null || name === undefined) throw badHeader('pairs must have the form name="value"');
  if (!['key', 'value', 'target_path'].includes(name)) throw badHeader(`${name} is not known`);
  const value = match[2]?.replaceAll(/\\(.)/g, '$1') ?? match[3] ?? '';
  return { pair: { name, value }, length: match[0].length };
}

function badHeader(reason: string): CdrError {
  return new CdrError('invalid', `the item tag header cannot be read: ${reason}`);
}

import type { JsonObject, JsonValue } from '../../openehr/base/json.js';
import { isJsonObject } from '../../openehr/base/json.js';
import { orderedValue } from '../../openehr/rm/ordered-value.js';
import { leafKey, MAX_LEAF_TEXT_BYTES } from './keys.js';
import type { AqlLeaf, LeafIndex, LeafSuffix } from './document.js';
import { counted } from '../../openehr/base/work.js';

const ORDERED_SUFFIX: Readonly<Record<string, LeafSuffix>> = {
  DV_QUANTITY: 'm',
  DV_COUNT: 'm',
  DV_ORDINAL: 'm',
  DV_SCALE: 'm',
  DV_PROPORTION: 'm',
  DV_DURATION: 'p',
  DV_DATE_TIME: 't',
  DV_DATE: 'd',
  DV_TIME: 'h',
};

/** Typed leaves of an ELEMENT's value at `path` of an archetype (docs/spec/storage.md#leaves). */
export function leavesOf(
  value: JsonObject,
  archetypeId: string,
  path: string,
  leafIndex: LeafIndex,
): AqlLeaf[] {
  const type = typeof value._type === 'string' ? value._type : '';
  const suffix = ORDERED_SUFFIX[type];
  if (suffix !== undefined) {
    const magnitude = orderedValue(value);
    return magnitude === null ? [] : [{ k: leafKey(archetypeId, path, suffix), v: magnitude }];
  }
  if (leafIndex !== 'all') return [];
  return counted(unorderedLeaves(value, type)).map(([letter, v]) => ({
    k: leafKey(archetypeId, path, letter),
    v,
  }));
}

/** The leaf of an EVENT's time or a context time: date-time ms since 1970. */
export function timeLeaf(value: JsonValue | undefined, archetypeId: string, path: string): AqlLeaf[] {
  if (!isJsonObject(value)) return [];
  const instant = orderedValue(value);
  return instant === null ? [] : [{ k: leafKey(archetypeId, path, 't'), v: instant }];
}

function unorderedLeaves(value: JsonObject, type: string): [LeafSuffix, string | boolean][] {
  switch (type) {
    case 'DV_CODED_TEXT':
      return [...indexedText('s', value.value), ...indexedText('c', leafCode(value))];
    case 'DV_TEXT':
    case 'DV_URI':
    case 'DV_EHR_URI':
    case 'DV_PARSABLE':
      return indexedText('s', value.value);
    case 'DV_IDENTIFIER':
      return indexedText('i', value.id);
    case 'DV_BOOLEAN':
      return typeof value.value === 'boolean' ? [['b', value.value]] : [];
    default:
      // DV_STATE, DV_TIME_SPECIFICATION: the value is a text object.
      return isJsonObject(value.value) ? indexedText('s', value.value.value) : [];
  }
}

function leafCode(value: JsonObject): JsonValue | undefined {
  return isJsonObject(value.defining_code) ? value.defining_code.code_string : undefined;
}

function indexedText(suffix: LeafSuffix, value: JsonValue | undefined): [LeafSuffix, string][] {
  return typeof value === 'string' && Buffer.byteLength(value) <= MAX_LEAF_TEXT_BYTES
    ? [[suffix, value]]
    : [];
}

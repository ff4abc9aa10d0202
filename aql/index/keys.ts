import type { LeafSuffix } from './document.js';

/** Texts longer than this many UTF-8 bytes have no typed leaf. */
export const MAX_LEAF_TEXT_BYTES = 200;

/**
 * Key of a typed leaf. `path`: steps `/attr[at-code]` from the segment root to an ELEMENT, an EVENT's `/time`,
 * or the root's `/context/start_time`, `/context/end_time`.
 */
export function leafKey(archetypeId: string, path: string, suffix: LeafSuffix): string {
  return `${archetypeId}|${path}|${suffix}`;
}

/** Stands for the RM type in the shape of an attribute where a nested segment was cut off. */
export const STUB_SHAPE = '*';

/** `_id` of a shape: `path` is the dotted attribute path inside the segment of that archetype. */
export function shapeKey(archetypeId: string, rmType: string, path: string): string {
  return `${archetypeId}|${rmType}|${path}`;
}

/** Entry of `keys` that finds versions which another system made and which were imported. */
export const IMPORTED_KEY = 'IMPORTED_VERSION';

/** Entry of `keys` that finds a template id. */
export function templateKey(templateId: string): string {
  return `template:${templateId}`;
}

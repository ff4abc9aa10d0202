import type { CdrError } from '../../base/errors.js';
import { invalidTemplate } from './opt-xml.js';

/** How large one operational template may be. Every refusal is 400 and names the limit; docs/limits.md lists them. */

/** Most objects that a template describes, internal references counted as often as they are used. */
export const MAX_TEMPLATE_NODES = 10_000;

/** Most nodes of its tree: beside the objects, the types that open ELEMENTs can take and attributes of the RM. */
export const MAX_TREE_NODES = 15_000;

/** Most elements and attributes of an OPT: six times those of the largest public one, whose text has 1.2 MB. */
export const MAX_OPT_NODES = 100_000;

/** Longest template id, in UTF-16 units: it stands in headers and addresses. */
export const MAX_TEMPLATE_ID_LENGTH = 255;

/** Most characters of texts and values in all nodes together; a text counts as often as nodes show it. */
export const MAX_TEMPLATE_TEXT = 16 * 1024 * 1024;

/** Most instructions of all regular expressions of a template together: compiling them takes time. */
export const MAX_TEMPLATE_PATTERNS_SIZE = 100_000;

/** One limit as documentation shows it. */
export interface TemplateLimit {
  readonly name: string;
  readonly value: number;
  readonly meaning: string;
}

/** All limits of a template beside the setting `MAX_TEMPLATE_BYTES`. */
export const TEMPLATE_LIMITS: readonly TemplateLimit[] = [
  {
    name: 'nodes',
    value: MAX_TEMPLATE_NODES,
    meaning: 'objects of a template, internal references counted as often as they are used',
  },
  {
    name: 'tree nodes',
    value: MAX_TREE_NODES,
    meaning:
      'objects of a template, with the types that each open ELEMENT can take, and attributes that it does not name',
  },
  { name: 'XML nodes', value: MAX_OPT_NODES, meaning: 'elements and attributes of an OPT; 413 above' },
  { name: 'template id', value: MAX_TEMPLATE_ID_LENGTH, meaning: 'characters of a template id' },
  {
    name: 'texts of nodes',
    value: MAX_TEMPLATE_TEXT,
    meaning: 'characters of names, descriptions, paths and listed values in all nodes of a template',
  },
  {
    name: 'regular expressions',
    value: MAX_TEMPLATE_PATTERNS_SIZE,
    meaning: 'instructions of all regular expressions of a template',
  },
];

/** `count`: as many as were found, maybe more than there is a number for. */
export function tooManyTemplateNodes(count: number): CdrError {
  const found = Number.isSafeInteger(count) ? String(count) : 'far more';
  return invalidTemplate(`a template can have at most ${MAX_TEMPLATE_NODES} nodes, this one has ${found}`);
}

import { CdrError } from './errors.js';

/**
 * Nodes of one body (`MAX_BODY_NODES`) or template unless another limit is given. A node is every object, array and
 * scalar of JSON, every element and attribute of XML: what is built of a text costs memory and time by its nodes, not
 * by its bytes.
 */
export const DEFAULT_MAX_NODES = 250_000;

/** The refusal of a text with more nodes than are read. */
export function tooManyNodes(form: 'JSON' | 'XML', maxNodes: number): CdrError {
  const counted = form === 'JSON' ? 'objects, arrays and values' : 'elements and attributes';
  return new CdrError('too-large', `the ${form} has more than ${maxNodes} nodes (${counted})`);
}

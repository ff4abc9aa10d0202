import type { WebTemplateNode } from '@everchart/client';
import { archetypesAbove, endingOf } from '../../../record/web-node.js';

/** `OBSERVATION o[openEHR-EHR-OBSERVATION.blood_pressure.v2]`: a variable and what it stands for. */
const BOUND = /\b[A-Z][A-Z_]*\s+([A-Za-z]\w*)\s*\[\s*([\w-]+\.[\w-]+\.v[\w.]+)/gi;

/** The archetypes that a query names, the innermost last. */
export function archetypesIn(text: string): string[] {
  return [...text.matchAll(BOUND)].map(([, , id = '']) => id);
}

/**
 * The path of a node as this query can have it: from the variable of the innermost archetype above the node that the query
 * names. null: it names none of them.
 */
export function pathIn(text: string, root: WebTemplateNode, node: WebTemplateNode): string | null {
  const variables = new Map([...text.matchAll(BOUND)].map(([, name = '', id = '']) => [id, name]));
  for (const { archetype, path } of archetypesAbove(root, node)) {
    const variable = variables.get(archetype);
    if (variable !== undefined) return `${variable}${path}${endingOf(node)}`;
  }
  return null;
}

import type { WebTemplateNode } from '@everchart/client';
import { isAsked, kindOf, pathBelow, shownPaths } from './form-tree.js';
import { isGiven, occurrencesIn, type FlatValues } from './values.js';

/** The children of a node as a form shows them. */
interface Layout {
  /** What one came for. */
  readonly first: readonly WebTemplateNode[];
  /** What is folded until it is wanted. */
  readonly aside: readonly WebTemplateNode[];
}

const LAYOUTS = new WeakMap<WebTemplateNode, Layout>();

/**
 * Of a document its content comes first, and what is around it (when, where, who wrote it) is folded: most of that is filled already.
 * Of an entry and its events what was found comes first, and how it was found (protocol, state) is folded but for what is required.
 */
export function layoutOf(node: WebTemplateNode): Layout {
  const known = LAYOUTS.get(node);
  if (known !== undefined) return known;
  const shown = (node.children ?? []).filter((child) => kindOf(child) !== 'hidden');
  const isAside = node.rmType === 'COMPOSITION' ? isAround : (child: WebTemplateNode) => isHow(node, child);
  const layout = {
    first: shown.filter((child) => !isAside(child)),
    aside: shown.filter((child) => isAside(child)),
  };
  LAYOUTS.set(node, layout);
  return layout;
}

function isAround({ aqlPath = '' }: WebTemplateNode): boolean {
  return !aqlPath.startsWith('/content');
}

/** Whether it says how something was found; a time or an offset that the server knows too. */
function isHow(parent: WebTemplateNode, child: WebTemplateNode): boolean {
  const { aqlPath = '', inContext, min } = child;
  const below = aqlPath.slice((parent.aqlPath ?? '').length);
  if (/\/(?:time|offset)$/.test(below)) return inContext === true || below.endsWith('/offset');
  return min === 0 && /(?:^|\])\/(?:protocol|state)\[/.test(below);
}

/** Whether nothing that is required is missing below a place. */
export function isComplete(values: FlatValues, path: string, node: WebTemplateNode): boolean {
  const kind = kindOf(node);
  if (kind === 'hidden') return true;
  if (kind !== 'group') return !isAsked(node) || isThere(values, path);
  // What is not there at all needs none of its parts.
  if (node.min === 0 && !isThere(values, path)) return true;
  return shownPaths(values, path, node).every((place) =>
    (node.children ?? []).every((child) => isComplete(values, pathBelow(place, child), child)),
  );
}

/** Whether anything is given at a place or in any of its occurrences. */
export function isThere(values: FlatValues, path: string): boolean {
  return isGiven(values, path) || occurrencesIn(values, path) > 0;
}

import type { WebTemplateNode } from '../web-template/web-template.js';

/** How much of a template an example shows. */
export type DetailLevel = 'required' | 'medium' | 'complete';

/** The decisions while an example is built. */
export interface ExampleChoices {
  /** How many objects of a node there shall be, between `min` and `max` (-1 = any number). */
  count(node: WebTemplateNode, min: number, max: number): number;
  /** Which of `size` possibilities is taken, counted from 0. */
  pick(size: number): number;
}

/** RM attributes that are shown in complete examples only. */
const DETAILS = new Set([
  'protocol',
  'state',
  'null_flavour',
  'expiry_time',
  'instruction_details',
  'transition',
]);

/**
 * The choices of a detail level: what must be there; every node of the template once without protocol, state and
 * slots; every node once.
 */
export function choicesFor(detailLevel: DetailLevel): ExampleChoices {
  return {
    pick: () => 0,
    count(node, min) {
      if (detailLevel === 'required' || node.isSlot) return min;
      if (detailLevel === 'medium' && DETAILS.has(node.attribute)) return min;
      // What only the RM adds says nothing about the template.
      if (node.constraint === null && node.attribute === 'instruction_details') return min;
      return Math.max(min, 1);
    },
  };
}

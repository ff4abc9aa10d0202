import type { WebTemplate, WebTemplateNode } from '@everchart/client';
import { isGiven, occurrencesIn, placesAbove, type FlatValues } from './values.js';

/** How a node of a template stands in a form. */
export type FormKind = 'group' | 'choice' | 'interval' | 'field' | 'hidden';

/** Nodes that the server fills: who reads a form is not asked for them. */
const FILLED = new Set([
  'language',
  'encoding',
  'category',
  'subject',
  'action_archetype_id',
  'activity_id',
  'instruction_id',
]);
const STRUCTURES =
  /^(COMPOSITION|EVENT_CONTEXT|SECTION|OBSERVATION|EVALUATION|INSTRUCTION|ACTION|ADMIN_ENTRY|GENERIC_ENTRY|ACTIVITY|EVENT|POINT_EVENT|INTERVAL_EVENT|CLUSTER|ISM_TRANSITION|HISTORY|ITEM_\w+)$/;

/** How a node stands in a form. */
export function kindOf(node: WebTemplateNode): FormKind {
  const { id, rmType, children = [] } = node;
  if (rmType === 'LOCATABLE_REF') return 'hidden';
  // Only what no archetype names: an archetype may well ask for a language.
  if (node.localizedName === undefined && FILLED.has(id)) return 'hidden';
  if (id === 'category' && node.inContext === true) return 'hidden';
  if (rmType.startsWith('DV_INTERVAL')) return 'interval';
  if (rmType === 'ELEMENT') return children.length > 0 ? 'choice' : 'hidden';
  return STRUCTURES.test(rmType) ? 'group' : 'field';
}

/** Nodes that the server fills only where they are given. */
const NEVER_FILLED = new Set(['composer', 'territory']);

/** Whether a node has to be filled in, where the one around it is there. */
export function isAsked({ min, inContext, id }: WebTemplateNode): boolean {
  return min > 0 && (inContext !== true || NEVER_FILLED.has(id));
}

/** The key of a node below another one, without the index of an occurrence. */
export function pathBelow(parent: string, node: WebTemplateNode): string {
  return parent === '' ? node.id : `${parent}/${node.id}`;
}

/** Whether FLAT numbers the occurrences of a node. */
export function isRepeated(node: WebTemplateNode): boolean {
  return node.max !== 1;
}

/** The keys of the occurrences of a node that are shown: one at least, so that there is something to fill. */
export function shownPaths(values: FlatValues, path: string, node: WebTemplateNode): string[] {
  if (!isRepeated(node)) return [path];
  const count = Math.max(1, node.min, occurrencesIn(values, path));
  return Array.from({ length: count }, (_, index) => `${path}:${index}`);
}

/** About how many fields a node has with all below it, each occurrence counted once. */
export function fieldsBelow(node: WebTemplateNode): number {
  const known = FIELDS.get(node);
  if (known !== undefined) return known;
  const kind = kindOf(node);
  const below = (node.children ?? []).map(fieldsBelow);
  const count = kind === 'hidden' ? 0 : kind === 'group' ? 1 + below.reduce((sum, each) => sum + each, 0) : 1;
  FIELDS.set(node, count);
  return count;
}

const FIELDS = new WeakMap<WebTemplateNode, number>();

/** The alternative of a choice that has a value; null: none has. */
export function chosenOf(values: FlatValues, path: string, node: WebTemplateNode): WebTemplateNode | null {
  return (node.children ?? []).find((child) => isGiven(values, pathBelow(path, child))) ?? null;
}

/** Every place of a form with its node, in the order in which it is shown. */
export function placesOf(template: WebTemplate, values: FlatValues): Map<string, WebTemplateNode> {
  const places = new Map<string, WebTemplateNode>();
  const visit = (node: WebTemplateNode, parent: string): void => {
    for (const path of shownPaths(values, pathBelow(parent, node), node)) {
      places.set(path, node);
      const kind = kindOf(node);
      if (kind === 'field' || kind === 'hidden') continue;
      for (const child of node.children ?? []) visit(child, path);
    }
  };
  visit(template.tree, '');
  return places;
}

/** What a form holds that none of its fields shows: attributes of the reference model, mostly. */
export function keysBeside(template: WebTemplate, values: FlatValues): string[] {
  const leaves = new Set<string>();
  for (const [path, node] of placesOf(template, values)) {
    const kind = kindOf(node);
    if (kind === 'field' || kind === 'hidden') leaves.add(path);
  }
  // Which version it is, the address says.
  leaves.add(`${template.tree.id}/_uid`);
  return Object.keys(values).filter(
    (key) => !key.startsWith('ctx/') && !placesAbove(key).some((path) => leaves.has(path)),
  );
}

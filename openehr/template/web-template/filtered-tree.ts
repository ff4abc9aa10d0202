import { isKindOf } from '../../rm/model/classes.js';
import type { OperationalTemplate } from '../opt/constraint.js';
import { trueChildren } from './element-node.js';
import { setCardinalities } from './full-tree.js';
import { numberIds, setId, type NodeDraft } from './node-draft.js';
import type { WebTemplateInput, WebTemplateListItem } from './web-template.js';

/**
 * Builds the tree that clients see from the full tree (docs/spec/formats.md#filtering) and links both: `filtered`
 * of the nodes of the full tree is set, nothing else of them changes.
 */
export function filteredTree(root: NodeDraft, opt: OperationalTemplate): NodeDraft {
  const tree = nodeCopy(root);
  adopt(tree, filteredChildren(root));
  finishFiltered(tree, root, opt.defaultLanguage === 'en' || opt.languages.includes('en'));
  return tree;
}

const DROPPED_NAMES = new Set([
  'name',
  'archetype_node_id',
  'origin',
  'media_type',
  'upper_included',
  'lower_included',
  'upper_unbounded',
  'lower_unbounded',
]);

/** Optional RM attributes that are shown all the same, as `<class>.<attribute>`. */
const KEPT_ATTRIBUTES = [
  ['COMPOSITION', 'context'],
  ['ACTIVITY', 'timing'],
  ['INSTRUCTION', 'expiry_time'],
  ['ISM_TRANSITION', 'transition'],
] as const;

const DROPPED_TYPES = new Set([
  'HISTORY',
  'ITEM_TREE',
  'ITEM_LIST',
  'ITEM_SINGLE',
  'ITEM_TABLE',
  'ITEM_STRUCTURE',
]);

function filteredChildren(node: NodeDraft): NodeDraft[] {
  return node.children.flatMap(filtered);
}

/** What takes the place of a node: a copy of it, or what is left of its children. */
function filtered(node: NodeDraft): NodeDraft[] {
  if (node.isSlot) return [];
  if (node.rmType === 'ELEMENT') return filteredElement(node);
  const children = filteredChildren(node);
  if (isDropped(node)) return children;
  const copy = nodeCopy(node);
  adopt(copy, children);
  return [copy];
}

function filteredElement(element: NodeDraft): NodeDraft[] {
  const values = trueChildren(element);
  const merged = textOrCode(values, element);
  if (merged !== null) return [merged];
  const children = filteredChildren(element);
  const [only, ...others] = children;
  if (only !== undefined && values.length === 1 && values[0] === only.full) setId(only, element.baseId);
  if (only !== undefined && others.length === 0) {
    only.min = element.min;
    only.max = element.max;
    return [only];
  }
  const copy = nodeCopy(element);
  adopt(copy, children);
  return [copy];
}

/** Coded text that may also be free text: one node instead of two alternatives. */
function textOrCode(values: readonly NodeDraft[], element: NodeDraft): NodeDraft | null {
  const coded = values.find((value) => value.rmType === 'DV_CODED_TEXT');
  const text = values.find((value) => value.rmType === 'DV_TEXT');
  if (values.length !== 2 || coded === undefined || text === undefined) return null;
  if (coded.attribute !== text.attribute) return null;
  const inputs = coded.inputs.map((input) =>
    input.suffix === 'code' ? { ...input, listOpen: true } : input,
  );
  const node = nodeCopy(coded);
  node.nodeId = undefined;
  setId(node, element.baseId);
  node.min = element.min;
  node.max = element.max;
  node.inputs = [...inputs, { suffix: 'other', type: 'TEXT' }];
  return node;
}

function isDropped(node: NodeDraft): boolean {
  const { parent } = node;
  if (parent === null) return false;
  return (
    isHiddenAttribute(node, parent) ||
    DROPPED_TYPES.has(node.rmType) ||
    isOnlyEvent(node, parent) ||
    parent.rmType === 'DV_SCALE' ||
    (node.rmType === 'CODE_PHRASE' && parent.rmType === 'DV_CODED_TEXT')
  );
}

function isHiddenAttribute(node: NodeDraft, parent: NodeDraft): boolean {
  if (node.name !== node.attribute) return false;
  if (DROPPED_NAMES.has(node.name)) return true;
  if (node.min > 0) return false;
  return !KEPT_ATTRIBUTES.some(
    ([rmClass, attribute]) => attribute === node.attribute && isKindOf(parent.rmType, rmClass),
  );
}

function isOnlyEvent(node: NodeDraft, parent: NodeDraft): boolean {
  const isEvent = (candidate: NodeDraft) => isKindOf(candidate.rmType, 'EVENT');
  return isEvent(node) && node.max === 1 && parent.children.filter(isEvent).length === 1;
}

function nodeCopy(node: NodeDraft): NodeDraft {
  const copy: NodeDraft = { ...node, children: [], parent: null, full: node };
  copy.cardinalities = undefined;
  copy.filtered = copy;
  node.filtered = copy;
  return copy;
}

function adopt(parent: NodeDraft, children: NodeDraft[]): void {
  parent.children = children;
  for (const child of children) child.parent = parent;
}

/** Ids, cardinalities and labels, once the whole tree stands. */
function finishFiltered(tree: NodeDraft, root: NodeDraft, withEnglish: boolean): void {
  numberFilteredChildren(tree);
  moveCardinalities(root, null);
  setCardinalities(tree, (node) => representative(node)?.id ?? null);
  eachNode(tree, (node) => {
    node.inputs = node.inputs.map((input) => shownInput(input, node, withEnglish));
  });
}

function numberFilteredChildren(node: NodeDraft): void {
  numberIds(node.children);
  for (const child of node.children) numberFilteredChildren(child);
}

/** Cardinalities of a node that was dropped count for the node that took over its children. */
function moveCardinalities(node: NodeDraft, above: NodeDraft | null): void {
  const shown = node.filtered ?? above;
  if (shown !== null && shown !== node.filtered && node.cardinalityDrafts.length > 0)
    shown.cardinalityDrafts = [...shown.cardinalityDrafts, ...node.cardinalityDrafts];
  for (const child of node.children) moveCardinalities(child, shown);
}

/** The filtered node of a node, or of the only one of its children that has one. */
function representative(node: NodeDraft): NodeDraft | null {
  if (node.filtered !== null) return node.filtered;
  const below = node.children.map(representative).filter((found) => found !== null);
  return below.length === 1 ? (below[0] ?? null) : null;
}

function shownInput(input: WebTemplateInput, node: NodeDraft, withEnglish: boolean): WebTemplateInput {
  const { terminology, ...rest } = input;
  const shown = node.rmType === 'DV_ORDINAL' || terminology === undefined ? rest : { ...rest, terminology };
  if (withEnglish || terminology !== 'openehr' || input.list === undefined) return shown;
  return { ...shown, list: input.list.map(withoutEnglish) };
}

function withoutEnglish(item: WebTemplateListItem): WebTemplateListItem {
  if (item.localizedLabels === undefined) return item;
  const labels = Object.entries(item.localizedLabels).filter(([language]) => language !== 'en');
  return { ...item, localizedLabels: Object.fromEntries(labels) };
}

function eachNode(node: NodeDraft, visit: (node: NodeDraft) => void): void {
  visit(node);
  for (const child of node.children) eachNode(child, visit);
}

import { isLocatable, withoutParameters } from '../../rm/model/classes.js';
import type {
  AttributeConstraint,
  Constraint,
  OperationalTemplate,
  PrimitiveConstraint,
} from '../opt/constraint.js';
import { finishElement, markChoices } from './element-node.js';
import {
  assignPaths,
  idOf,
  newNode,
  numberIds,
  setId,
  type CardinalityDraft,
  type NodeDraft,
} from './node-draft.js';
import { setInputs } from './node-inputs.js';
import { applyAnnotations, applyDefaults } from './node-match.js';
import { givenNames, isNameAttribute, nameTwins, setTexts, type GivenName } from './node-text.js';
import { addRmAttributes, isContainer, markInContext } from './rm-attributes.js';
import { Scope } from './scope.js';
import type { WebTemplateListItem } from './web-template.js';
import { memoized } from '../../base/maps.js';

/** Builds the full tree of a template: every RM object it describes (docs/spec/formats.md#children-and-choices). */
export function fullTree(opt: OperationalTemplate): NodeDraft {
  const parent: ParentAttribute = { attribute: null, parent: null };
  const scope = Scope.of(opt);
  const [root] = constraintNodes(opt.definition, parent, scope);
  if (root === undefined) throw new Error('a definition always gives a node');
  root.nameConstraint = null;
  numberBelow(root);
  assignPaths(root, '');
  countPaths(root, scope);
  setCardinalities(root, (node) => node.id);
  applyAnnotations(root, opt);
  applyDefaults(root, opt);
  return root;
}

/** A path repeats the names of all nodes above. */
function countPaths(node: NodeDraft, scope: Scope): void {
  scope.countText(node.aqlPath.length);
  for (const child of node.children) countPaths(child, scope);
}

interface ParentAttribute {
  readonly attribute: AttributeConstraint | null;
  readonly parent: NodeDraft | null;
}

/** One node per name that the template lists, else one (docs/spec/formats.md#names-and-paths). */
function constraintNodes(constraint: Constraint, above: ParentAttribute, outer: Scope): NodeDraft[] {
  const scope = constraint.kind === 'object' ? outer.below(constraint) : outer;
  const names = isLocatable(constraint.rmType) ? givenNames(constraint, scope) : [];
  if (names.length === 0) return [constraintNode(constraint, above, scope, null)];
  return names.map((name) => constraintNode(constraint, above, scope, name));
}

function constraintNode(
  constraint: Constraint,
  above: ParentAttribute,
  scope: Scope,
  given: GivenName | null,
): NodeDraft {
  scope.count();
  scope.countText((given?.text.length ?? 0) + listedText(constraint));
  const node = startNode(constraint, above);
  if (isLocatable(constraint.rmType) && (constraint.nodeId !== '' || given !== null))
    identify(node, constraint, given, scope);
  else node.localizedName = node.name;
  if (constraint.kind === 'object') addChildren(node, constraint.attributes, scope);
  finishNode(node, scope);
  return node;
}

/** Node id, texts and id of a LOCATABLE. */
function identify(node: NodeDraft, constraint: Constraint, given: GivenName | null, scope: Scope): void {
  const { nodeId } = constraint;
  const archetype = constraint.kind === 'object' ? constraint.archetype : null;
  node.archetypeNodeId = archetype?.archetypeId ?? (nodeId === '' ? null : nodeId);
  if (node.archetypeNodeId !== null) node.nodeId = node.archetypeNodeId;
  node.nameConstraint = given?.text ?? null;
  node.nameCode = given?.code ?? null;
  setTexts(node, nodeId, given, scope);
  setId(node, idOf(node.name));
}

function startNode(constraint: Constraint, { attribute, parent }: ParentAttribute): NodeDraft {
  const name = attribute?.name ?? '';
  const container = isContainer(parent?.rmType ?? '', name);
  const node = newNode(
    {
      ...{ id: name, name, rmType: constraint.rmType, attribute: name, constraint },
      ...{ min: constraint.occurrences.min, max: constraint.occurrences.max },
      multiple: container ?? attribute?.multiple ?? false,
    },
    parent,
  );
  if (attribute?.multiple === false && attribute.existence.min === 0) node.existenceMin = 0;
  return node;
}

function addChildren(node: NodeDraft, attributes: readonly AttributeConstraint[], scope: Scope): void {
  const cardinalities: CardinalityDraft[] = [];
  for (const attribute of attributes) {
    if (isNameAttribute(attribute)) continue;
    const children = attributeNodes(attribute, node, scope);
    node.children.push(...children);
    const { cardinality } = attribute;
    if (cardinality !== null && isNarrow(cardinality.min, cardinality.max, children.length))
      cardinalities.push({ min: cardinality.min, max: cardinality.max, nodes: children });
  }
  if (cardinalities.length > 0) node.cardinalityDrafts = cardinalities;
}

function isNarrow(min: number, max: number, children: number): boolean {
  return min > 1 || (max !== -1 && max < children);
}

function attributeNodes(attribute: AttributeConstraint, parent: NodeDraft, scope: Scope): NodeDraft[] {
  const nodes = attribute.children
    .filter((child) => child.kind !== 'primitive')
    .flatMap((child) => constraintNodes(child, { attribute, parent }, scope));
  nameTwins(nodes);
  return parent.rmType === 'ACTION' && attribute.name === 'ism_transition' ? mergeTransitions(nodes) : nodes;
}

/**
 * What a node needs once the children from the template are there (docs/spec/formats.md#children-and-choices,
 * rules 2 to 8).
 */
function finishNode(node: NodeDraft, scope: Scope): void {
  markChoices(node);
  if (withoutParameters(node.rmType) === 'ELEMENT') finishElement(node);
  for (const child of node.children) if (child.constraint === null) finishAdded(child, scope);
  for (const added of addRmAttributes(node)) finishAdded(added, scope);
  markInContext(node);
  setInputs(node, scope);
}

function finishAdded(node: NodeDraft, scope: Scope): void {
  const { name, localizedName = '', localizedNames = {}, localizedDescriptions = {} } = node;
  const texts = [
    name,
    localizedName,
    ...Object.values(localizedNames),
    ...Object.values(localizedDescriptions),
  ];
  scope.countAdded(sumOf(texts.map((text) => text.length)));
  finishNode(node, scope);
}

function numberBelow(node: NodeDraft): void {
  numberIds(node.children);
  for (const child of node.children) numberBelow(child);
}

/** Fills in the cardinalities below a node; `idIn` gives the id of a node in the tree that is being completed. */
export function setCardinalities(node: NodeDraft, idIn: (node: NodeDraft) => string | null): void {
  if (node.cardinalityDrafts.length > 0)
    node.cardinalities = node.cardinalityDrafts.map(({ min, max, nodes }) => ({
      min,
      max,
      ids: nodes.map(idIn).filter((id) => id !== null),
    }));
  for (const child of node.children) setCardinalities(child, idIn);
}

/**
 * Merges the alternatives of `ism_transition` into the first of them: one careflow step per alternative with the
 * states it leads to, and all states (docs/spec/formats.md#added-attributes).
 */
function mergeTransitions(alternatives: readonly NodeDraft[]): NodeDraft[] {
  const [first] = alternatives;
  if (first === undefined) return [];
  first.localizedName = undefined;
  const steps: WebTemplateListItem[] = [];
  const states = new Map<string, WebTemplateListItem>();
  for (const alternative of alternatives) {
    const leadsTo = transitionCodes(alternative, 'current_state');
    for (const state of leadsTo) if (!states.has(state.value)) states.set(state.value, state);
    const currentStates = leadsTo.map((state) => state.value);
    for (const step of transitionCodes(alternative, 'careflow_step'))
      steps.push(currentStates.length > 0 ? { ...step, currentStates } : step);
  }
  setCodes(childOf(first, 'careflow_step'), 'Careflow_step', steps, 'local');
  setCodes(childOf(first, 'current_state'), 'Current_state', [...states.values()], 'openehr');
  return [first];
}

function childOf(transition: NodeDraft, attribute: string): NodeDraft | undefined {
  return transition.children.find((candidate) => candidate.attribute === attribute);
}

function transitionCodes(transition: NodeDraft, attribute: string): readonly WebTemplateListItem[] {
  return childOf(transition, attribute)?.inputs.find((input) => input.suffix === 'code')?.list ?? [];
}

function setCodes(
  node: NodeDraft | undefined,
  name: string,
  list: readonly WebTemplateListItem[],
  terminology: string,
): void {
  if (node === undefined) return;
  node.name = name;
  node.localizedName = undefined;
  if (list.length === 0) return;
  node.inputs = [{ suffix: 'code', type: 'CODED_TEXT', list, terminology }];
  // The CODE_PHRASE below still is that of the first alternative.
  node.children = node.children.filter((below) => below.attribute !== 'defining_code');
}

/** What an entry of a list costs beside its own text. */
const ENTRY = 20;

/** About how many characters the values that a constraint lists take in the inputs of its node. */
const listedText: (constraint: Constraint) => number = memoized((constraint: Constraint) => {
  switch (constraint.kind) {
    case 'object':
      return sumOf(constraint.attributes.flatMap(({ children }) => children.map(primitiveText)));
    case 'code-phrase':
      return totalTextLength(constraint.codes);
    case 'quantity':
      return totalTextLength(constraint.units.map(({ units }) => units));
    case 'ordinal':
      return totalTextLength(constraint.options.map(({ text }) => text));
    default:
      return 0;
  }
});

function primitiveText(child: Constraint): number {
  return child.kind === 'primitive' ? itemText(child.item) : 0;
}

function itemText(item: PrimitiveConstraint): number {
  if (item.kind === 'string') return totalTextLength(item.list) + (item.pattern?.length ?? 0);
  return 'list' in item ? item.list.length * ENTRY : 0;
}

function totalTextLength(texts: readonly string[]): number {
  return sumOf(texts.map((text) => text.length + ENTRY));
}

function sumOf(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

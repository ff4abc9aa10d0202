import { groupBy } from '../../base/maps.js';
import { attributesOf, isKindOf, withoutParameters } from '../../rm/model/classes.js';
import type { AttributeConstraint, CardinalityConstraint, SlotConstraint } from '../opt/constraint.js';
import { valueSetUrl } from './code-check.js';
import type { Scope } from '../web-template/scope.js';
import { slotCheck, type SlotCheck } from '../opt/slot.js';
import { nameCheck } from './name-check.js';
import { allOf, valueCheck, type ValueCheck } from './value-check.js';
import type { WebTemplateNode } from '../web-template/web-template.js';
import { counted } from '../../base/work.js';

/** What one RM object of a composition must be like: prepared once per template for `openehr/template/validate.ts`. */
export interface ObjectMatcher {
  readonly node: WebTemplateNode;
  /** RM class without parameters. */
  readonly rmType: string;
  readonly attributes: ReadonlyMap<string, AttributeMatcher>;
  /** The attributes that have something to say when they are missing. */
  readonly expected: readonly AttributeMatcher[];
  /** Objects that the template does not mention may stand below. */
  readonly isOpen: boolean;
  readonly check: ValueCheck | null;
  /** URL of the FHIR value set that the code must be in, which only a terminology server knows; else null. */
  readonly valueSetUrl: string | null;
}

/** What the value or the values of one attribute must be like. */
export interface AttributeMatcher {
  readonly name: string;
  /** Least number of values of a single attribute; 0 for containers, whose children are counted. */
  readonly min: number;
  /** The attribute must not be there. */
  readonly isForbidden: boolean;
  /** Any value will do. */
  readonly isOpen: boolean;
  readonly byNodeId: ReadonlyMap<string, readonly ChildMatcher[]>;
  /** Values without node id: alternatives. */
  readonly values: readonly ChildMatcher[];
  /** The template names no value: the alternatives are those that forms offer, and any other DATA_VALUE will do. */
  readonly takesOthers: boolean;
  readonly slots: readonly SlotMatcher[];
  /** Everything that is counted in a container, by index. */
  readonly counted: readonly Counted[];
  readonly cardinality: CardinalityConstraint | null;
}

/** What is counted in a container. */
export interface Counted {
  /** Place in the list of counts. */
  readonly index: number;
  readonly min: number;
  /** -1 = any number. */
  readonly max: number;
  /** Archetype id or at-code; the class of a node that has none. */
  readonly nodeId: string;
  /** Node id and name as a violation shows them. */
  readonly label: string;
}

/** A child object of the template. */
export interface ChildMatcher extends Counted {
  /** Names that the object may carry, null = any. */
  readonly names: ReadonlySet<string> | null;
  readonly matcher: ObjectMatcher;
}

/** A slot of the template. */
export interface SlotMatcher extends Counted {
  readonly node: WebTemplateNode;
  readonly constraint: SlotConstraint;
  readonly names: ReadonlySet<string> | null;
  readonly rmType: string;
  readonly allows: SlotCheck;
}

/** Prepares the full tree for validation (docs/spec/formats.md#template-rules). `outer`: the archetype around the node. */
export function matcherOf(node: WebTemplateNode, outer: Scope): ObjectMatcher {
  const scope = node.constraint?.kind === 'object' ? outer.below(node.constraint) : outer;
  const attributes = new Map<string, AttributeMatcher>();
  const constraints = attributeConstraints(node);
  const known = attributesOf(withoutParameters(node.rmType));
  const names = new Set([...constraints.keys(), ...counted(node.children).map((child) => child.attribute)]);
  for (const name of counted(names)) {
    // The codes of a coded text are checked with it, and functions of the RM (`offset`) are not in the data.
    if (name === 'name' || name === 'defining_code' || !known.has(name)) continue;
    const matcher = attributeMatcher(name, node, constraints.get(name) ?? null, scope);
    if (matcher !== null) attributes.set(name, matcher);
  }
  return {
    node,
    rmType: withoutParameters(node.rmType),
    attributes,
    expected: counted([...attributes.values()]).filter(hasMinimum),
    isOpen: isOpenObject(node, constraints),
    check: allOf(valueCheck(node, scope), nameCheck(node)),
    valueSetUrl: valueSetUrlOf(node),
  };
}

/** Of a CODE_PHRASE itself, when no DV_CODED_TEXT around it takes over its inputs. */
function valueSetUrlOf(node: WebTemplateNode): string | null {
  const terminology = counted(node.inputs).find((input) => input.suffix === 'code')?.terminology;
  return terminology === undefined ? null : valueSetUrl(terminology);
}

function attributeConstraints(node: WebTemplateNode): Map<string, AttributeConstraint> {
  const attributes = node.constraint?.kind === 'object' ? node.constraint.attributes : [];
  return new Map(counted(attributes).map((attribute) => [attribute.name, attribute]));
}

/** An object without constraints may hold anything; of the RM attributes that were added only `context` may not. */
function isOpenObject(node: WebTemplateNode, constraints: ReadonlyMap<string, AttributeConstraint>): boolean {
  if (node.constraint === null) return node.attribute !== 'context';
  return constraints.size === 0 || (constraints.size === 1 && constraints.has('name'));
}

function hasMinimum({ min, counted: children, cardinality }: AttributeMatcher): boolean {
  return (
    min > 0 ||
    counted(children).some((child) => child.min > 0) ||
    (cardinality !== null && cardinality.min > 0)
  );
}

function attributeMatcher(
  name: string,
  node: WebTemplateNode,
  constraint: AttributeConstraint | null,
  scope: Scope,
): AttributeMatcher | null {
  const nodes = counted(node.children).filter((child) => child.attribute === name);
  const isForbidden = constraint?.existence.max === 0;
  if (nodes.length === 0 && hasPrimitives(constraint) && !isForbidden) return null;
  const isMultiple = nodes[0]?.multiple ?? constraint?.multiple ?? false;
  const counts = countedNodes(nodes);
  const place = {
    name,
    isForbidden,
    isOpen: nodes.length === 0,
    takesOthers: takesOthers(node, nodes),
    ...sortedCandidates(nodes, counts, scope),
  };
  return isMultiple
    ? { ...place, min: 0, counted: [...new Set(counts)], cardinality: constraint?.cardinality ?? null }
    : { ...place, min: leastOf(nodes, constraint), counted: [], cardinality: null };
}

/** The least number of values of a single attribute; where the template names none, as it says of the attribute itself. */
function leastOf(nodes: readonly WebTemplateNode[], constraint: AttributeConstraint | null): number {
  if (nodes.length === 0) return constraint?.existence.min ?? 0;
  return Math.min(1, ...counted(nodes).map(minimumOf));
}

function takesOthers({ rmType }: WebTemplateNode, values: readonly WebTemplateNode[]): boolean {
  return rmType === 'ELEMENT' && counted(values).every((child) => child.constraint === null);
}

function hasPrimitives(constraint: AttributeConstraint | null): boolean {
  return counted(constraint?.children)?.some((child) => child.kind === 'primitive') ?? false;
}

/** The nodes of an attribute by the way in which values find them. */
function sortedCandidates(
  nodes: readonly WebTemplateNode[],
  counts: readonly Counted[],
  scope: Scope,
): Pick<AttributeMatcher, 'byNodeId' | 'values' | 'slots'> {
  const byNodeId = new Map<string, ChildMatcher[]>();
  const values: ChildMatcher[] = [];
  const slots: SlotMatcher[] = [];
  for (const [index, child] of counted(nodes).entries()) {
    const own = { ...(counts[index] ?? countedOf(child, index)), names: allowedNames(child) };
    const { constraint } = child;
    if (constraint?.kind === 'slot')
      slots.push({ ...own, node: child, constraint, rmType: child.rmType, allows: slotCheck(constraint) });
    else if (child.archetypeNodeId === null) values.push({ ...own, matcher: matcherOf(child, scope) });
    else {
      const twins = byNodeId.get(child.archetypeNodeId) ?? [];
      byNodeId.set(child.archetypeNodeId, [...twins, { ...own, matcher: matcherOf(child, scope) }]);
    }
  }
  return { byNodeId, values, slots };
}

/** The RM itself asks for the attributes that were added (docs/spec/formats.md#validation-stages, 4). */
function minimumOf(node: WebTemplateNode): number {
  return node.constraint === null ? 0 : node.existenceMin;
}

/**
 * What each node counts for, one after the other. Siblings with the same node id and name count together
 * and share it.
 */
function countedNodes(nodes: readonly WebTemplateNode[]): Counted[] {
  const groups = groupBy(nodes, (node) => (hasTwin(node) ? twinKey(node) : node));
  const counts = new Map<WebTemplateNode, Counted>();
  for (const [index, group] of counted([...groups.values()]).entries()) {
    const [first, ...others] = group;
    if (first === undefined) continue;
    const sum = counted(others).reduce(
      (before, node) => countedTogether(before, countedOf(node, index)),
      countedOf(first, index),
    );
    for (const node of counted(group)) counts.set(node, sum);
  }
  return counted(nodes).map((node, index) => counts.get(node) ?? countedOf(node, index));
}

/** Whether data name the node, so that there may be another one of that name. */
function hasTwin(node: WebTemplateNode): boolean {
  return !node.isSlot && node.archetypeNodeId !== null && node.nameConstraint !== null;
}

function twinKey({ archetypeNodeId, nameConstraint }: WebTemplateNode): string {
  return JSON.stringify([archetypeNodeId, nameConstraint]);
}

function countedTogether(one: Counted, other: Counted): Counted {
  const max = one.max === -1 || other.max === -1 ? -1 : one.max + other.max;
  return { ...one, min: one.min + other.min, max };
}

function countedOf(node: WebTemplateNode, index: number): Counted {
  const nodeId = node.archetypeNodeId ?? node.rmType;
  const label = node.name === node.attribute ? nodeId : `${nodeId} ${node.name}`;
  return { index, nodeId, min: node.constraint === null ? 0 : node.existenceMin, max: node.max, label };
}

function allowedNames(node: WebTemplateNode): ReadonlySet<string> | null {
  if (node.nameConstraint === null) return null;
  return new Set([node.nameConstraint, ...Object.values(node.localizedNames ?? {})]);
}

/** Whether an object of a class may stand where a class is asked for. */
export function conforms(rmType: string, asked: string): boolean {
  return rmType === asked || isKindOf(rmType, asked);
}

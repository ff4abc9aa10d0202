import type { Constraint } from '../opt/constraint.js';
import type { WebTemplateFields, WebTemplateInput, WebTemplateNode } from './web-template.js';

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };
type OwnFields = Omit<WebTemplateNode, 'children' | 'parent' | 'full' | 'filtered'>;

/** A container cardinality before the ids of the children are known. */
export interface CardinalityDraft {
  readonly min: number;
  readonly max: number;
  readonly nodes: readonly NodeDraft[];
}

/** A web template node while its tree is being built. */
export interface NodeDraft extends Mutable<OwnFields> {
  children: NodeDraft[];
  parent: NodeDraft | null;
  full: NodeDraft;
  filtered: NodeDraft | null;
  /** Id without the number that makes it unique among its siblings. */
  baseId: string;
  cardinalityDrafts: readonly CardinalityDraft[];
}

/** What has to be known to start a node; the rest has defaults. */
export type NodeSeed = Pick<WebTemplateFields, 'id' | 'name' | 'rmType' | 'min' | 'max'> & {
  readonly attribute: string;
  readonly multiple: boolean;
  readonly constraint?: Constraint;
};

/** A node without children that stands for itself in the full tree. All nodes have the same fields in one order. */
export function newNode(seed: NodeSeed, parent: NodeDraft | null): NodeDraft {
  const { id, name, rmType, min, max, attribute, multiple, constraint = null } = seed;
  const node: Omit<NodeDraft, 'full'> & { full: NodeDraft | null } = {
    id,
    name,
    localizedName: undefined,
    rmType,
    nodeId: undefined,
    min,
    max,
    localizedNames: undefined,
    localizedDescriptions: undefined,
    aqlPath: '',
    children: [],
    inputs: NO_INPUTS,
    inContext: undefined,
    annotations: undefined,
    proportionTypes: undefined,
    cardinalities: undefined,
    parent,
    full: null,
    filtered: null,
    attribute,
    multiple,
    archetypeNodeId: null,
    nameConstraint: null,
    nameCode: null,
    constraint,
    isSlot: constraint?.kind === 'slot',
    isChoice: false,
    existenceMin: min,
    baseId: id,
    cardinalityDrafts: NO_CARDINALITIES,
  };
  return standingForItself(node);
}

const NO_INPUTS: readonly WebTemplateInput[] = [];
const NO_CARDINALITIES: readonly CardinalityDraft[] = [];

function standingForItself(node: Omit<NodeDraft, 'full'> & { full: NodeDraft | null }): NodeDraft {
  node.full = node as NodeDraft;
  return node as NodeDraft;
}

/** Gives a node its id; numbering among siblings starts from it. */
export function setId(node: NodeDraft, id: string): void {
  node.baseId = id;
  node.id = id;
}

/**
 * The FLAT id of a name (docs/spec/formats.md#node-ids): other characters than letters, digits and `._-` become `_`,
 * lower case, a leading digit is preceded by `a`.
 */
export function idOf(name: string): string {
  const id = name
    .replace(/[^\p{L}0-9._-]/gu, ' ')
    .replace(/\s+/g, ' ')
    .trim()
    .replaceAll(' ', '_')
    .toLowerCase();
  return /^[0-9]/.test(id) ? `a${id}` : id;
}

/** `quantity_value` for DV_QUANTITY: the id of one of several data types. */
export function choiceId(rmType: string): string {
  return `${rmType.replace(/^DV_/, '').toLowerCase()}_value`;
}

/** Numbers the 2nd, 3rd … child with the same id (docs/spec/formats.md#node-ids). */
export function numberIds(children: readonly NodeDraft[]): void {
  const counts = new Map<string, number>();
  for (const child of children) {
    const count = (counts.get(child.baseId) ?? 0) + 1;
    counts.set(child.baseId, count);
    child.id = count === 1 ? child.baseId : `${child.baseId}${count}`;
  }
}

/** Sets the aqlPath of a node and of everything below it (docs/spec/formats.md#names-and-paths). */
export function assignPaths(node: NodeDraft, path: string): void {
  node.aqlPath = path;
  for (const child of node.children) assignPaths(child, `${path}/${child.attribute}${predicate(child)}`);
}

function predicate(node: NodeDraft): string {
  if (node.archetypeNodeId === null) return '';
  if (node.nameConstraint === null) return `[${node.archetypeNodeId}]`;
  const name = node.nameConstraint.replaceAll("'", "\\'");
  return `[${node.archetypeNodeId} and name/value='${name}']`;
}

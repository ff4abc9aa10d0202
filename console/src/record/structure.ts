import { at, isObject, items, textAt } from '../api/json.js';
import type { Json, JsonObject } from '../api/types.js';

/** Attributes that say what a node is, not what was recorded. */
const META = new Set([
  '_type',
  'name',
  'archetype_node_id',
  'archetype_details',
  'uid',
  'language',
  'encoding',
  'category',
  'territory',
  'composer',
  'context',
]);
/** Attributes whose objects hold others and say nothing themselves. */
const PASSED = new Set([
  'data',
  'state',
  'protocol',
  'description',
  'items',
  'events',
  'content',
  'rows',
  'item',
  'activities',
  'other_context',
  'other_details',
]);
/** Classes that only hold what is below them. */
const SILENT = new Set(['HISTORY', 'ITEM_TREE', 'ITEM_LIST', 'ITEM_SINGLE', 'ITEM_TABLE', 'ITEM_STRUCTURE']);

/** A node of a record that has a name. */
export function isLocatable(value: Json | undefined): value is JsonObject {
  return isObject(value) && 'archetype_node_id' in value;
}

/** Whether a class is shown by what it holds alone. */
export function isSilent(node: JsonObject): boolean {
  return SILENT.has(textAt(node, '_type'));
}

/** What a node holds that stands under headings of its own, in order, without its asides. */
export function childrenOf(node: JsonObject): JsonObject[] {
  return Object.entries(node).flatMap(([name, value]) =>
    META.has(name) || !PASSED.has(name) || isAside(name) ? [] : nodesOf(value),
  );
}

/** Attributes that say how and under which conditions something was recorded. */
const ASIDES = ['state', 'protocol'] as const;

/** Name of such an attribute. */
export type Aside = (typeof ASIDES)[number];

/** What is said of the patient meanwhile, and of how it was done, in whatever order the members came. */
export function asidesOf(node: JsonObject): [Aside, JsonObject[]][] {
  return ASIDES.map((name): [Aside, JsonObject[]] => [name, nodesOf(node[name])]).filter(([, nodes]) =>
    nodes.some((each) => childrenOf(each).length > 0),
  );
}

function isAside(name: string): boolean {
  return (ASIDES as readonly string[]).includes(name);
}

function nodesOf(value: Json | undefined): JsonObject[] {
  return (Array.isArray(value) ? value : [value]).filter(isLocatable);
}

/** What a node says of itself: attributes that are neither its name nor nodes with a name. */
export function factsOf(node: JsonObject): [string, Json][] {
  return Object.entries(node).flatMap(([name, value]): [string, Json][] => {
    if (META.has(name) || value === undefined || value === null) return [];
    if (name === 'subject' && isSelf(value)) return [];
    const values: readonly Json[] = Array.isArray(value) ? value : [value];
    if (PASSED.has(name) && values.every(isLocatable)) return [];
    return values.map((each): [string, Json] => [name, each]);
  });
}

/** The patient himself, without a reference: what nearly every entry says. */
function isSelf(value: Json): boolean {
  return textAt(value, '_type') === 'PARTY_SELF' && at(value, 'external_ref') === undefined;
}

/** Children in groups: a run of clusters of one kind with nothing but elements is a table. */
export function groupsOf(children: readonly JsonObject[]): JsonObject[][] {
  const groups: JsonObject[][] = [];
  for (const child of children) {
    const last = groups.at(-1);
    if (last !== undefined && isFlatCluster(child) && isSameKind(last[0], child)) last.push(child);
    else groups.push([child]);
  }
  return groups;
}

function isFlatCluster(node: JsonObject): boolean {
  const parts = items(at(node, 'items'));
  return (
    textAt(node, '_type') === 'CLUSTER' &&
    parts.length > 0 &&
    parts.every((part) => textAt(part, '_type') === 'ELEMENT')
  );
}

function isSameKind(left: JsonObject | undefined, right: JsonObject): boolean {
  return left !== undefined && isFlatCluster(left) && left.archetype_node_id === right.archetype_node_id;
}

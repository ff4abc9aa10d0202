import { CdrError } from '../../base/errors.js';
import { isJsonObject, type JsonObject } from '../../base/json.js';
import { nameOf } from '../../rm/access.js';
import type { WebTemplateNode } from '../web-template/web-template.js';

/** One step of a path: an attribute, and which of its objects. */
interface PathStep {
  readonly attribute: string;
  readonly nodeId: string | null;
  readonly name: string | null;
}

/** A path as `aqlPath` of web templates has it. */
export type RulePath = readonly PathStep[];

const STEP = /\/(\w+)(?:\[([^\]\s,]+)(?:(?:\s+and\s+name\/value\s*=\s*|\s*,\s*)'((?:[^'\\]|\\.)*)')?\])?/y;

/** Reads a path. @throws invalid when it is none */
export function rulePath(text: string): RulePath {
  const steps: PathStep[] = [];
  const reader = new RegExp(STEP);
  while (reader.lastIndex < text.length) {
    const match = reader.exec(text);
    if (match === null) throw new CdrError('invalid', `${text} is no path of a web template`);
    const [, attribute = '', nodeId = null, name = null] = match as (string | undefined)[];
    steps.push({ attribute, nodeId, name: name?.replace(/\\(.)/g, '$1') ?? null });
  }
  if (steps.length === 0) throw new CdrError('invalid', 'a path of a web template is empty');
  return steps;
}

/** The nodes of a full tree at a path: several where it leaves a choice. */
export function nodesAt(root: WebTemplateNode, path: RulePath): readonly WebTemplateNode[] {
  let nodes: readonly WebTemplateNode[] = [root];
  for (const step of path)
    nodes = nodes.flatMap(({ children }) => children.filter((child) => isNodeOf(child, step)));
  return nodes;
}

/** The first of them; null when there is none. */
export function nodeAt(root: WebTemplateNode, path: RulePath): WebTemplateNode | null {
  return nodesAt(root, path)[0] ?? null;
}

function isNodeOf(node: WebTemplateNode, { attribute, nodeId, name }: PathStep): boolean {
  if (node.attribute !== attribute || node.archetypeNodeId !== nodeId) return false;
  return name === null || node.nameConstraint === name;
}

/** Objects from the first one down a path, each in the one before. */
export type Chain = readonly JsonObject[];

/** What stands at a path below an object. */
export function chainsAt(object: JsonObject, path: RulePath): Chain[] {
  const [step, ...rest] = path;
  if (step === undefined) return [[object]];
  const value = object[step.attribute];
  return (Array.isArray(value) ? value : [value])
    .filter(isJsonObject)
    .filter((child) => isAt(child, step))
    .flatMap((child) => chainsAt(child, rest).map((chain) => [object, ...chain]));
}

function isAt(object: JsonObject, { nodeId, name }: PathStep): boolean {
  if (nodeId !== null && object.archetype_node_id !== nodeId) return false;
  return name === null || nameOf(object) === name;
}

/** How many first steps two paths have in common. */
export function commonLength(one: RulePath, other: RulePath): number {
  const different = one.findIndex((step, index) => JSON.stringify(step) !== JSON.stringify(other[index]));
  return different < 0 ? one.length : different;
}

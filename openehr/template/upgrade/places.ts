import type { JsonObject, JsonValue } from '../../base/json.js';
import type { WebTemplateNode } from '../web-template/web-template.js';
import { chainsAt, nodeAt, type Chain, type RulePath } from './path.js';
import { detailsOf, emptyNode, nameIn } from './values.js';

/** Takes the last object of a chain out of the one before, and with it what it leaves empty; the first one stays. */
export function takeOut(chain: Chain, path: RulePath): void {
  for (let depth = chain.length - 1; depth > 0; depth -= 1) {
    const [holder, object] = [chain[depth - 1], chain[depth]];
    const step = path[depth - 1];
    if (holder === undefined || object === undefined || step === undefined) return;
    removeFrom(holder, step.attribute, object);
    if (!isEmptied(holder)) return;
  }
}

function removeFrom(holder: JsonObject, attribute: string, object: JsonObject): void {
  const value = holder[attribute];
  const left = Array.isArray(value) ? value.filter((item) => item !== object) : [];
  if (left.length > 0) holder[attribute] = left;
  else Reflect.deleteProperty(holder, attribute);
}

/** What means nothing once all that stood in it is gone. */
function isEmptied(object: JsonObject): boolean {
  if (object._type === 'ELEMENT') return object.value === undefined && object.null_flavour === undefined;
  return object._type === 'CLUSTER' && object.items === undefined;
}

/** Where something is put: a template, and the language in which what is made on the way is named. */
interface Target {
  readonly tree: WebTemplateNode;
  /** The whole path; the object stands at its first `from` steps. */
  readonly path: RulePath;
  readonly from: number;
  readonly language: string;
}

/** Puts an object at the rest of a path below another, and makes what is missing on the way. Gives why it cannot; null: it did. */
export function putIn(holder: JsonObject, object: JsonObject, target: Target): string | null {
  const { tree, path, from, language } = target;
  const step = path[from];
  const node = nodeAt(tree, path.slice(0, from + 1));
  if (step === undefined || node === null) return 'the path ends before the object';
  if (from === path.length - 1) return attach(holder, identified(object, node, language), node);
  const [known] = chainsAt(holder, [step]);
  const next = known?.[1];
  if (next !== undefined) return putIn(next, object, { ...target, from: from + 1 });
  const made = emptyNode(node, language);
  if (made === null) return `${node.aqlPath} is not there, and cannot be made`;
  const problem = putIn(made, object, { ...target, from: from + 1 });
  return problem ?? attach(holder, made, node);
}

function attach(
  holder: JsonObject,
  object: JsonObject,
  { attribute, multiple, aqlPath }: WebTemplateNode,
): string | null {
  const value = holder[attribute];
  if (multiple) holder[attribute] = [...(Array.isArray(value) ? value : []), object];
  else if (value === undefined) holder[attribute] = object;
  else return `${aqlPath} is there already`;
  return null;
}

/** The node that an object is at its new place. */
function identified(object: JsonObject, node: WebTemplateNode, language: string): JsonObject {
  const { archetypeNodeId, nameConstraint } = node;
  if (archetypeNodeId === null) return object;
  if (object.archetype_node_id === archetypeNodeId && nameConstraint === null) return object;
  const name: JsonValue = { _type: 'DV_TEXT', value: nameIn(node, language) };
  return { ...object, name, archetype_node_id: archetypeNodeId, ...detailsOf(node) };
}

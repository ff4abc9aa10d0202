import type { WebTemplate, WebTemplateNode } from '@everchart/client';
import { isObject, textAt } from '../api/json.js';
import type { Json } from '../api/types.js';
import { isLocatable } from '../record/structure.js';

/**
 * Names of what a document holds in slots that its template does not describe. A form would not show it and FLAT would
 * not carry it: whoever saved the form would lose it.
 */
export function unknownContent(template: WebTemplate, composition: Json): string[] {
  const known = new Set<string>();
  collect(template.tree, known);
  const found: string[] = [];
  const visit = (value: Json | undefined, path: string): void => {
    if (Array.isArray(value)) {
      for (const each of value) visit(each, path);
      return;
    }
    if (!isObject(value)) return;
    const at = isLocatable(value) && path !== '' ? `${path}[${textAt(value, 'archetype_node_id')}]` : path;
    if (isRecorded(value) && !known.has(at)) {
      found.push(textAt(value, 'name', 'value'));
      return;
    }
    for (const [name, member] of Object.entries(value)) if (!ASIDE.has(name)) visit(member, `${at}/${name}`);
  };
  visit(composition, '');
  return found;
}

/** Attributes whose objects FLAT carries by keys of its own. */
const ASIDE = new Set(['name', 'uid', 'links', 'feeder_audit', 'archetype_details', 'value', 'null_flavour']);

/** Nodes that say something: those that only hold others are known by them. */
function isRecorded(value: Json): boolean {
  return /^(ELEMENT|CLUSTER|SECTION|OBSERVATION|EVALUATION|INSTRUCTION|ACTION|ADMIN_ENTRY|ACTIVITY)$/.test(
    textAt(value, '_type'),
  );
}

/** All paths that lead to nodes of the template, without the names in them. */
function collect(node: WebTemplateNode, known: Set<string>): void {
  const whole = (node.aqlPath ?? '').replaceAll(/\s*(?:,| and name\/value\s*=)\s*'(?:[^'\\]|\\.)*'/g, '');
  for (let at = whole; at !== ''; at = at.slice(0, at.lastIndexOf('/'))) known.add(at);
  for (const child of node.children ?? []) collect(child, known);
}

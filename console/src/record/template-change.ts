import type { TemplateChange, WebTemplate } from '@everchart/client';
import { at, isObject, items, textAt } from '../api/json.js';
import { nodeAt, nodeName } from './web-node.js';

/** The name of the node that a change is about, in a language where the template has it; '' for the template as a whole. */
export function changedNode(
  { path, from, to }: TemplateChange,
  { tree }: WebTemplate,
  language: string,
): string {
  if (path === '') return '';
  // An ELEMENT is its value there.
  const node = nodeAt(tree, path) ?? nodeAt(tree, `${path}/value`);
  if (node !== null) return nodeName(node, language);
  const said = [to, from].find((each) => isObject(each) && typeof each['name'] === 'string');
  return isObject(said) ? textAt(said, 'name') : (path.split('/').at(-1) ?? path);
}

/** What a template says, in short; '' where it says nothing. */
export function saidText(said: unknown): string {
  if (said === null || said === undefined) return '';
  if (typeof said === 'string') return said;
  if (Array.isArray(said)) return said.map(saidText).join(', ');
  if (isObject(said) && typeof said['rm_type'] === 'string' && typeof said['occurrences'] === 'string')
    return `${said['rm_type']} ${said['occurrences']}`;
  return JSON.stringify(said);
}

/** The rules of a file `{"rules": […]}`; none where it has none, which the server judges. @throws SyntaxError for what is no JSON */
export function rulesIn(text: string): readonly object[] {
  return items(at(JSON.parse(text), 'rules')).filter(isObject);
}

import { parseXml, writeXml, type XmlElement } from '../../../openehr/base/xml.js';
import { compileTemplate, type CompiledTemplate } from '../../../openehr/template/compile.js';
import { fixtureText } from '../fixture.js';

/** An element of an OPT that a test may change. */
export interface OptElement {
  name: string;
  attributes: Record<string, string>;
  children: (OptElement | string)[];
}

const XSI = 'http://www.w3.org/2001/XMLSchema-instance';

/** The root element of an OPT. */
export function optTree(opt: string): OptElement {
  return mutable(parseXml(opt));
}

function mutable({ name, attributes, children }: XmlElement): OptElement {
  return {
    name,
    attributes: Object.fromEntries([...attributes].filter(([key]) => !key.startsWith('{'))),
    children: children.map((child) => (typeof child === 'string' ? child : mutable(child))),
  };
}

/** The text of an OPT. */
export function optText({ name, attributes, children }: OptElement): string {
  const namespaces = { xmlns: 'http://schemas.openehr.org/v1', 'xmlns:xsi': XSI };
  return writeXml({ name, attributes: { ...namespaces, ...attributes }, children });
}

/** Elements that `test/support/openehr/opt-builder.ts` wrote. */
export function fragment(xml: string): OptElement[] {
  return elementsOf(optTree(`<part xmlns:xsi="${XSI}">${xml}</part>`));
}

/** The elements directly below, of one name where it is given. */
export function elementsOf(parent: OptElement, name?: string): OptElement[] {
  return parent.children.filter(
    (child): child is OptElement => typeof child !== 'string' && (name === undefined || child.name === name),
  );
}

/** The first element of a name below. */
export function elementOf(
  parent: OptElement | undefined,
  ...path: readonly string[]
): OptElement | undefined {
  let found = parent;
  for (const name of path) found = found && elementsOf(found, name)[0];
  return found;
}

/** The text at a path of elements, '' when there is none. */
export function textOf(parent: OptElement | undefined, ...path: readonly string[]): string {
  const text = elementOf(parent, ...path)?.children[0];
  return typeof text === 'string' ? text.trim() : '';
}

/** Puts a text into an element that is there. */
export function setText(parent: OptElement, text: string, ...path: readonly string[]): void {
  const element = elementOf(parent, ...path);
  if (element === undefined) throw new Error(`no ${path.join('/')} in ${parent.name}`);
  element.children = [text];
}

/** An element and all below it, with those around it, the nearest last. */
export function walk(
  element: OptElement,
  around: readonly OptElement[] = [],
): { element: OptElement; around: readonly OptElement[] }[] {
  const inside = [...around, element];
  return [{ element, around }, ...elementsOf(element).flatMap((child) => walk(child, inside))];
}

/** Whether an element is the root of an archetype. */
export function isArchetypeRoot(element: OptElement): boolean {
  return elementOf(element, 'archetype_id') !== undefined && elementOf(element, 'rm_type_name') !== undefined;
}

/** The first root of an archetype. */
export function archetypeIn(root: OptElement, archetypeId: string): OptElement {
  const found = walk(root).find(
    ({ element }) => isArchetypeRoot(element) && textOf(element, 'archetype_id', 'value') === archetypeId,
  );
  if (found === undefined) throw new Error(`no ${archetypeId}`);
  return found.element;
}

/** The node of an archetype, with the attribute that holds it. */
export function nodeIn(archetype: OptElement, nodeId: string): { node: OptElement; holder: OptElement } {
  for (const holder of elementsOf(archetype, 'attributes'))
    for (const node of elementsOf(holder, 'children')) {
      if (isArchetypeRoot(node)) continue;
      if (textOf(node, 'node_id') === nodeId) return { node, holder };
      try {
        return nodeIn(node, nodeId);
      } catch {
        continue;
      }
    }
  throw new Error(`no ${nodeId}`);
}

/** The attribute of an object. */
export function attributeIn(object: OptElement, name: string): OptElement {
  const found = elementsOf(object, 'attributes').find((each) => textOf(each, 'rm_attribute_name') === name);
  if (found === undefined) throw new Error(`no attribute ${name}`);
  return found;
}

/** Sets the bounds of an interval; `*` is none. */
export function setInterval(interval: OptElement | undefined, text: string): void {
  if (interval === undefined) throw new Error('no interval');
  const [lower = '0', upper = '*'] = text.split('..');
  const bound = (name: string, value: string): OptElement[] =>
    fragment(
      `<${name}_unbounded>${value === '*'}</${name}_unbounded>${value === '*' ? '' : `<${name}>${value}</${name}>`}`,
    );
  // Of one value that is not included nothing is left, and no instance shows what is broken.
  const kept =
    lower === upper
      ? fragment('<lower_included>true</lower_included><upper_included>true</upper_included>')
      : elementsOf(interval).filter(({ name }) => name.endsWith('_included'));
  interval.children = [...kept, ...bound('lower', lower), ...bound('upper', upper)];
}

/** Takes an element out of the one that holds it. */
export function remove(holder: OptElement, element: OptElement): void {
  holder.children = holder.children.filter((child) => child !== element);
}

/** Puts elements into an attribute, before its cardinality. */
export function insert(holder: OptElement, elements: readonly OptElement[]): void {
  const end = holder.children.findIndex((child) => typeof child !== 'string' && child.name === 'cardinality');
  holder.children.splice(end < 0 ? holder.children.length : end, 0, ...elements);
}

/** A public template after a change to its tree. */
export function revised(name: string, change: (template: OptElement) => void): CompiledTemplate {
  return compileTemplate(revisedText(name, change));
}

/** The text of a public template after a change to its tree. */
export function revisedText(name: string, change: (template: OptElement) => void): string {
  const tree = optTree(fixtureText(`opt/${name}.opt`));
  change(tree);
  return optText(tree);
}

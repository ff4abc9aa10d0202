import { withoutParameters } from '../../../openehr/rm/model/classes.js';
import type { WebTemplateNode } from '../../../openehr/template/web-template/web-template.js';
import { oneLine } from './code-sets.js';
import { distinctNames } from './names.js';
import { isInner, isList, isOptional, planOfNode } from './template-plan.js';
import { flatMembers, structuredType, valueType } from './value-type.js';

/** What the types of one template share while they are written. */
interface Naming {
  readonly language: string;
  /** Name of the interface of each node that has others below it. */
  readonly names: ReadonlyMap<WebTemplateNode, string>;
  /** Name of the constant of each node that lists codes. */
  readonly codes: ReadonlyMap<WebTemplateNode, string>;
}

/** The types of a template: its data, the methods of its builder, FLAT and STRUCTURED; `codes` are the constants of codes. */
export function templateTypes(
  tree: WebTemplateNode,
  type: string,
  { language, codes }: Omit<Naming, 'names'>,
): string {
  const naming: Naming = { language, codes, names: interfaceNames(tree, type) };
  const inner = [...naming.names].map(([node, name]) => interfaceText(node, name, naming));
  return [
    ...inner,
    partsText(tree, type, naming),
    flatText(tree, type),
    structuredText(tree, type, language),
  ].join('\n');
}

/** The structures of a template, from the root down, each with the name of its interface. */
function interfaceNames(root: WebTemplateNode, type: string): ReadonlyMap<WebTemplateNode, string> {
  const inner: WebTemplateNode[] = [];
  const visit = (node: WebTemplateNode): void => {
    if (isInner(node)) inner.push(node);
    node.children.filter(isInner).forEach(visit);
  };
  root.children.forEach(visit);
  const taken = new Set([type, ...['Parts', 'Builder', 'Flat', 'Structured'].map((own) => type + own)]);
  return new Map([[root, type], ...distinctNames(inner, (words) => type + words, taken)]);
}

function interfaceText(node: WebTemplateNode, name: string, naming: Naming): string {
  const members = node.children.map((child) => memberText(child, naming, isOptional(child)));
  return `${commentOf(node, naming.language)}export interface ${name} extends Raw {\n${members.join('')}}\n`;
}

function memberText(node: WebTemplateNode, naming: Naming, optional: boolean): string {
  const mark = optional ? '?' : '';
  const codes = naming.codes.get(node);
  const named = codes === undefined ? '' : ` {@link ${codes}}`;
  return `/** ${documentation(node, naming.language)}${named} */
readonly ${JSON.stringify(node.id)}${mark}: ${ownType(node, naming)};\n`;
}

/** The longest list whose length is part of its type. */
const LONGEST_TUPLE = 20;

function ownType(node: WebTemplateNode, { names }: Naming): string {
  const one = names.get(node) ?? valueType(node);
  if (!isList(node)) return one;
  const isBounded = node.max > 0 && node.max <= LONGEST_TUPLE;
  const [least, more] = isOptional(node) ? ['', node.max] : [`${one}, `, node.max - 1];
  if (isBounded) return `readonly [${least}...UpTo<${one}, ${more}>]`;
  return least === '' ? `readonly (${one})[]` : `readonly [${least}...(${one})[]]`;
}

/** Names that the builder has itself, as in the runtime. */
const OWN = ['build', 'data'];

/** Nodes that have a method: with a canonical form, and an id that stands once. By id. */
function partsOf(root: WebTemplateNode): ReadonlyMap<string, WebTemplateNode> {
  const parts = new Map<string, WebTemplateNode>();
  const twice = new Set(OWN);
  const visit = (node: WebTemplateNode): void => {
    for (const child of node.children) {
      if (planOfNode(child).via === undefined) continue;
      if (parts.has(child.id)) twice.add(child.id);
      parts.set(child.id, child);
      visit(child);
    }
  };
  visit(root);
  for (const id of twice) parts.delete(id);
  return parts;
}

function partsText(root: WebTemplateNode, type: string, naming: Naming): string {
  const parts = [...partsOf(root)];
  const missing = parts.filter(([, node]) => !isInner(node) && isAlwaysThere(node));
  const inside = parts.flatMap(([id, node]) => {
    const within = missing
      .filter(([, leaf]) => isBelow(leaf, node))
      .map(([leafId]) => JSON.stringify(leafId));
    return within.length === 0 ? [] : [`${JSON.stringify(id)}: ${within.join(' | ')}`];
  });
  const names = missing.map(([id]) => JSON.stringify(id));
  const members = parts.map(([, node]) => memberText(node, naming, true));
  return `/** The nodes that the builder has a method for. */
export interface ${type}Parts {
${members.join('')}}

/** The builder before anything is said. */
export type ${type}Builder = Builder<${type}Parts, ${names.join(' | ') || 'never'}, ${
    inside.length === 0 ? 'object' : `{ ${inside.join('; ')} }`
  }, ${type}>;
`;
}

function isAlwaysThere(node: WebTemplateNode): boolean {
  return (
    !isOptional(node) &&
    (node.parent?.parent === null || (node.parent !== null && isAlwaysThere(node.parent)))
  );
}

function isBelow(node: WebTemplateNode, above: WebTemplateNode): boolean {
  return node.parent !== null && (node.parent === above || isBelow(node.parent, above));
}

/** A type literal, not an interface: that would be no `Record`. */
function flatText(root: WebTemplateNode, type: string): string {
  const lines: string[] = [];
  const visit = (node: WebTemplateNode, path: string): void => {
    if (!isInner(node)) lines.push(...flatMembers(path, node));
    for (const rest of furtherKeys(node))
      lines.push(`readonly [key: \`${path}${rest}|\${string}\`]: Primitive | undefined;`);
    for (const child of node.children)
      visit(child, `${path}/${child.id}${isList(child) ? ':${number}' : ''}`);
  };
  visit(root, root.id);
  return `/** FLAT of this template. */
export type ${type}Flat = {
readonly [key: \`ctx/\${string}\`]: Primitive | undefined;
readonly [key: \`\${string}/_\${string}\`]: Primitive | undefined;
${lines.map((line) => `${line}\n`).join('')}};
`;
}

/** What FLAT may say of a structure that is no node of the template. */
function furtherKeys({ rmType, children }: WebTemplateNode): readonly string[] {
  if (withoutParameters(rmType) === 'DV_INTERVAL') return [''];
  const hasStep = children.some(({ id }) => id === 'careflow_step');
  return rmType === 'ISM_TRANSITION' && !hasStep ? ['/careflow_step'] : [];
}

function structuredText(root: WebTemplateNode, type: string, language: string): string {
  const membersOf = (node: WebTemplateNode): string =>
    node.children
      .map((child) => {
        const one = isInner(child) ? `RawStructured & {\n${membersOf(child)}}` : structuredType(child);
        const mark = isOptional(child) ? '?' : '';
        return `${commentOf(child, language)}readonly ${JSON.stringify(child.id)}${mark}: Listed<${one}>;\n`;
      })
      .join('');
  return `/** STRUCTURED of this template. */
export type ${type}Structured = {
readonly ctx?: { readonly [name: string]: unknown };
readonly ${JSON.stringify(root.id)}: RawStructured & {
${membersOf(root)}};
};
`;
}

function commentOf(node: WebTemplateNode, language: string): string {
  return `/** ${documentation(node, language)} */\n`;
}

/** Name, description and occurrences; nothing in it can end the comment. */
function documentation(
  { name, id, rmType, min, max, localizedDescriptions }: WebTemplateNode,
  language: string,
): string {
  const description = localizedDescriptions?.[language];
  const parts = [name === '' ? id : name, ...(description === undefined ? [] : [description])];
  return `${oneLine(parts.join(': '))} (${rmType}, ${min}..${max < 0 ? '*' : max})`;
}

import { valueType } from './value-type.js';
import type { WebTemplateJson, WebTemplateJsonNode } from './web-template-json-node.js';

/** A module of TypeScript: its file name, without path, and its text. */
export interface GeneratedModule {
  readonly fileName: string;
  readonly text: string;
}

/**
 * The module of a template: the type of its data with documentation, units and value sets; a function that makes FLAT
 * of them and one that reads them from FLAT. The same template gives the same text.
 */
export function templateModule({ templateId, defaultLanguage, tree }: WebTemplateJson): GeneratedModule {
  const type = typeName(templateId);
  const make = type.charAt(0).toLowerCase() + type.slice(1);
  const text = `// Made from the template ${oneLine(templateId)} by \`everchart codegen templates\`: change that, not this.
import { fromFlat, toFlat, type Flat, type Primitive, type Raw, type Shape, type Suffixes, type Value } from './flat.js';

/** The id to commit with. */
export const TEMPLATE_ID = ${JSON.stringify(templateId)};

/** ${documentation(tree, defaultLanguage)} */
export interface ${type} extends Raw {
${membersText(tree, defaultLanguage)}}

const ROOT = ${JSON.stringify(tree.id)};
const SHAPE: Shape = ${shapeText(tree)};

/** FLAT of these data, to be committed: \`commit(${make}(data, { language: 'en', territory: 'GB' }), { template: TEMPLATE_ID })\`. */
export function ${make}(data: ${type}, ctx: Flat = {}): Flat {
  return toFlat(ROOT, SHAPE, data, ctx);
}

/** The data of a COMPOSITION that was read as FLAT. What this template does not have is below raw keys. */
export function read${type}(flat: Readonly<Record<string, unknown>>): ${type} {
  return fromFlat(ROOT, SHAPE, flat) as ${type};
}

/** The forms that values take here. */
export type { Flat, Primitive, Raw, Suffixes, Value };
`;
  return { fileName: `${fileName(templateId)}.ts`, text: indented(text) };
}

/** Two blanks for each brace that is open. */
function indented(text: string): string {
  let depth = 0;
  const lines = text.split('\n').map((line) => {
    const trimmed = line.trimStart();
    if (/^\}/.test(trimmed)) depth -= 1;
    const own = trimmed === '' ? '' : '  '.repeat(depth) + trimmed;
    if (/\{$/.test(trimmed)) depth += 1;
    return own;
  });
  return lines.join('\n');
}

function membersText(node: WebTemplateJsonNode, language: string): string {
  const children = node.children ?? [];
  return children
    .map((child) => {
      const twins = children.filter(({ aqlPath }) => aqlPath === child.aqlPath).length;
      const isOptional = child.min < 1 || child.nodeId === undefined || child.inContext === true || twins > 1;
      const own = isInner(child) ? `Raw & {\n${membersText(child, language)}}` : valueType(child);
      const type = isList(child) ? `readonly (${own})[]` : own;
      const mark = isOptional ? '?' : '';
      return `/** ${documentation(child, language)} */\nreadonly ${JSON.stringify(child.id)}${mark}: ${type};\n`;
    })
    .join('');
}

function shapeText(node: WebTemplateJsonNode): string {
  const list = isList(node) ? 'list: true, ' : '';
  const children = node.children ?? [];
  const of = children.map((child) => `${JSON.stringify(child.id)}: ${shapeText(child)}`).join(', ');
  return isInner(node) ? `{ ${list}of: { ${of} } }` : `{ ${list}}`;
}

function isInner({ children = [] }: WebTemplateJsonNode): boolean {
  return children.length > 0;
}

function isList({ max }: WebTemplateJsonNode): boolean {
  return max !== 1;
}

/** Name, description and occurrences; nothing in it can end the comment. */
function documentation(
  { name, id, rmType, min, max, localizedDescriptions }: WebTemplateJsonNode,
  language: string,
): string {
  const description = localizedDescriptions?.[language];
  const parts = [name ?? id, ...(description === undefined ? [] : [description])];
  return `${oneLine(parts.join(': '))} (${rmType}, ${min}..${max < 0 ? '*' : max})`;
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').replaceAll('*/', '* /').trim();
}

/** `BloodPressureEnV1` of `blood pressure.en.v1`. */
export function typeName(templateId: string): string {
  const words = templateId.split(/[^\p{L}\p{N}]+/u).filter((word) => word !== '');
  const name = words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('');
  return /^\p{L}/u.test(name) ? name : `Template${name}`;
}

/** Letters, digits and `-` only, so that no id leads out of the folder. */
function fileName(templateId: string): string {
  const name = templateId.replace(/[^\p{L}\p{N}]+/gu, '-').replace(/^-|-$/g, '');
  return name === '' || name === 'flat' ? `template-${name}` : name;
}

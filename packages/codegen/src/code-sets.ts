import type {
  WebTemplateListItem,
  WebTemplateNode,
} from '../../../openehr/template/web-template/web-template.js';
import { camel, distinctNames, typeName } from './names.js';
import { codedInput } from './template-plan.js';

const CODED = new Set(['DV_CODED_TEXT', 'DV_ORDINAL', 'DV_SCALE']);

/** The codes that a node lists. */
function codesOf(node: WebTemplateNode): readonly WebTemplateListItem[] {
  const list = (CODED.has(node.rmType) ? codedInput(node)?.list : undefined) ?? [];
  return [...new Map(list.map((item) => [item.value, item])).values()];
}

/** The name of the codes of each node that lists some: nodes of one id that list the same have them together. */
export function codeSetNames(
  root: WebTemplateNode,
  taken: ReadonlySet<string>,
): ReadonlyMap<WebTemplateNode, string> {
  const groups = new Map<string, [WebTemplateNode, ...WebTemplateNode[]]>();
  const visit = (node: WebTemplateNode): void => {
    const codes = codesOf(node);
    const key = JSON.stringify([node.id, codes]);
    const group = groups.get(key);
    if (group !== undefined) group.push(node);
    else if (codes.length > 0) groups.set(key, [node]);
    node.children.forEach(visit);
  };
  visit(root);
  const first = [...groups.values()].map(([node]) => node);
  const names = distinctNames(first, typeName, taken);
  return new Map(
    [...groups.values()].flatMap((group) => group.map((node) => [node, names.get(group[0]) ?? ''] as const)),
  );
}

/** The constants of all code sets: each code by its label in the template's own language. */
export function codeSetsText(names: ReadonlyMap<WebTemplateNode, string>, language: string): string {
  const first = new Map([...names].reverse().map(([node, name]) => [name, node]));
  return [...first]
    .reverse()
    .map(([name, node]) => codeSetText(name, node, language))
    .join('');
}

function codeSetText(name: string, node: WebTemplateNode, language: string): string {
  const codes = codesOf(node);
  const members = memberNames(codes, language);
  const lines = codes.map((item, index) => {
    const labels = labelsOf(item, language);
    return `/** ${hover(labels)} */
${members[index]}: ${JSON.stringify([item.value, labels])},\n`;
  });
  const title = oneLine(node.name === '' ? node.id : node.name);
  return `/** ${title}: its codes by name; \`${name}.options()\` is a list to choose from. */
export const ${name} = /* @__PURE__ */ codeSet(${JSON.stringify(language)}, {
${lines.join('')}});\n\n`;
}

/** Names that every code set has itself. */
const OWN = new Set(['options']);

/** Where labels are the same or have no letter, the code tells them apart, whatever their order. */
function memberNames(codes: readonly WebTemplateListItem[], language: string): readonly string[] {
  const wanted = codes.map((item) => camel(labelsOf(item, language)[language] ?? ''));
  const times = new Map<string, number>();
  for (const name of wanted) times.set(name, (times.get(name) ?? 0) + 1);
  return codes.map(({ value }, index) => {
    const name = wanted[index] ?? '';
    const isAlone = name !== '' && !OWN.has(name) && times.get(name) === 1;
    return isAlone ? name : JSON.stringify(`${name === '' ? 'code' : name}_${value}`);
  });
}

/** By language, the template's own first. */
function labelsOf({ value, label, localizedLabels }: WebTemplateListItem, language: string): Labels {
  return { [language]: label ?? value, ...localizedLabels };
}

type Labels = Readonly<Record<string, string>>;

/** In one language no word says which. */
function hover(labels: Labels): string {
  const entries = Object.entries(labels);
  const texts = entries.map(([in_, label]) => (entries.length === 1 ? label : `${in_}: ${label}`));
  return oneLine(texts.join('; '));
}

/** Text that can stand in a comment. */
export function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').replaceAll('*/', '* /').trim();
}

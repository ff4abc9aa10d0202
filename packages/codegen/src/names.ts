import type { WebTemplateNode } from '../../../openehr/template/web-template/web-template.js';

/** What an identifier of TypeScript cannot hold: of the digits only decimal ones may stand in it. */
const NO_LETTERS = /[^\p{L}\p{Mn}\p{Mc}\p{Nd}]+/u;

/** `BloodPressureEnV1` of `blood pressure.en.v1`. */
export function typeName(id: string): string {
  const name = pascal(id);
  return /^\p{L}/u.test(name) ? name : `Template${name}`;
}

/** The words of a text, each with a capital, as an identifier may go on. */
function pascal(text: string): string {
  const words = text.split(NO_LETTERS).filter((word) => word !== '');
  return words.map(capital).join('');
}

/** `largeAdult` of `Large Adult`; '' where no word begins with a letter. */
export function camel(text: string): string {
  const name = pascal(text.normalize('NFC'));
  if (!/^\p{L}/u.test(name)) return '';
  return name.charAt(0).toLowerCase() + name.slice(1);
}

function capital(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}

/**
 * A name for each node, of its id; where others would have the same, or it is taken, of its parents' ids too, as many as
 * it needs. So a node that comes or goes elsewhere in the template renames no other but those of the same id.
 */
export function distinctNames(
  nodes: readonly WebTemplateNode[],
  nameOf: (words: string) => string,
  taken: ReadonlySet<string>,
): ReadonlyMap<WebTemplateNode, string> {
  const parents = new Map(nodes.map((node) => [node, 0]));
  const named = (node: WebTemplateNode): string => nameOf(pathOf(node, parents.get(node) ?? 0));
  for (;;) {
    const times = new Map<string, number>();
    for (const node of nodes) times.set(named(node), (times.get(named(node)) ?? 0) + 1);
    const clashing = nodes.filter((node) => (times.get(named(node)) ?? 0) > 1 || taken.has(named(node)));
    const growing = clashing.filter((node) => hasMore(node, parents.get(node) ?? 0));
    if (growing.length === 0) break;
    for (const node of growing) parents.set(node, (parents.get(node) ?? 0) + 1);
  }
  return counted(nodes, named, taken);
}

/** Ids may differ in what no identifier shows: a number tells those apart. */
function counted(
  nodes: readonly WebTemplateNode[],
  named: (node: WebTemplateNode) => string,
  taken: ReadonlySet<string>,
): ReadonlyMap<WebTemplateNode, string> {
  const used = new Set(taken);
  const names = new Map<WebTemplateNode, string>();
  for (const node of nodes) {
    const wanted = named(node);
    let name = wanted;
    for (let count = 2; used.has(name); count += 1) name = `${wanted}${count}`;
    used.add(name);
    names.set(node, name);
  }
  return names;
}

/** The ids of so many parents and of the node. */
function pathOf({ id, parent }: WebTemplateNode, parents: number): string {
  return parents === 0 || parent === null ? pascal(id) : pathOf(parent, parents - 1) + pascal(id);
}

/** Whether there is one more parent below the root, whose id says nothing. */
function hasMore({ parent }: WebTemplateNode, parents: number): boolean {
  if (parent === null || parent.parent === null) return false;
  return parents === 0 || hasMore(parent, parents - 1);
}

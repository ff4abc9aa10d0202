/** The names that queries use of templates: what all stored ones together define. */
export interface TemplateVocabulary {
  /** Template ids. */
  readonly templates: ReadonlySet<string>;
  /** Archetype ids with the codes of their nodes and terms. */
  readonly archetypes: ReadonlyMap<string, ReadonlySet<string>>;
}

/** What opens and closes the objects of a definition, and what names them. Prefixes of namespaces may stand before each. */
const TOKEN = new RegExp(
  [
    String.raw`<(?<close>/?)(?:\w+:)?(?:children|definition)\b[^<>]*?(?<empty>/?)>`,
    String.raw`<(?:\w+:)?node_id>\s*(?<node>[^<>\s]+)\s*<`,
    String.raw`<(?:\w+:)?term_definitions\s[^<>]*?code="(?<term>[^"<>]+)"`,
    String.raw`<(?:\w+:)?archetype_id>\s*<(?:\w+:)?value>\s*(?<archetype>[^<>\s]+)\s*<`,
  ].join('|'),
  'g',
);

interface OpenObject {
  readonly codes: string[];
  archetype: string | null;
}

/**
 * The archetypes of an operational template and the codes of each, read from its text: a hundred times as fast as compiling
 * it, and enough to know which names it has. A code belongs to the nearest archetype around it.
 */
export function nodeIdsOf(opt: string): ReadonlyMap<string, ReadonlySet<string>> {
  const found = new Map<string, Set<string>>();
  const open: OpenObject[] = [{ codes: [], archetype: null }];
  for (const { groups = {} } of opt.matchAll(TOKEN)) {
    const { node, term, archetype, close, empty } = groups;
    const here = open.at(-1);
    const code = node ?? term;
    if (here === undefined) break;
    if (code !== undefined) here.codes.push(code);
    else if (archetype !== undefined) here.archetype = archetype;
    else if (close === '/') end(open, found);
    else if (empty !== '/') open.push({ codes: [], archetype: null });
  }
  return found;
}

function end(open: OpenObject[], found: Map<string, Set<string>>): void {
  const [above, closed] = open.splice(-2);
  if (above === undefined || closed === undefined) return;
  open.push(above);
  if (closed.archetype === null) {
    for (const code of closed.codes) above.codes.push(code);
    return;
  }
  const codes = found.get(closed.archetype) ?? new Set<string>();
  found.set(closed.archetype, codes);
  for (const code of closed.codes) codes.add(code);
}

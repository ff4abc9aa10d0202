import { withoutParameters } from '../../../openehr/rm/model/classes.js';
import type { TemplateVocabulary } from '../../../openehr/template/opt/node-ids.js';
import { isArchetypeId } from '../../../aql/syntax/words.js';

/** A node of a web template, as far as names of queries need it. */
export interface WebTemplateNode {
  readonly name?: string;
  readonly rmType: string;
  readonly nodeId?: string;
  readonly aqlPath?: string;
  readonly localizedDescriptions?: Readonly<Record<string, string>>;
  readonly inputs?: readonly {
    readonly suffix?: string;
    readonly list?: readonly { readonly value: string; readonly label?: string }[];
  }[];
  readonly children?: readonly WebTemplateNode[];
}

/** A web template in JSON: what servers give for `application/openehr.wt+json`. */
export interface WebTemplate {
  readonly templateId: string;
  readonly defaultLanguage: string;
  readonly tree: WebTemplateNode;
}

/** What templates say of one place in an archetype. */
export interface CatalogueNode {
  /** Behind the object of the archetype, without names: `/data[at0001]/events[at0006]`; '' for itself. */
  readonly path: string;
  /** At-code of the last step, null without one. */
  readonly code: string | null;
  readonly name: string;
  readonly description: string;
  /** Classes that templates allow there. */
  readonly classes: ReadonlySet<string>;
  /** Codes, units or texts of a value set with their rubrics. */
  readonly values: ReadonlyMap<string, string>;
}

interface OpenNode extends CatalogueNode {
  readonly classes: Set<string>;
  readonly values: Map<string, string>;
}

/** What templates say of one archetype, over all templates together. */
export interface CatalogueArchetype {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly className: string;
  /** One of the templates that have it. */
  readonly templateId: string;
  readonly nodes: ReadonlyMap<string, CatalogueNode>;
  /** Archetypes that stand directly below. */
  readonly children: ReadonlySet<string>;
}

interface OpenArchetype extends CatalogueArchetype {
  readonly nodes: Map<string, OpenNode>;
  readonly children: Set<string>;
}

/**
 * The archetypes, paths and codes of templates. One archetype is kept once, however many templates have it, so that
 * thousands of templates fit.
 */
export class Catalogue {
  readonly #templates = new Set<string>();
  readonly #archetypes = new Map<string, OpenArchetype>();
  readonly #codes = new Map<string, Set<string>>();
  #isExact = true;

  /**
   * Adds a template. `codes`: all codes of each of its archetypes; a web template alone does not name them all, so then
   * no code is ever called unknown.
   */
  add(template: WebTemplate, codes?: ReadonlyMap<string, ReadonlySet<string>>): void {
    this.#templates.add(template.templateId);
    if (codes === undefined) this.#isExact = false;
    for (const [archetype, own] of codes ?? [])
      for (const code of own) getOrAdd(this.#codes, archetype, () => new Set<string>()).add(code);
    this.#visit(template);
  }

  /** Number of templates. */
  get size(): number {
    return this.#templates.size;
  }

  /** Whether all codes of all archetypes are known. */
  get isExact(): boolean {
    return this.#isExact;
  }

  get templateIds(): Iterable<string> {
    return this.#templates;
  }

  get archetypes(): Iterable<CatalogueArchetype> {
    return this.#archetypes.values();
  }

  archetype(id: string): CatalogueArchetype | undefined {
    return this.#archetypes.get(id);
  }

  /** Archetypes at any depth below those of these ids; null when templates have none of the ids. */
  below(ids: readonly string[]): ReadonlySet<string> | null {
    const open = ids.flatMap((id) => this.#archetypes.get(id) ?? []);
    if (open.length === 0) return null;
    const found = new Set<string>();
    for (let each = open.pop(); each !== undefined; each = open.pop())
      for (const id of each.children) {
        const child = this.#archetypes.get(id);
        if (found.has(id) || child === undefined) continue;
        found.add(id);
        open.push(child);
      }
    return found;
  }

  /** What the server calls unknown names against. */
  vocabulary(): TemplateVocabulary {
    const archetypes = new Map<string, ReadonlySet<string>>(this.#codes);
    for (const id of this.#archetypes.keys()) if (!archetypes.has(id)) archetypes.set(id, new Set());
    return { templates: this.#templates, archetypes };
  }

  #visit(template: WebTemplate): void {
    const visit = (node: WebTemplateNode): void => {
      this.#node(node, template);
      node.children?.forEach(visit);
    };
    visit(template.tree);
  }

  #node(node: WebTemplateNode, template: WebTemplate): void {
    const steps = stepsOf(node.aqlPath ?? '');
    const chain = [template.tree.nodeId ?? '', ...steps.map(({ code }) => code ?? '').filter(isArchetypeId)];
    const own = chain[chain.length - 1] ?? '';
    if (!isArchetypeId(own)) return;
    const rest = steps.slice(steps.findLastIndex(({ code }) => isArchetypeId(code ?? '')) + 1);
    const archetype = this.#archetypeOf(own, rest.length === 0 ? node : null, template);
    const above = chain[chain.length - 2];
    if (above !== undefined && isArchetypeId(above))
      this.#archetypeOf(above, null, template).children.add(own);
    addNode(archetype.nodes, rest, node, template.defaultLanguage);
  }

  #archetypeOf(
    id: string,
    node: WebTemplateNode | null,
    { templateId, defaultLanguage }: WebTemplate,
  ): OpenArchetype {
    const known = this.#archetypes.get(id);
    if (known !== undefined && (known.name !== '' || node === null)) return known;
    const made: OpenArchetype = {
      id,
      ...textsOf(node, defaultLanguage),
      templateId: known?.templateId ?? templateId,
      className: /-([A-Z_]+)\./.exec(id)?.[1] ?? '',
      nodes: known?.nodes ?? new Map<string, OpenNode>(),
      children: known?.children ?? new Set<string>(),
    };
    this.#archetypes.set(id, made);
    return made;
  }
}

/** A step of a path: attribute, and code or archetype id of its predicate. */
export interface CodedStep {
  readonly attribute: string;
  readonly code: string | null;
}

const STEP = /\/(\w+)(?:\[((?:[^\]'"]|'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")*)\])?/g;

/** The steps of a path, names in predicates left out. */
export function stepsOf(path: string): readonly CodedStep[] {
  return [...path.matchAll(STEP)].map(([, attribute = '', predicate]) => ({
    attribute,
    code:
      predicate === undefined ? null : (/^\s*([\w.:-]+)(?:\s*,|\s+and\b|\s*$)/i.exec(predicate)?.[1] ?? null),
  }));
}

/** The steps as the key of a node. */
export function pathOf(steps: readonly CodedStep[]): string {
  return steps.map(({ attribute, code }) => `/${attribute}${code === null ? '' : `[${code}]`}`).join('');
}

function textsOf(
  node: WebTemplateNode | null,
  language: string,
): Pick<CatalogueNode, 'name' | 'description'> {
  const description = node?.localizedDescriptions?.[language] ?? '';
  return { name: node?.name ?? '', description };
}

function addNode(
  nodes: Map<string, OpenNode>,
  steps: readonly CodedStep[],
  node: WebTemplateNode,
  language: string,
): void {
  const last = steps[steps.length - 1];
  const made = nodeAt(nodes, steps, node, language);
  made.classes.add(withoutParameters(node.rmType));
  for (const { suffix, list } of node.inputs ?? []) {
    // A coded text that may be any text as well.
    if (suffix === 'other') made.classes.add('DV_TEXT');
    for (const { value, label } of list ?? []) made.values.set(value, label ?? value);
  }
  // The web template shows the value in place of its ELEMENT.
  const above = steps.slice(0, -1);
  if (last?.attribute === 'value' && last.code === null && above[above.length - 1]?.code != null)
    nodeAt(nodes, above, node, language).classes.add('ELEMENT');
}

function nodeAt(
  nodes: Map<string, OpenNode>,
  steps: readonly CodedStep[],
  node: WebTemplateNode,
  language: string,
): OpenNode {
  const path = pathOf(steps);
  return getOrAdd(nodes, path, () => ({
    path,
    code: steps[steps.length - 1]?.code ?? null,
    ...textsOf(node, language),
    classes: new Set<string>(),
    values: new Map<string, string>(),
  }));
}

function getOrAdd<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
}

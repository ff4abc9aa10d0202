import type { WebTemplate, WebTemplateNode } from '@everchart/client';
import { cardinality, constraintsOf, nodeName } from './web-node.js';

/** A template as it was written, and as it is shown. */
export interface WholeTemplate {
  readonly web: WebTemplate;
  readonly opt: string;
}

/** What two templates have differently. */
export interface TemplateDifference {
  /** Of a node its AQL path, else what of the whole template it is. */
  readonly path: string;
  /** Absent: of no node. */
  readonly name?: string;
  /** null: only the other template has it. */
  readonly before: string | null;
  readonly after: string | null;
}

/**
 * What differs from one template to another: concept and languages, and by AQL path nodes that came, went, have another name in
 * some language, or take something else.
 */
export function templateDifferences(
  before: WholeTemplate,
  after: WholeTemplate,
  language: string,
): TemplateDifference[] {
  const whole = (['concept', 'languages'] as const).flatMap((path) => {
    const [was, is] = [WHOLE[path](before), WHOLE[path](after)];
    return was === is ? [] : [{ path, before: was, after: is }];
  });
  const [old, current] = [nodesOf(before.web, language), nodesOf(after.web, language)];
  const nodes = [...new Set([...current.keys(), ...old.keys()])].flatMap((path) => {
    const [was, is] = [old.get(path), current.get(path)];
    if (was?.text === is?.text && was?.names === is?.names) return [];
    const isRenamed = was !== undefined && is !== undefined && was.names !== is.names;
    const said = (node: Node | undefined): string | null =>
      node === undefined ? null : [node.text, ...(isRenamed ? [node.names] : [])].join(' · ');
    return [{ path, name: (is ?? was)?.name ?? '', before: said(was), after: said(is) }];
  });
  return [...whole, ...nodes];
}

/** Whether two OPTs say the same but for their ids and how they are laid out: term bindings and annotations are in no node. */
export function isSameOpt(before: string, after: string): boolean {
  return contentOf(before) === contentOf(after);
}

function contentOf(opt: string): string {
  return opt
    .replace(/<\?xml[^>]*>|<!--[\s\S]*?-->|<(template_id|uid)>[\s\S]*?<\/\1>/g, '')
    .replace(/\s+/g, ' ')
    .replace(/> </g, '><')
    .trim();
}

const WHOLE = {
  concept: ({ opt }: WholeTemplate): string => /<concept>([^<]*)<\/concept>/.exec(opt)?.[1]?.trim() ?? '',
  languages: ({ web }: WholeTemplate): string => [...web.languages].sort().join(', '),
};

interface Node {
  readonly name: string;
  readonly text: string;
  /** In every language. */
  readonly names: string;
}

function nodesOf({ tree }: WebTemplate, language: string): Map<string, Node> {
  const nodes = new Map<string, Node>();
  const visit = (node: WebTemplateNode): void => {
    const constraints = constraintsOf(node, language);
    const text = [node.rmType, cardinality(node), ...constraints].join(' · ');
    const names = Object.entries(node.localizedNames ?? {}).map(([code, name]) => `${code}: ${name}`);
    // Several nodes may have one path: alternatives of a choice.
    const path = `${node.aqlPath ?? '/'}${nodes.has(node.aqlPath ?? '/') ? ` (${node.rmType})` : ''}`;
    nodes.set(path, { name: nodeName(node, language), text, names: names.sort().join(' · ') });
    for (const child of node.children ?? []) if (child.inContext !== true) visit(child);
  };
  visit(tree);
  return nodes;
}

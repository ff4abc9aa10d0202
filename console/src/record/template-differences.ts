import type { WebTemplate, WebTemplateNode } from '@everchart/client';
import { cardinality, constraintsOf, nodeName } from './web-node.js';

/** A node that two templates have differently. */
export interface TemplateDifference {
  readonly path: string;
  readonly name: string;
  /** null: only the other template has it. */
  readonly before: string | null;
  readonly after: string | null;
}

/** What differs from one template to another by AQL path: nodes that came, went, or take something else. */
export function templateDifferences(
  before: WebTemplate,
  after: WebTemplate,
  language: string,
): TemplateDifference[] {
  const [old, current] = [nodesOf(before, language), nodesOf(after, language)];
  return [...new Set([...current.keys(), ...old.keys()])].flatMap((path) => {
    const [was, is] = [old.get(path), current.get(path)];
    if (was?.text === is?.text) return [];
    return [{ path, name: (is ?? was)?.name ?? '', before: was?.text ?? null, after: is?.text ?? null }];
  });
}

function nodesOf({ tree }: WebTemplate, language: string): Map<string, { name: string; text: string }> {
  const nodes = new Map<string, { name: string; text: string }>();
  const visit = (node: WebTemplateNode): void => {
    const constraints = constraintsOf(node, language);
    const text = [node.rmType, cardinality(node), ...constraints].join(' · ');
    // Several nodes may have one path: alternatives of a choice.
    const path = `${node.aqlPath ?? '/'}${nodes.has(node.aqlPath ?? '/') ? ` (${node.rmType})` : ''}`;
    nodes.set(path, { name: nodeName(node, language), text });
    for (const child of node.children ?? []) if (child.inContext !== true) visit(child);
  };
  visit(tree);
  return nodes;
}

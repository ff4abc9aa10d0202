import type { WebTemplate, WebTemplateNode } from '@everchart/client';
import { useQuery } from '@tanstack/react-query';
import { archetypesAbove } from '../../record/web-node.js';
import { useApi } from '../../session/session.js';

/** What a node is called in one language. */
interface NodeTerm {
  /** Code of the language. */
  readonly language: string;
  readonly text: string;
  readonly description?: string;
}

/** What a node is called in the languages that its archetype has beside those of the template, where the server has its source. */
export function useArchetypeTerms(template: WebTemplate, node: WebTemplateNode): readonly NodeTerm[] {
  const api = useApi();
  const id = archetypesAbove(template.tree, node)[0]?.archetype ?? '';
  const { data: stored = [] } = useQuery({ queryKey: ['archetype-sources'], queryFn: api.archetypes });
  const { data } = useQuery({
    queryKey: ['archetype-source', id],
    queryFn: () => api.archetype(id),
    enabled: stored.includes(id),
    staleTime: Infinity,
  });
  if (data === undefined) return [];
  const code = node.nodeId === id ? data.concept : node.nodeId;
  return Object.entries(data.terms)
    .filter(([language]) => !template.languages.includes(language))
    .flatMap(([language, terms]) =>
      terms.filter((term) => term.code === code).map((term) => ({ language, ...term })),
    );
}

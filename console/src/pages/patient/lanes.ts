import type { WebTemplate } from '@everchart/client';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useMemo } from 'react';
import { useMessages } from '../../messages/messages.js';
import { nodeName } from '../../record/web-node.js';
import { useApi } from '../../session/session.js';
import { seriesColor } from '../../theme/theme.js';
import type { RecordedComposition } from './patient-data.js';

/** A lane of a timeline: the documents of one template. */
export interface Lane {
  readonly template: string;
  /** What the template is about. */
  readonly name: string;
  readonly color: string;
}

/** The lanes of a record: each its own colour as long as there are enough. */
export function useLanes(compositions: readonly RecordedComposition[]): readonly Lane[] {
  const nameOf = useConcepts(compositions);
  return useMemo(() => {
    const names = templatesOf(compositions).map((template) => ({ template, name: nameOf(template) }));
    return names.map(({ template, name }, index) => ({
      template,
      // Two lanes of one name are told apart by their ids.
      name: names.some((other) => other.name === name && other.template !== template)
        ? `${name} · ${template}`
        : name,
      color: seriesColor(index),
    }));
  }, [compositions, nameOf]);
}

/** The colours of lanes by their templates; what has none is grey. */
export function colorsOf(lanes: readonly Lane[]): (template: string) => string {
  const colors = new Map(lanes.map(({ template, color }) => [template, color]));
  return (template) => colors.get(template) ?? 'var(--quiet)';
}

function templatesOf(compositions: readonly RecordedComposition[]): string[] {
  return [...new Set(compositions.map(({ template }) => template))].sort();
}

/** What templates are about: their concepts, and the words of their roots where the concept is but the id. */
function useConcepts(compositions: readonly RecordedComposition[]): (templateId: string) => string {
  const { language } = useMessages();
  const api = useApi();
  const { data } = useQuery({ queryKey: ['templates'], queryFn: api.templates });
  const concepts = useMemo(
    () => new Map((data ?? []).map(({ template_id: id, concept }) => [id, concept])),
    [data],
  );
  const unnamed = templatesOf(compositions).filter(
    (id) => concepts.has(id) && !saysMore(concepts.get(id), id),
  );
  const queries = useQueryClient();
  const { data: roots } = useQuery({
    queryKey: ['web-templates', unnamed],
    queryFn: async () => {
      const read = (id: string): Promise<WebTemplate> =>
        queries.query({
          queryKey: ['web-template', id],
          queryFn: () => api.webTemplate(id),
          staleTime: Infinity,
        });
      const answers = await Promise.allSettled(unnamed.map(read));
      return answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []));
    },
    enabled: unnamed.length > 0,
    staleTime: Infinity,
  });
  return useMemo(() => {
    const names = new Map(roots?.map(({ templateId, tree }) => [templateId, nodeName(tree, language)]));
    return (id) => {
      const concept = concepts.get(id);
      return (saysMore(concept, id) ? concept : names.get(id)) || id;
    };
  }, [concepts, roots, language]);
}

/** Whether a concept is another one than the id, however both are written. */
function saysMore(concept: string | undefined, id: string): boolean {
  const letters = (text: string): string => text.toLowerCase().replace(/[^a-z0-9]+/g, '');
  return concept !== undefined && concept !== '' && letters(concept) !== letters(id);
}

import { Catalogue } from '@everchart/aql';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useApi } from '../../../session/session.js';
import { readTemplates, type KnownTemplates } from './known-templates.js';

const QUERY_KEY = ['catalogue'];

/** What templates say, for the editor; read once for a tab, later only what is new. Null until it began. */
export function useKnownTemplates(): KnownTemplates | null {
  const api = useApi();
  const queries = useQueryClient();
  const { data } = useQuery({
    queryKey: QUERY_KEY,
    queryFn: ({ signal }) => {
      const before = queries.getQueryData<KnownTemplates>(QUERY_KEY);
      const onProgress = (known: KnownTemplates): void => void queries.setQueryData(QUERY_KEY, known);
      return readTemplates(api, before?.catalogue ?? new Catalogue(), { onProgress, signal });
    },
    staleTime: 60_000,
    gcTime: Infinity,
  });
  return data ?? null;
}

import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { subjectsOf } from '../record/subjects.js';
import { useApi, useMay } from '../session/session.js';

/** Whose records they are, by EHR; one question, as the audit notes each. Undefined for whoever may not read, and until it is known. */
export function useNames(ehrIds: readonly string[]): ReadonlyMap<string, string | null> | undefined {
  const api = useApi();
  const mayRead = useMay('read');
  const ids = [...new Set(ehrIds)].filter((ehrId) => ehrId !== '').sort();
  const { data } = useQuery({
    queryKey: ['subjects', ids],
    queryFn: () => subjectsOf(api, ids),
    enabled: mayRead && ids.length > 0,
    placeholderData: keepPreviousData,
    staleTime: Infinity,
  });
  return data;
}

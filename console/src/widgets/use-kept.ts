import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';

/**
 * Something that is there again when its page is, as long as the tab is open: in memory alone. `given`: what counts in place of what was
 * kept.
 */
export function useKept<T>(
  key: readonly string[],
  initial: T,
  given?: T,
): readonly [value: T, keep: (next: T) => void] {
  const queries = useQueryClient();
  const [value, setValue] = useState<T>(given ?? queries.getQueryData<T>(key) ?? initial);
  useQuery({ queryKey: key, queryFn: () => value, enabled: false, gcTime: Infinity });
  const keep = (next: T): void => {
    setValue(next);
    queries.setQueryData<T>(key, next);
  };
  return [value, keep];
}

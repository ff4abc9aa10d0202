import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { withOpened, type OpenedRecord } from '../../record/recent.js';
import { useApi } from '../../session/session.js';

const RECENT = ['recent-patients'];
/** Where the favourites of the user are kept. */
export const FAVOURITES = ['favourites'];

/** Records that were opened in this tab, newest first: in memory alone, as whoever signs in next must not see them. */
export function useRecent(): readonly OpenedRecord[] {
  const queries = useQueryClient();
  const { data } = useQuery<readonly OpenedRecord[]>({
    queryKey: RECENT,
    queryFn: () => queries.getQueryData<readonly OpenedRecord[]>(RECENT) ?? [],
    staleTime: Infinity,
    gcTime: Infinity,
  });
  return data ?? [];
}

/** Remembers that a record is open, as soon as its name is known. */
export function useOpened(ehrId: string, name: string): void {
  const queries = useQueryClient();
  useRecent();
  useEffect(() => {
    if (name !== '')
      queries.setQueryData<readonly OpenedRecord[]>(RECENT, (before = []) =>
        withOpened(before, { ehrId, name }),
      );
  }, [queries, ehrId, name]);
}

/** The favourites of the user; null: not known, or none are kept for him. */
export function useFavourites(): readonly OpenedRecord[] | null {
  return useAskedFavourites(true).favourites;
}

/** The same, and whether they are being asked for; `isAsked`: whether they may be. */
export function useAskedFavourites(isAsked: boolean): {
  readonly favourites: readonly OpenedRecord[] | null;
  readonly isFetching: boolean;
} {
  const api = useApi();
  const { data, isFetching } = useQuery({
    queryKey: FAVOURITES,
    queryFn: api.favourites,
    enabled: isAsked,
    retry: false,
    // Asked once, and after each change: the audit notes each record that the answer names.
    staleTime: Infinity,
  });
  const favourites = data?.map(({ ehr_id: ehrId, subject }) => ({
    ehrId,
    name: subject?.id ?? ehrId.slice(0, 8),
  }));
  return { favourites: favourites ?? null, isFetching };
}

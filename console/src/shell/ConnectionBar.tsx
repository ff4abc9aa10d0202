import { useQueryClient, useQuery } from '@tanstack/react-query';
import { useEffect, useState, type ReactNode } from 'react';
import { createApi } from '../api/api.js';
import { CdrError } from '@everchart/client';
import { useMessages } from '../messages/messages.js';

const AGAIN_MS = 3_000;

/** One quiet bar while the server is away; it asks by itself, and all that failed is asked again when it is back. */
export function ConnectionBar(): ReactNode {
  const { t } = useMessages();
  const queries = useQueryClient();
  const [isAway, setIsAway] = useState(false);
  useEffect(() => {
    const see = (error: unknown): void => {
      if (error instanceof CdrError && error.status === 0) setIsAway(true);
    };
    const ends = [
      queries.getQueryCache().subscribe(({ query }) => see(query.state.error)),
      queries.getMutationCache().subscribe(({ mutation }) => see(mutation?.state.error)),
    ];
    return () => ends.forEach((end) => end());
  }, [queries]);
  const { data: isBack } = useQuery({
    queryKey: ['is-back', isAway],
    queryFn: () =>
      createApi({ kind: 'none' })
        .settings()
        .then(
          () => true,
          () => false,
        ),
    enabled: isAway,
    refetchInterval: AGAIN_MS,
    gcTime: 0,
  });
  useEffect(() => {
    if (!isAway || isBack !== true) return;
    setIsAway(false);
    void queries.invalidateQueries();
  }, [isAway, isBack, queries]);
  return isAway ? (
    <div className="away" role="status">
      {t('error.unreachable')}
    </div>
  ) : null;
}

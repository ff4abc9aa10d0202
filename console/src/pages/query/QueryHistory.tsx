import { Button, Menu, Text } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useMessages } from '../../messages/messages.js';
import { ago } from '../../widgets/time-text.js';
import { oneLine, withRun, type PastQuery } from './query-history.js';

const QUERY_KEY = ['query-history'];

/**
 * Queries that were run in this tab. In memory alone, with what else the page knows of the server: a text may name a
 * patient, and whoever signs in next must not read it.
 */
export function useQueryHistory(): {
  readonly history: readonly PastQuery[];
  readonly remember: (q: string) => void;
} {
  const queries = useQueryClient();
  const { data } = useQuery<readonly PastQuery[]>({
    queryKey: QUERY_KEY,
    queryFn: () => queries.getQueryData<readonly PastQuery[]>(QUERY_KEY) ?? [],
    staleTime: Infinity,
    gcTime: Infinity,
  });
  const remember = (q: string): void => {
    queries.setQueryData<readonly PastQuery[]>(QUERY_KEY, (before = []) => withRun(before, q, Date.now()));
  };
  return { history: data ?? [], remember };
}

/** Chooses a query that was run before. */
export function QueryHistory({
  history,
  onChoose,
}: {
  readonly history: readonly PastQuery[];
  readonly onChoose: (text: string) => void;
}): ReactNode {
  const { t, language } = useMessages();
  return (
    <Menu width={460} position="bottom-start" withinPortal>
      <Menu.Target>
        <Button variant="default" disabled={history.length === 0}>
          {t('query.history')}
        </Button>
      </Menu.Target>
      <Menu.Dropdown className="query-history">
        {history.map(({ q, at }) => (
          <Menu.Item key={q} onClick={() => onChoose(q)}>
            <Text className="mono" size="xs">
              {oneLine(q)}
            </Text>
            <Text size="xs" c="dimmed">
              {ago(new Date(at).toISOString(), language)}
            </Text>
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}

import { Text } from '@mantine/core';
import type { ReactNode } from 'react';
import type { Overview } from '@everchart/client';
import { useMessages } from '../../messages/messages.js';
import { ViewLink } from '../../widgets/ViewLink.js';
import { milliseconds, numberText } from '../../widgets/number-text.js';

/** The queries that took longest in the last hour, without the values in them. */
export function SlowQueries({ queries }: { readonly queries: Overview['slowest_queries'] }): ReactNode {
  const { t, language } = useMessages();
  if (queries.length === 0) return <Text c="dimmed">{t('overview.noQueries')}</Text>;
  return (
    <ul className="lines">
      {queries.map(({ aql, ms, rows }) => (
        <li key={aql}>
          <ViewLink
            className="mono one-line"
            title={aql}
            view={{ to: '/query', search: { q: withParameters(aql), explain: 'yes' } }}
          >
            {aql}
          </ViewLink>
          <Text size="sm" c="dimmed" className="line-end number">
            {milliseconds(ms, language)}
            {rows !== undefined && ` · ${t('query.rows', { count: numberText(rows, language) })}`}
          </Text>
        </li>
      ))}
    </ul>
  );
}

/** A query whose values are not known, with a parameter for each: so it can be run and explained. */
function withParameters(aql: string): string {
  let number = 0;
  return aql.replaceAll('?', () => `$value${(number += 1)}`);
}

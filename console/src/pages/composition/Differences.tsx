import { Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { JsonObject } from '../../api/types.js';
import { useMessages } from '../../messages/messages.js';
import { differencesOf, type Difference } from '../../record/differences.js';
import { useApi } from '../../session/session.js';
import { Empty, Failure, Loading } from '../../widgets/states.js';

/** What changed from another version to the one that is shown, in words. */
export function Differences({
  ehrId,
  other,
  composition,
}: {
  readonly ehrId: string;
  readonly other: string;
  readonly composition: JsonObject;
}): ReactNode {
  const { t, language } = useMessages();
  const api = useApi();
  const { data, error } = useQuery({
    queryKey: ['composition', ehrId, other],
    queryFn: () => api.composition(ehrId, other),
  });
  if (error !== null) return <Failure error={error} />;
  if (data === undefined) return <Loading rows={3} />;
  const differences = differencesOf(data ?? {}, composition, language);
  if (differences.length === 0) return <Empty title={t('diff.none')} />;
  return (
    <ul className="differences">
      {differences.map((difference) => (
        <Line key={difference.path} {...difference} />
      ))}
    </ul>
  );
}

function Line({ label, path, before, after }: Difference): ReactNode {
  const { t } = useMessages();
  return (
    <li title={path}>
      <Text size="sm" c="dimmed">
        {label === '' ? path : label}
      </Text>
      <Text component="div">
        {before === null ? <b className="quiet">{t('diff.added')}</b> : <del>{before}</del>}
        {' → '}
        {after === null ? <b className="quiet">{t('diff.removed')}</b> : <ins>{after}</ins>}
      </Text>
    </li>
  );
}

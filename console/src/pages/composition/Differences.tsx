import { Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { JsonObject } from '../../api/types.js';
import { useMessages } from '../../messages/messages.js';
import { changesOf, type Change } from '../../record/comparison/changes.js';
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
  const reader = useMessages();
  const api = useApi();
  const { data, error } = useQuery({
    queryKey: ['composition', ehrId, other],
    queryFn: () => api.composition(ehrId, other),
  });
  if (error !== null) return <Failure error={error} />;
  if (data === undefined) return <Loading rows={3} />;
  return <Changes changes={changesOf(data ?? {}, composition, reader)} />;
}

/** What changed, a line for each. */
export function Changes({ changes }: { readonly changes: readonly Change[] }): ReactNode {
  const { t } = useMessages();
  if (changes.length === 0) return <Empty title={t('diff.none')} />;
  return (
    <ul className="differences">
      {changes.map((change, index) => (
        <Line key={index} {...change} />
      ))}
    </ul>
  );
}

function Line({ label, kind, before, after, details }: Change): ReactNode {
  const { t } = useMessages();
  return (
    <li>
      <Text size="sm" c="dimmed">
        {kind !== 'changed' && <b>{t(`diff.${kind}`)} </b>}
        {label}
      </Text>
      {kind !== 'moved' && (
        <Text component="div">
          {before !== null && <del>{before}</del>}
          {kind === 'changed' && ' → '}
          {after !== null && <ins>{after}</ins>}
        </Text>
      )}
      {details.map((detail) => (
        <Text key={detail} size="sm" className="quiet">
          {detail}
        </Text>
      ))}
    </li>
  );
}

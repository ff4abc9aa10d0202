import { Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { CdrError } from '@everchart/client';
import { at, items, textAt } from '../../api/json.js';
import type { Json } from '../../api/types.js';
import { useMessages } from '../../messages/messages.js';
import { useApi } from '../../session/session.js';
import { compositionView } from '../../shell/address.js';
import { Empty, Failure, Loading } from '../../widgets/states.js';
import { ViewLink } from '../../widgets/ViewLink.js';

/** The folders of an EHR as a tree. */
export function DirectoryTab({ ehrId }: { readonly ehrId: string }): ReactNode {
  const { t } = useMessages();
  const api = useApi();
  const { data, error } = useQuery({ queryKey: ['directory', ehrId], queryFn: () => api.directory(ehrId) });
  const isNone = data === null || (error instanceof CdrError && error.status === 404);
  if (isNone) return <Empty title={t('patient.noDirectory')}>{t('patient.noDirectoryHint')}</Empty>;
  if (error !== null) return <Failure error={error} />;
  return data === undefined ? <Loading rows={3} /> : <Folder folder={data} ehrId={ehrId} />;
}

function Folder({ folder, ehrId }: { readonly folder: Json; readonly ehrId: string }): ReactNode {
  const { t } = useMessages();
  const refs = items(at(folder, 'items'));
  return (
    <details open className="folder">
      <summary>
        {textAt(folder, 'name', 'value')}{' '}
        <Text span size="sm" c="dimmed">
          {t('patient.filed', { count: refs.length })}
        </Text>
      </summary>
      <ul>
        {refs.map((ref, index) => {
          const uid = textAt(ref, 'id', 'value');
          return (
            <li key={`${uid} ${index}`}>
              <ViewLink view={compositionView(ehrId, uid)} className="mono">
                {uid}
              </ViewLink>
            </li>
          );
        })}
        {items(at(folder, 'folders')).map((each, index) => (
          <li key={`${textAt(each, 'uid', 'value')} ${index}`}>
            <Folder folder={each} ehrId={ehrId} />
          </li>
        ))}
      </ul>
    </details>
  );
}

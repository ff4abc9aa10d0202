import { Button, Text } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { CdrError, versionedObjectUidOf } from '@everchart/client';
import type { JsonObject } from '../../api/types.js';
import { useMessages } from '../../messages/messages.js';
import { filedIds, newFolder } from '../../record/folders.js';
import { useApi, useMay } from '../../session/session.js';
import { Section } from '../../widgets/Page.js';
import { Empty, Failure, Loading } from '../../widgets/states.js';
import { Time } from '../../widgets/Time.js';
import { FolderTree } from './FolderTree.js';
import { compositionsOf } from './patient-data.js';

/** The folders of an EHR as a tree, and beside it the documents that no folder names, to be dragged into one. */
export function DirectoryTab({ ehrId }: { readonly ehrId: string }): ReactNode {
  const { t } = useMessages();
  const api = useApi();
  const mayWrite = useMay('write');
  const queries = useQueryClient();
  const { data, error } = useQuery({ queryKey: ['directory', ehrId], queryFn: () => api.directory(ehrId) });
  const save = useMutation({
    mutationFn: (root: JsonObject) => api.saveDirectory(ehrId, root),
    // Also of what was refused: somebody else may have been faster.
    onSettled: () => queries.invalidateQueries({ queryKey: ['directory', ehrId] }),
  });
  if (data === null || (error instanceof CdrError && error.status === 404))
    return (
      <Empty
        title={t('patient.noDirectory')}
        action={
          mayWrite && (
            <Button loading={save.isPending} onClick={() => save.mutate(newFolder('root'))}>
              {t('directory.create')}
            </Button>
          )
        }
      >
        {t('patient.noDirectoryHint')}
      </Empty>
    );
  if (error !== null) return <Failure error={error} />;
  if (data === undefined) return <Loading rows={3} />;
  return (
    <>
      {save.error !== null && <Failure error={save.error} />}
      <div className="split">
        <FolderTree ehrId={ehrId} root={data} save={mayWrite ? save.mutate : null} />
        {mayWrite && <Unfiled ehrId={ehrId} root={data} />}
      </div>
    </>
  );
}

function Unfiled({ ehrId, root }: { readonly ehrId: string; readonly root: JsonObject }): ReactNode {
  const { t } = useMessages();
  const api = useApi();
  const { data = [] } = useQuery({
    queryKey: ['compositions', ehrId],
    queryFn: () => compositionsOf(api, ehrId),
  });
  const filed = filedIds(root);
  const left = data.filter(({ uid }) => !filed.has(versionedObjectUidOf(uid)));
  return (
    <Section title={t('directory.unfiled', { count: left.length })}>
      <Text size="sm" c="dimmed" mb="xs">
        {t('directory.dragHint')}
      </Text>
      <ul className="unfiled">
        {left.slice(0, MOST_SHOWN).map(({ uid, name, time }) => (
          <li key={uid} draggable onDragStart={(event) => event.dataTransfer.setData('text/plain', uid)}>
            {name}{' '}
            <Text span size="sm" c="dimmed">
              <Time value={time} />
            </Text>
          </li>
        ))}
      </ul>
    </Section>
  );
}

/** More are not drawn at once: they come up as others are filed. */
const MOST_SHOWN = 100;

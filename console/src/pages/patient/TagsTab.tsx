import { versionedObjectUidOf } from '@everchart/client';
import { Table } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { textAt } from '../../api/json.js';
import type { JsonObject } from '../../api/types.js';
import { useMessages } from '../../messages/messages.js';
import { useApi } from '../../session/session.js';
import { compositionView, patientView } from '../../shell/address.js';
import { Empty, Failure, Loading } from '../../widgets/states.js';
import { ViewLink } from '../../widgets/ViewLink.js';

/** The item tags of everything in an EHR. */
export function TagsTab({
  ehrId,
  status,
}: {
  readonly ehrId: string;
  readonly status: JsonObject | undefined;
}): ReactNode {
  const statusUid = versionedObjectUidOf(textAt(status, 'uid', 'value'));
  const { t } = useMessages();
  const api = useApi();
  const { data, error } = useQuery({ queryKey: ['tags', ehrId], queryFn: () => api.tags(ehrId) });
  if (error !== null) return <Failure error={error} />;
  if (data === undefined) return <Loading rows={4} />;
  if (data.length === 0) return <Empty title={t('patient.noTags')}>{t('patient.noTagsHint')}</Empty>;
  return (
    <Table.ScrollContainer minWidth={520}>
      <Table className="grid">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t('patient.tagKey')}</Table.Th>
            <Table.Th>{t('patient.tagValue')}</Table.Th>
            <Table.Th>{t('patient.tagTarget')}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {data.map(({ key, value, target: { value: uid }, target_path: path = '' }) => (
            <Table.Tr key={`${uid} ${key} ${path}`}>
              <Table.Td>{key}</Table.Td>
              <Table.Td>{value}</Table.Td>
              <Table.Td className="mono">
                <ViewLink
                  view={
                    versionedObjectUidOf(uid) === statusUid
                      ? patientView(ehrId, { tab: 'status' })
                      : compositionView(ehrId, uid)
                  }
                >
                  {uid.slice(0, 8)}
                </ViewLink>{' '}
                {path}
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

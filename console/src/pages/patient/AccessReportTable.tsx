import type { ReportedAccess } from '@everchart/client';
import { Table, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { textAt } from '../../api/json.js';
import { useMessages } from '../../messages/messages.js';
import { Time } from '../../widgets/Time.js';

/** Every access on a line of its own: when, who, what, why, what kind, from where. */
export function AccessReportTable({ entries }: { readonly entries: readonly ReportedAccess[] }): ReactNode {
  const { t } = useMessages();
  if (entries.length === 0) return <Text c="dimmed">{t('access.none')}</Text>;
  return (
    <Table className="grid cards report" role="table">
      <Table.Thead role="rowgroup">
        <Table.Tr role="row">
          <Table.Th role="columnheader">{t('audit.time')}</Table.Th>
          <Table.Th role="columnheader">{t('audit.who')}</Table.Th>
          <Table.Th role="columnheader">{t('audit.what')}</Table.Th>
          <Table.Th role="columnheader">{t('access.why')}</Table.Th>
          <Table.Th role="columnheader">{t('access.kind')}</Table.Th>
          <Table.Th role="columnheader">{t('access.where')}</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody role="rowgroup">
        {entries.map((entry) => (
          <AccessRow key={`${entry.request_id} ${entry.time}`} entry={entry} />
        ))}
      </Table.Tbody>
    </Table>
  );
}

function AccessRow({ entry }: { readonly entry: ReportedAccess }): ReactNode {
  const { t } = useMessages();
  const {
    time,
    user,
    what,
    why,
    reason,
    templates = [],
    organisation,
    client_id: client,
    address,
    actor,
  } = entry;
  const kind = templates.length > 0 ? templates.join(', ') : textAt(entry, 'query');
  return (
    <Table.Tr role="row">
      <Table.Td role="cell" className="when">
        <Time value={time} />
      </Table.Td>
      <Table.Td role="cell" data-label={t('audit.who')}>
        {actor === undefined ? user : `${user} (${actor})`}
      </Table.Td>
      <Table.Td role="cell" className="what">
        {what}
        {entry.while_merged === true && (
          <Text size="xs" component="div">
            {t('access.merged')}
          </Text>
        )}
        {textAt(entry, 'restored') !== '' && (
          <Text size="xs" component="div">
            {t('access.elsewhere')}
          </Text>
        )}
      </Table.Td>
      <Table.Td role="cell" data-label={t('access.why')}>
        {[why, reason].filter(Boolean).join(': ')}
      </Table.Td>
      <Table.Td role="cell" data-label={t('access.kind')}>
        {kind !== '' && <div className="kind">{kind}</div>}
      </Table.Td>
      <Table.Td role="cell" data-label={t('access.where')}>
        {[organisation, client, address].filter(Boolean).join(', ')}
      </Table.Td>
    </Table.Tr>
  );
}

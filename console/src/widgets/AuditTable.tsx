import { Table, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { textAt } from '../api/json.js';
import type { AuditRecord } from '@everchart/client';
import { useMessages } from '../messages/messages.js';
import { Empty } from './states.js';
import { Time } from './Time.js';

/** Who did what, when, from where. */
export function AuditTable({ records }: { readonly records: readonly AuditRecord[] }): ReactNode {
  const { t } = useMessages();
  if (records.length === 0) return <Empty title={t('audit.none')}>{t('audit.noneHint')}</Empty>;
  return (
    <Table.ScrollContainer minWidth={640}>
      <Table className="grid audit">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t('audit.time')}</Table.Th>
            <Table.Th>{t('audit.who')}</Table.Th>
            <Table.Th>{t('audit.what')}</Table.Th>
            <Table.Th>{t('audit.record')}</Table.Th>
            <Table.Th>{t('audit.from')}</Table.Th>
            <Table.Th className="end">{t('audit.status')}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {records.map((record, index) => (
            <Row key={`${textAt(record, 'time')} ${index}`} record={record} />
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

function Row({ record }: { readonly record: AuditRecord }): ReactNode {
  const { t } = useMessages();
  const status = Number(textAt(record, 'status'));
  return (
    <Table.Tr>
      <Table.Td>
        <Time value={textAt(record, 'time')} isAgo />
      </Table.Td>
      <Table.Td>{textAt(record, 'user')}</Table.Td>
      <Table.Td className="mono what" title={textAt(record, 'operation')}>
        {textAt(record, 'operation')}
      </Table.Td>
      <Table.Td className="mono" title={textAt(record, 'ehr_id')}>
        {textAt(record, 'ehr_id').slice(0, 8)}
      </Table.Td>
      <Table.Td className="mono">{textAt(record, 'address')}</Table.Td>
      <Table.Td className="end number">
        {status >= 400 ? (
          <Text span className="flag">
            {t('audit.refused')} {status}
          </Text>
        ) : (
          status
        )}
      </Table.Td>
    </Table.Tr>
  );
}

import { Button, Table, Text } from '@mantine/core';
import { useState, type ReactNode } from 'react';
import { textAt } from '../api/json.js';
import type { AuditRecord } from '@everchart/client';
import { useMessages } from '../messages/messages.js';
import { visitsOf, type Visit } from '../record/visits.js';
import { patientView } from '../shell/address.js';
import { Empty } from './states.js';
import { Time } from './Time.js';
import { useNames } from './use-names.js';
import { ViewLink } from './ViewLink.js';

/** Who did what, when, from where: a line for each visit, its requests below where they are wanted. */
export function AuditTable({ records }: { readonly records: readonly AuditRecord[] }): ReactNode {
  const { t } = useMessages();
  const visits = visitsOf(records);
  const names = useNames(visits.map(({ ehrId }) => ehrId));
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
            <Table.Th className="end">{t('audit.requests')}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {visits.map((visit) => (
            <VisitRows
              key={`${visit.to} ${visit.user} ${visit.ehrId} ${visit.address}`}
              visit={visit}
              name={names?.get(visit.ehrId) ?? visit.ehrId.slice(0, 8)}
            />
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

function VisitRows({ visit, name }: { readonly visit: Visit; readonly name: string }): ReactNode {
  const { t } = useMessages();
  const [isOpen, setIsOpen] = useState(false);
  const { user, ehrId, address, from, to, refused, records } = visit;
  return (
    <>
      <Table.Tr>
        <Table.Td>
          <Time value={to} isAgo />
          {from !== to && (
            <Text size="xs" c="dimmed" component="div">
              {t('audit.began')} <Time value={from} />
            </Text>
          )}
        </Table.Td>
        <Table.Td>{user}</Table.Td>
        <Table.Td className="what">
          <Deeds visit={visit} />
          {refused > 0 && (
            <Text span className="flag">
              {' · '}
              {t('audit.refusedCount', { count: refused })}
            </Text>
          )}
        </Table.Td>
        <Table.Td>
          {ehrId !== '' && (
            <ViewLink view={patientView(ehrId)} title={ehrId}>
              {name}
            </ViewLink>
          )}
        </Table.Td>
        <Table.Td className="mono">{address}</Table.Td>
        <Table.Td className="end">
          <Button
            size="compact-xs"
            variant="subtle"
            color="gray"
            aria-expanded={isOpen}
            onClick={() => setIsOpen(!isOpen)}
          >
            {t('audit.count', { count: records.length })}
          </Button>
        </Table.Td>
      </Table.Tr>
      {isOpen &&
        records.map((record) => <RequestRow key={record.request_id + record.time} record={record} />)}
    </>
  );
}

/** What was done, in words; what has none by its operation. */
function Deeds({ visit: { deeds } }: { readonly visit: Visit }): ReactNode {
  const { t } = useMessages();
  return deeds
    .map(({ deed, operation, count }) => {
      const said = deed === null ? operation : t(`deed.${deed}`);
      return count === 1 ? said : `${said} ×${count}`;
    })
    .join(', ');
}

/** One request, as it is recorded. */
function RequestRow({ record }: { readonly record: AuditRecord }): ReactNode {
  const { t } = useMessages();
  const { status } = record;
  return (
    <Table.Tr className="request">
      <Table.Td>
        <Time value={record.time} />
      </Table.Td>
      <Table.Td />
      <Table.Td className="mono what" colSpan={3} title={textAt(record, 'operation')}>
        {record.operation}
        {record['dry_run'] === true && ` (${t('deed.planned')})`} {textAt(record, 'target')}
      </Table.Td>
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

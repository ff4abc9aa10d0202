import { Table, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useMessages } from '../../../messages/messages.js';
import { useApi } from '../../../session/session.js';
import { patientView } from '../../../shell/address.js';
import { numberText } from '../../../widgets/number-text.js';
import { Empty, Failure, Loading } from '../../../widgets/states.js';
import { Time } from '../../../widgets/Time.js';
import { useNames } from '../../../widgets/use-names.js';
import { ViewLink } from '../../../widgets/ViewLink.js';
import { usesOf, type EmergencyUse } from './emergency-uses.js';

/** Records that are looked at: an emergency makes one with each request. */
const LOOKED_AT = 1_000;

/** Every use of emergency access, newest first: who, whom, why, when. */
export function EmergencyUses(): ReactNode {
  const { t } = useMessages();
  const api = useApi();
  const { data, error, refetch } = useQuery({
    queryKey: ['audit', 'emergency'],
    queryFn: () => api.audit({ operation: 'emergency_access', fetch: LOOKED_AT }),
  });
  const uses = usesOf(data ?? []);
  const names = useNames(uses.map(({ ehrId }) => ehrId));
  if (error !== null) return <Failure error={error} retry={() => void refetch()} />;
  if (data === undefined) return <Loading rows={4} />;
  if (uses.length === 0) return <Empty title={t('uses.none')}>{t('uses.noneHint')}</Empty>;
  return (
    <>
      <Text c="dimmed" mb="sm">
        {t('uses.hint')}
      </Text>
      <Table.ScrollContainer minWidth={640}>
        <Table className="grid cards" role="table">
          <Table.Thead role="rowgroup">
            <Table.Tr role="row">
              <Table.Th role="columnheader">{t('audit.time')}</Table.Th>
              <Table.Th role="columnheader">{t('audit.who')}</Table.Th>
              <Table.Th role="columnheader">{t('uses.whom')}</Table.Th>
              <Table.Th role="columnheader">{t('uses.why')}</Table.Th>
              <Table.Th role="columnheader" className="end">
                {t('audit.requests')}
              </Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody role="rowgroup">
            {uses.map((use) => (
              <UseRow key={`${use.to} ${use.user} ${use.ehrId}`} use={use} name={names?.get(use.ehrId)} />
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
      {data.length === LOOKED_AT && (
        <Text size="sm" c="dimmed" mt="xs">
          {t('uses.cut', { count: LOOKED_AT })}
        </Text>
      )}
    </>
  );
}

function UseRow({
  use,
  name,
}: {
  readonly use: EmergencyUse;
  readonly name: string | null | undefined;
}): ReactNode {
  const { t, language } = useMessages();
  const { user, organisation, ehrId, purpose, reason, from, to, requests } = use;
  return (
    <Table.Tr role="row">
      <Table.Td role="cell">
        <Time value={to} isAgo />
        {from !== to && (
          <Text size="xs" c="dimmed" component="div">
            {t('audit.began')} <Time value={from} />
          </Text>
        )}
      </Table.Td>
      <Table.Td role="cell" data-label={t('audit.who')}>
        {[user, organisation].filter(Boolean).join(' · ')}
      </Table.Td>
      <Table.Td role="cell" data-label={t('uses.whom')}>
        {ehrId === '' ? (
          <span className="quiet">{t('uses.search')}</span>
        ) : (
          <ViewLink view={patientView(ehrId)} title={ehrId}>
            {name ?? ehrId.slice(0, 8)}
          </ViewLink>
        )}
      </Table.Td>
      <Table.Td role="cell" className="says" data-label={t('uses.why')}>
        {purpose === 'ETREAT' || purpose === 'BTG' ? t(`emergency.${purpose}`) : purpose}: {reason}
      </Table.Td>
      <Table.Td role="cell" className="end number" data-label={t('audit.requests')}>
        {numberText(requests, language)}
      </Table.Td>
    </Table.Tr>
  );
}

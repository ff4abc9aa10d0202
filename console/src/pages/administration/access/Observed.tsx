import { Table, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { deedOf } from '../../../record/visits.js';
import { useMessages } from '../../../messages/messages.js';
import { useApi, useSession } from '../../../session/session.js';
import { numberText } from '../../../widgets/number-text.js';
import { scrolledByKeys } from '../../../widgets/scrolled-by-keys.js';
import { Empty, Failure, Loading } from '../../../widgets/states.js';
import { Time } from '../../../widgets/Time.js';

/** What policies hid in the last week, or would have, by who asked for what. */
export function Observed(): ReactNode {
  const { t, language } = useMessages();
  const api = useApi();
  const { access_mode: mode } = useSession().settings;
  const { data, error, refetch } = useQuery({ queryKey: ['observed'], queryFn: api.observed });
  if (error !== null) return <Failure error={error} retry={() => void refetch()} />;
  if (data === undefined) return <Loading rows={4} />;
  if (data.observed.length === 0)
    return (
      <Empty title={t('observed.none')}>{t(mode === 'dry' ? 'observed.dry' : 'observed.noneHint')}</Empty>
    );
  return (
    <>
      <Text c="dimmed" mb="sm">
        {t(mode === 'enforce' ? 'observed.hidden' : 'observed.wouldHide')} <Time value={data.from} />
        {!data.complete && ` · ${t('observed.cut')}`}
      </Text>
      <Table.ScrollContainer minWidth={640} scrollAreaProps={scrolledByKeys(t('access.view.observed'))}>
        <Table className="grid">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{t('audit.who')}</Table.Th>
              <Table.Th>{t('who.organisation')}</Table.Th>
              <Table.Th>{t('who.purpose')}</Table.Th>
              <Table.Th>{t('audit.what')}</Table.Th>
              <Table.Th className="end">{t('observed.count')}</Table.Th>
              <Table.Th>{t('observed.last')}</Table.Th>
              <Table.Th>{t('observed.policies')}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {data.observed.map(({ user, organisation, purpose, operation, count, last, policies }, index) => (
              <Table.Tr key={index}>
                <Table.Td>{user}</Table.Td>
                <Table.Td>{organisation ?? ''}</Table.Td>
                <Table.Td>{purpose ?? ''}</Table.Td>
                <Table.Td title={operation}>
                  <Deed operation={operation} />
                </Table.Td>
                <Table.Td className="end number">{numberText(count, language)}</Table.Td>
                <Table.Td>
                  <Time value={last} isAgo />
                </Table.Td>
                <Table.Td>{policies.length === 0 ? t('observed.unsaid') : policies.join(', ')}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </>
  );
}

/** What was done, in the words that the audit has for it. */
function Deed({ operation }: { readonly operation: string }): ReactNode {
  const { t } = useMessages();
  const deed = deedOf({ operation, time: '', user: '', status: 200, request_id: '' });
  return deed === null ? operation : t(`deed.${deed}`);
}

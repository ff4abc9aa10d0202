import { Table, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useMessages } from '../../messages/messages.js';
import { useApi } from '../../session/session.js';
import { patientView } from '../../shell/address.js';
import { Id } from '../../widgets/Id.js';
import { numberText } from '../../widgets/number-text.js';
import { Time } from '../../widgets/Time.js';
import { ViewLink } from '../../widgets/ViewLink.js';
import { patientActivity, type Patient, type PatientActivity } from './patient-queries.js';

/** A page of patients. What is read from their documents comes a moment later, into the place kept for it. */
export function PatientTable({ patients }: { readonly patients: readonly Patient[] }): ReactNode {
  const { t } = useMessages();
  const api = useApi();
  const ids = patients.map(({ ehrId }) => ehrId);
  const { data } = useQuery({
    queryKey: ['patient-activity', ids],
    queryFn: () => patientActivity(api, ids),
  });
  return (
    <Table.ScrollContainer minWidth={560}>
      {/* The roles say that it is a table also where it is drawn as cards. */}
      <Table highlightOnHover className="grid cards" role="table">
        <Table.Thead role="rowgroup">
          <Table.Tr role="row">
            <Table.Th role="columnheader">{t('patients.subject')}</Table.Th>
            <Table.Th role="columnheader">{t('patients.ehr')}</Table.Th>
            <Table.Th className="end" role="columnheader">
              {t('patients.compositions')}
            </Table.Th>
            <Table.Th role="columnheader">{t('patients.last')}</Table.Th>
            <Table.Th role="columnheader">{t('patients.created')}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody role="rowgroup">
          {patients.map((patient) => (
            <Row
              key={patient.ehrId}
              patient={patient}
              activity={data === undefined ? undefined : (data.get(patient.ehrId) ?? NOTHING)}
            />
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

const NOTHING: PatientActivity = { compositions: 0, last: null };

function Row({
  patient,
  activity,
}: {
  readonly patient: Patient;
  readonly activity: PatientActivity | undefined;
}): ReactNode {
  const { t, language } = useMessages();
  const { ehrId, subject, namespace, created, isQueryable, isModifiable } = patient;
  const flags = [
    ...(isQueryable ? [] : [t('patient.notQueryable')]),
    ...(isModifiable ? [] : [t('patient.notModifiable')]),
  ];
  return (
    <Table.Tr role="row">
      <Table.Td className="subject" role="cell">
        <ViewLink view={patientView(ehrId)} c={subject === null ? 'dimmed' : ''}>
          {subject ?? t('patients.noSubject')}
        </ViewLink>{' '}
        <Text span size="sm" c="dimmed">
          {namespace}
        </Text>{' '}
        <b className="flag">{flags.join(' · ')}</b>
      </Table.Td>
      <Table.Td role="cell" data-label={t('patients.ehr')}>
        <Id value={ehrId} />
      </Table.Td>
      <Table.Td className="end number" role="cell" data-label={t('patients.compositions')}>
        {activity !== undefined && (isQueryable ? numberText(activity.compositions, language) : '–')}
      </Table.Td>
      <Table.Td role="cell" data-label={t('patients.last')}>
        {activity !== undefined && <Time value={activity.last ?? ''} isAgo />}
      </Table.Td>
      <Table.Td role="cell" data-label={t('patients.created')}>
        <Time value={created} />
      </Table.Td>
    </Table.Tr>
  );
}

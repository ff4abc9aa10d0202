import { Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { textAt } from '../../../api/json.js';
import { useMessages } from '../../../messages/messages.js';
import { useApi } from '../../../session/session.js';
import { patientView } from '../../../shell/address.js';
import { categoryColor } from '../../../theme/theme.js';
import { Failure, Loading } from '../../../widgets/states.js';
import { Time } from '../../../widgets/Time.js';
import { ViewLink } from '../../../widgets/ViewLink.js';
import { compositionsOf, type RecordedComposition } from '../../patient/patient-data.js';

/** One of two patients that are compared: who, how much, from when to when. */
export function PatientSummary({ ehrId }: { readonly ehrId: string }): ReactNode {
  const { t } = useMessages();
  const api = useApi();
  const status = useQuery({ queryKey: ['ehr-status', ehrId], queryFn: () => api.ehrStatus(ehrId) });
  const record = useQuery({
    queryKey: ['compositions', ehrId],
    queryFn: () => compositionsOf(api, ehrId),
  });
  const error = status.error ?? record.error;
  if (error !== null) return <Failure error={error} />;
  if (status.data === undefined || record.data === undefined) return <Loading rows={4} />;
  const subject = textAt(status.data, 'subject', 'external_ref', 'id', 'value');
  return (
    <div>
      <ViewLink view={patientView(ehrId)} fw={600}>
        {subject === '' ? t('patients.noSubject') : subject}
      </ViewLink>{' '}
      <Text span c="dimmed" className="mono">
        {ehrId}
      </Text>
      {status.data.is_modifiable === false && (
        <Text component="div" className="flag">
          {t('patient.notModifiable')}
        </Text>
      )}
      <Text component="div" size="sm" c="dimmed">
        {record.data.length === 0 ? (
          t('patient.empty')
        ) : (
          <>
            <Time value={record.data.at(-1)?.time} /> – <Time value={record.data[0]?.time} />
          </>
        )}
      </Text>
      <Counts compositions={record.data} />
    </div>
  );
}

function Counts({ compositions }: { readonly compositions: readonly RecordedComposition[] }): ReactNode {
  const counts = new Map<string, number>();
  for (const { template } of compositions) counts.set(template, (counts.get(template) ?? 0) + 1);
  return (
    <ul>
      {[...counts].sort().map(([template, count]) => (
        <li key={template}>
          <span className="dot" style={{ background: categoryColor(template) }} /> {template}{' '}
          <b className="number">{count}</b>
        </li>
      ))}
    </ul>
  );
}

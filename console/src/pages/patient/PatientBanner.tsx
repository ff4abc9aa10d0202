import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { textAt } from '../../api/json.js';
import { useMessages } from '../../messages/messages.js';
import { patientOf } from '../../record/patient.js';
import { wholeText } from '../../record/values/value-reader.js';
import { valueText } from '../../record/values/value-text.js';
import { useApi } from '../../session/session.js';
import { patientView } from '../../shell/address.js';
import { Id } from '../../widgets/Id.js';
import { ViewLink } from '../../widgets/ViewLink.js';

/** More of a status is on its own page. */
const MOST_FACTS = 6;

/** Whose record one reads or writes, above everything that is below a patient, on the screen and on paper. */
export function PatientBanner({ ehrId }: { readonly ehrId: string }): ReactNode {
  const reader = useMessages();
  const { subject, namespace, elements } = patientOf(useStatus(ehrId));
  return (
    <section className="patient-banner" aria-label={reader.t('patient.banner')}>
      <ViewLink view={patientView(ehrId)} fw={700}>
        {subject || reader.t('patient.nobody')}
      </ViewLink>
      {namespace !== '' && <span className="quiet">{namespace}</span>}
      {elements.slice(0, MOST_FACTS).map((element, index) => (
        <span key={index}>
          <span className="quiet">{textAt(element, 'name', 'value')}</span>{' '}
          {wholeText(valueText(element['value'], reader))}
        </span>
      ))}
      <Id value={ehrId} length={36} />
    </section>
  );
}

/** The EHR_STATUS of a record; undefined until it is known. */
function useStatus(ehrId: string) {
  const api = useApi();
  return useQuery({ queryKey: ['ehr-status', ehrId], queryFn: () => api.ehrStatus(ehrId) }).data;
}

/** What a record is called on the way to its pages: the subject, else the beginning of its id. */
export function usePatientName(ehrId: string): string {
  return patientOf(useStatus(ehrId)).subject || ehrId.slice(0, 8);
}

/** Whether a record names no patient; not while it is not known. */
export function useIsNobody(ehrId: string): boolean {
  const status = useStatus(ehrId);
  return status !== undefined && patientOf(status).subject === '';
}

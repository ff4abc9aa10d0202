import { useQueries, useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { textAt } from '../../api/json.js';
import type { Json, JsonObject } from '../../api/types.js';
import { useMessages } from '../../messages/messages.js';
import { bannerQuery, elementsAt } from '../../record/banner-path.js';
import { patientOf } from '../../record/patient.js';
import { wholeText } from '../../record/values/value-reader.js';
import { valueText } from '../../record/values/value-text.js';
import { useApi, useSession } from '../../session/session.js';
import { patientView, useAddress } from '../../shell/address.js';
import { usePrintNote } from '../../widgets/use-print.js';
import type { Print } from '../../api/own.js';
import { Id } from '../../widgets/Id.js';
import { ViewLink } from '../../widgets/ViewLink.js';
import { useOpened } from '../patients/use-known-patients.js';
import { EmergencyBar } from './EmergencyBar.js';
import { Favourite } from './Favourite.js';
import { RestrictedNote } from './RestrictedNote.js';

/** More of a status is on its own page. */
const MOST_FACTS = 6;

/** Whose record one reads or writes, above everything that is below a patient, on the screen and on paper. */
export function PatientBanner({ ehrId }: { readonly ehrId: string }): ReactNode {
  const reader = useMessages();
  const status = useStatus(ehrId);
  const { subject, namespace } = patientOf(status);
  const facts = useFacts(ehrId, status);
  usePrintNote(printOf(ehrId, useAddress()));
  useOpened(ehrId, status === undefined ? '' : subject || ehrId.slice(0, 8));
  return (
    <>
      <section className="patient-banner" aria-label={reader.t('patient.banner')}>
        <ViewLink view={patientView(ehrId)} fw={700}>
          {/* Not yet known is not nobody. */}
          {status === undefined ? '…' : subject || reader.t('patient.nobody')}
        </ViewLink>
        {namespace !== '' && <span className="quiet">{namespace}</span>}
        {facts.map(({ name, value }, index) => (
          <span key={index}>
            <span className="quiet">{name}</span> {wholeText(valueText(value, reader))}
          </span>
        ))}
        <Id value={ehrId} length={36} />
        <Favourite ehrId={ehrId} subject={subject} />
      </section>
      <EmergencyBar ehrId={ehrId} />
      <RestrictedNote ehrId={ehrId} />
    </>
  );
}

/** What of a record is on the page; null: who has seen it, which says so itself. */
function printOf(ehrId: string, { address, params }: ReturnType<typeof useAddress>): Print | null {
  const uid = params['uid'] ?? address['uid'];
  if (uid !== undefined) return { of: 'document', ehr_id: ehrId, uid };
  return address['tab'] === 'access' ? null : { of: 'record', ehr_id: ehrId };
}

/** What else says who he is, such as name, birth date and sex. */
interface Fact {
  readonly name: string;
  readonly value: Json | undefined;
}

/** What is at the paths that the server names, in their order: in the status, else in the newest document; without paths all of the status. */
function useFacts(ehrId: string, status: JsonObject | undefined): Fact[] {
  const { api, settings } = useSession();
  const paths = settings.banner_paths;
  const inStatus = paths.map((path) => elementsAt(status, path)[0]);
  const inDocuments = useQueries({
    queries: paths.map((path, index) => ({
      queryKey: ['banner', ehrId, path],
      queryFn: async () => (await api.rows<Fact>(bannerQuery(path) ?? '', { ehrId }))[0] ?? null,
      enabled: status !== undefined && inStatus[index] === undefined && bannerQuery(path) !== null,
    })),
  });
  if (paths.length === 0) return patientOf(status).elements.slice(0, MOST_FACTS).map(factOf);
  return paths.flatMap((_, index) => {
    const element = inStatus[index];
    return element === undefined ? (inDocuments[index]?.data ?? []) : factOf(element);
  });
}

function factOf(element: JsonObject): Fact {
  return { name: textAt(element, 'name', 'value'), value: element['value'] };
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

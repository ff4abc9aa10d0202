import '../patient/emergency.css';
import { Button, Group, Text, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { useMessages } from '../../messages/messages.js';
import { useApi } from '../../session/session.js';
import { useEmergencyActs, useIsWithheld } from '../../session/use-emergency.js';
import { patientView, useGo } from '../../shell/address.js';
import { Failure } from '../../widgets/states.js';
import { EmergencyButton } from '../patient/EmergencyButton.js';
import { EmergencyFields, UNSTATED } from '../patient/EmergencyFields.js';

/** Below what was found: somebody may be missing whom an emergency would show, by the whole of an identifier. */
export function EmergencySearch({ find }: { readonly find: string }): ReactNode {
  const { t } = useMessages();
  const isWithheld = useIsWithheld();
  if (!isWithheld || find === '') return null;
  return (
    <section className="emergency-bar" aria-label={t('emergency.withheldTitle')}>
      <div>{t('emergency.missing')}</div>
      <EmergencyButton>{(close) => <Search find={find} close={close} />}</EmergencyButton>
    </section>
  );
}

function Search({ find, close }: { readonly find: string; readonly close: () => void }): ReactNode {
  const { t } = useMessages();
  const api = useApi();
  const go = useGo();
  const { begin } = useEmergencyActs();
  const [stated, setStated] = useState(UNSTATED);
  const [identifier, setIdentifier] = useState(find);
  const reason = stated.reason.trim();
  const search = useMutation({
    mutationFn: () => api.ehrsNamedInEmergency(identifier.trim(), { code: stated.purpose, reason }),
  });
  const open = (ehrId: string): void => {
    close();
    begin(ehrId, { ...stated, reason });
    go(patientView(ehrId));
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (reason !== '' && identifier.trim() !== '') search.mutate();
      }}
    >
      <EmergencyFields value={stated} onChange={setStated} />
      <TextInput
        mt="sm"
        label={t('emergency.identifier')}
        description={t('emergency.identifierHint')}
        value={identifier}
        onChange={(event) => setIdentifier(event.currentTarget.value)}
      />
      <Group mt="md" gap="xs">
        <Button
          type="submit"
          color="red.9"
          loading={search.isPending}
          disabled={reason === '' || identifier.trim() === ''}
        >
          {t('emergency.find')}
        </Button>
      </Group>
      <div role="status">
        {search.error !== null && <Failure error={search.error} />}
        {search.data?.length === 0 && <Text mt="sm">{t('patients.none')}</Text>}
        <ul className="emergency-found">
          {search.data?.map(({ ehr_id: ehrId, subject }) => (
            <li key={ehrId}>
              <Button variant="default" onClick={() => open(ehrId)}>
                {[subject?.id ?? t('patients.noSubject'), subject?.namespace, ehrId.slice(0, 8)]
                  .filter(Boolean)
                  .join(' · ')}
              </Button>
            </li>
          ))}
        </ul>
      </div>
    </form>
  );
}

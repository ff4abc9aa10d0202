import { Button, Group } from '@mantine/core';
import { useState, type ReactNode } from 'react';
import { useMessages } from '../../messages/messages.js';
import { useEmergencyActs } from '../../session/use-emergency.js';
import { EmergencyButton } from './EmergencyButton.js';
import { EmergencyFields, UNSTATED } from './EmergencyFields.js';

/** A button that opens a record in an emergency, once purpose and reason are stated. */
export function EmergencyAccess({ ehrId }: { readonly ehrId: string }): ReactNode {
  const { t } = useMessages();
  const [stated, setStated] = useState(UNSTATED);
  const { begin } = useEmergencyActs();
  const reason = stated.reason.trim();
  return (
    <EmergencyButton className="emergency-button">
      {(close) => (
        <form
          onSubmit={(event) => {
            event.preventDefault();
            if (reason === '') return;
            close();
            begin(ehrId, { ...stated, reason });
          }}
        >
          <EmergencyFields value={stated} onChange={setStated} />
          <Group mt="md" gap="xs">
            <Button type="submit" color="red.9" disabled={reason === ''}>
              {t('emergency.begin')}
            </Button>
            <Button variant="default" onClick={close}>
              {t('emergency.back')}
            </Button>
          </Group>
        </form>
      )}
    </EmergencyButton>
  );
}

import './emergency.css';
import { Button } from '@mantine/core';
import type { ReactNode } from 'react';
import { useMessages } from '../../messages/messages.js';
import { patientView, useGo } from '../../shell/address.js';
import { useEmergency, useEmergencyActs, useIsWithheld } from '../../session/use-emergency.js';
import { Time } from '../../widgets/Time.js';
import { EmergencyAccess } from './EmergencyDialog.js';

/** On every page of a patient: that his record is open in an emergency, and how that ends; or that an emergency would open more. */
export function EmergencyBar({ ehrId }: { readonly ehrId: string }): ReactNode {
  const { t } = useMessages();
  const emergency = useEmergency(ehrId);
  const isWithheld = useIsWithheld(ehrId);
  const { end } = useEmergencyActs();
  const go = useGo();
  if (emergency !== undefined)
    return (
      <section className="emergency-bar" data-on="true" aria-label={t('emergency.open')}>
        <div>
          <b>{t('emergency.on')}</b> <Time value={emergency.since} /> · {t(`emergency.${emergency.purpose}`)}{' '}
          · {emergency.reason}
          <div className="small">{t('emergency.recorded')}</div>
        </div>
        <Button
          variant="white"
          className="emergency-end"
          onClick={() => {
            // What an emergency had opened is not there any more.
            go(patientView(ehrId));
            end(ehrId);
          }}
        >
          {t('emergency.end')}
        </Button>
      </section>
    );
  if (!isWithheld) return null;
  return (
    <section className="emergency-bar" aria-label={t('emergency.withheldTitle')}>
      <div>{t('emergency.withheld')}</div>
      <EmergencyAccess ehrId={ehrId} />
    </section>
  );
}

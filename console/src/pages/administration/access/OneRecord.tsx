import { Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { useMessages } from '../../../messages/messages.js';
import { useAddress } from '../../../shell/address.js';
import { Section } from '../../../widgets/Page.js';
import { AccessTab } from '../../patient/AccessTab.js';
import { MarksPanel } from '../../patient/MarksPanel.js';
import { RecordInput } from './RecordInput.js';

/** An EHR id as the server makes them. */
const EHR_ID = /^[0-9a-f-]{36}$/i;

/** What restricts a record, and the report for its patient, also of a record that policies hide from who looks. */
export function OneRecord(): ReactNode {
  const { t } = useMessages();
  const { address, change } = useAddress();
  const ehrId = address['record'] ?? '';
  return (
    <>
      <div className="story">
        <RecordInput
          label={t('record.which')}
          description={t('record.hint')}
          value={ehrId}
          onChange={(next) => change({ record: next === '' ? undefined : next.trim() })}
        />
      </div>
      {EHR_ID.test(ehrId) ? (
        <div key={ehrId}>
          <Section title={t('marks.title')}>
            <MarksPanel ehrId={ehrId} />
          </Section>
          <Section title={t('access.title')}>
            <AccessTab ehrId={ehrId} />
          </Section>
        </div>
      ) : (
        ehrId !== '' && (
          <Text size="sm" c="dimmed" mt="xs">
            {t('record.unchosen')}
          </Text>
        )
      )}
    </>
  );
}

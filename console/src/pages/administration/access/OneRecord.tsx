import { Button } from '@mantine/core';
import { useState, type ReactNode } from 'react';
import { useMessages } from '../../../messages/messages.js';
import { useAddress } from '../../../shell/address.js';
import { Section } from '../../../widgets/Page.js';
import { AccessTab } from '../../patient/AccessTab.js';
import { MarksPanel } from '../../patient/MarksPanel.js';
import { RecordInput } from './RecordInput.js';

/** What restricts a record, and the report for its patient, also of a record that policies hide from who looks. */
export function OneRecord(): ReactNode {
  const { t } = useMessages();
  const { address, change } = useAddress();
  const shown = address['record'] ?? '';
  const [typed, setTyped] = useState(shown);
  const show = (ehrId: string): void => change({ record: ehrId.trim() === '' ? undefined : ehrId.trim() });
  return (
    <>
      <form
        className="one-record"
        onSubmit={(event) => {
          event.preventDefault();
          show(typed);
        }}
      >
        <RecordInput
          label={t('record.which')}
          description={t('record.hint')}
          value={typed}
          onChange={setTyped}
          onPick={show}
        />
        <Button type="submit" variant="default">
          {t('marks.show')}
        </Button>
      </form>
      {shown !== '' && (
        <div key={shown}>
          <Section title={t('marks.title')}>
            <MarksPanel ehrId={shown} />
          </Section>
          <Section title={t('access.title')}>
            <AccessTab ehrId={shown} />
          </Section>
        </div>
      )}
    </>
  );
}

import './emergency.css';
import { CdrError } from '@everchart/client';
import { Tabs, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import { useMessages } from '../../messages/messages.js';
import { useMayReport, useSession } from '../../session/session.js';
import { useIsWithheld } from '../../session/use-emergency.js';
import { Section } from '../../widgets/Page.js';
import { Failure } from '../../widgets/states.js';
import { AccessTab } from './AccessTab.js';
import { EmergencyBar } from './EmergencyBar.js';
import { EmergencyAccess } from './EmergencyDialog.js';
import { MarkLine } from './MarkLine.js';
import { marksIn } from './mark-words.js';
import { MarksPanel } from './MarksPanel.js';
import { useMarkRights, useMarks } from './use-marks.js';

/**
 * A record that the user may not read: why, as far as he may know; what an emergency would open; and of whoever answers for records what
 * restricts this one and who has seen it.
 */
export function ClosedRecord({ error, ehrId }: { readonly error: Error; readonly ehrId: string }): ReactNode {
  const isWithheld = useIsWithheld(ehrId);
  const isOfficer = useIsOfficer(ehrId, error);
  return (
    <>
      {/* An emergency that opened nothing is ended here too. */}
      {isWithheld ? <Withheld ehrId={ehrId} /> : <EmergencyBar ehrId={ehrId} />}
      {!isWithheld && <Why error={error} isOfficer={isOfficer} />}
      {isOfficer && <Officers ehrId={ehrId} />}
    </>
  );
}

/** Whether the user answers for a record that is there. */
function useIsOfficer(ehrId: string, error: Error): boolean {
  const { mayRead } = useMarkRights(ehrId);
  const mayReport = useMayReport(ehrId);
  const { data } = useMarks(ehrId);
  const isForbidden = error instanceof CdrError && error.status === 403;
  // Of a record that never was there is nothing to know; where there are no restrictions, one that is not found is none.
  return mayReport && (mayRead ? data !== undefined : isForbidden);
}

function Withheld({ ehrId }: { readonly ehrId: string }): ReactNode {
  const { t } = useMessages();
  return (
    <section className="withheld">
      <Title order={2}>{t('emergency.withheldTitle')}</Title>
      <Text my="sm">{t('emergency.withheldRecord')}</Text>
      <EmergencyAccess ehrId={ehrId} />
    </section>
  );
}

function Why({ error, isOfficer }: { readonly error: Error; readonly isOfficer: boolean }): ReactNode {
  const { t } = useMessages();
  const { access_mode: mode } = useSession().settings;
  const marks = error instanceof CdrError && error.code === 'restricted' ? marksIn(error.body) : [];
  if (marks.length > 0)
    return (
      <section className="withheld">
        <Title order={2}>{t('marks.closedTitle')}</Title>
        <Text my="sm">{t('marks.closed')}</Text>
        {marks.map((mark) => (
          <MarkLine key={`${mark.time} ${mark.kind}`} mark={mark} />
        ))}
      </section>
    );
  if (!isOfficer) return <Failure error={error} />;
  return mode === 'off' ? null : <Text c="dimmed">{t('record.closed')}</Text>;
}

/** What whoever answers for records may know of one that he does not read. */
function Officers({ ehrId }: { readonly ehrId: string }): ReactNode {
  const { t } = useMessages();
  const { mayRead } = useMarkRights(ehrId);
  if (!mayRead)
    return (
      <Section title={t('patient.access')}>
        <AccessTab ehrId={ehrId} />
      </Section>
    );
  return (
    <Tabs defaultValue="marks" keepMounted={false} mt="lg">
      <Tabs.List mb="md">
        <Tabs.Tab value="marks">{t('marks.title')}</Tabs.Tab>
        <Tabs.Tab value="access">{t('patient.access')}</Tabs.Tab>
      </Tabs.List>
      <Tabs.Panel value="marks">
        <MarksPanel ehrId={ehrId} />
      </Tabs.Panel>
      <Tabs.Panel value="access">
        <AccessTab ehrId={ehrId} />
      </Tabs.Panel>
    </Tabs>
  );
}

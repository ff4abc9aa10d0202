import './access.css';
import { Tabs } from '@mantine/core';
import type { ReactNode } from 'react';
import { useMessages } from '../../../messages/messages.js';
import { useOffice, useSession } from '../../../session/session.js';
import { useAddress } from '../../../shell/address.js';
import { CompareDraft } from './CompareDraft.js';
import { EmergencyUses } from './EmergencyUses.js';
import { HowToBegin } from './HowToBegin.js';
import { ModeNote } from './ModeNote.js';
import { Observed } from './Observed.js';
import { OneRecord } from './OneRecord.js';
import { Policies } from './Policies.js';
import { TryDecision } from './TryDecision.js';

const VIEWS = [
  { view: 'policies', needs: 'isAdmin', Content: Policies },
  { view: 'try', needs: 'isAdmin', Content: TryDecision },
  { view: 'compare', needs: 'isAdmin', Content: CompareDraft },
  { view: 'observed', needs: 'isAdmin', Content: Observed },
  { view: 'record', needs: 'either', Content: OneRecord },
  { view: 'emergency', needs: 'mayAudit', Content: EmergencyUses },
] as const;

/** Who may see what: policies, what they decide and would decide, what they hide, restrictions, emergencies. docs/access.md */
export function AccessTab(): ReactNode {
  const { t } = useMessages();
  const { settings } = useSession();
  const office = useOffice();
  const { address, change } = useAddress();
  if (settings.access_mode === 'off') return <HowToBegin />;
  const offered = VIEWS.filter(
    ({ needs }) =>
      (needs !== 'mayAudit' && office?.isAdmin === true) ||
      (needs !== 'isAdmin' && office?.mayAudit === true),
  );
  const shown = offered.find(({ view }) => view === address['view']) ?? offered[0];
  if (shown === undefined) return null;
  return (
    <>
      <ModeNote mode={settings.access_mode} />
      <Tabs
        variant="pills"
        className="access-views"
        value={shown.view}
        onChange={(view) => change({ view: view ?? undefined, policy: undefined })}
        keepMounted={false}
      >
        <Tabs.List my="md">
          {offered.map(({ view }) => (
            <Tabs.Tab key={view} value={view}>
              {t(`access.view.${view}`)}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        {offered.map(({ view, Content }) => (
          <Tabs.Panel key={view} value={view}>
            <Content />
          </Tabs.Panel>
        ))}
      </Tabs>
    </>
  );
}

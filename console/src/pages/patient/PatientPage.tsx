import { Button, Tabs, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { textAt } from '../../api/json.js';
import type { JsonObject } from '../../api/types.js';
import { useMessages } from '../../messages/messages.js';
import { useApi, useMay, useMayReport, useOwnEhr } from '../../session/session.js';
import { formView, useAddress, useGo } from '../../shell/address.js';
import { Page } from '../../widgets/Page.js';
import { AccessTab } from './AccessTab.js';
import { ClosedRecord } from './ClosedRecord.js';
import { ContributionsTab } from './ContributionsTab.js';
import { DirectoryTab } from './DirectoryTab.js';
import { MarksPanel } from './MarksPanel.js';
import { PatientBanner } from './PatientBanner.js';
import { RecordTab } from './RecordTab.js';
import { StatusTab } from './StatusTab.js';
import { TagsTab } from './TagsTab.js';
import { useMarkRights } from './use-marks.js';

/** One patient. */
export function PatientPage(): ReactNode {
  const { t } = useMessages();
  const { address, params, change } = useAddress();
  const { ehrId = '' } = params;
  const mayReport = useMayReport(ehrId);
  const own = useOwnEhr();
  const { mayRead: mayKnowMarks } = useMarkRights(ehrId);
  const api = useApi();
  const { data: status, error } = useQuery({
    queryKey: ['ehr-status', ehrId],
    queryFn: () => api.ehrStatus(ehrId),
  });
  const subject = textAt(status, 'subject', 'external_ref', 'id', 'value');
  const title = subject === '' ? `${t('patients.ehr')} ${ehrId.slice(0, 8)}` : subject;
  const tab = address.tab ?? 'record';
  return (
    <Page
      title={title}
      // Whose own it is has no others.
      crumbs={own === undefined ? [{ label: t('nav.patients'), view: { to: '/patients' } }] : []}
      actions={status !== undefined && <NewComposition ehrId={ehrId} status={status} />}
    >
      {error !== null ? (
        <ClosedRecord error={error} ehrId={ehrId} />
      ) : (
        <>
          <PatientBanner ehrId={ehrId} />
          <Flags status={status} />
          <Tabs
            value={tab}
            onChange={(next) => change({ tab: next === 'record' ? undefined : (next ?? undefined) })}
            keepMounted={false}
          >
            <Tabs.List mb="md">
              <Tabs.Tab value="record">{t('patient.record')}</Tabs.Tab>
              <Tabs.Tab value="directory">{t('patient.directory')}</Tabs.Tab>
              <Tabs.Tab value="contributions">{t('patient.contributions')}</Tabs.Tab>
              <Tabs.Tab value="tags">{t('patient.tags')}</Tabs.Tab>
              <Tabs.Tab value="status">{t('patient.status')}</Tabs.Tab>
              {mayKnowMarks && <Tabs.Tab value="marks">{t('marks.title')}</Tabs.Tab>}
              {mayReport && <Tabs.Tab value="access">{t('patient.access')}</Tabs.Tab>}
            </Tabs.List>
            <Tabs.Panel value="record">
              <RecordTab ehrId={ehrId} />
            </Tabs.Panel>
            <Tabs.Panel value="directory">
              <DirectoryTab ehrId={ehrId} />
            </Tabs.Panel>
            <Tabs.Panel value="status">
              {status !== undefined && <StatusTab ehrId={ehrId} status={status} />}
            </Tabs.Panel>
            <Tabs.Panel value="contributions">
              <ContributionsTab ehrId={ehrId} />
            </Tabs.Panel>
            <Tabs.Panel value="tags">
              <TagsTab ehrId={ehrId} status={status} />
            </Tabs.Panel>
            <Tabs.Panel value="marks">{mayKnowMarks && <MarksPanel ehrId={ehrId} />}</Tabs.Panel>
            <Tabs.Panel value="access">
              <AccessTab ehrId={ehrId} />
            </Tabs.Panel>
          </Tabs>
        </>
      )}
    </Page>
  );
}

/** What is unusual about a record. */
function Flags({ status }: { readonly status: JsonObject | undefined }): ReactNode {
  const { t } = useMessages();
  return (
    <Text component="div" className="facts" c="dimmed" size="sm">
      {status?.is_queryable === false && <b className="flag">{t('patient.notQueryable')}</b>}
      {status?.is_modifiable === false && <b className="flag">{t('patient.notModifiable')}</b>}
    </Text>
  );
}

function NewComposition({
  ehrId,
  status,
}: {
  readonly ehrId: string;
  readonly status: JsonObject;
}): ReactNode {
  const { t } = useMessages();
  const go = useGo();
  const mayWrite = useMay('write');
  if (!mayWrite || status.is_modifiable === false) return null;
  return (
    <Button variant="default" onClick={() => go(formView(ehrId, {}))}>
      {t('patient.newComposition')}
    </Button>
  );
}

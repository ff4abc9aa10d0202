import { CdrError } from '@everchart/client';
import { Button, Tabs, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { textAt } from '../../api/json.js';
import type { JsonObject } from '../../api/types.js';
import { useMessages } from '../../messages/messages.js';
import { useApi, useMay, useMayAudit } from '../../session/session.js';
import { formView, useAddress, useGo } from '../../shell/address.js';
import { Page, Section } from '../../widgets/Page.js';
import { Failure } from '../../widgets/states.js';
import { AccessTab } from './AccessTab.js';
import { ContributionsTab } from './ContributionsTab.js';
import { DirectoryTab } from './DirectoryTab.js';
import { PatientBanner } from './PatientBanner.js';
import { RecordTab } from './RecordTab.js';
import { StatusTab } from './StatusTab.js';
import { TagsTab } from './TagsTab.js';

/** One patient. */
export function PatientPage(): ReactNode {
  const { t } = useMessages();
  const { address, params, change } = useAddress();
  const { ehrId = '' } = params;
  const mayAudit = useMayAudit();
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
      crumbs={[{ label: t('nav.patients'), view: { to: '/patients' } }]}
      actions={status !== undefined && <NewComposition ehrId={ehrId} status={status} />}
    >
      {error !== null ? (
        <Closed error={error} ehrId={ehrId} mayAudit={mayAudit} />
      ) : (
        <>
          <PatientBanner ehrId={ehrId} />
          <Text component="div" className="facts" c="dimmed" size="sm">
            {status?.is_queryable === false && <b className="flag">{t('patient.notQueryable')}</b>}
            {status?.is_modifiable === false && <b className="flag">{t('patient.notModifiable')}</b>}
          </Text>
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
              {mayAudit && <Tabs.Tab value="access">{t('patient.access')}</Tabs.Tab>}
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
            <Tabs.Panel value="access">
              <AccessTab ehrId={ehrId} />
            </Tabs.Panel>
          </Tabs>
        </>
      )}
    </Page>
  );
}

/** A record that the user may not read; who has seen it he may know all the same, if he audits. */
function Closed({
  error,
  ehrId,
  mayAudit,
}: {
  readonly error: Error;
  readonly ehrId: string;
  readonly mayAudit: boolean;
}): ReactNode {
  const { t } = useMessages();
  if (!mayAudit || !(error instanceof CdrError) || error.status !== 403) return <Failure error={error} />;
  return (
    <Section title={t('patient.access')}>
      <AccessTab ehrId={ehrId} />
    </Section>
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

import { Alert, Button, Group, Tabs } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { textAt } from '../../api/json.js';
import { versionNumberOf, type CompositionFormat, type HistoryEntry } from '@everchart/client';
import type { JsonObject } from '../../api/types.js';
import { useMessages } from '../../messages/messages.js';
import { useApi, useMay } from '../../session/session.js';
import { patientView, useAddress } from '../../shell/address.js';
import { Page, Section } from '../../widgets/Page.js';
import { Failure, Loading } from '../../widgets/states.js';
import { PatientBanner, usePatientName } from '../patient/PatientBanner.js';
import { CompositionDocument } from './CompositionDocument.js';
import { Deleted } from './Deleted.js';
import { Differences } from './Differences.js';
import { DocumentActions } from './DocumentActions.js';
import { History } from './History.js';
import { Restore } from './Restore.js';
import { useRevisions } from './revisions.js';
import { SourceText } from './SourceText.js';

const FORMATS: readonly CompositionFormat[] = ['JSON', 'XML', 'FLAT', 'STRUCTURED'];

/** One document, its versions, its formats. */
export function CompositionPage(): ReactNode {
  const { t } = useMessages();
  const { ehrId = '', uid = '' } = useAddress().params;
  const api = useApi();
  const { data, error, refetch } = useQuery({
    queryKey: ['composition', ehrId, uid],
    queryFn: () => api.composition(ehrId, uid),
  });
  const crumbs = [
    { label: t('nav.patients'), view: { to: '/patients' } },
    { label: usePatientName(ehrId), view: patientView(ehrId) },
  ];
  const version = textAt(data, 'uid', 'value');
  return (
    <Page
      title={textAt(data, 'name', 'value') || t('composition.title')}
      crumbs={crumbs}
      // What was asked of one document is not answered by a click beside another.
      actions={data && <DocumentActions key={version} ehrId={ehrId} uid={version} />}
    >
      <PatientBanner ehrId={ehrId} />
      {error !== null && <Failure error={error} retry={() => void refetch()} />}
      {data === undefined && error === null && <Loading rows={12} />}
      {data === null && <Deleted ehrId={ehrId} uid={uid} />}
      {data !== undefined && data !== null && <Loaded ehrId={ehrId} composition={data} />}
    </Page>
  );
}

function Loaded({
  ehrId,
  composition,
}: {
  readonly ehrId: string;
  readonly composition: JsonObject;
}): ReactNode {
  const { t } = useMessages();
  const { address, change } = useAddress();
  const uid = textAt(composition, 'uid', 'value');
  const revisions = useRevisions(ehrId, uid);
  const { compare } = address;
  return (
    <div className="split document-split">
      <div>
        <OldVersion ehrId={ehrId} composition={composition} revisions={revisions} />
        {compare === undefined ? (
          <Formats ehrId={ehrId} uid={uid} composition={composition} />
        ) : (
          <Section
            title={t('diff.title', {
              from: versionNumberOf(compare),
              to: versionNumberOf(uid),
            })}
            aside={
              <Button size="xs" variant="default" onClick={() => change({ compare: undefined })}>
                {t('diff.back')}
              </Button>
            }
          >
            <Differences ehrId={ehrId} other={compare} composition={composition} />
          </Section>
        )}
      </div>
      <Section title={t('history.title')}>
        <History
          ehrId={ehrId}
          revisions={revisions}
          shown={uid}
          onCompare={(other) => change({ compare: other })}
        />
      </Section>
    </div>
  );
}

function OldVersion({
  ehrId,
  composition,
  revisions,
}: {
  readonly ehrId: string;
  readonly composition: JsonObject;
  readonly revisions: readonly HistoryEntry[];
}): ReactNode {
  const { t } = useMessages();
  const mayWrite = useMay('write');
  const [latest] = revisions;
  const uid = textAt(composition, 'uid', 'value');
  if (latest === undefined || latest.uid === uid) return null;
  return (
    <Alert color="yellow" variant="light" mb="md">
      <Group justify="space-between">
        {t('history.old')}
        {mayWrite && <Restore key={uid} ehrId={ehrId} composition={composition} latest={latest.uid} />}
      </Group>
    </Alert>
  );
}

function Formats({
  ehrId,
  uid,
  composition,
}: {
  readonly ehrId: string;
  readonly uid: string;
  readonly composition: JsonObject;
}): ReactNode {
  const { t } = useMessages();
  const { address, change } = useAddress();
  return (
    <Tabs
      value={address.tab ?? 'document'}
      onChange={(tab) => change({ tab: tab === 'document' ? undefined : (tab ?? undefined) })}
      keepMounted={false}
    >
      <Tabs.List mb="md">
        <Tabs.Tab value="document">{t('composition.document')}</Tabs.Tab>
        {FORMATS.map((format) => (
          <Tabs.Tab key={format} value={format}>
            {format}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      <Tabs.Panel value="document">
        <CompositionDocument composition={composition} />
      </Tabs.Panel>
      {FORMATS.map((format) => (
        <Tabs.Panel key={format} value={format}>
          <SourceText ehrId={ehrId} uid={uid} format={format} />
        </Tabs.Panel>
      ))}
    </Tabs>
  );
}

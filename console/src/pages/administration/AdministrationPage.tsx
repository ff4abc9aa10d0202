import { Tabs, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { useMessages } from '../../messages/messages.js';
import { SignIn } from '../../session/SignIn.js';
import { useIsAdmin, useSession } from '../../session/session.js';
import { useAddress } from '../../shell/address.js';
import { Page } from '../../widgets/Page.js';
import { Empty } from '../../widgets/states.js';
import { AuditTab } from './AuditTab.js';
import { EraseTab } from './EraseTab.js';
import { MergeTab } from './MergeTab.js';
import { MergesTab } from './MergesTab.js';
import { PermissionsTab } from './PermissionsTab.js';
import { ServerTab } from './ServerTab.js';

/** Merging, erasing and audit; for whoever may not, how to sign in, and no request. */
export function AdministrationPage(): ReactNode {
  const { t } = useMessages();
  const { settings, credentials } = useSession();
  const isAdmin = useIsAdmin();
  if (!settings.administration)
    return (
      <Page title={t('nav.administration')}>
        <Empty title={t('admin.off')}>{t('admin.offHint')}</Empty>
      </Page>
    );
  return (
    <Page title={t('nav.administration')}>
      {credentials.kind === 'none' && <SignIn isAdmin />}
      {credentials.kind !== 'none' && !isAdmin && <Text>{t('admin.lacking')}</Text>}
      {isAdmin && <Work />}
    </Page>
  );
}

function Work(): ReactNode {
  const { t } = useMessages();
  const { address, change } = useAddress();
  return (
    <Tabs
      value={address.tab ?? 'merge'}
      onChange={(tab) => change({ tab: tab === 'merge' ? undefined : (tab ?? undefined) })}
      keepMounted={false}
    >
      <Tabs.List mb="lg">
        <Tabs.Tab value="merge">{t('admin.merge')}</Tabs.Tab>
        <Tabs.Tab value="merges">{t('admin.merges')}</Tabs.Tab>
        <Tabs.Tab value="erase">{t('erase.title')}</Tabs.Tab>
        <Tabs.Tab value="server">{t('server.title')}</Tabs.Tab>
        <Tabs.Tab value="permissions">{t('permissions.title')}</Tabs.Tab>
        <Tabs.Tab value="audit">{t('admin.audit')}</Tabs.Tab>
      </Tabs.List>
      <Tabs.Panel value="merge">
        <MergeTab />
      </Tabs.Panel>
      <Tabs.Panel value="merges">
        <MergesTab />
      </Tabs.Panel>
      <Tabs.Panel value="erase">
        <EraseTab />
      </Tabs.Panel>
      <Tabs.Panel value="server">
        <ServerTab />
      </Tabs.Panel>
      <Tabs.Panel value="permissions">
        <PermissionsTab />
      </Tabs.Panel>
      <Tabs.Panel value="audit">
        <AuditTab />
      </Tabs.Panel>
    </Tabs>
  );
}

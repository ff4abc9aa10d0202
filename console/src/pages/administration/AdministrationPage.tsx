import { Tabs } from '@mantine/core';
import { lazy, Suspense, type ReactNode } from 'react';
import { useMessages } from '../../messages/messages.js';
import { SignIn } from '../../session/SignIn.js';
import { useOffice, useSession, type Office } from '../../session/session.js';
import { useAddress } from '../../shell/address.js';
import { Page } from '../../widgets/Page.js';
import { Empty, Loading } from '../../widgets/states.js';
import { AuditTab } from './AuditTab.js';
import { EraseTab } from './EraseTab.js';
import { MergeTab } from './merge/MergeTab.js';
import { MergesTab } from './merge/MergesTab.js';
import { PermissionsTab } from './PermissionsTab.js';
import { ServerTab } from './ServerTab.js';

// With its editor it is as large as all the others.
const AccessTab = lazy(() => import('./access/AccessTab.js').then((file) => ({ default: file.AccessTab })));

const TABS = [
  { tab: 'merge', label: 'admin.merge', needs: 'isAdmin', Content: MergeTab },
  { tab: 'merges', label: 'admin.merges', needs: 'isAdmin', Content: MergesTab },
  { tab: 'erase', label: 'erase.title', needs: 'isAdmin', Content: EraseTab },
  { tab: 'server', label: 'server.title', needs: 'isAdmin', Content: ServerTab },
  { tab: 'permissions', label: 'permissions.title', needs: 'mayAudit', Content: PermissionsTab },
  { tab: 'access', label: 'access.tab', needs: 'either', Content: AccessTab },
  { tab: 'audit', label: 'admin.audit', needs: 'mayAudit', Content: AuditTab },
] as const;

/** Merging, erasing and audit, as far as the user may; for whoever may nothing of it, how to sign in, and no request. */
export function AdministrationPage(): ReactNode {
  const { t } = useMessages();
  const { settings, credentials } = useSession();
  const office = useOffice();
  if (!settings.administration)
    return (
      <Page title={t('nav.administration')}>
        <Empty title={t('admin.off')}>{t('admin.offHint')}</Empty>
      </Page>
    );
  return (
    <Page title={t('nav.administration')}>
      {credentials.kind === 'none' ? (
        <SignIn isAdmin />
      ) : office === null ? (
        <Loading rows={6} />
      ) : (
        <Work office={office} />
      )}
    </Page>
  );
}

function mayUse({ isAdmin, mayAudit }: Office, needs: (typeof TABS)[number]['needs']): boolean {
  return (needs !== 'mayAudit' && isAdmin) || (needs !== 'isAdmin' && mayAudit);
}

function Work({ office }: { readonly office: Office }): ReactNode {
  const { t } = useMessages();
  const { address, change } = useAddress();
  const { access_mode: mode } = useSession().settings;
  // While nothing is kept of who may see what, there is only how one begins, which an auditor cannot.
  const offered = TABS.filter(({ tab, needs }) =>
    mayUse(office, tab === 'access' && mode === 'off' ? 'isAdmin' : needs),
  );
  const [first] = offered;
  if (first === undefined) return <Empty title={t('admin.lacking')}>{t('admin.lackingHint')}</Empty>;
  const shown = offered.find(({ tab }) => tab === address.tab) ?? first;
  return (
    <Tabs
      value={shown.tab}
      onChange={(tab) => change({ tab: tab === first.tab ? undefined : (tab ?? undefined) })}
      keepMounted={false}
    >
      <Tabs.List mb="lg">
        {offered.map(({ tab, label }) => (
          <Tabs.Tab key={tab} value={tab}>
            {t(label)}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      {offered.map(({ tab, Content }) => (
        <Tabs.Panel key={tab} value={tab}>
          <Suspense fallback={<Loading rows={4} />}>
            <Content />
          </Suspense>
        </Tabs.Panel>
      ))}
    </Tabs>
  );
}

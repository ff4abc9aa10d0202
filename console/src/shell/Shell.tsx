import { useHotkeys, useDisclosure } from '@mantine/hooks';
import { Kbd, Text, UnstyledButton } from '@mantine/core';
import { Link, Outlet } from '@tanstack/react-router';
import { lazy, Suspense, type ReactNode } from 'react';
import { useMessages } from '../messages/messages.js';
import { SignInAgain } from '../session/SignInAgain.js';
import { SignIn } from '../session/SignIn.js';
import { useIsClosed, useSession } from '../session/session.js';
import { Icon, type IconName } from '../widgets/Icon.js';
import { ConnectionBar } from './ConnectionBar.js';
import { Shortcuts } from './Shortcuts.js';
import { UserMenu } from './UserMenu.js';

const Palette = lazy(() => import('./Palette.js').then(({ Palette: component }) => ({ default: component })));

/** Where they go who are offered nothing else. */
const WORK = '/administration';

const PLACES = [
  { to: '/', icon: 'overview', label: 'nav.overview' },
  { to: '/patients', icon: 'patients', label: 'nav.patients' },
  { to: '/templates', icon: 'templates', label: 'nav.templates' },
  { to: '/query', icon: 'query', label: 'nav.query' },
  { to: WORK, icon: 'administration', label: 'nav.administration' },
] as const satisfies readonly { to: string; icon: IconName; label: string }[];

/** What stands around every view: the rail, search, who is signed in. */
export function Shell(): ReactNode {
  const { t } = useMessages();
  const { isIn } = useSession();
  const isClosed = useIsClosed();
  const [isSearching, search] = useDisclosure();
  const [isHelping, help] = useDisclosure();
  useHotkeys([
    ['mod+K', search.open],
    ['?', help.open],
  ]);
  return (
    <div className="shell">
      <a className="skip" href="#main" onClick={focusMain}>
        {t('nav.skip')}
      </a>
      <nav className="rail" aria-label={t('nav.label')}>
        <Text className="brand" fw={600}>
          everchart
        </Text>
        <UnstyledButton className="rail-search" onClick={search.open}>
          <Icon name="search" size={15} />
          <span>{t('nav.search')}</span>
          <Kbd size="xs">Ctrl K</Kbd>
        </UnstyledButton>
        {PLACES.filter(({ to }) => !isClosed || to === WORK).map(({ to, icon, label }) => (
          <Link
            key={to}
            to={to}
            className="place"
            activeOptions={{ exact: to === '/', includeSearch: false }}
          >
            <Icon name={icon} />
            <span>{t(label)}</span>
          </Link>
        ))}
        <div className="rail-end">
          <UserMenu openHelp={help.open} />
        </div>
      </nav>
      <main id="main" tabIndex={-1}>
        <ConnectionBar />
        <Suspense>{isIn ? <Outlet /> : <SignIn />}</Suspense>
      </main>
      <Suspense>{isSearching && <Palette close={search.close} />}</Suspense>
      <SignInAgain />
      <Shortcuts isOpen={isHelping} close={help.close} />
    </div>
  );
}

/** The address behind `#` is that of the view: a link to a place in the page would change it. */
function focusMain(event: { preventDefault: () => void }): void {
  event.preventDefault();
  document.getElementById('main')?.focus();
}

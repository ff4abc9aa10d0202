import { useHotkeys, useDisclosure } from '@mantine/hooks';
import { Kbd, Text, UnstyledButton } from '@mantine/core';
import { Link, Outlet, useRouter } from '@tanstack/react-router';
import { lazy, Suspense, useEffect, type ReactNode } from 'react';
import { useMessages } from '../messages/messages.js';
import { useIsClosed, useOwnEhr, useSession, useWhyOver } from '../session/session.js';
import { useHiddenPage, useIdleLock } from '../session/use-idle-lock.js';
import { Icon, type IconName } from '../widgets/Icon.js';
import { ConnectionBar } from './ConnectionBar.js';
import { useKeptScroll } from './kept-scroll.js';
import { useTypedAhead } from './typed-ahead.js';

// What a first look does not need comes after it.
const Palette = lazy(() => import('./Palette.js').then((file) => ({ default: file.Palette })));
const Shortcuts = lazy(() => import('./Shortcuts.js').then((file) => ({ default: file.Shortcuts })));
const Toasts = lazy(() => import('../widgets/Toasts.js').then((file) => ({ default: file.Toasts })));
const UserMenu = lazy(() => import('./UserMenu.js').then((file) => ({ default: file.UserMenu })));
const SignIn = lazy(() => import('../session/SignIn.js').then((file) => ({ default: file.SignIn })));
const SignInAgain = lazy(() =>
  import('../session/SignInAgain.js').then((file) => ({ default: file.SignInAgain })),
);

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
  const { credentials, isIn, person } = useSession();
  const why = useWhyOver();
  const isOver = why !== null;
  useIdleLock();
  useKeptScroll(useRouter());
  useHiddenPage(why === 'away');
  const [isSearching, search] = useDisclosure();
  // Over a page that is locked the keys are those of a password.
  const isFinding = isSearching && !isOver;
  const [wanted, want] = useTypedAhead(isFinding, search.close);
  useEffect(() => {
    if (isOver) search.close();
  }, [isOver, search.close]);
  const [isHelping, help] = useDisclosure();
  // Also out of a field, where a question mark is a letter.
  useHotkeys(isOver ? [] : [['mod+K', search.open]], []);
  useHotkeys(isOver ? [] : [['?', help.open]]);
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
        <Places />
        <div className="rail-end">
          <Suspense>
            <UserMenu openHelp={help.open} />
          </Suspense>
        </div>
      </nav>
      <main id="main" tabIndex={-1}>
        <ConnectionBar />
        <Suspense key={person}>{isIn ? <Outlet /> : <SignIn />}</Suspense>
      </main>
      <Suspense>{isFinding && <Palette wanted={wanted} want={want} close={search.close} />}</Suspense>
      <Suspense>
        <Toasts />
      </Suspense>
      {/* There before it is wanted: the server may be away by then. */}
      <Suspense>{credentials.kind !== 'none' && <SignInAgain why={why} />}</Suspense>
      <Suspense>
        <Shortcuts isOpen={isHelping} close={help.close} />
      </Suspense>
    </div>
  );
}

/** Where one can go: whoever is a patient here to his record alone, whoever only audits to his work alone. */
function Places(): ReactNode {
  const { t } = useMessages();
  const isClosed = useIsClosed();
  const own = useOwnEhr();
  return (
    <>
      {own !== undefined && (
        <Link
          to="/patients/$ehrId"
          params={{ ehrId: own }}
          className="place"
          activeOptions={{ includeSearch: false }}
        >
          <Icon name="patients" />
          <span>{t('nav.own')}</span>
        </Link>
      )}
      {PLACES.filter(({ to }) => own === undefined && (!isClosed || to === WORK)).map(
        ({ to, icon, label }) => (
          <Link
            key={to}
            to={to}
            className="place"
            activeOptions={{ exact: to === '/', includeSearch: false }}
          >
            <Icon name={icon} />
            <span>{t(label)}</span>
          </Link>
        ),
      )}
    </>
  );
}

/** The address behind `#` is that of the view: a link to a place in the page would change it. */
function focusMain(event: { preventDefault: () => void }): void {
  event.preventDefault();
  document.getElementById('main')?.focus();
}

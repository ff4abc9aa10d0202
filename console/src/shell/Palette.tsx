import '@mantine/spotlight/styles.css';
import {
  Spotlight,
  spotlight,
  type SpotlightActionData,
  type SpotlightActionGroupData,
} from '@mantine/spotlight';
import { useQuery } from '@tanstack/react-query';
import { useEffect, type KeyboardEvent, type ReactNode } from 'react';
import { useDebouncedValue } from '@mantine/hooks';
import { findPatients } from '../pages/patients/patient-queries.js';
import { useComputedColorScheme, useMantineColorScheme } from '@mantine/core';
import { LANGUAGES, type Language } from '../messages/languages.js';
import { useMessages } from '../messages/messages.js';
import type { OpenedRecord } from '../record/recent.js';
import { useAskedFavourites, useRecent } from '../pages/patients/use-known-patients.js';
import { patientView, templateView, useGo } from './address.js';
import { FIELD, type Wanted } from './typed-ahead.js';
import { useApi, useIsClosed, useOwnEhr, useSession } from '../session/session.js';
import { useSignOut } from '../session/use-sign-out.js';

/** What is shown of all that is found. */
const LIMIT = 8;
/** Of favourites, and of those opened lately, before anything is typed: pages stand below them. */
const KNOWN = 4;

const ACTION = '.mantine-Spotlight-action';

/** Finds patients, templates, stored queries and pages by a few letters. */
export function Palette({
  wanted,
  want,
  close,
}: {
  readonly wanted: Wanted;
  readonly want: (wanted: Wanted) => void;
  readonly close: () => void;
}): ReactNode {
  const { t } = useMessages();
  const { text, isChosen } = wanted;
  const { actions, isComplete } = useActions(text);
  useEffect(() => {
    spotlight.open();
    // Also where the page takes it away, which is no closing of it.
    return () => spotlight.close();
  }, []);
  useEffect(() => {
    if (!isChosen || !isComplete) return undefined;
    let frame = requestAnimationFrame(choose);
    // What is found is on the screen a frame after it is known; the palette itself some frames after it was opened.
    function choose(): void {
      if (document.querySelector(FIELD) === null) {
        frame = requestAnimationFrame(choose);
        return;
      }
      want({ text, isChosen: false });
      chooseFirst();
    }
    return () => cancelAnimationFrame(frame);
  }, [isChosen, isComplete, text, want]);
  return (
    <Spotlight
      actions={actions}
      query={text}
      onQueryChange={(next) => want({ text: next, isChosen: false })}
      onSpotlightClose={close}
      nothingFound={t('palette.nothing')}
      limit={text === '' ? LIMIT + KNOWN : LIMIT}
      scrollable
      maxHeight={420}
      shortcut={null}
      searchProps={{
        placeholder: t('palette.placeholder'),
        'aria-label': t('nav.search'),
        // Before the palette's own way, which takes what was found for fewer letters.
        onKeyDownCapture: (event: KeyboardEvent) => {
          if (event.key !== 'Enter' || event.nativeEvent.isComposing) return;
          event.stopPropagation();
          event.preventDefault();
          want({ text, isChosen: true });
        },
      }}
    />
  );
}

/** What is marked, else the first that is found: what comes from the server comes too late to be marked beforehand. */
function chooseFirst(): void {
  const marked = document.querySelector<HTMLElement>(`${ACTION}[data-selected]`);
  (marked ?? document.querySelector<HTMLElement>(ACTION))?.click();
}

/** What can be done from anywhere. */
function useActs(): SpotlightActionData[] {
  const { t, language, setLanguage } = useMessages();
  const { setColorScheme } = useMantineColorScheme();
  const { credentials } = useSession();
  const signOut = useSignOut();
  const scheme = useComputedColorScheme('light') === 'dark' ? 'light' : 'dark';
  return [
    {
      id: 'scheme',
      label: `${t('user.appearance')}: ${t(`user.${scheme}`)}`,
      onClick: () => setColorScheme(scheme),
    },
    ...(Object.keys(LANGUAGES) as Language[])
      .filter((each) => each !== language)
      .map((each) => ({
        id: `language ${each}`,
        label: `${t('user.language')}: ${LANGUAGES[each].name}`,
        onClick: () => setLanguage(each),
      })),
    ...(credentials.kind === 'none'
      ? []
      : [
          {
            id: 'sign out',
            label: t('signIn.out'),
            onClick: () => void signOut(),
          },
        ]),
  ];
}

/** The pages that one can go to. `isOpen`: all of them, not administration alone. */
function usePages(isOpen: boolean): SpotlightActionData[] {
  const { t } = useMessages();
  const go = useGo();
  const own = useOwnEhr();
  if (own !== undefined) return [{ id: 'own', label: t('nav.own'), onClick: () => go(patientView(own)) }];
  return (['/', '/patients', '/templates', '/query', '/dashboards', '/administration'] as const)
    .filter((to) => isOpen || to === '/administration')
    .map((to) => ({
      id: to,
      label: t(`nav.${to === '/' ? 'overview' : (to.slice(1) as 'patients')}`),
      onClick: () => go({ to }),
    }));
}

/** What fits a text, and whether all has been asked that finds it. */
function useActions(text: string): {
  readonly actions: SpotlightActionGroupData[];
  readonly isComplete: boolean;
} {
  const { t } = useMessages();
  const acts = useActs();
  const isOpen = useSession().isIn && !useIsClosed();
  const api = useApi();
  const go = useGo();
  const [wanted] = useDebouncedValue(text.trim(), 150);
  const patients = useQuery({
    queryKey: ['palette', wanted],
    queryFn: () => findPatients(api, { find: wanted, offset: 0, fetch: 5 }),
    enabled: isOpen && wanted.length > 1,
  });
  const templates = useQuery({ queryKey: ['templates'], queryFn: api.templates, enabled: isOpen });
  const queries = useQuery({ queryKey: ['stored-queries'], queryFn: api.storedQueries, enabled: isOpen });
  const kept = useAskedFavourites(isOpen);
  const favourites = kept.favourites ?? [];
  const recent = useRecent().filter((one) => favourites.every((each) => each.ehrId !== one.ehrId));
  const isComplete =
    wanted === text.trim() && ![patients, templates, queries, kept].some(({ isFetching }) => isFetching);
  const known = (group: string, records: readonly OpenedRecord[]): SpotlightActionGroupData => ({
    group,
    actions: (text === '' ? records.slice(0, KNOWN) : []).map(({ ehrId, name }) => ({
      id: `known ${ehrId}`,
      label: name,
      description: ehrId,
      onClick: () => go(patientView(ehrId)),
    })),
  });
  const actions = [
    known(t('own.favourites'), favourites),
    known(t('own.recent'), recent),
    {
      group: t('nav.patients'),
      actions: (patients.data ?? []).map(({ ehrId, subject }) => ({
        id: ehrId,
        label: subject ?? ehrId,
        description: ehrId,
        keywords: [wanted],
        onClick: () => go(patientView(ehrId)),
      })),
    },
    {
      group: t('nav.templates'),
      actions: (templates.data ?? []).map(({ template_id: templateId, concept }) => ({
        id: `template ${templateId}`,
        label: concept === '' ? templateId : concept,
        description: templateId,
        onClick: () => go(templateView(templateId)),
      })),
    },
    {
      group: t('palette.queries'),
      actions: (queries.data ?? []).map(({ name, version, q }) => ({
        id: `query ${name}/${version}`,
        label: name,
        description: version,
        onClick: () => go({ to: '/query', search: { q } }),
      })),
    },
    { group: t('palette.pages'), actions: usePages(isOpen) },
    { group: t('palette.acts'), actions: acts },
  ];
  return { actions, isComplete };
}

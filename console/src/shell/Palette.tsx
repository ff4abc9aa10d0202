import '@mantine/spotlight/styles.css';
import {
  Spotlight,
  spotlight,
  type SpotlightActionData,
  type SpotlightActionGroupData,
} from '@mantine/spotlight';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useState, type ReactNode } from 'react';
import { useDebouncedValue } from '@mantine/hooks';
import { findPatients } from '../pages/patients/patient-queries.js';
import { useComputedColorScheme, useMantineColorScheme } from '@mantine/core';
import { LANGUAGES, type Language } from '../messages/languages.js';
import { useMessages } from '../messages/messages.js';
import { patientView, templateView, useGo } from './address.js';
import { useApi, useIsClosed, useSession } from '../session/session.js';
import { useSignOut } from '../session/use-sign-out.js';

/** Finds patients, templates, stored queries and pages by a few letters. */
export function Palette({ close }: { readonly close: () => void }): ReactNode {
  const { t } = useMessages();
  const [text, setText] = useState('');
  const actions = useActions(text);
  useEffect(() => {
    spotlight.open();
  }, []);
  return (
    <Spotlight
      actions={actions}
      query={text}
      onQueryChange={setText}
      onSpotlightClose={close}
      nothingFound={t('palette.nothing')}
      limit={8}
      scrollable
      maxHeight={420}
      shortcut={null}
      searchProps={{
        placeholder: t('palette.placeholder'),
        'aria-label': t('nav.search'),
        onKeyDown: chooseFirst,
      }}
    />
  );
}

/** Enter takes the first that is found: what comes from the server comes too late to be chosen beforehand. */
function chooseFirst({ key }: { readonly key: string }): void {
  if (key !== 'Enter' || document.querySelector('.mantine-Spotlight-action[data-selected]') !== null) return;
  document.querySelector<HTMLElement>('.mantine-Spotlight-action')?.click();
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

function useActions(text: string): SpotlightActionGroupData[] {
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
  const pages: SpotlightActionData[] = (
    ['/', '/patients', '/templates', '/query', '/administration'] as const
  )
    .filter((to) => isOpen || to === '/administration')
    .map((to) => ({
      id: to,
      label: t(`nav.${to === '/' ? 'overview' : (to.slice(1) as 'patients')}`),
      onClick: () => go({ to }),
    }));
  return [
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
    { group: t('palette.pages'), actions: pages },
    { group: t('palette.acts'), actions: acts },
  ];
}

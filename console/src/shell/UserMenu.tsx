import { Button, Menu, useMantineColorScheme } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { LANGUAGES, type Language } from '../messages/languages.js';
import { useMessages } from '../messages/messages.js';
import { useSession } from '../session/session.js';
import { useSignOut } from '../session/use-sign-out.js';
import { useGo } from './address.js';
import { Icon } from '../widgets/Icon.js';

/** Who is signed in, and how the console looks to him. */
export function UserMenu({ openHelp }: { readonly openHelp: () => void }): ReactNode {
  const { t, language, setLanguage } = useMessages();
  const { credentials } = useSession();
  const signOut = useSignOut();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const name = useUserName();
  const go = useGo();
  return (
    <Menu position="right-end" width={220} withinPortal>
      <Menu.Target>
        <Button
          className="user"
          // On a phone the name is not shown.
          aria-label={name}
          variant="subtle"
          color="gray"
          fullWidth
          leftSection={<Icon name="user" />}
        >
          <span>{name}</span>
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>{t('user.appearance')}</Menu.Label>
        {(['light', 'dark', 'auto'] as const).map((scheme) => (
          <Menu.Item
            key={scheme}
            rightSection={colorScheme === scheme && <Icon name="done" size={14} />}
            onClick={() => {
              setColorScheme(scheme);
            }}
          >
            {t(`user.${scheme}`)}
          </Menu.Item>
        ))}
        <Menu.Label>{t('user.language')}</Menu.Label>
        {(Object.keys(LANGUAGES) as Language[]).map((each) => (
          <Menu.Item
            key={each}
            lang={each}
            rightSection={language === each && <Icon name="done" size={14} />}
            onClick={() => {
              setLanguage(each);
            }}
          >
            {LANGUAGES[each].name}
          </Menu.Item>
        ))}
        <Menu.Divider />
        <Menu.Item onClick={openHelp} rightSection="?">
          {t('keys.title')}
        </Menu.Item>
        {credentials.kind === 'none' ? (
          <Menu.Item onClick={() => go({ to: '/administration' })}>{t('signIn.go')}</Menu.Item>
        ) : (
          <Menu.Item onClick={() => void signOut()}>{t('signIn.out')}</Menu.Item>
        )}
      </Menu.Dropdown>
    </Menu>
  );
}

/** As the server calls him; without a server's word, how he signed in. */
function useUserName(): string {
  const { t } = useMessages();
  const { api, credentials, isIn } = useSession();
  const { data } = useQuery({ queryKey: ['overview'], queryFn: api.overview, enabled: isIn });
  if (data?.user) return data.user.name;
  if (credentials.kind === 'basic') return credentials.user;
  if (credentials.kind === 'provider') return credentials.name;
  return credentials.kind === 'token' ? t('user.token') : t('user.nobody');
}

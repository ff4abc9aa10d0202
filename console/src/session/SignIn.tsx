import { Button, Paper, PasswordInput, Stack, Tabs, Text, Textarea, TextInput, Title } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useEffect, useRef, useState, type ReactNode } from 'react';
import { createApi } from '../api/api.js';
import { CdrError } from '@everchart/client';
import type { Credentials } from '../api/connection.js';
import type { ServerSettings } from '../api/types.js';
import { useMessages } from '../messages/messages.js';
import { officePermissions } from './permissions.js';
import { useSession } from './session.js';

/** What becomes of credentials that the server takes; `user`: whom it knows by them, where it says so. */
type OnSignIn = (credentials: Credentials, user: string | undefined) => void;

/** Asks who the user is, and tries it before it is believed. `isAdmin`: only an administrator or an auditor will do. */
export function SignIn({
  isAdmin = false,
  mustProve = false,
  onSignIn,
}: {
  readonly isAdmin?: boolean;
  /** Also whom the provider knows already says there again who he is. */
  readonly mustProve?: boolean;
  /** In place of a new session; then the page stays, and the provider is asked in a window of its own. */
  readonly onSignIn?: OnSignIn;
}): ReactNode {
  const { t } = useMessages();
  const { settings } = useSession();
  const ways = [
    ...(settings.has_passwords ? (['basic'] as const) : []),
    ...(settings.auth !== 'basic' ? (['token'] as const) : []),
  ];
  return (
    <Paper className="sign-in" component="section">
      <Title order={2}>{t(isAdmin ? 'signIn.adminTitle' : 'signIn.title')}</Title>
      <Text c="dimmed" mt={4} mb="md">
        {t(isAdmin ? 'signIn.adminHint' : 'signIn.hint')}
      </Text>
      {settings.oidc !== null &&
        (onSignIn === undefined ? (
          <ProviderButton provider={settings.oidc} />
        ) : (
          <ProviderWindow provider={settings.oidc} mustProve={mustProve} onSignIn={onSignIn} />
        ))}
      <Tabs defaultValue={ways[0] ?? 'token'} keepMounted={false}>
        {ways.length > 1 && (
          <Tabs.List mb="md">
            {ways.map((way) => (
              <Tabs.Tab key={way} value={way}>
                {t(way === 'basic' ? 'signIn.password' : 'signIn.token')}
              </Tabs.Tab>
            ))}
          </Tabs.List>
        )}
        <Tabs.Panel value="basic">
          <PasswordForm onSignIn={onSignIn} />
        </Tabs.Panel>
        <Tabs.Panel value="token">
          <TokenForm onSignIn={onSignIn} />
        </Tabs.Panel>
      </Tabs>
    </Paper>
  );
}

type Provider = NonNullable<ServerSettings['oidc']>;

function ProviderButton({ provider }: { readonly provider: Provider }): ReactNode {
  const { refusal } = useSession();
  const leave = useMutation({
    mutationFn: async () => (await import('./provider.js')).goToProvider(provider, location.hash.slice(1)),
  });
  return (
    <AtProvider
      provider={provider}
      isAsking={leave.isPending}
      error={leave.error ?? refusal}
      ask={leave.mutate}
    />
  );
}

/** What is open here stays, while the provider is asked elsewhere; a window that was closed is opened again by another click. */
function ProviderWindow({
  provider,
  mustProve,
  onSignIn,
}: {
  readonly provider: Provider;
  readonly mustProve: boolean;
  readonly onSignIn: OnSignIn;
}): ReactNode {
  const { attempt, failure, isTrying } = useAttempt(onSignIn);
  const open = useRef<AbortController>(null);
  // A window is opened only right after a click: what it takes is there by then.
  useEffect(() => void import('./provider.js'), []);
  const { mutate, error } = useMutation({
    mutationFn: async () => {
      open.current?.abort('asked anew');
      const asking = new AbortController();
      open.current = asking;
      const { askProviderInWindow } = await import('./provider.js');
      await attempt(await askProviderInWindow(provider, { mustProve, signal: asking.signal }));
    },
  });
  return (
    <AtProvider
      provider={provider}
      isAsking={isTrying}
      error={failure === null ? error : new Error(failure)}
      ask={mutate}
    />
  );
}

function AtProvider({
  provider,
  isAsking,
  error,
  ask,
}: {
  readonly provider: Provider;
  readonly isAsking: boolean;
  readonly error: Error | null;
  readonly ask: () => void;
}): ReactNode {
  const { t } = useMessages();
  return (
    <Stack gap="xs" mb="lg">
      <Button loading={isAsking} onClick={() => ask()}>
        {t('signIn.provider', { host: new URL(provider.issuer).host })}
      </Button>
      {error !== null && (
        <Text className="flag" role="alert">
          {t('signIn.providerFailed', { why: error.message })}
        </Text>
      )}
      <Text size="sm" c="dimmed">
        {t('signIn.otherwise')}
      </Text>
    </Stack>
  );
}

function PasswordForm({ onSignIn }: { readonly onSignIn: OnSignIn | undefined }): ReactNode {
  const { t } = useMessages();
  const { attempt, failure, isTrying } = useAttempt(onSignIn);
  const [user, setUser] = useState('');
  const [password, setPassword] = useState('');
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        void attempt({ kind: 'basic', user, password });
      }}
    >
      <Stack>
        <TextInput
          label={t('signIn.user')}
          autoComplete="username"
          required
          value={user}
          onChange={(event) => {
            setUser(event.currentTarget.value);
          }}
        />
        <PasswordInput
          label={t('signIn.password')}
          autoComplete="current-password"
          required
          value={password}
          error={announced(failure)}
          aria-invalid={failure !== null}
          visibilityToggleButtonProps={{ 'aria-label': t('signIn.showPassword'), tabIndex: 0 }}
          onChange={(event) => {
            setPassword(event.currentTarget.value);
          }}
        />
        <Button type="submit" loading={isTrying}>
          {t('signIn.go')}
        </Button>
      </Stack>
    </form>
  );
}

function TokenForm({ onSignIn }: { readonly onSignIn: OnSignIn | undefined }): ReactNode {
  const { t } = useMessages();
  const { attempt, failure, isTrying } = useAttempt(onSignIn);
  const [token, setToken] = useState('');
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        void attempt({ kind: 'token', token: token.trim() });
      }}
    >
      <Stack>
        <Textarea
          label={t('signIn.token')}
          description={t('signIn.tokenHint')}
          required
          rows={4}
          classNames={{ input: 'mono' }}
          value={token}
          error={announced(failure)}
          onChange={(event) => {
            setToken(event.currentTarget.value);
          }}
        />
        <Button type="submit" loading={isTrying}>
          {t('signIn.go')}
        </Button>
      </Stack>
    </form>
  );
}

/** Read out at once: the focus is elsewhere. */
function announced(failure: string | null): ReactNode {
  return failure === null ? null : <span role="alert">{failure}</span>;
}

/** Signs in with what the server takes; says what it does not take. */
function useAttempt(onSignIn: OnSignIn | undefined): {
  readonly attempt: (credentials: Credentials) => Promise<void>;
  readonly failure: string | null;
  readonly isTrying: boolean;
} {
  const { t } = useMessages();
  const { settings, signIn } = useSession();
  const accept = onSignIn ?? signIn;
  const [failure, setFailure] = useState<string | null>(null);
  const [isTrying, setIsTrying] = useState(false);
  const attempt = async (credentials: Credentials): Promise<void> => {
    setIsTrying(true);
    setFailure(null);
    try {
      const api = createApi(credentials);
      let user: string | undefined;
      if (settings.auth !== 'none') user = (await api.overview()).user?.name;
      // Open to everybody but the administration: an auditor will do, and what refuses says why.
      else if ((await officePermissions(api)).length === 0) await api.adminStatus();
      accept(credentials, user);
    } catch (error) {
      // Known, but not allowed this: he is signed in, and pages say what is missing.
      if (error instanceof CdrError && error.status === 403 && settings.auth !== 'none')
        accept(credentials, undefined);
      else setFailure(error instanceof CdrError && error.status > 0 ? error.message : t('error.unreachable'));
    } finally {
      setIsTrying(false);
    }
  };
  return { attempt, failure, isTrying };
}

import {
  ErrorResponse,
  InMemoryWebStorage,
  UserManager,
  WebStorageStateStore,
  type IdTokenClaims,
  type User,
} from 'oidc-client-ts';
import { serverRoot, type Credentials } from '../api/connection.js';
import type { ServerSettings } from '../api/types.js';

type Provider = NonNullable<ServerSettings['oidc']>;

/**
 * The code flow with PKCE. Tokens stay in the memory of the page; the state and verifier of the redirect, which outlive
 * it by nature, are in sessionStorage until the answer is taken. The answer comes behind `#`: the code reaches no log.
 */
function managerOf({ issuer, client_id }: Provider): UserManager {
  const page = `${serverRoot()}/console`;
  return new UserManager({
    authority: issuer,
    client_id,
    redirect_uri: page,
    post_logout_redirect_uri: page,
    response_type: 'code',
    response_mode: 'fragment',
    scope: 'openid profile',
    automaticSilentRenew: false,
    // Not `azp`, which tells for which of several audiences a token was made.
    filterProtocolClaims: ['nbf', 'jti', 'auth_time', 'nonce', 'acr', 'amr', 'at_hash'],
    monitorSession: false,
    userStore: new WebStorageStateStore({ store: new InMemoryWebStorage() }),
    stateStore: new WebStorageStateStore({ store: sessionStorage }),
  });
}

/** Goes to the provider; `view`: what to show on the way back. @throws Error where the provider does not answer */
export async function goToProvider(provider: Provider, view: string): Promise<void> {
  await managerOf(provider).signinRedirect({ state: view, nonce: crypto.randomUUID() });
}

/**
 * Asks the provider in a window of its own, so that this page stays as it is. `mustProve`: also who has a session there
 * says again who he is. @throws Error where no window may be opened, or what the provider refused
 */
export async function askProviderInWindow(
  provider: Provider,
  { mustProve, signal }: { readonly mustProve: boolean; readonly signal: AbortSignal },
): Promise<Credentials> {
  const manager = managerOf(provider);
  const user = await manager.signinPopup({
    popupSignal: signal,
    nonce: crypto.randomUUID(),
    ...(mustProve && { prompt: 'login' }),
  });
  return credentialsOf(provider, manager, user);
}

/**
 * An ID token says who somebody is only if that provider made it for this application: the library compares the nonce, and
 * neither of these. @throws Error when it was made by or for somebody else
 */
function requireMeant({ iss, aud, azp }: IdTokenClaims, { issuer, client_id: client }: Provider): void {
  const trimmed = (address: string): string => (address.endsWith('/') ? address.slice(0, -1) : address);
  if (trimmed(iss) !== trimmed(issuer)) throw new Error(`the ID token was made by ${iss}`);
  const audience = [aud].flat();
  if (!audience.includes(client)) throw new Error(`the ID token was made for ${audience.join(', ')}`);
  if (azp !== undefined && azp !== client) throw new Error(`the ID token was made for ${azp}`);
}

/** What the provider answered with: who it is, and the view that he came from. @throws Error what it refused */
export async function takeAnswer(
  provider: Provider,
  answer: string,
): Promise<{ readonly credentials: Credentials; readonly view: string }> {
  const manager = managerOf(provider);
  const user = await manager.signinCallback(`${serverRoot()}/console${answer}`);
  if (user === undefined) throw new Error('the answer is of no sign-in');
  return {
    view: typeof user.state === 'string' ? user.state : '/',
    credentials: credentialsOf(provider, manager, user),
  };
}

/** @throws Error when the ID token was made by or for somebody else */
function credentialsOf(provider: Provider, manager: UserManager, { profile }: User): Credentials {
  requireMeant(profile, provider);
  const { preferred_username: userName, name, sub } = profile;
  return {
    kind: 'provider',
    name: userName ?? name ?? sub,
    token: async ({ refresh }) => {
      const known = await manager.getUser();
      const isOld = refresh || known?.expired === true;
      // Without a token to renew it with, the server says that it is no longer valid.
      const current = isOld && known?.refresh_token !== undefined ? await manager.signinSilent() : known;
      return current?.access_token ?? '';
    },
    signOut: async () => {
      await manager.signoutRedirect();
    },
  };
}

/** The view that a refused sign-in was begun from; undefined: what was thrown does not say. */
export function viewOfRefusal(error: unknown): string | undefined {
  const view = error instanceof ErrorResponse ? error.state : undefined;
  return typeof view === 'string' ? view : undefined;
}

import { Cdr } from '@everchart/client';
import { emergencies } from './emergency.js';

/** How the user proved who he is; in memory only, gone with the page. */
export type Credentials =
  | { readonly kind: 'none' }
  | { readonly kind: 'token'; readonly token: string }
  | {
      readonly kind: 'provider';
      readonly name: string;
      /** Asked before each request, so that it is renewed in time. */
      readonly token: (options: { refresh: boolean }) => Promise<string>;
      readonly signOut: () => Promise<void>;
    }
  | { readonly kind: 'basic'; readonly user: string; readonly password: string };

/** What is asked again before a failure is shown: a lost answer, a server that is busy. */
const RETRIES = 2;

/** The root of the server: what stands before `/console` in the address of the page. */
export function serverRoot(): string {
  return location.href.replace(/[#?].*$/, '').replace(/\/console\/?$/, '');
}

/** The server, asked with these credentials; nothing is kept by the browser, and no password that it knows by itself is sent. */
export function connect(credentials: Credentials): Cdr {
  return new Cdr({
    url: serverRoot(),
    retries: RETRIES,
    fetch: (input, init) =>
      emergencies.send(new Request(input, { ...init, cache: 'no-store', credentials: 'omit' }), (request) =>
        fetch(request),
      ),
    ...((credentials.kind === 'token' || credentials.kind === 'provider') && { token: credentials.token }),
    ...(credentials.kind === 'basic' && {
      basic: { user: credentials.user, password: credentials.password },
    }),
  });
}

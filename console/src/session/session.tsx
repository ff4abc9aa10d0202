import { createContext, useContext, useMemo, useState, useSyncExternalStore, type ReactNode } from 'react';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { CdrError, type Overview } from '@everchart/client';
import { createApi, type Api } from '../api/api.js';
import type { Credentials } from '../api/connection.js';
import { emergencies } from '../api/emergency.js';
import type { ServerSettings } from '../api/types.js';
import { expiry, type WhyOver } from './expiry.js';
import { permissionsOf } from './permissions.js';

/** Who uses the console, and the server as he may ask it. */
export interface Session {
  readonly api: Api;
  readonly settings: ServerSettings;
  /** Why a provider that sent the user back did not let him in. */
  readonly refusal: Error | null;
  readonly credentials: Credentials;
  /** Another number for each who signs in: what a page holds is his alone. */
  readonly person: number;
  /** Whether the standard API answers: signed in, or `AUTH=none`. */
  readonly isIn: boolean;
  readonly signIn: (credentials: Credentials) => void;
  /** The same user, who goes on with what he has open. */
  readonly renew: (credentials: Credentials) => void;
  readonly signOut: () => void;
}

const SessionContext = createContext<Session | null>(null);

/** Keeps the credentials, in memory alone: whoever loads the page anew signs in anew. */
export function SessionProvider({
  settings,
  first,
  refusal,
  children,
}: {
  readonly settings: ServerSettings;
  /** Who is signed in from the start. */
  readonly first: Credentials | null;
  readonly refusal: Error | null;
  readonly children: ReactNode;
}): ReactNode {
  const [credentials, setCredentials] = useState<Credentials>(first ?? { kind: 'none' });
  const [person, setPerson] = useState(0);
  const queries = useQueryClient();
  const session = useMemo<Session>(() => {
    const change = (next: Credentials): void => {
      setPerson((number) => number + 1);
      // Nothing that one user was shown may be seen by the next.
      queries.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'settings' });
      emergencies.clear();
      setCredentials(next);
      expiry.end();
    };
    return {
      api: createApi(credentials),
      settings,
      refusal,
      credentials,
      person,
      isIn: credentials.kind !== 'none' || settings.auth === 'none',
      signIn: change,
      renew: (next) => {
        setCredentials(next);
        expiry.end();
      },
      signOut: () => {
        change({ kind: 'none' });
        // Where the provider has no way to end its session, this page has forgotten him all the same.
        if (credentials.kind === 'provider') void credentials.signOut().catch(() => undefined);
      },
    };
  }, [credentials, person, settings, refusal, queries]);
  return <SessionContext value={session}>{children}</SessionContext>;
}

/** The session of the user. */
export function useSession(): Session {
  const session = useContext(SessionContext);
  if (session === null) throw new TypeError('no SessionProvider above');
  return session;
}

/** What the server can be asked. */
export function useApi(): Api {
  return useSession().api;
}

/** Whether the user has a permission; with `AUTH=none` everybody may read, write and define. */
export function useMay(permission: 'read' | 'write' | 'define' | 'draft'): boolean {
  const user = useKnownUser();
  return user !== undefined && (user === null || user.permissions.includes(permission));
}

/** Who asks, as the server says it to whoever may read; null: with `AUTH=none` nobody in particular; undefined: not known. */
function useKnownUser(): Overview['user'] | undefined {
  const { api, isIn } = useSession();
  const asked = { queryKey: ['overview'], queryFn: api.overview, enabled: isIn };
  // Whoever is refused is refused on each page: once is enough.
  return useQuery({ ...asked, retryOnMount: false }).data?.user;
}

/** Whether the user may open in an emergency what is withheld from him. */
export function useMayBreakGlass(): boolean {
  return useKnownUser()?.permissions.includes('emergency') === true;
}

/** The record of the patient who is signed in with a token of his own; undefined for everybody else. */
export function useOwnEhr(): string | undefined {
  return useKnownUser()?.ehr_id;
}

/** Whether records, templates and queries are closed to the user: one who only audits. */
export function useIsClosed(): boolean {
  const { api, isIn } = useSession();
  const asked = { queryKey: ['overview'], queryFn: api.overview, enabled: isIn };
  // Asked again, a refusal would be unknown until the answer, and what is closed would be offered meanwhile.
  const { error } = useQuery({ ...asked, retryOnMount: false });
  return error instanceof CdrError && error.status === 403;
}

/** What the user may do beyond the standard API; asked only of whoever has signed in. */
export interface Office {
  /** Merging, erasing, background jobs. */
  readonly isAdmin: boolean;
  /** Who has seen and done what, and who may do what. */
  readonly mayAudit: boolean;
}

/** Whether the user is an administrator or an auditor; null: not known yet. */
export function useOffice(): Office | null {
  const { api, credentials, settings } = useSession();
  const isAsked = settings.administration && credentials.kind !== 'none';
  const { data } = useQuery({
    queryKey: ['permissions-of-user'],
    queryFn: () => permissionsOf(api),
    enabled: isAsked,
    staleTime: Infinity,
  });
  if (!isAsked) return { isAdmin: false, mayAudit: false };
  return data === undefined ? null : { isAdmin: data.includes('admin'), mayAudit: data.includes('audit') };
}

/** What the server calls the user. */
export function useMyName(): string | undefined {
  return useKnownUser()?.name;
}

/** Whether the user may have the report of who has seen a record: whoever audits or administrates, and its patient. */
export function useMayReport(ehrId: string): boolean {
  const office = useOffice();
  const own = useOwnEhr();
  return office?.mayAudit === true || office?.isAdmin === true || own === ehrId;
}

/** Why the session of a user who had signed in is over; null: it is not. */
export function useWhyOver(): WhyOver | null {
  const { credentials } = useSession();
  const why = useSyncExternalStore(expiry.subscribe, () => expiry.why);
  return credentials.kind === 'none' ? null : why;
}

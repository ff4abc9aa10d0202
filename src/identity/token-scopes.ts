import type { Logger } from 'pino';
import { publishUnreadableScopes } from '../../database/events.js';
import { CdrError } from '../../openehr/base/errors.js';
import type { Permission, Settings } from '../../config/settings.js';
import { SmartGrants } from '../../policy/smart-grants.js';
import type { Identity, TokenVerifier } from './token-verifier.js';

/** Scopes of which it is logged that they cannot be read. */
const MOST_LOGGED = 100;
const MOST_CHARACTERS = 200;

/**
 * Reads of a token that was checked what its scopes grant. `mode`: whether a token without any scope about records is restricted.
 * docs/smart.md
 * @throws unauthenticated where it is about one patient, and does not say which
 */
export function readingScopes(
  verify: TokenVerifier,
  {
    mode,
    claimEhr,
    log,
  }: { readonly mode: Settings['smartScopes']; readonly claimEhr: string; readonly log: Logger },
): TokenVerifier {
  const logged = new Set<string>();
  const tell = (unreadable: readonly string[], client: string | null): void => {
    publishUnreadableScopes({ count: unreadable.length });
    for (const scope of unreadable) {
      if (logged.has(scope) || logged.size >= MOST_LOGGED) continue;
      logged.add(scope);
      log.warn(
        { scope: scope.slice(0, MOST_CHARACTERS), client },
        'a scope of a token cannot be read: it grants nothing',
      );
    }
  };
  return async (token, address) => {
    const identity = await verify(token, address);
    const { scopes = [], openedFor, ehr, unreadable } = identity.claims ?? {};
    const smart = SmartGrants.of(scopes) ?? (mode === 'required' ? SmartGrants.nothing : null);
    if (smart === null) return identity;
    if (unreadable !== undefined) throw new CdrError('unauthenticated', unreadable);
    if (smart.unreadable.length > 0) tell(smart.unreadable, identity.clientId);
    if (smart.needsEhr && (openedFor ?? ehr) === undefined)
      throw new CdrError(
        'unauthenticated',
        `the token has a scope patient/… and no claim ${claimEhr} that says whose record it is about`,
      );
    return { ...identity, smart };
  };
}

/** What applications may have: none of them administrates, and none sees who did what. */
const OF_APPLICATIONS: readonly Permission[] = ['read', 'write', 'define', 'commit_for_others'];

/** The permissions that are left to somebody who comes with scopes. */
export function permissionsWithScopes(
  { smart }: Identity,
  permissions: ReadonlySet<Permission>,
): ReadonlySet<Permission> {
  if (smart === undefined) return permissions;
  return new Set([...permissions].filter((permission) => OF_APPLICATIONS.includes(permission)));
}

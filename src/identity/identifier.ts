import type { Logger } from 'pino';
import { CdrError } from '../../openehr/base/errors.js';
import { type Settings, PERMISSIONS, type Permission, type RolePermissions } from '../../config/settings.js';
import type { AuthenticatedUser, SubjectClaims } from '../../routes/http/request/request-state.js';
import { scopesOf, subjectClaimsOf, type ClaimReader } from './subject-claims.js';
import { introspector } from './introspection.js';
import { permissionsWithScopes, readingScopes } from './token-scopes.js';
import { eitherVerifier, tokenVerifier, type Identity, type TokenVerifier } from './token-verifier.js';
import type { PasswordVerifier } from './password-verifier.js';
import { identityWarnings } from './identity-settings.js';
import { UsersFile } from './users-file.js';
import { asciiUpperCase, nearestWord } from '../../openehr/base/text.js';

/** What the identity of a request is read from. */
type IdentitySettings = Pick<
  Settings,
  | ('auth' | 'jwt' | 'basicUsersFile' | 'rolePermissions' | 'host' | 'publicBaseUrl' | 'trustedProxies')
  | ('accessMode' | 'auditReads' | 'smartScopes' | 'smartAuthorizationEndpoint' | 'introspection' | 'oidc')
>;

/**
 * Returns who sends a request. `authorization`: the header, empty when there is none; `address`: of the client, by which
 * attempts are limited.
 * @throws unauthenticated with the challenges for the client; too-many-requests after too many wrong passwords;
 * unavailable when the keys or the users file cannot be read or too many passwords wait to be checked
 */
export type Identify = (authorization: string, address: string) => Promise<AuthenticatedUser>;

/** The checks that are switched on. */
interface Schemes {
  readonly token: TokenVerifier | null;
  readonly password: PasswordVerifier | null;
}

const REALM = 'realm="everchart"';
const BEARER = /^Bearer(?: +(.*))?$/i;
const TOKEN = /^[A-Za-z0-9._~+/=-]+$/;
const BASIC = /^Basic +([A-Za-z0-9+/_-]+={0,2})$/i;

/**
 * Builds the check of `Authorization` and logs what an operator should know of its settings. With `AUTH=none` what
 * stays closed, such as administration, takes whatever is configured. Null when neither a key nor a users file is.
 * @throws Error when the users file cannot be trusted or read
 */
export function createIdentifier(settings: IdentitySettings, log: Logger): Identify | null {
  for (const warning of identityWarnings(settings)) log.warn(warning);
  const { auth, basicUsersFile, rolePermissions } = settings;
  const hasScopes = settings.smartScopes !== 'off';
  const takes = (scheme: 'jwt' | 'basic'): boolean => auth === 'none' || auth.split(',').includes(scheme);
  const schemes: Schemes = {
    token: takes('jwt') ? bearerVerifier(settings, log) : null,
    password:
      takes('basic') && basicUsersFile !== null ? passwordsOf(new UsersFile(basicUsersFile), log) : null,
  };
  if (schemes.token === null && schemes.password === null) return null;
  return async (authorization, address) => {
    const identity = await authenticatedIdentity(schemes, authorization.trim(), address);
    const permissions = permissionsOfRoles(rolePermissions, identity.roles);
    return {
      ...identity,
      permissions: hasScopes ? permissionsWithScopes(identity, permissions) : permissions,
    };
  };
}

/** Tokens that this server can read are checked here; of others the provider is asked, if he can be. */
function bearerVerifier(settings: IdentitySettings, log: Logger): TokenVerifier | null {
  const { jwt, introspection, smartScopes: mode } = settings;
  const claims = claimsOf(settings);
  const own = tokenVerifier(jwt, claims);
  const verify =
    introspection === null
      ? own
      : eitherVerifier(own, introspector({ settings: introspection, jwt, claims, log }));
  if (verify === null || mode === 'off') return verify;
  return readingScopes(verify, { mode, claimEhr: jwt.claimEhr, log });
}

/** Claims that cannot be read are refused where policies hold, or scopes of the token; where policies are observed, or reads are recorded alone, it is noted. */
function notedClaims(...[payload, names]: Parameters<typeof subjectClaimsOf>): SubjectClaims {
  try {
    return subjectClaimsOf(payload, names);
  } catch (error) {
    if (error instanceof CdrError) return { scopes: scopesOf(payload), unreadable: error.message };
    throw error;
  }
}

/** How the claims are read that policies or scopes may ask for and the audit notes; null: nobody asks. */
function claimsOf({ accessMode, smartScopes, auditReads, jwt }: IdentitySettings): ClaimReader | null {
  if (accessMode === 'enforce') return (payload) => subjectClaimsOf(payload, jwt);
  const isNoted = accessMode === 'observe' || smartScopes !== 'off' || auditReads;
  return isNoted ? (payload) => notedClaims(payload, jwt) : null;
}

/** What checks passwords is loaded with the first of them. */
function passwordsOf(file: UsersFile, log: Logger): PasswordVerifier {
  let loaded: Promise<PasswordVerifier> | null = null;
  return async (credentials, address) => {
    loaded ??= import('./password-verifier.js').then(({ passwordVerifier }) => passwordVerifier(file, log));
    return (await loaded)(credentials, address);
  };
}

async function authenticatedIdentity(
  schemes: Schemes,
  authorization: string,
  address: string,
): Promise<Identity> {
  const { token: verifyToken, password: verifyPassword } = schemes;
  const token = BEARER.exec(authorization)?.[1];
  try {
    if (token !== undefined && verifyToken !== null) {
      if (!TOKEN.test(token)) throw new CdrError('unauthenticated', 'the bearer token is not valid');
      return await verifyToken(token, address);
    }
    const credentials = BASIC.exec(authorization)?.[1];
    if (credentials !== undefined && verifyPassword !== null)
      return await verifyPassword(credentials, address);
  } catch (error) {
    if (!(error instanceof CdrError) || error.code !== 'unauthenticated') throw error;
    throw withChallenges(error, schemes, token !== undefined);
  }
  throw withChallenges(new CdrError('unauthenticated', wanted(schemes)), schemes, false);
}

function wanted({ token, password }: Schemes): string {
  if (password === null) return 'a valid bearer token is required';
  return token === null
    ? 'a user name and a password are required (Basic authentication)'
    : 'a valid bearer token, or a user name and a password (Basic authentication), are required';
}

/** An error code says that the client's token is bad: RFC 6750, 3.1, gives none to one that sent no token. */
function withChallenges(error: CdrError, { token, password }: Schemes, isTokenSent: boolean): CdrError {
  const challenge: string[] = [];
  if (token !== null) challenge.push(isTokenSent ? 'Bearer error="invalid_token"' : `Bearer ${REALM}`);
  if (password !== null) challenge.push(`Basic ${REALM}, charset="UTF-8"`);
  return new CdrError(error.code, error.message, { ...error.details, challenge });
}

/**
 * What `*` means. Whoever may restore says who wrote what when, and whoever has emergency access passes what patients withhold: nobody
 * may by a word for everything.
 */
const GENERAL = PERMISSIONS.filter((permission) => permission !== 'restore' && permission !== 'emergency');

/** What `ROLE_PERMISSIONS` says, and what is wrong with it: one line each, empty when nothing is. */
interface ReadRolePermissions {
  readonly roles: RolePermissions;
  readonly problems: readonly string[];
}

/** Roles that exist unless `ROLE_PERMISSIONS` says otherwise; USER and ADMIN under the names that the settings give them. */
export function defaultRolePermissions(roleUser: string, roleAdmin: string): string {
  return `${roleUser}=read,write,define,draft;${roleAdmin}=*;AUDITOR=audit;READER=read`;
}

/** Reads `ROLE=permission,permission;ROLE=*`; a role that is named twice has the permissions of both. */
export function readRolePermissions(text: string): ReadRolePermissions {
  const roles: Record<string, readonly Permission[]> = {};
  const problems: string[] = [];
  for (const entry of splitWords(text, ';')) {
    const [name = '', list, ...rest] = entry.split('=');
    const role = asciiUpperCase(name.trim());
    if (role === '' || list === undefined || rest.length > 0) {
      problems.push(`ROLE_PERMISSIONS: ${entry} is not of the form ROLE=read,write`);
      continue;
    }
    const words = splitWords(list, ',');
    const unknown = words.filter((word) => word !== '*' && !isPermission(word));
    problems.push(...unknown.map(unknownPermission));
    const granted = [...(words.includes('*') ? GENERAL : []), ...words.filter(isPermission)];
    roles[role] = [...new Set([...(roles[role] ?? []), ...granted])];
  }
  if (Object.keys(roles).length === 0 && problems.length === 0)
    problems.push('ROLE_PERMISSIONS names no role');
  return { roles, problems };
}

/** All permissions of these upper-cased roles; unknown roles have none. */
function permissionsOfRoles(
  rolePermissions: RolePermissions,
  roles: readonly string[],
): ReadonlySet<Permission> {
  return new Set(
    roles.flatMap((role) => (Object.hasOwn(rolePermissions, role) ? (rolePermissions[role] ?? []) : [])),
  );
}

function splitWords(text: string, separator: string): string[] {
  return text
    .split(separator)
    .map((word) => word.trim())
    .filter((word) => word !== '');
}

function isPermission(word: string): word is Permission {
  return PERMISSIONS.some((permission) => permission === word);
}

function unknownPermission(word: string): string {
  const meant = nearestWord(word, PERMISSIONS);
  const question = meant === null ? '.' : `, did you mean ${meant}?`;
  return `ROLE_PERMISSIONS: ${word} is no permission${question} There are ${PERMISSIONS.join(', ')}, and * for all but restore and emergency`;
}

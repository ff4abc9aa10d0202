import type { JwtSettings, Settings } from '../../config/settings.js';
import { isLoopback } from '../admission/client-address.js';

/** Stands in `JWT_ISSUER` and `JWT_AUDIENCE` for "it does not matter which". */
const ANY = 'any';

/** The issuer or audience that tokens must name; null when it does not matter. */
export function requiredValue(setting: string | null): string | null {
  return setting === ANY ? null : setting;
}

/** What the settings of identity say against each other, one text each, naming the settings. */
export function identityConflicts(
  settings: Pick<
    Settings,
    | 'auth'
    | 'jwt'
    | 'oidc'
    | 'adminApiActive'
    | 'basicUsersFile'
    | 'committerMustBeUser'
    | 'queryOwners'
    | 'accessMode'
    | 'auditReads'
    | 'host'
    | 'authNoneAnywhere'
    | 'smartScopes'
    | 'smartAuthorizationEndpoint'
    | 'smartTokenEndpoint'
    | 'introspection'
  >,
): string[] {
  const { auth, jwt, basicUsersFile, introspection } = settings;
  const keys = givenKeys(jwt).length;
  const takesTokens = keys > 0 || introspection !== null;
  const problems: string[] = [];
  if (keys > 1) problems.push('only one of JWT_SECRET, JWT_PUBLIC_KEY and JWT_JWKS_URL may be set');
  if (!takesTokens && auth.startsWith('jwt'))
    problems.push(
      `AUTH=${auth} needs a key: set JWT_SECRET, JWT_PUBLIC_KEY or JWT_JWKS_URL; or INTROSPECTION_URL`,
    );
  if (auth.endsWith('basic') && basicUsersFile === null)
    problems.push(`AUTH=${auth} needs BASIC_USERS_FILE: \`everchart user add\` writes it`);
  if (!takesTokens && basicUsersFile === null && settings.adminApiActive)
    problems.push(
      'ADMIN_API_ACTIVE=true needs a key or users: set JWT_SECRET, JWT_PUBLIC_KEY, JWT_JWKS_URL or BASIC_USERS_FILE',
    );
  problems.push(...userConflicts(settings), ...scopeConflicts(settings));
  problems.push(...introspectionConflicts(settings));
  return [...problems, ...openConflicts(settings), ...keyConflicts(jwt), ...consoleConflicts(settings)];
}

/** What asks who somebody is needs users. */
function userConflicts({
  auth,
  committerMustBeUser,
  queryOwners,
  accessMode,
  auditReads,
}: Pick<Settings, 'auth' | 'committerMustBeUser' | 'queryOwners' | 'accessMode' | 'auditReads'>): string[] {
  const needy = [
    ['COMMITTER_MUST_BE_USER=true', committerMustBeUser],
    ['QUERY_OWNERS=true', queryOwners],
    ['ACCESS_MODE=enforce', accessMode === 'enforce'],
    ['ACCESS_MODE=observe', accessMode === 'observe'],
  ] as const;
  const unread = accessMode === 'observe' && !auditReads;
  return [
    ...needy
      .filter(([, isOn]) => isOn && auth === 'none')
      .map(([name]) => `${name} needs users: set AUTH to jwt, basic or jwt,basic`),
    ...(unread ? ['ACCESS_MODE=observe writes into the audit of reads: set AUDIT_READS=true'] : []),
  ];
}

/** Scopes are those of tokens. */
function scopeConflicts({
  auth,
  smartScopes,
  smartAuthorizationEndpoint: authorization,
  smartTokenEndpoint: token,
}: Pick<Settings, 'auth' | 'smartScopes' | 'smartAuthorizationEndpoint' | 'smartTokenEndpoint'>): string[] {
  const problems: string[] = [];
  if (smartScopes !== 'off' && !auth.startsWith('jwt'))
    problems.push(`SMART_SCOPES=${smartScopes} needs users with tokens: set AUTH to jwt or jwt,basic`);
  if ((authorization === null) !== (token === null))
    problems.push('SMART_AUTHORIZATION_ENDPOINT and SMART_TOKEN_ENDPOINT are set together or not at all');
  return problems;
}

/** The secret and all tokens go there, and what comes from there is believed. */
function introspectionConflicts({ introspection, jwt }: Pick<Settings, 'introspection' | 'jwt'>): string[] {
  if (introspection === null) return [];
  const { url, clientId, clientSecret } = introspection;
  if ([url, clientId, clientSecret].includes(''))
    return [
      'INTROSPECTION_URL, INTROSPECTION_CLIENT_ID and INTROSPECTION_CLIENT_SECRET are set together or not at all',
    ];
  const problems: string[] = [];
  if (!isSafe(url))
    problems.push('INTROSPECTION_URL must begin with https: tokens that go over http can be read on the way');
  if (new URL(url).username !== '' || new URL(url).password !== '')
    problems.push('INTROSPECTION_URL must not hold a name or password: set INTROSPECTION_CLIENT_ID');
  return [...problems, ...foreignConflicts(jwt, 'INTROSPECTION_URL')];
}

/** Nobody is asked who he is where other machines reach the server, unless that is meant. */
function openConflicts({
  auth,
  host,
  authNoneAnywhere,
}: Pick<Settings, 'auth' | 'host' | 'authNoneAnywhere'>): string[] {
  if (auth !== 'none' || isLoopback(host) || authNoneAnywhere) return [];
  return [
    `AUTH=none on HOST ${host} lets everybody who reaches it read and write: set AUTH, or AUTH_NONE_ANYWHERE=true if that is meant`,
  ];
}

/** The console sends the provider's token to this server, which has to know the provider's keys. */
function consoleConflicts({
  oidc,
  jwt,
  introspection,
}: Pick<Settings, 'oidc' | 'jwt' | 'introspection'>): string[] {
  if (oidc === null) return [];
  if (oidc.issuer === '' || oidc.clientId === '')
    return ['OIDC_ISSUER and OIDC_CLIENT_ID are set together or not at all'];
  const problems: string[] = [];
  if (!isSafe(oidc.issuer))
    problems.push('OIDC_ISSUER must begin with https: who signs in over http can be watched on the way');
  if (givenKeys(jwt).length === 0 && introspection === null)
    problems.push('OIDC_ISSUER needs the keys of its tokens: set JWT_JWKS_URL or JWT_PUBLIC_KEY');
  return problems;
}

function keyConflicts(jwt: JwtSettings): string[] {
  const problems: string[] = [];
  if (jwt.secret !== null && Buffer.byteLength(jwt.secret) < 32)
    problems.push('JWT_SECRET must have at least 32 bytes');
  const symmetric = jwt.algorithms.filter((name) => name.startsWith('HS')).length;
  const expected = jwt.secret === null ? 0 : jwt.algorithms.length;
  if (givenKeys(jwt).length === 1 && symmetric !== expected)
    problems.push(
      'JWT_ALGORITHMS does not fit the kind of key: HS* for a secret, the others for a public key',
    );
  if (jwt.jwksUrl !== null && !isSafe(jwt.jwksUrl))
    problems.push('JWT_JWKS_URL must begin with https: keys that come over http can be exchanged on the way');
  return [...problems, ...providerConflicts(jwt)];
}

/** A public key is the identity provider's, which signs for other applications too. */
function providerConflicts({ publicKey, jwksUrl, issuer, audience }: JwtSettings): string[] {
  if (publicKey === null && jwksUrl === null) return [];
  return foreignConflicts({ issuer, audience }, jwksUrl === null ? 'JWT_PUBLIC_KEY' : 'JWT_JWKS_URL');
}

/** Whose tokens count, and for whom, where a provider has others too; `key`: the setting by which they are checked. */
function foreignConflicts(
  { issuer, audience }: Pick<JwtSettings, 'issuer' | 'audience'>,
  key: string,
): string[] {
  const problems: string[] = [];
  if (issuer === null)
    problems.push(`JWT_ISSUER is needed with ${key}: whose tokens count; ${ANY} = everybody's`);
  if (audience === null)
    problems.push(`JWT_AUDIENCE is needed with ${key}: tokens for whom count; ${ANY} = for everybody`);
  return problems;
}

/** What an operator should know at each start, one line each. */
export function identityWarnings(
  settings: Pick<
    Settings,
    | ('auth' | 'jwt' | 'oidc' | 'basicUsersFile' | 'host' | 'publicBaseUrl' | 'trustedProxies')
    | ('smartScopes' | 'smartAuthorizationEndpoint')
  >,
): string[] {
  const { auth, jwt } = settings;
  const warnings: string[] = [];
  if (jwt.issuer === ANY) warnings.push('JWT_ISSUER=any: tokens of every issuer are accepted');
  if (jwt.audience === ANY)
    warnings.push('JWT_AUDIENCE=any: tokens that were made for other applications are accepted');
  if (givenKeys(jwt).length > 0 && jwt.roleClaims.includes('scope'))
    warnings.push(
      'JWT_ROLE_CLAIMS names scope: it says what an application asked for, not what its user may do',
    );
  if (
    settings.smartScopes !== 'off' &&
    settings.smartAuthorizationEndpoint === null &&
    issuerOf(settings) === null
  )
    warnings.push(
      `SMART_SCOPES=${settings.smartScopes}: applications are not told where they sign in: set OIDC_ISSUER, an address as JWT_ISSUER, or SMART_AUTHORIZATION_ENDPOINT`,
    );
  if (auth === 'jwt' && settings.basicUsersFile !== null)
    warnings.push('AUTH=jwt: the users of BASIC_USERS_FILE cannot sign in');
  return [...warnings, ...networkWarnings(settings)];
}

/** What of the way to the server an operator should know. */
function networkWarnings({
  auth,
  host,
  publicBaseUrl,
  trustedProxies,
}: Pick<Settings, 'auth' | 'host' | 'publicBaseUrl' | 'trustedProxies'>): string[] {
  const isEncrypted = publicBaseUrl?.startsWith('https:') === true;
  const warnings: string[] = [];
  if (auth.endsWith('basic') && !isLoopback(host) && !isEncrypted)
    warnings.push(
      `AUTH=${auth} on ${host} without an https PUBLIC_BASE_URL: passwords may cross the network unencrypted`,
    );
  if (auth === 'none' && !isLoopback(host))
    warnings.push(`AUTH=none on HOST ${host}: everybody who reaches it reads and writes`);
  if (isEncrypted && trustedProxies.length === 0)
    warnings.push(
      'PUBLIC_BASE_URL is https, so a proxy stands before this server: without TRUSTED_PROXIES all its clients count as one address',
    );
  return warnings;
}

function givenKeys({ secret, publicKey, jwksUrl }: JwtSettings): string[] {
  return [secret, publicKey, jwksUrl].filter((key) => key !== null);
}

/** The identity provider of the settings; null: none has an address. */
export function issuerOf({ oidc, jwt }: Pick<Settings, 'oidc' | 'jwt'>): string | null {
  const issuer = oidc?.issuer ?? requiredValue(jwt.issuer);
  return issuer !== null && URL.canParse(issuer) && isSafe(issuer) ? issuer : null;
}

/** Whether nobody on the way can read or change what goes to an address: https, or this machine. */
function isSafe(address: string): boolean {
  const { protocol, hostname } = new URL(address);
  return protocol === 'https:' || isLoopback(hostname.replace(/^\[|\]$/g, ''));
}

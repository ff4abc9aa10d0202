import { createPublicKey, createSecretKey, type KeyObject } from 'node:crypto';
import jwt from 'jsonwebtoken';
import type { JwtSettings } from '../../config/settings.js';
import { CdrError } from '../../openehr/base/errors.js';
import { asciiUpperCase } from '../../openehr/base/text.js';
import type { AuthenticatedUser } from '../../routes/http/request/request-state.js';
import { actorOf } from './actor.js';
import { requiredValue } from './identity-settings.js';
import { keySet, type KeySource } from './key-set.js';
import type { ClaimReader } from './subject-claims.js';

/** Who somebody proved to be; `ROLE_PERMISSIONS` has what that allows. */
export type Identity = Omit<AuthenticatedUser, 'permissions'>;

/**
 * Checks a bearer token and returns who it names. `address`: of the client, by which attempts are limited where others are asked.
 * @throws unauthenticated when it is not valid
 */
export type TokenVerifier = (token: string, address: string) => Promise<Identity>;

/** Latest time that a Date can hold, in seconds: an `exp` beyond it is no time. */
const MAX_TIME_SECONDS = 8_640_000_000_000;

/**
 * Builds the token check from the configured key; null when no key is configured.
 * `claims`: reads what policies may ask for. Keys become `KeyObject`s once; algorithms, issuer and audience come from the settings, never from a token.
 */
export function tokenVerifier(
  settings: JwtSettings,
  claims: ClaimReader | null = null,
): ((token: string) => Promise<Identity>) | null {
  const keys = keySource(settings);
  if (keys === null) return null;
  return async (token) => {
    const header = jwt.decode(token, { complete: true })?.header;
    // Extensions that must be understood (RFC 7515, 4.1.11): none is, so whatever is named is unknown.
    if (header === undefined || header.crit !== undefined) throw invalidToken();
    const key = await keys(header.kid);
    const payload = verified(token, key, settings);
    requireAccessToken(header, payload, settings.types);
    requireTimes(payload, settings);
    const identity = identityFrom(payload, settings.roleClaims);
    return claims === null ? identity : { ...identity, claims: claims(payload) };
  };
}

/** What is no JWT, or where no key is there for any, is `other`'s to check: none that is refused here is shown to others. */
export function eitherVerifier(own: TokenVerifier | null, other: TokenVerifier): TokenVerifier {
  if (own === null) return other;
  return (token, address) =>
    jwt.decode(token, { complete: true }) === null ? other(token, address) : own(token, address);
}

function keySource(settings: JwtSettings): KeySource | null {
  if (settings.jwksUrl !== null) return keySet(settings.jwksUrl);
  const key = fixedKey(settings);
  return key === null ? null : () => Promise.resolve(key);
}

function fixedKey(settings: JwtSettings): KeyObject | null {
  if (settings.secret !== null) return createSecretKey(Buffer.from(settings.secret));
  return settings.publicKey === null ? null : publicKeyOf(settings.publicKey);
}

function verified(token: string, key: KeyObject, settings: JwtSettings): jwt.JwtPayload {
  const issuer = requiredValue(settings.issuer);
  const audience = requiredValue(settings.audience);
  try {
    const payload = jwt.verify(token, key, {
      algorithms: [...settings.algorithms],
      clockTolerance: settings.clockToleranceSeconds,
      ...(issuer !== null && { issuer }),
      ...(audience !== null && { audience }),
    });
    if (typeof payload === 'string') throw invalidToken();
    return payload;
  } catch (cause) {
    throw cause instanceof CdrError ? cause : invalidToken(cause);
  }
}

/** Claims that only tokens for applications have: OpenID Connect Core and Back-Channel Logout. */
const CLAIMS_OF_OTHERS = ['at_hash', 'c_hash', 'events'];

/**
 * Of what a provider signs only access tokens give access: not what tells an application who its user is, that he left, or
 * what lets it ask for more. A kind that is not named in `JWT_TYP` is not taken.
 */
function requireAccessToken(header: jwt.JwtHeader, payload: jwt.JwtPayload, types: readonly string[]): void {
  // RFC 9068, section 2.1; RFC 7515, section 4.1.9: `application/` may be left out. Keycloak has a claim of this name too.
  const kind = tokenKind(header.typ ?? 'JWT');
  const claimed = payload.typ === undefined ? null : tokenKind(payload.typ);
  const isListed = [kind, claimed].every((word) => word === null || types.includes(word));
  if (!isListed || CLAIMS_OF_OTHERS.some((name) => payload[name] !== undefined)) throw invalidToken();
  // Of an ID token, unless the provider says that this is none.
  if (payload.nonce !== undefined && claimed !== 'bearer' && kind !== 'at+jwt') throw invalidToken();
}

/** How a token calls itself, as `JWT_TYP` names it; empty: it does not say. */
export function tokenKind(type: unknown): string {
  return typeof type === 'string' ? type.toLowerCase().replace(/^application\//, '') : '';
}

/** Every token ends, soon enough (`JWT_MAX_LIFETIME_S`), and none was made in the future. */
function requireTimes({ exp, iat }: jwt.JwtPayload, settings: JwtSettings): void {
  if (!isEpochTime(exp)) throw invalidToken();
  const now = Date.now() / 1000;
  if (iat !== undefined && (!isEpochTime(iat) || iat > now + settings.clockToleranceSeconds))
    throw invalidToken();
  if (settings.maxLifetimeSeconds !== null && !isShortLived({ exp, iat }, settings, now))
    throw invalidToken();
}

/** Whether a token ends within `JWT_MAX_LIFETIME_S` after it was made, or after `now`, seconds since 1970, where it does not say when. */
export function isShortLived(
  { exp, iat }: Pick<jwt.JwtPayload, 'exp' | 'iat'>,
  { maxLifetimeSeconds }: Pick<JwtSettings, 'maxLifetimeSeconds'>,
  now: number,
): boolean {
  if (maxLifetimeSeconds === null) return true;
  return exp !== undefined && exp - (iat ?? now) <= maxLifetimeSeconds;
}

/** Whether a value of a claim is a time. */
export function isEpochTime(value: unknown): value is number {
  return typeof value === 'number' && Math.abs(value) <= MAX_TIME_SECONDS;
}

/** Who claims name. @throws unauthenticated when they name nobody */
export function identityFrom(payload: jwt.JwtPayload, roleClaims: readonly string[]): Identity {
  const subject = textClaim(payload, 'sub');
  if (subject === null) throw invalidToken();
  const preferred: unknown = payload.preferred_username;
  const name = typeof preferred === 'string' && preferred !== '' ? preferred : subject;
  const issuer = textClaim(payload, 'iss');
  const clientId = textClaim(payload, 'azp') ?? textClaim(payload, 'client_id');
  const roles = roleClaims.flatMap((path) => rolesAt(payload, path));
  const actor = payload.act === undefined ? undefined : actorOf(payload);
  const acting = actor !== undefined && { actor };
  return { name, subject, issuer, person: subject, clientId, roles: [...new Set(roles)], ...acting };
}

/** A claim that is a text; null when it is absent or empty. @throws unauthenticated when it is anything else */
function textClaim(payload: jwt.JwtPayload, name: string): string | null {
  const value: unknown = payload[name];
  if (value === undefined || value === null || value === '') return null;
  if (typeof value !== 'string') throw invalidToken();
  return value;
}

/** Values of a claim path such as `realm_access.roles`: a list, or the words of a string. */
function rolesAt(payload: jwt.JwtPayload, path: string): string[] {
  let value: unknown = payload;
  for (const step of path.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return [];
    value = (value as Record<string, unknown>)[step];
  }
  const words: unknown[] = typeof value === 'string' ? value.split(/\s+/) : Array.isArray(value) ? value : [];
  return words.filter((word): word is string => typeof word === 'string' && word !== '').map(asciiUpperCase);
}

function publicKeyOf(pem: string): KeyObject {
  try {
    return createPublicKey(pem);
  } catch (error) {
    throw new Error('JWT_PUBLIC_KEY: the PEM text holds no key that can be read', { cause: error });
  }
}

/** The refusal of a token. */
export function invalidToken(cause?: unknown): CdrError {
  return new CdrError('unauthenticated', 'the bearer token is not valid', { cause });
}

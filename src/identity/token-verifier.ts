import { createPublicKey, createSecretKey, type KeyObject } from 'node:crypto';
import jwt from 'jsonwebtoken';
import type { JwtSettings } from '../../config/settings.js';
import { CdrError } from '../../openehr/base/errors.js';
import type { AuthenticatedUser } from '../../routes/http/request/request-state.js';
import { requiredValue } from './identity-settings.js';

/** Who somebody proved to be; `ROLE_PERMISSIONS` has what that allows. */
export type Identity = Omit<AuthenticatedUser, 'permissions'>;

/** Checks a bearer token and returns who it names. @throws unauthenticated when it is not valid */
export type TokenVerifier = (token: string) => Promise<Identity>;

/** Latest time that a Date can hold, in seconds: an `exp` beyond it is no time. */
const MAX_TIME_SECONDS = 8_640_000_000_000;

/**
 * Builds the token check from the configured key; null when no key is configured.
 * Keys become `KeyObject`s once; algorithms, issuer and audience come from the settings, never from a token.
 */
export function tokenVerifier(settings: JwtSettings): TokenVerifier | null {
  const keys = keySource(settings);
  if (keys === null) return null;
  return async (token) => {
    const header = jwt.decode(token, { complete: true })?.header;
    // Extensions that must be understood (RFC 7515, 4.1.11): none is, so whatever is named is unknown.
    if (header === undefined || header.crit !== undefined) throw invalidToken();
    const key = await keys(header.kid);
    const payload = verified(token, key, settings);
    requireAccessToken(header, payload);
    requireTimes(payload, settings.clockToleranceSeconds);
    return identityFrom(payload, settings.roleClaims);
  };
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

/** An ID token says to an application who its user is; it gives no access. OpenID Connect Core, section 2. */
function requireAccessToken(header: jwt.JwtHeader, payload: jwt.JwtPayload): void {
  const types: unknown[] = [header.typ, payload.typ];
  const isIdToken = types.some((type) => typeof type === 'string' && type.toUpperCase() === 'ID');
  if (isIdToken || payload.at_hash !== undefined) throw invalidToken();
}

/** Every token ends, and none was made in the future. */
function requireTimes({ exp, iat }: jwt.JwtPayload, toleranceSeconds: number): void {
  if (!isTime(exp)) throw invalidToken();
  if (iat === undefined) return;
  if (!isTime(iat) || iat > Date.now() / 1000 + toleranceSeconds) throw invalidToken();
}

function isTime(value: unknown): value is number {
  return typeof value === 'number' && Math.abs(value) <= MAX_TIME_SECONDS;
}

function identityFrom(payload: jwt.JwtPayload, roleClaims: readonly string[]): Identity {
  const subject = textClaim(payload, 'sub');
  if (subject === null) throw invalidToken();
  const preferred: unknown = payload.preferred_username;
  const name = typeof preferred === 'string' && preferred !== '' ? preferred : subject;
  const issuer = textClaim(payload, 'iss');
  const clientId = textClaim(payload, 'azp') ?? textClaim(payload, 'client_id');
  const roles = roleClaims.flatMap((path) => rolesAt(payload, path));
  return { name, subject, issuer, clientId, roles: [...new Set(roles)] };
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
  return words
    .filter((word): word is string => typeof word === 'string' && word !== '')
    .map((word) => word.toUpperCase());
}

function publicKeyOf(pem: string): KeyObject {
  try {
    return createPublicKey(pem);
  } catch (error) {
    throw new Error('JWT_PUBLIC_KEY: the PEM text holds no key that can be read', { cause: error });
  }
}

function invalidToken(cause?: unknown): CdrError {
  return new CdrError('unauthenticated', 'the bearer token is not valid', { cause });
}

/** Gives the key for a token's `kid`. @throws unauthenticated when there is none. */
type KeySource = (keyId: string | undefined) => Promise<KeyObject>;

const REFETCH_MS = 60_000;
const TIMEOUT_MS = 5_000;
const MAX_BYTES = 1_048_576;

/**
 * Keys of a JSON Web Key Set (RFC 7517) by address: cached by `kid`, fetched again for an unknown `kid`
 * at most once a minute. The address comes from the configuration only, never from a token. jwks-rsa reads the set;
 * the cache is ours, because its own fetches the whole set for each key and keeps those that were withdrawn.
 */
export function keySet(url: string, now: () => number = Date.now): KeySource {
  let keys = new Map<string, KeyObject>();
  let fetchedAt = Number.NEGATIVE_INFINITY;
  let pending: Promise<void> | null = null;

  const refresh = async (): Promise<void> => {
    fetchedAt = now();
    keys = await fetchKeys(url);
  };

  return async (keyId) => {
    if (find(keys, keyId) === undefined && (pending !== null || now() - fetchedAt >= REFETCH_MS)) {
      pending ??= refresh().finally(() => {
        pending = null;
      });
      await pending;
    }
    const key = find(keys, keyId);
    if (key === undefined)
      throw new CdrError('unauthenticated', 'the bearer token is signed with an unknown key');
    return key;
  };
}

function find(keys: ReadonlyMap<string, KeyObject>, keyId: string | undefined): KeyObject | undefined {
  if (keyId !== undefined) return keys.get(keyId);
  return keys.size === 1 ? [...keys.values()][0] : undefined;
}

async function fetchKeys(url: string): Promise<Map<string, KeyObject>> {
  // Only where a key set is configured: it is a hundred files.
  const { JwksClient, JwksError } = (await import('jwks-rsa')).default;
  try {
    const keys = await new JwksClient({
      jwksUri: url,
      cache: false,
      fetcher: fetchDocument,
    }).getSigningKeys();
    return new Map(
      keys.map((key, index) => [
        // by its type a key always has an id; it may have none
        'kid' in key ? key.kid : `#${index}`,
        createPublicKey(key.getPublicKey()),
      ]),
    );
  } catch (cause) {
    // A set without a key for signatures: no token is signed with one of it.
    if (cause instanceof JwksError) return new Map();
    throw new CdrError('unavailable', 'the key set of the identity provider cannot be read', {
      cause,
      retryAfterSeconds: 60,
    });
  }
}

async function fetchDocument(url: string): Promise<{ keys: unknown }> {
  const response = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS), redirect: 'error' });
  const text = await response.text();
  if (!response.ok || text.length > MAX_BYTES) throw new Error(`the key set answered ${response.status}`);
  return JSON.parse(text) as { keys: unknown };
}

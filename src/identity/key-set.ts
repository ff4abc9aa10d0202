import { createPublicKey, type JsonWebKey, type KeyObject } from 'node:crypto';
import { CdrError } from '../../openehr/base/errors.js';

/** Gives the key for a token's `kid`. @throws unauthenticated when there is none; unavailable when the set cannot be read */
export type KeySource = (keyId: string | undefined) => Promise<KeyObject>;

/** How long a set counts as fresh where its provider does not say, and the bounds of what it may say. Milliseconds. */
const FRESH_MS = 600_000;
const LEAST_FRESH_MS = 60_000;
const MOST_FRESH_MS = 3_600_000;
/** How long the keys of a provider that does not answer are used beyond that. */
const STALE_MS = 3_600_000;
/** The set is asked for at most once in this time, whatever tokens name. */
const REFETCH_MS = 60_000;
const TIMEOUT_MS = 5_000;
const MAX_CHARACTERS = 1_048_576;
/** Kinds of keys that signatures are checked with. */
const SIGNING: readonly unknown[] = ['RSA', 'EC'];

interface FetchedKeys {
  readonly keys: ReadonlyMap<string, KeyObject>;
  readonly freshMs: number;
}

/**
 * Keys of a JSON Web Key Set (RFC 7517) by address, which comes from the configuration only, never from a token. A set is
 * fresh for ten minutes, or as long as its `Cache-Control` says, between a minute and an hour; the first token after that
 * makes it be fetched again in the background, and a token that comes later than twice that waits for it. So a key that
 * the provider withdrew ends with the set. For an unknown `kid` it is fetched at once, at most once a minute. While the provider
 * does not answer, its keys are used for an hour more.
 */
export function keySet(url: string, now: () => number = Date.now): KeySource {
  let fetched: FetchedKeys = { keys: new Map(), freshMs: 0 };
  let fetchedAt = Number.NEGATIVE_INFINITY;
  let askedAt = Number.NEGATIVE_INFINITY;
  let pending: Promise<void> | null = null;

  const refresh = async (): Promise<void> => {
    askedAt = now();
    fetched = await fetchKeys(url);
    fetchedAt = now();
  };
  /** Asks again unless that was done a moment ago; who asks meanwhile shares the answer. */
  const refreshed = (): Promise<void> => {
    if (pending === null && now() - askedAt < REFETCH_MS) return Promise.resolve();
    pending ??= refresh().finally(() => {
      pending = null;
    });
    return pending;
  };
  const age = (): number => now() - fetchedAt - fetched.freshMs;

  return async (keyId) => {
    if (find(fetched.keys, keyId) === undefined) await refreshed();
    else if (age() > fetched.freshMs) await refreshed().catch(() => undefined);
    else if (age() > 0) void refreshed().catch(() => undefined);
    if (age() > STALE_MS) throw unreadableKeySet();
    const key = find(fetched.keys, keyId);
    if (key === undefined)
      throw new CdrError('unauthenticated', 'the bearer token is signed with an unknown key');
    return key;
  };
}

function find(keys: ReadonlyMap<string, KeyObject>, keyId: string | undefined): KeyObject | undefined {
  if (keyId !== undefined) return keys.get(keyId);
  return keys.size === 1 ? [...keys.values()][0] : undefined;
}

async function fetchKeys(url: string): Promise<FetchedKeys> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS), redirect: 'error' });
    const text = await response.text();
    if (!response.ok || text.length > MAX_CHARACTERS)
      throw new Error(`the key set answered ${response.status}`);
    return { keys: keysIn(JSON.parse(text)), freshMs: freshFor(response.headers.get('Cache-Control')) };
  } catch (cause) {
    throw unreadableKeySet(cause);
  }
}

/** Public keys for signatures by `kid`, those without one by their place; what is no such key is left out. */
function keysIn(document: unknown): ReadonlyMap<string, KeyObject> {
  const { keys } = document as { readonly keys?: unknown };
  if (!Array.isArray(keys)) throw new Error('the key set has no keys');
  return new Map(
    keys.flatMap((jwk: JsonWebKey | null, index) => {
      const key = signingKey(jwk);
      const id: unknown = jwk?.kid;
      return key === null ? [] : [[typeof id === 'string' ? id : `#${index}`, key] as const];
    }),
  );
}

function signingKey(jwk: JsonWebKey | null): KeyObject | null {
  if (jwk === null || !SIGNING.includes(jwk.kty) || (jwk.use !== undefined && jwk.use !== 'sig')) return null;
  try {
    return createPublicKey({ key: jwk, format: 'jwk' });
  } catch {
    return null;
  }
}

/** How long an answer with this header is fresh, in milliseconds. RFC 9111, section 5.2.2 */
function freshFor(cacheControl: string | null): number {
  const seconds = /(?:^|[\s,])max-age=(\d{1,9})(?:$|[\s,])/i.exec(cacheControl ?? '')?.[1];
  if (seconds === undefined) return FRESH_MS;
  return Math.min(MOST_FRESH_MS, Math.max(LEAST_FRESH_MS, Number(seconds) * 1000));
}

function unreadableKeySet(cause?: unknown): CdrError {
  return new CdrError('unavailable', 'the key set of the identity provider cannot be read', {
    cause,
    retryAfterSeconds: 60,
  });
}

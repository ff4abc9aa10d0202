import { createPublicKey, type JsonWebKey, type KeyObject } from 'node:crypto';
import { CdrError } from '../../openehr/base/errors.js';

/** Gives the key for a token's `kid`. @throws unauthenticated when there is none. */
export type KeySource = (keyId: string | undefined) => Promise<KeyObject>;

const REFETCH_MS = 60_000;
const TIMEOUT_MS = 5_000;
const MAX_BYTES = 1_048_576;

/**
 * Keys of a JSON Web Key Set (RFC 7517) by address: cached by `kid`, fetched again for an unknown `kid`
 * at most once a minute. The address comes from the configuration only, never from a token.
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
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS), redirect: 'error' });
    const text = await response.text();
    if (!response.ok || text.length > MAX_BYTES) throw new Error(`the key set answered ${response.status}`);
    const document = JSON.parse(text) as { keys?: unknown };
    return new Map(Array.isArray(document.keys) ? document.keys.flatMap(signingKey) : []);
  } catch (cause) {
    throw new CdrError('unavailable', 'the key set of the identity provider cannot be read', {
      cause,
      retryAfterSeconds: 60,
    });
  }
}

function signingKey(jwk: unknown, index: number): [string, KeyObject][] {
  if (typeof jwk !== 'object' || jwk === null) return [];
  const { kid, use, kty } = jwk as { kid?: unknown; use?: unknown; kty?: unknown };
  if (use === 'enc' || (kty !== 'RSA' && kty !== 'EC')) return [];
  try {
    const key = createPublicKey({ key: jwk as JsonWebKey, format: 'jwk' });
    return [[typeof kid === 'string' ? kid : `#${index}`, key]];
  } catch {
    return [];
  }
}

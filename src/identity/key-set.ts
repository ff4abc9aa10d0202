import { createPublicKey, type KeyObject } from 'node:crypto';
import { JwksClient, JwksError } from 'jwks-rsa';
import { CdrError } from '../../openehr/base/errors.js';

/** Gives the key for a token's `kid`. @throws unauthenticated when there is none. */
export type KeySource = (keyId: string | undefined) => Promise<KeyObject>;

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
  try {
    const keys = await new JwksClient({
      jwksUri: url,
      cache: false,
      fetcher: fetchDocument,
    }).getSigningKeys();
    return new Map(
      keys.map((key, index) => [
        // its type does not tell that a key may have no id
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

import type { Logger } from 'pino';
import type { Settings } from '../../config/settings.js';
import { CdrError } from '../../openehr/base/errors.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../../openehr/base/json.js';
import type { ProviderSource } from '../../routes/system/smart.js';
import { issuerOf } from './identity-settings.js';

/** How long what the provider says of itself counts, and how soon it is asked again after it failed. Milliseconds. */
const FRESH_MS = 600_000;
const RETRY_MS = 10_000;
const TIMEOUT_MS = 5_000;
const MAX_CHARACTERS = 262_144;

/**
 * What the identity provider of the settings says of itself (OpenID Connect Discovery), asked for when it is wanted, at most once in ten
 * minutes; null: there is none. What it said is used as long as it does not answer. `SMART_…_ENDPOINT` say it instead, and nobody is asked.
 * @throws unavailable when it has never answered
 */
export function providerSource(
  settings: Settings,
  log: Logger,
  now: () => number = Date.now,
): ProviderSource {
  const issuer = issuerOf(settings);
  const { smartAuthorizationEndpoint: authorization, smartTokenEndpoint: token } = settings;
  if (authorization !== null && token !== null) {
    const said = {
      ...(issuer !== null && { issuer }),
      authorization_endpoint: authorization,
      token_endpoint: token,
    };
    return () => Promise.resolve(said);
  }
  if (issuer === null) return () => Promise.resolve(null);
  let known: JsonObject | null = null;
  let askAt = Number.NEGATIVE_INFINITY;
  let pending: Promise<void> | null = null;
  const refresh = async (): Promise<void> => {
    askAt = now() + RETRY_MS;
    try {
      known = await discovered(issuer);
      askAt = now() + FRESH_MS;
    } catch (error) {
      log.warn({ err: error, issuer }, 'the identity provider does not say where applications sign in');
    }
  };
  return async () => {
    if (now() >= askAt)
      pending ??= refresh().finally(() => {
        pending = null;
      });
    if (known === null) await pending;
    if (known !== null) return known;
    throw new CdrError('unavailable', 'the identity provider does not answer', { retryAfterSeconds: 10 });
  };
}

async function discovered(issuer: string): Promise<JsonObject> {
  const url = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
  const response = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS), redirect: 'error' });
  const text = await response.text();
  if (!response.ok || text.length > MAX_CHARACTERS)
    throw new Error(`the configuration of the provider answered ${response.status}`);
  const said = JSON.parse(text) as JsonValue;
  // OpenID Connect Discovery 1.0, section 4.3: else it is somebody else's.
  if (!isJsonObject(said) || said.issuer !== issuer)
    throw new Error('the configuration of the provider names another issuer');
  return said;
}

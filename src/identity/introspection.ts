import { createHmac, randomBytes } from 'node:crypto';
import type { JwtPayload } from 'jsonwebtoken';
import { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';
import type { IntrospectionSettings, JwtSettings } from '../../config/settings.js';
import { CdrError } from '../../openehr/base/errors.js';
import { isJsonObject, type JsonValue } from '../../openehr/base/json.js';
import { networkOf } from '../../routes/http/request/request-state.js';
import { Places } from '../admission/places.js';
import { Rates } from '../admission/rates.js';
import { requiredValue } from './identity-settings.js';
import type { ClaimReader } from './subject-claims.js';
import {
  identityFrom,
  invalidToken,
  isEpochTime,
  isShortLived,
  tokenKind,
  type Identity,
  type TokenVerifier,
} from './token-verifier.js';

/** How long an answer counts at most: a token that is withdrawn ends with it. Milliseconds. */
const KEPT_MS = 60_000;
/** The same of an answer that a token is not active, which may not have come round yet. */
const REFUSED_MS = 10_000;
const TIMEOUT_MS = 5_000;
const MAX_CHARACTERS = 65_536;
/** How often it is logged that the server of introspection fails. */
const LOGGED_MS = 60_000;

/** Answers that are remembered. */
export const INTROSPECTED = 10_000;
/** Tokens that are asked for at a time, and that may wait for their turn. */
export const ASKED_AT_ONCE = 20;
export const ASKING_WAITS = 200;
/** Tokens of one address that are not active, within a minute; then it has to wait. */
export const INACTIVE_PER_ADDRESS = 100;
const INACTIVE_SPAN_MS = 60_000;

/** Who a token names, or why nobody. */
interface Answer {
  readonly said: Identity | CdrError;
  readonly until: number;
}

interface Introspection {
  readonly settings: IntrospectionSettings;
  readonly jwt: JwtSettings;
  readonly claims: ClaimReader | null;
  readonly log: Logger;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
}

/**
 * Checks tokens that only their provider can read, by asking him (RFC 7662). His answer counts until the token ends, and for a minute at
 * most; it is remembered by a digest under a key that only this process has. Requests with one token ask once.
 */
export function introspector({ settings, jwt, claims, log, now = Date.now }: Introspection): TokenVerifier {
  const key = randomBytes(32);
  const kept = new LRUCache<string, Answer>({ max: INTROSPECTED });
  const underWay = new Map<string, Promise<Answer>>();
  const inactive = new Rates({ most: INACTIVE_PER_ADDRESS, spanMs: INACTIVE_SPAN_MS });
  const places = new Places({ atOnce: ASKED_AT_ONCE, waiting: ASKING_WAITS }, () => unanswered(1));
  const ask = asking(settings, log, now);

  const answered = async (token: string, network: string): Promise<Answer> => {
    refuseWhile(inactive.take(network, now()));
    let isRefused = false;
    try {
      const payload = await places.run(() => ask(token));
      const said = saidBy(payload, { jwt, claims, now: now() });
      isRefused = said instanceof CdrError;
      return { said, until: now() + (isRefused ? REFUSED_MS : keptMs(payload, now())) };
    } finally {
      if (!isRefused) inactive.takeBack(network);
    }
  };

  return async (token, address) => {
    const digest = createHmac('sha256', key).update(token).digest('base64');
    const network = networkOf(address);
    let answer = kept.get(digest);
    if (answer === undefined || answer.until <= now()) {
      const asked = underWay.get(digest) ?? answered(token, network);
      underWay.set(digest, asked);
      try {
        answer = await asked;
        kept.set(digest, answer);
      } finally {
        underWay.delete(digest);
      }
    }
    if (answer.said instanceof CdrError) throw answer.said;
    return answer.said;
  };
}

function keptMs(payload: JwtPayload | null, now: number): number {
  const { exp } = payload ?? {};
  return exp === undefined ? KEPT_MS : Math.min(KEPT_MS, exp * 1000 - now);
}

function refuseWhile(waitMs: number): void {
  if (waitMs === 0) return;
  const retryAfterSeconds = Math.max(1, Math.ceil(waitMs / 1000));
  throw new CdrError('too-many-requests', 'too many tokens that are not active', { retryAfterSeconds });
}

/** What the provider says of a token; null: it is not active. @throws unavailable when he does not answer */
function asking(
  { url, clientId, clientSecret }: IntrospectionSettings,
  log: Logger,
  now: () => number,
): (token: string) => Promise<JwtPayload | null> {
  // RFC 6749, section 2.3.1: both are encoded as in a form.
  const credentials = [clientId, clientSecret].map((each) => formEncoded(each)).join(':');
  const headers = {
    Authorization: `Basic ${Buffer.from(credentials).toString('base64')}`,
    Accept: 'application/json',
  };
  let loggedAt = Number.NEGATIVE_INFINITY;
  return async (token) => {
    try {
      const body = new URLSearchParams({ token, token_type_hint: 'access_token' });
      const signal = AbortSignal.timeout(TIMEOUT_MS);
      const response = await fetch(url, { method: 'POST', headers, body, signal, redirect: 'error' });
      const text = await response.text();
      if (response.status !== 200) throw new Error(`the server of introspection answered ${response.status}`);
      if (text.length > MAX_CHARACTERS) throw new Error('the answer of introspection is too long');
      const answer = JSON.parse(text) as JsonValue;
      if (!isJsonObject(answer) || typeof answer.active !== 'boolean')
        throw new Error('the answer of introspection does not say whether the token is active');
      return answer.active ? answer : null;
    } catch (cause) {
      if (now() - loggedAt >= LOGGED_MS) {
        loggedAt = now();
        log.error({ err: cause }, 'tokens cannot be introspected: see INTROSPECTION_URL');
      }
      throw unanswered(10, cause);
    }
  };
}

function formEncoded(text: string): string {
  return new URLSearchParams({ '': text }).toString().slice(1);
}

interface Reading {
  readonly jwt: JwtSettings;
  readonly claims: ClaimReader | null;
  readonly now: number;
}

/** Whom an answer names, or why nobody; null: the token is not active. */
function saidBy(payload: JwtPayload | null, reading: Reading): Identity | CdrError {
  try {
    return payload === null ? invalidToken() : identityOf(payload, reading);
  } catch (error) {
    if (error instanceof CdrError && error.code === 'unauthenticated') return error;
    throw error;
  }
}

/** @throws unauthenticated where an active token is not for this server, not now, or has claims that cannot be read */
function identityOf(payload: JwtPayload, { jwt, claims, now }: Reading): Identity {
  if (!isForThis(payload, jwt) || !isNow(payload, jwt, now)) throw invalidToken();
  const issuer = requiredValue(jwt.issuer);
  const said = {
    ...payload,
    ...(payload.iss === undefined && issuer !== null && { iss: issuer }),
    preferred_username: (payload.preferred_username ?? payload.username) as unknown,
  };
  const identity = identityFrom(said, jwt.roleClaims);
  return claims === null ? identity : { ...identity, claims: claims(said) };
}

/** An access token, made by the issuer and for the audience of the settings. */
function isForThis(payload: JwtPayload, { issuer, audience, types }: JwtSettings): boolean {
  const { iss, aud, typ, token_type: type } = payload as Readonly<Record<string, unknown>>;
  const [wantedIssuer, wantedAudience] = [requiredValue(issuer), requiredValue(audience)];
  const audiences: readonly unknown[] = Array.isArray(aud) ? aud : [aud];
  return (
    (wantedIssuer === null || iss === undefined || iss === wantedIssuer) &&
    (wantedAudience === null || audiences.includes(wantedAudience)) &&
    (type === undefined || tokenKind(type) === 'bearer') &&
    (typ === undefined || types.includes(tokenKind(typ)))
  );
}

function isNow({ exp, nbf, iat }: JwtPayload, settings: JwtSettings, now: number): boolean {
  const seconds = now / 1000;
  const isStarted = (time: unknown): boolean =>
    time === undefined || (isEpochTime(time) && time <= seconds + settings.clockToleranceSeconds);
  const isOpen = exp === undefined || (isEpochTime(exp) && exp > seconds);
  return isOpen && isStarted(nbf) && isStarted(iat) && isShortLived({ exp, iat }, settings, seconds);
}

function unanswered(retryAfterSeconds: number, cause?: unknown): CdrError {
  return new CdrError('unavailable', 'the identity provider cannot be asked about the token now', {
    cause,
    retryAfterSeconds,
  });
}

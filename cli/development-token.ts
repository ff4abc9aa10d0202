import { createSecretKey } from 'node:crypto';
import jwt from 'jsonwebtoken';
import type { JwtSettings } from '../config/settings.js';
import { requiredValue } from '../src/identity/identity-settings.js';

/** A token for development: who it names, the roles it carries, how long it lives in seconds. */
export interface TokenRequest {
  readonly user: string;
  readonly roles: readonly string[];
  readonly lifetimeSeconds: number;
  /** Of an application, as SMART on openEHR writes it, and the EHR that it is about: docs/smart.md */
  readonly scope?: string;
  readonly ehrId?: string;
  /** The EHR of the user himself: docs/access.md#who-asks */
  readonly ownEhrId?: string;
}

/**
 * Signs a development token with the configured secret.
 * @throws Error when the key of the server is not a secret: then tokens come from the identity provider
 */
export function developmentToken(settings: JwtSettings, request: TokenRequest): string {
  if (settings.secret === null) throw new Error('development tokens need JWT_SECRET');
  const issuer = requiredValue(settings.issuer);
  const audience = requiredValue(settings.audience);
  const algorithm = settings.algorithms.find((name) => name.startsWith('HS')) ?? 'HS256';
  return jwt.sign(
    { preferred_username: request.user, roles: request.roles, ...claimsOf(settings, request) },
    createSecretKey(Buffer.from(settings.secret)),
    {
      algorithm,
      subject: request.user,
      expiresIn: request.lifetimeSeconds,
      ...(issuer !== null && { issuer }),
      ...(audience !== null && { audience }),
    },
  );
}

function claimsOf({ claimEhr, claimOwnEhr }: JwtSettings, { scope, ehrId, ownEhrId }: TokenRequest): object {
  const named = (path: readonly string[], value: string): object => {
    const [step = '', ...rest] = path;
    return { [step]: rest.length === 0 ? value : named(rest, value) };
  };
  return {
    ...(scope !== undefined && { scope }),
    ...(ehrId !== undefined && named(claimEhr.split('.'), ehrId)),
    ...(ownEhrId !== undefined && named(claimOwnEhr.split('.'), ownEhrId)),
  };
}

/** Seconds of a lifetime such as `90s`, `15m`, `1h`, `7d`. @throws Error on anything else. */
export function lifetimeSeconds(text: string): number {
  const [, amount, unit] = /^([1-9]\d{0,5})([smhd])$/.exec(text) ?? [];
  const factor = { s: 1, m: 60, h: 3600, d: 86_400 }[unit ?? ''];
  if (amount === undefined || factor === undefined) {
    throw new Error(`a lifetime is a number and one of s, m, h, d, such as 1h; found ${text}`);
  }
  return Number(amount) * factor;
}

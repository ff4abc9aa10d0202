import { createPublicKey, createSecretKey, type KeyObject } from 'node:crypto';
import jwt from 'jsonwebtoken';
import type { JwtSettings } from '../base/settings.js';
import { CdrError } from '../base/errors.js';
import type { AuthenticatedUser } from '../routes/http/request-state.js';
import { keySet, type KeySource } from './key-set.js';
import type { Permission } from '../routes/http/request-state.js';

/** Checks a bearer token and gives its user. @throws unauthenticated when it is not valid. */
export type TokenVerifier = (token: string) => Promise<AuthenticatedUser>;

/**
 * Builds the token check from the configured key; null when no key is configured.
 * Keys become `KeyObject`s once; algorithms, issuer and audience come from the settings, never from a token.
 */
export function tokenVerifier(settings: JwtSettings): TokenVerifier | null {
  const keys = keySource(settings);
  if (keys === null) return null;
  return async (token) => {
    const header = jwt.decode(token, { complete: true })?.header;
    if (header === undefined) throw invalidToken();
    const key = await keys(header.kid);
    return userFrom(verified(token, key, settings), settings);
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
  try {
    const payload = jwt.verify(token, key, {
      algorithms: [...settings.algorithms],
      clockTolerance: settings.clockToleranceSeconds,
      ...(settings.issuer === null ? {} : { issuer: settings.issuer }),
      ...(settings.audience === null ? {} : { audience: settings.audience }),
    });
    if (typeof payload === 'string' || typeof payload.exp !== 'number') throw invalidToken();
    return payload;
  } catch (cause) {
    throw cause instanceof CdrError ? cause : invalidToken(cause);
  }
}

function invalidToken(cause?: unknown): CdrError {
  return new CdrError('unauthenticated', 'the bearer token is not valid', { cause });
}

function userFrom(payload: jwt.JwtPayload, settings: JwtSettings): AuthenticatedUser {
  const preferred: unknown = payload.preferred_username;
  const name = typeof preferred === 'string' && preferred !== '' ? preferred : (payload.sub ?? 'unknown');
  const roles = settings.roleClaims.flatMap((path) => rolesAt(payload, path));
  const permissions = new Set<Permission>([
    ...(roles.includes(settings.roleUser) ? (['read', 'write', 'define'] as const) : []),
    ...(roles.includes(settings.roleAdmin)
      ? (['read', 'write', 'define', 'audit', 'admin', 'commit_for_others'] as const)
      : []),
  ]);
  const subject = payload.sub ?? name;
  return {
    name,
    subject,
    issuer: payload.iss ?? null,
    clientId: null,
    roles: [...new Set(roles)],
    permissions,
  };
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

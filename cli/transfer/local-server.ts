import { randomBytes } from 'node:crypto';
import type { Settings } from '../../config/settings.js';
import { commandLogger } from '../../src/logger.js';
import { startServer } from '../../src/process/start.js';
import { configFromEnvironment, warnOfMisspeltSettings } from '../../src/settings/config.js';
import { developmentToken } from '../development-token.js';

const DAY_SECONDS = 86_400;

/**
 * Starts the configured server for one command, with a token of `user` who may do everything. Whoever starts it closes it.
 * `overrides`: settings that are not those of the environment.
 */
export async function startLocalServer(user: string, overrides: Readonly<Record<string, string>> = {}) {
  const settings = localSettings(overrides);
  const log = commandLogger();
  warnOfMisspeltSettings(log);
  const server = await startServer(settings, log);
  const token = developmentToken(settings.jwt, {
    user,
    roles: [settings.jwt.roleUser, settings.jwt.roleAdmin],
    lifetimeSeconds: DAY_SECONDS * 7,
  });
  return { server, settings, token };
}

/** The configured server on a free port of this machine, closed to everyone without this process's own token. */
function localSettings(overrides: Readonly<Record<string, string>>): Settings {
  return configFromEnvironment({
    ...overrides,
    HOST: '127.0.0.1',
    PORT: '0',
    MANAGEMENT_PORT: '',
    PUBLIC_BASE_URL: '',
    AUTH: 'jwt',
    JWT_SECRET: randomBytes(32).toString('hex'),
    JWT_PUBLIC_KEY: '',
    JWT_JWKS_URL: '',
    JWT_ALGORITHMS: 'HS256',
    JWT_ISSUER: '',
    JWT_AUDIENCE: '',
    JWT_ROLE_CLAIMS: '',
    ROLE_PERMISSIONS: '',
    BASIC_USERS_FILE: '',
    RATE_LIMIT_PER_MINUTE: '',
    MAX_CONCURRENT_REQUESTS: '',
    REQUEST_WAIT_MS: '0',
    AUDIT_READS: 'false',
  });
}

import { randomBytes } from 'node:crypto';
import { Option, type Command } from 'commander';
import type { Settings } from '../../config/settings.js';
import { configFromEnvironment, warnOfMisspeltSettings } from '../../src/settings/config.js';
import { developmentToken } from '../development-token.js';
import { commandLogger } from '../../src/logger.js';
import { startServer } from '../../src/process/start.js';
import { apiClient, type ApiClient } from './api-client.js';

/** The options that say which server a command talks to. */
export interface TargetOptions {
  readonly url?: string;
  readonly token?: string;
  readonly local?: true;
}

/** The server of a command. */
export interface Target {
  readonly client: ApiClient;
  /** Of a server started for this command; null: another process. */
  readonly settings: Settings | null;
}

/** Who changes what a command changes in a server of its own. */
const LOCAL_USER = 'everchart';

/** Who commits what a command commits without the API. */
export const LOCAL_COMMITTER = { _type: 'PARTY_IDENTIFIED', name: LOCAL_USER } as const;

const DEFAULT_URL = 'http://127.0.0.1:8080';
const DAY_SECONDS = 86_400;

/** Adds `--url`, `--token` and `--local` to a command. */
export function withTargetOptions(command: Command): Command {
  return command
    .addOption(
      new Option('--url <address>', `address of the server (default: ${DEFAULT_URL})`).conflicts('local'),
    )
    .addOption(
      new Option(
        '--token <token>',
        'bearer token; better in the environment, where `ps` does not show it',
      ).env('EVERCHART_TOKEN'),
    )
    .option('--local', 'work on the configured database through a server inside this process');
}

/** Runs `work` against the server that the options name; one that was started for it is closed again. */
export async function withTarget<T>(
  options: TargetOptions,
  repeatForMs: number,
  work: (target: Target) => Promise<T>,
): Promise<T> {
  if (options.local !== true) {
    const address = { url: options.url ?? DEFAULT_URL, token: options.token, repeatForMs };
    return work({ client: apiClient(address), settings: null });
  }
  const settings = localSettings();
  const log = commandLogger();
  warnOfMisspeltSettings(log);
  const server = await startServer(settings, log);
  const token = developmentToken(settings.jwt, {
    user: LOCAL_USER,
    roles: [settings.jwt.roleUser, settings.jwt.roleAdmin],
    lifetimeSeconds: DAY_SECONDS * 7,
  });
  try {
    return await work({ client: apiClient({ url: server.url, token, repeatForMs }), settings });
  } finally {
    await server.close();
  }
}

/** The configured server on a free port of this machine, closed to everyone without this process's own token. */
function localSettings(): Settings {
  return configFromEnvironment({
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

import { readFileSync } from 'node:fs';
import Joi from 'joi';
import type { JwtSettings, Settings } from '../base/settings.js';
import { commaList, MANAGEMENT, SETTINGS } from './setting-list.js';

/** The environment as Node gives it. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Values after joi: text, numbers and booleans by setting name; absent = empty without default. */
type Values = Readonly<Record<string, string | number | boolean | undefined>>;

/** The configuration of this process. @throws Error as `loadConfig`. */
export function configFromEnvironment(overrides: Environment = {}): Settings {
  return loadConfig({ ...process.env, ...overrides });
}

/**
 * Reads and checks the whole configuration once.
 * @throws Error naming every problem at once, one line each.
 */
export function loadConfig(env: Environment): Settings {
  const known = Object.fromEntries(SETTINGS.map(({ name }) => [name, env[name]]));
  const schema = Joi.object(Object.fromEntries(SETTINGS.map((entry) => [entry.name, entry.schema])));
  const result = schema.validate(known, { abortEarly: false, convert: true });
  const problems = result.error?.details.map((detail) => detail.message.replaceAll('"', '')) ?? [];
  if (problems.length > 0) throw configError(problems);
  const settings = toSettings(result.value as Values);
  const conflicts = conflictsOf(settings);
  if (conflicts.length > 0) throw configError(conflicts);
  return Object.freeze(settings);
}

/** Whether a host name or address is only reachable from this machine. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host);
}

function toSettings(values: Values): Settings {
  const host = textOf(values, 'HOST');
  return {
    host,
    port: numberOf(values, 'PORT'),
    publicBaseUrl: textOrNull(values, 'PUBLIC_BASE_URL')?.replace(/\/+$/, '') ?? null,
    systemId: textOf(values, 'SYSTEM_ID'),
    database: {
      mongodbUri: textOf(values, 'MONGODB_URI'),
      mongodbDatabase: textOf(values, 'MONGODB_DATABASE'),
      localDatabase: textOf(values, 'LOCAL_DATABASE') as Settings['database']['localDatabase'],
      mongodBinary: textOf(values, 'MONGOD_BINARY'),
      embeddedDataDir: textOf(values, 'EMBEDDED_DATA_DIR'),
      embeddedCacheSizeGB: numberOrNull(values, 'EMBEDDED_CACHE_SIZE_GB'),
    },
    auth: (textOrNull(values, 'AUTH') ?? (isLoopback(host) ? 'none' : 'jwt')) as Settings['auth'],
    jwt: jwtSettings(values),
    ...clinicalSettings(values),
    ...operationSettings(values),
  };
}

function clinicalSettings(values: Values) {
  return {
    maxCompositionBytes: numberOf(values, 'MAX_COMPOSITION_BYTES'),
    aql: {
      defaultFetch: numberOrNull(values, 'AQL_DEFAULT_FETCH'),
      maxFetch: numberOrNull(values, 'AQL_MAX_FETCH'),
      timeoutMs: numberOf(values, 'AQL_TIMEOUT_MS'),
      maxConcurrent: numberOf(values, 'AQL_MAX_CONCURRENT'),
      subsumption: values.AQL_SUBSUMPTION === true,
      leafIndex: textOf(values, 'AQL_LEAF_INDEX') as Settings['aql']['leafIndex'],
    },
    checkExtraNodes: values.CHECK_EXTRA_NODES === true,
    checkRmRules: values.CHECK_RM_RULES === true,
    checkContainerCardinality: values.CHECK_CONTAINER_CARDINALITY === true,
    terminology: {
      serverUrl: textOrNull(values, 'TERMINOLOGY_SERVER_URL'),
      timeoutMs: numberOf(values, 'TERMINOLOGY_TIMEOUT_MS'),
      failOnError: values.TERMINOLOGY_FAIL_ON_ERROR === true,
    },
    preferMinimalUpdateStatus: numberOf(values, 'PREFER_MINIMAL_UPDATE_STATUS') as 200 | 204,
    ehrStatusAsRef: values.EHR_STATUS_AS_REF === true,
    acceptForeignSystemId: values.ACCEPT_FOREIGN_SYSTEM_ID === true,
    templateAllowOverwrite: values.TEMPLATE_ALLOW_OVERWRITE === true,
    templateCacheSize: numberOf(values, 'TEMPLATE_CACHE_SIZE'),
    mergeRetries: numberOf(values, 'MERGE_RETRIES'),
    defaultTimezone: textOf(values, 'DEFAULT_TIMEZONE'),
  };
}

function operationSettings(values: Values) {
  const management = commaList(textOf(values, 'MANAGEMENT_ENDPOINTS'));
  return {
    adminApiActive: values.ADMIN_API_ACTIVE === true,
    adminAllowDeleteAll: values.ADMIN_ALLOW_DELETE_ALL === true,
    auditReads: values.AUDIT_READS === true,
    statusEndpoint: values.STATUS_ENDPOINT === true,
    managementEndpoints: management.includes('all') ? MANAGEMENT : management,
    managementAccess: textOf(values, 'MANAGEMENT_ACCESS') as Settings['managementAccess'],
    maxBodyBytes: numberOf(values, 'MAX_BODY_BYTES'),
    maxBodyNodes: numberOf(values, 'MAX_BODY_NODES'),
    apiAliasV1: values.API_ALIAS_V1 === true,
    trustedProxies: commaList(textOf(values, 'TRUSTED_PROXIES')),
    corsOrigins: commaList(textOf(values, 'CORS_ORIGINS')),
    rateLimitPerMinute: numberOrNull(values, 'RATE_LIMIT_PER_MINUTE'),
    maxConcurrentRequests: numberOrNull(values, 'MAX_CONCURRENT_REQUESTS'),
    slowQueryMs: numberOf(values, 'SLOW_QUERY_MS'),
    shutdownTimeoutMs: numberOf(values, 'SHUTDOWN_TIMEOUT_MS'),
    clusterWorkers: numberOf(values, 'CLUSTER_WORKERS'),
    logLevel: textOf(values, 'LOG_LEVEL') as Settings['logLevel'],
  };
}

function jwtSettings(values: Values): JwtSettings {
  const secret = textOrNull(values, 'JWT_SECRET');
  const named = commaList(textOf(values, 'JWT_ALGORITHMS'));
  return {
    secret,
    publicKey: publicKeyText(textOrNull(values, 'JWT_PUBLIC_KEY')),
    jwksUrl: textOrNull(values, 'JWT_JWKS_URL'),
    algorithms: (named.length > 0
      ? named
      : [secret === null ? 'RS256' : 'HS256']) as JwtSettings['algorithms'],
    issuer: textOrNull(values, 'JWT_ISSUER'),
    audience: textOrNull(values, 'JWT_AUDIENCE'),
    roleClaims: commaList(textOf(values, 'JWT_ROLE_CLAIMS')),
    clockToleranceSeconds: numberOf(values, 'JWT_CLOCK_TOLERANCE_S'),
    roleUser: textOf(values, 'ROLE_USER').toUpperCase(),
    roleAdmin: textOf(values, 'ROLE_ADMIN').toUpperCase(),
  };
}

function publicKeyText(value: string | null): string | null {
  if (value === null || value.includes('-----BEGIN')) return value;
  try {
    return readFileSync(value, 'utf8');
  } catch (cause) {
    throw new Error('JWT_PUBLIC_KEY is neither PEM text nor a readable file', { cause });
  }
}

/** Rules over several settings: architecture, configuration; rulings on authentication. */
function conflictsOf(settings: Settings): string[] {
  const { jwt } = settings;
  const keys = [jwt.secret, jwt.publicKey, jwt.jwksUrl].filter((key) => key !== null).length;
  const problems: string[] = [];
  if (keys > 1) problems.push('only one of JWT_SECRET, JWT_PUBLIC_KEY and JWT_JWKS_URL may be set');
  if (jwt.secret !== null && Buffer.byteLength(jwt.secret) < 32) {
    problems.push('JWT_SECRET must have at least 32 bytes');
  }
  if (keys === 0 && settings.auth === 'jwt') {
    problems.push('AUTH=jwt needs a key: set JWT_SECRET, JWT_PUBLIC_KEY or JWT_JWKS_URL');
  }
  if (keys === 0 && settings.adminApiActive) {
    problems.push('ADMIN_API_ACTIVE=true needs a key: set JWT_SECRET, JWT_PUBLIC_KEY or JWT_JWKS_URL');
  }
  const symmetric = jwt.algorithms.filter((name) => name.startsWith('HS')).length;
  const expected = jwt.secret === null ? 0 : jwt.algorithms.length;
  if (keys === 1 && symmetric !== expected) {
    problems.push(
      'JWT_ALGORITHMS does not fit the kind of key: HS* for a secret, the others for a public key',
    );
  }
  return problems;
}

function textOf(values: Values, name: string): string {
  const value = values[name];
  return typeof value === 'string' ? value : '';
}

function textOrNull(values: Values, name: string): string | null {
  const value = textOf(values, name);
  return value === '' ? null : value;
}

function numberOrNull(values: Values, name: string): number | null {
  const value = values[name];
  return typeof value === 'number' ? value : null;
}

function numberOf(values: Values, name: string): number {
  const value = numberOrNull(values, name);
  if (value === null) throw new TypeError(`setting ${name} has no default`);
  return value;
}

function configError(problems: readonly string[]): Error {
  const lines = problems.map((line) => `  ${line}`).join('\n');
  return new Error(`the configuration has ${problems.length} problem(s):\n${lines}`);
}

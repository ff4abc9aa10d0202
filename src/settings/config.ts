import Joi from 'joi';
import type { Logger } from 'pino';
import {
  FOUR_EYES_KINDS,
  type JwtSettings,
  type OidcSettings,
  type Settings,
} from '../../config/settings.js';
import { DIALECTS, type ItsRest } from '../../openehr/base/dialect.js';
import { asciiUpperCase } from '../../openehr/base/text.js';
import { identityConflicts } from '../identity/identity-settings.js';
import { defaultRolePermissions, readRolePermissions } from '../identity/identifier.js';
import { isLoopback } from '../middleware/client-address.js';
import { fileOfVariable } from './env-file.js';
import { isMadeByKubernetes, logMisspeltSettings, misspeltSettings } from './misspelt-settings.js';
import { commaList } from './setting-checks.js';
import { MANAGEMENT } from './rows/access-settings.js';
import { DEFAULT_RATE_LIMIT_PER_MINUTE } from './rows/operation-settings.js';
import { SETTINGS } from './setting-list.js';
import { areTracesSent, traceConflicts } from './trace-settings.js';

/** The environment as Node gives it. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Values after joi: text, numbers and booleans by setting name; absent = empty without default. */
type Values = Readonly<Record<string, string | number | boolean | undefined>>;

/** The configuration of this process. @throws Error as `loadConfig`. */
export function configFromEnvironment(overrides: Environment = {}): Settings {
  return loadConfig({ ...process.env, ...overrides });
}

/**
 * The value of one setting of this process, its default included, whatever the others say: for commands that use no other.
 * @throws Error when it is malformed or no setting has this name
 */
export function textSetting(name: string): string {
  const row = SETTINGS.find((entry) => entry.name === name);
  if (row === undefined) throw new Error(`there is no setting ${name}`);
  const result: Joi.ValidationResult<string> = row.schema.validate(givenValue(process.env, name));
  if (result.error !== undefined) throw configError([`${name}: ${result.error.message}`]);
  return result.value;
}

/** One line at level warn for each variable of this process that is probably a misspelt setting. */
export function warnOfMisspeltSettings(log: Logger): void {
  logMisspeltSettings(log, process.env);
}

/**
 * Reads and checks the whole configuration once; an empty variable counts as unset.
 * @throws Error naming every problem at once, one line each.
 */
export function loadConfig(env: Environment): Settings {
  const schema = Joi.object(Object.fromEntries(SETTINGS.map((entry) => [entry.name, entry.schema])));
  const known = Object.fromEntries(SETTINGS.map(({ name }) => [name, givenValue(env, name)]));
  const { error } = schema.validate(known, { abortEarly: false, convert: true });
  const details = error?.details ?? [];
  const malformed = new Set(details.map(({ path }) => String(path[0])));
  // What the well-formed settings say together is validated all the same, so that one start reports everything.
  const rest = Object.fromEntries(Object.entries(known).filter(([name]) => !malformed.has(name)));
  const tracesSent = areTracesSent(env);
  const settings = { ...toSettings(schema.validate(rest, { convert: true }).value as Values), tracesSent };
  const conflicts = [...conflictsOf(settings, env), ...traceConflicts(env)].filter(
    (text) => !namesOneOf(text, malformed),
  );
  const problems = [...details.map(({ message }) => message.replaceAll('"', '')), ...conflicts];
  if (problems.length > 0) throw configError([...problems.map(withOrigin), ...misspelt(env)]);
  return Object.freeze(settings);
}

/** A problem with the file that its settings came from, where they came from one. */
function withOrigin(problem: string): string {
  const files = (problem.match(SETTING_NAME) ?? []).flatMap((name) => fileOfVariable(name) ?? []);
  return files.length === 0 ? problem : `${problem} (from ${[...new Set(files)].join(', ')})`;
}

/** What may be the reason of a problem: a setting that was meant and has another name. */
function misspelt(env: Environment): string[] {
  return misspeltSettings(env).map(({ name, nearest }) =>
    withOrigin(`there is no setting ${name}; did you mean ${nearest}?`),
  );
}

const SETTING_NAME = /[A-Z][A-Z0-9_]+/g;

function givenValue(env: Environment, name: string): string | undefined {
  const value = env[name];
  return value === undefined || value === '' || isMadeByKubernetes(name, value) ? undefined : value;
}

/** A conflict with a setting that is malformed itself says nothing new. */
function namesOneOf(text: string, names: ReadonlySet<string>): boolean {
  return (text.match(SETTING_NAME) ?? []).some((word) => names.has(word));
}

function toSettings(values: Values): Omit<Settings, 'tracesSent'> {
  const host = textOf(values, 'HOST');
  return {
    host,
    port: numberOf(values, 'PORT'),
    publicBaseUrl: textOrNull(values, 'PUBLIC_BASE_URL')?.replace(/(?<!\/)\/+$/, '') ?? null,
    basePath: textOf(values, 'BASE_PATH').replace(/(?<!\/)\/+$/, ''),
    systemId: textOf(values, 'SYSTEM_ID'),
    database: {
      mongodbUri: textOf(values, 'MONGODB_URI'),
      mongodbDatabase: textOf(values, 'MONGODB_DATABASE'),
      localDatabase: textOf(values, 'LOCAL_DATABASE') as Settings['database']['localDatabase'],
      mongodBinary: textOf(values, 'MONGOD_BINARY'),
      embeddedDataDir: textOf(values, 'EMBEDDED_DATA_DIR'),
      embeddedCacheSizeGB: numberOrNull(values, 'EMBEDDED_CACHE_SIZE_GB'),
      writeWaitMs: numberOf(values, 'WRITE_WAIT_MS'),
    },
    ...identitySettings(values, host),
    ...clinicalSettings(values),
    ...operationSettings(values),
  };
}

function clinicalSettings(values: Values) {
  const maxConcurrent = numberOf(values, 'AQL_MAX_CONCURRENT');
  const itsRest = textOf(values, 'ITS_REST') as ItsRest;
  const minimalStatus =
    numberOrNull(values, 'PREFER_MINIMAL_UPDATE_STATUS') ?? DIALECTS[itsRest].minimalUpdateStatus;
  return {
    maxCompositionBytes: numberOf(values, 'MAX_COMPOSITION_BYTES'),
    work: workSettings(values),
    aql: {
      defaultFetch: numberOrNull(values, 'AQL_DEFAULT_FETCH'),
      maxFetch: numberOrNull(values, 'AQL_MAX_FETCH'),
      timeoutMs: numberOf(values, 'AQL_TIMEOUT_MS'),
      maxConcurrent,
      maxPerUser: numberOrNull(values, 'AQL_MAX_PER_USER') ?? Math.max(1, maxConcurrent - 1),
      streamTimeoutMs: numberOf(values, 'AQL_STREAM_TIMEOUT_MS'),
      streamIdleMs: numberOf(values, 'AQL_STREAM_IDLE_MS'),
      streamHoldMs: numberOf(values, 'AQL_STREAM_HOLD_MS'),
      subsumption: values.AQL_SUBSUMPTION === true,
      leafIndex: textOf(values, 'AQL_LEAF_INDEX') as Settings['aql']['leafIndex'],
    },
    checkExtraNodes: values.CHECK_EXTRA_NODES === true,
    checkRmRules: values.CHECK_RM_RULES === true,
    validation: textOf(values, 'VALIDATION') as Settings['validation'],
    checkContainerCardinality: values.CHECK_CONTAINER_CARDINALITY === true,
    terminology: {
      serverUrl: textOrNull(values, 'TERMINOLOGY_SERVER_URL'),
      timeoutMs: numberOf(values, 'TERMINOLOGY_TIMEOUT_MS'),
      failOnError: values.TERMINOLOGY_FAIL_ON_ERROR === true,
    },
    itsRest,
    preferMinimalUpdateStatus: minimalStatus as 200 | 204,
    signing: textOf(values, 'SIGNING') as Settings['signing'],
    ehrStatusAsRef: values.EHR_STATUS_AS_REF === true,
    acceptForeignSystemId: values.ACCEPT_FOREIGN_SYSTEM_ID === true,
    templateAllowOverwrite: values.TEMPLATE_ALLOW_OVERWRITE === true,
    templateCacheSize: numberOf(values, 'TEMPLATE_CACHE_SIZE'),
    templateCacheBytes: numberOf(values, 'TEMPLATE_CACHE_BYTES'),
    maxTemplateBytes: numberOf(values, 'MAX_TEMPLATE_BYTES'),
    commitGroups: numberOrNull(values, 'COMMIT_GROUPS') ?? (textOf(values, 'MONGODB_URI') === '' ? 1 : 4),
    mergeRetries: numberOf(values, 'MERGE_RETRIES'),
    mergeReversibleDays: numberOrNull(values, 'MERGE_REVERSIBLE_DAYS'),
    queryOwners: values.QUERY_OWNERS === true,
    fourEyes: fourEyesOf(values),
    fourEyesDays: numberOf(values, 'FOUR_EYES_DAYS'),
    mergeCandidatePaths: commaList(textOf(values, 'MERGE_CANDIDATE_PATHS')),
    mergeStepsFrom: numberOf(values, 'MERGE_STEPS_FROM'),
    defaultTimezone: textOf(values, 'DEFAULT_TIMEZONE'),
  };
}

function workSettings(values: Values): Settings['work'] {
  return {
    steps: numberOf(values, 'MAX_WORK_STEPS'),
    compileSteps: numberOf(values, 'AQL_MAX_COMPILE_STEPS'),
    expressionNodes: numberOf(values, 'AQL_MAX_EXPRESSION_NODES'),
    patternSteps: numberOf(values, 'MAX_PATTERN_STEPS'),
    valueSteps: numberOf(values, 'MAX_PATTERN_VALUE_STEPS'),
    tuples: numberOf(values, 'AQL_MAX_TUPLES'),
    resultBytes: numberOf(values, 'AQL_MAX_EVALUATED_BYTES'),
    versions: numberOf(values, 'AQL_MAX_EVALUATED_VERSIONS'),
    terminologyQuestions: numberOf(values, 'TERMINOLOGY_MAX_QUESTIONS'),
    bodyHeapMiB: numberOf(values, 'BODY_MAX_HEAP_MIB'),
    translatorHeapMiB: numberOf(values, 'AQL_TRANSLATOR_MAX_HEAP_MIB'),
    evaluatorHeapMiB: numberOf(values, 'AQL_EVALUATOR_MAX_HEAP_MIB'),
    bodyTimeMs: numberOf(values, 'BODY_TIMEOUT_MS'),
  };
}

/** `MERGE_NEEDS_APPROVAL` is the older name of the one word `merge`. */
function fourEyesOf(values: Values): Settings['fourEyes'] {
  const named = commaList(textOf(values, 'FOUR_EYES'));
  return FOUR_EYES_KINDS.filter(
    (kind) => named.includes(kind) || (kind === 'merge' && values.MERGE_NEEDS_APPROVAL === true),
  );
}

function operationSettings(values: Values) {
  const management = commaList(textOf(values, 'MANAGEMENT_ENDPOINTS'));
  return {
    adminApiActive: values.ADMIN_API_ACTIVE === true,
    adminAllowDeleteAll: values.ADMIN_ALLOW_DELETE_ALL === true,
    adminAllowDeleteAllEhrs: values.ADMIN_ALLOW_DELETE_ALL_EHRS === true,
    auditReads: values.AUDIT_READS === true,
    statusEndpoint: values.STATUS_ENDPOINT === true,
    statusEhrbaseVersion: textOf(values, 'STATUS_EHRBASE_VERSION'),
    managementEndpoints: management.includes('all') ? MANAGEMENT : management,
    managementAccess: textOf(values, 'MANAGEMENT_ACCESS') as Settings['managementAccess'],
    managementPort: numberOrNull(values, 'MANAGEMENT_PORT'),
    maxBodyBytes: numberOf(values, 'MAX_BODY_BYTES'),
    maxQueryBytes: numberOf(values, 'MAX_QUERY_BYTES'),
    bodyBytes: {
      process: numberOf(values, 'BODY_BYTES_UNDER_WAY'),
      user: numberOf(values, 'BODY_BYTES_PER_USER'),
      address: numberOf(values, 'BODY_BYTES_PER_ADDRESS'),
    },
    receiveTimeoutMs: numberOf(values, 'RECEIVE_TIMEOUT_MS'),
    maxConnections: numberOf(values, 'MAX_CONNECTIONS'),
    maxBodyNodes: numberOf(values, 'MAX_BODY_NODES'),
    apiAliasV1: values.API_ALIAS_V1 === true,
    strictParameters: values.STRICT_PARAMETERS === true,
    trustedProxies: commaList(textOf(values, 'TRUSTED_PROXIES')),
    corsOrigins: commaList(textOf(values, 'CORS_ORIGINS')),
    allowedHosts: commaList(textOf(values, 'ALLOWED_HOSTS').toLowerCase()),
    versionCacheSeconds: numberOf(values, 'VERSION_CACHE_SECONDS'),
    ...rateLimitOf(values),
    maxConcurrentRequests: numberOrNull(values, 'MAX_CONCURRENT_REQUESTS'),
    requestWaitMs: numberOf(values, 'REQUEST_WAIT_MS'),
    csvBom: values.CSV_BOM === true,
    sealIntervalMs: numberOf(values, 'SEAL_INTERVAL_MS'),
    slowQueryMs: numberOf(values, 'SLOW_QUERY_MS'),
    shutdownTimeoutMs: numberOf(values, 'SHUTDOWN_TIMEOUT_MS'),
    clusterWorkers: numberOf(values, 'CLUSTER_WORKERS'),
    logLevel: textOf(values, 'LOG_LEVEL') as Settings['logLevel'],
  };
}

function identitySettings(values: Values, host: string) {
  const auth = textOrNull(values, 'AUTH') ?? (isLoopback(host) ? 'none' : 'jwt');
  const jwt = jwtSettings(values);
  const roles = textOrNull(values, 'ROLE_PERMISSIONS') ?? defaultRolePermissions(jwt.roleUser, jwt.roleAdmin);
  return {
    authNoneAnywhere: values.AUTH_NONE_ANYWHERE === true,
    auth: (auth === 'basic,jwt' ? 'jwt,basic' : auth) as Settings['auth'],
    jwt,
    oidc: oidcSettings(values),
    consoleTerritory: textOrNull(values, 'CONSOLE_TERRITORY'),
    consoleIdleMinutes: numberOf(values, 'CONSOLE_IDLE_MINUTES') || null,
    patientBannerPaths: commaList(textOf(values, 'PATIENT_BANNER_PATHS')),
    basicUsersFile: textOrNull(values, 'BASIC_USERS_FILE'),
    rolePermissions: readRolePermissions(roles).roles,
    committerMustBeUser: values.COMMITTER_MUST_BE_USER === true,
  };
}

/** On the machine itself only a limit that was set counts: a demonstration or an import is no attack. */
function rateLimitOf(values: Values) {
  const given = numberOrNull(values, 'RATE_LIMIT_PER_MINUTE');
  return {
    rateLimitPerMinute: given === 0 ? null : (given ?? DEFAULT_RATE_LIMIT_PER_MINUTE),
    rateLimitSparesLoopback: given === null,
  };
}

function oidcSettings(values: Values): OidcSettings | null {
  const issuer = textOrNull(values, 'OIDC_ISSUER');
  const clientId = textOf(values, 'OIDC_CLIENT_ID');
  return issuer === null && clientId === '' ? null : { issuer: issuer ?? '', clientId };
}

function jwtSettings(values: Values): JwtSettings {
  const secret = textOrNull(values, 'JWT_SECRET');
  const named = commaList(textOf(values, 'JWT_ALGORITHMS'));
  return {
    secret,
    publicKey: textOrNull(values, 'JWT_PUBLIC_KEY'),
    jwksUrl: textOrNull(values, 'JWT_JWKS_URL'),
    algorithms: (named.length > 0
      ? named
      : [secret === null ? 'RS256' : 'HS256']) as JwtSettings['algorithms'],
    issuer: textOrNull(values, 'JWT_ISSUER'),
    audience: textOrNull(values, 'JWT_AUDIENCE'),
    roleClaims: commaList(textOf(values, 'JWT_ROLE_CLAIMS')),
    clockToleranceSeconds: numberOf(values, 'JWT_CLOCK_TOLERANCE_S'),
    types: commaList(textOf(values, 'JWT_TYP').toLowerCase()),
    maxLifetimeSeconds: numberOrNull(values, 'JWT_MAX_LIFETIME_S'),
    roleUser: asciiUpperCase(textOf(values, 'ROLE_USER')),
    roleAdmin: asciiUpperCase(textOf(values, 'ROLE_ADMIN')),
  };
}

/** Rules over several settings. Each text names the settings it is about. */
function conflictsOf(settings: Settings, env: Environment): string[] {
  return [
    ...portConflicts(settings),
    ...identityConflicts(settings),
    ...candidateConflicts(settings),
    ...databaseConflicts(settings, env['NODE_ENV']),
  ];
}

/** Values at paths are found by the leaf index alone. */
function candidateConflicts({ mergeCandidatePaths, aql }: Settings): string[] {
  if (mergeCandidatePaths.length === 0 || aql.leafIndex === 'all') return [];
  return [
    `MERGE_CANDIDATE_PATHS needs AQL_LEAF_INDEX=all: with ${aql.leafIndex} their values are not indexed`,
  ];
}

/** A local database where one was hardly meant: a missing or misspelt `MONGODB_URI` must not start an empty one. */
function databaseConflicts({ host, database }: Settings, nodeEnvironment: string | undefined): string[] {
  if (database.mongodbUri !== '' || database.localDatabase !== 'auto') return [];
  const reasons: string[] = [];
  if (!isLoopback(host)) reasons.push(`HOST ${host} can be reached from other machines`);
  if (nodeEnvironment === 'production') reasons.push('NODE_ENV is production');
  if (reasons.length === 0) return [];
  return [
    `MONGODB_URI is empty while ${reasons.join(' and ')}: set it to the connection string of the database, or set LOCAL_DATABASE to embedded or mongod if a local one is meant`,
  ];
}

function portConflicts({ port, managementPort }: Settings): string[] {
  const isTaken = managementPort !== null && managementPort === port && port !== 0;
  return isTaken ? ['MANAGEMENT_PORT must differ from PORT'] : [];
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

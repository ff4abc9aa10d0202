import Joi from 'joi';
import { DEFAULT_MAX_NODES } from '../../openehr/base/errors.js';
import { readRolePermissions } from '../identity/identifier.js';
import {
  candidatePaths,
  choice,
  count,
  flag,
  hosts,
  list,
  pemText,
  proxies,
  text,
  timezone,
} from './setting-checks.js';

export { commaList } from './setting-checks.js';

/** One setting of the environment: its name, how it is checked, what it means. */
export interface SettingDescription {
  readonly name: string;
  readonly schema: Joi.Schema;
  /** As shown in `.env.example` and the documentation; empty: none. */
  readonly defaultText: string;
  readonly meaning: string;
}

const JWT_ALGORITHMS = [
  'HS256',
  'HS384',
  'HS512',
  'RS256',
  'RS384',
  'RS512',
  'ES256',
  'ES384',
  'ES512',
  'PS256',
  'PS384',
  'PS512',
] as const;
/** Every management endpoint. */
export const MANAGEMENT: readonly string[] = ['health', 'info', 'env', 'metrics', 'prometheus', 'loggers'];
/** What `RATE_LIMIT_PER_MINUTE` is when it is not set. */
export const DEFAULT_RATE_LIMIT_PER_MINUTE = 6000;
const RATE_LIMIT_MEANING = `requests of one user, else one address, per minute; 0 = off; empty = ${DEFAULT_RATE_LIMIT_PER_MINUTE}, and none on loopback`;
/** The longest time that a timer can be set for. */
const MAX_TIMER_MS = 2147483647;
const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'];

/**
 * Settings for which it matters whether they are set at all, although they have a default: they stand empty in
 * `.env.example`, so that a copied file changes nothing.
 */
export const PRESENCE_MATTERS: ReadonlySet<string> = new Set([
  'LOCAL_DATABASE',
  'ACCEPT_FOREIGN_SYSTEM_ID',
  'RATE_LIMIT_PER_MINUTE',
]);

/** Every setting, in the order of the documentation: `.env.example` and `docs/configuration.md` follow it. */
export const SETTINGS: readonly SettingDescription[] = [
  setting('HOST', text().empty('').default('127.0.0.1'), '127.0.0.1', 'address to listen on'),
  setting('PORT', count().min(0).max(65535).default(8080), '8080', 'port to listen on; 0 = any free one'),
  setting(
    'PUBLIC_BASE_URL',
    Joi.string()
      .uri({ scheme: ['http', 'https'] })
      .empty(''),
    '',
    'origin of generated links; empty = from the request',
  ),
  setting(
    'BASE_PATH',
    Joi.string()
      .pattern(/^(\/[A-Za-z0-9._~-]+)+\/?$/)
      .empty('')
      .default(''),
    '',
    'path before all APIs but /management, such as /ehrbase',
  ),
  setting(
    'SYSTEM_ID',
    Joi.string()
      .pattern(/^[A-Za-z0-9][A-Za-z0-9._-]{0,199}$/)
      .empty('')
      .default('local.cdr'),
    'local.cdr',
    'middle part of every version uid; fixed by the first commit',
  ),
  setting('MONGODB_URI', text().default(''), '', 'connection string; empty = a local database'),
  setting(
    'MONGODB_DATABASE',
    Joi.string()
      .pattern(/^[A-Za-z0-9_-]{1,60}$/)
      .empty('')
      .default('cdr'),
    'cdr',
    'database name',
  ),
  setting(
    'LOCAL_DATABASE',
    choice(['auto', 'mongod', 'embedded'], 'auto'),
    '',
    'mongod or embedded; empty or auto = what can be had. Used when MONGODB_URI is empty; beyond a loopback HOST and with NODE_ENV=production one of the two must be named',
  ),
  setting('MONGOD_BINARY', text().default(''), '', 'path of a mongod; empty = searched'),
  setting(
    'EMBEDDED_DATA_DIR',
    Joi.string().empty('').default('./data/mongodb'),
    './data/mongodb',
    'folder of the local database, of this user alone (0700); temporary = gone at exit',
  ),
  setting(
    'EMBEDDED_CACHE_SIZE_GB',
    Joi.number().min(0.25).max(1024).empty(''),
    '',
    'memory for its data; empty = half of what the machine has above 1 GB, between 0.25 and 1',
  ),
  setting(
    'AUTH',
    Joi.string().replace(/\s/g, '').valid('none', 'jwt', 'basic', 'jwt,basic', 'basic,jwt').empty(''),
    '',
    'none, jwt, basic or jwt,basic for the standard API; empty = none on a loopback HOST, else jwt',
  ),
  setting('JWT_SECRET', text().default(''), '', 'HMAC secret, at least 32 bytes'),
  setting(
    'JWT_PUBLIC_KEY',
    text().default('').custom(pemText),
    '',
    'public key, PEM text or path of a PEM file',
  ),
  setting(
    'JWT_JWKS_URL',
    Joi.string()
      .uri({ scheme: ['http', 'https'] })
      .empty(''),
    '',
    'address of a JSON Web Key Set; https, on loopback http too',
  ),
  setting(
    'JWT_ALGORITHMS',
    list(JWT_ALGORITHMS),
    '',
    'allowed algorithms; empty = HS256 with a secret, RS256 with a public key or a key set',
  ),
  setting(
    'JWT_ISSUER',
    text().default(''),
    '',
    'required issuer; any = every one; needed with a public key or key set, empty = any with a secret',
  ),
  setting(
    'JWT_AUDIENCE',
    text().default(''),
    '',
    'required audience; any = every one; needed with a public key or key set, empty = any with a secret',
  ),
  setting(
    'JWT_ROLE_CLAIMS',
    text().empty('').default('realm_access.roles,roles'),
    'realm_access.roles,roles',
    'claims that hold roles',
  ),
  setting('JWT_CLOCK_TOLERANCE_S', count().min(0).max(600).default(30), '30', 'clock tolerance, seconds'),
  setting('ROLE_USER', text().empty('').default('USER'), 'USER', 'role name of users'),
  setting('ROLE_ADMIN', text().empty('').default('ADMIN'), 'ADMIN', 'role name of administrators'),
  setting(
    'ROLE_PERMISSIONS',
    text().empty('').custom(rolePermissions),
    '',
    'what roles may do, docs/authentication.md; empty = USER=read,write,define;ADMIN=*;AUDITOR=audit;READER=read',
  ),
  setting('BASIC_USERS_FILE', text().default(''), '', 'users with passwords, written by everchart user add'),
  setting(
    'OIDC_ISSUER',
    Joi.string()
      .uri({ scheme: ['http', 'https'] })
      .empty(''),
    '',
    'identity provider where the console signs in, by code flow with PKCE; https, on loopback http too',
  ),
  setting(
    'OIDC_CLIENT_ID',
    text().default(''),
    '',
    'public client of the console there; needed with OIDC_ISSUER',
  ),
  setting(
    'COMMITTER_MUST_BE_USER',
    flag(false),
    'false',
    'whether naming another committer needs the permission commit_for_others',
  ),
  setting(
    'ADMIN_API_ACTIVE',
    flag(false),
    'false',
    'whether /rest/admin exists; needs a key or BASIC_USERS_FILE',
  ),
  setting('ADMIN_ALLOW_DELETE_ALL', flag(true), 'true', 'whether all templates can be deleted at once'),
  setting(
    'AUDIT_READS',
    flag(false),
    'false',
    'whether reads of clinical data and queries are recorded; writes and refusals always are',
  ),
  setting('STATUS_ENDPOINT', flag(true), 'true', 'whether /rest/status exists'),
  setting(
    'MANAGEMENT_ENDPOINTS',
    list([...MANAGEMENT, 'all'], 'health'),
    'health',
    'comma list of health, info, env, metrics, prometheus, loggers, or all',
  ),
  setting(
    'MANAGEMENT_ACCESS',
    choice(['ADMIN_ONLY', 'PRIVATE', 'PUBLIC'], 'ADMIN_ONLY'),
    'ADMIN_ONLY',
    'who may read /management',
  ),
  setting(
    'MANAGEMENT_PORT',
    count().min(0).max(65535),
    '',
    'port of its own for /management, which PORT then does not serve; 0 = any free one; empty = PORT',
  ),
  setting('MAX_BODY_BYTES', count().min(1024).default(16777216), '16777216', 'largest request body'),
  setting(
    'MAX_BODY_NODES',
    count().min(1000).default(DEFAULT_MAX_NODES),
    String(DEFAULT_MAX_NODES),
    'most objects, arrays and values (JSON) or elements and attributes (XML) of a request body',
  ),
  setting(
    'MAX_COMPOSITION_BYTES',
    count().min(1024).max(8388608).default(8388608),
    '8388608',
    'largest object, canonical JSON',
  ),
  setting('AQL_DEFAULT_FETCH', count().min(1), '', 'row limit of a query without one; empty = AQL_MAX_FETCH'),
  setting('AQL_MAX_FETCH', count().min(1), '', 'largest row limit; empty = none'),
  setting('AQL_TIMEOUT_MS', count().min(1).default(30000), '30000', 'time limit of a query'),
  setting('AQL_MAX_CONCURRENT', count().min(1).default(4), '4', 'queries that run at once; more wait'),
  setting('AQL_MAX_PER_USER', count().min(1), '', 'of them, those of one user; empty = all but one'),
  setting(
    'AQL_STREAM_TIMEOUT_MS',
    count().min(1).max(MAX_TIMER_MS).default(300000),
    '300000',
    'time limit of an NDJSON or CSV answer; then its connection is closed',
  ),
  setting(
    'AQL_STREAM_IDLE_MS',
    count().min(1).max(MAX_TIMER_MS).default(30000),
    '30000',
    'a client that takes nothing of the answer to its query for so long is cut off',
  ),
  setting('AQL_SUBSUMPTION', flag(false), 'false', 'whether archetype ids match specialised archetypes'),
  setting(
    'AQL_LEAF_INDEX',
    choice(['all', 'numeric', 'none'], 'all'),
    'all',
    'which values are indexed for AQL conditions',
  ),
  setting('CHECK_EXTRA_NODES', flag(true), 'true', 'refuse nodes that the template does not know'),
  setting('CHECK_RM_RULES', flag(true), 'true', 'check the invariants of the reference model'),
  setting(
    'VALIDATION',
    choice(['strict', 'lenient'], 'strict'),
    'strict',
    'lenient: imports, and requests of administrators with `Prefer: validation=lenient`, may bring content of other servers that breaks some rules',
  ),
  setting('CHECK_CONTAINER_CARDINALITY', flag(false), 'false', 'check cardinalities of containers'),
  setting(
    'TERMINOLOGY_SERVER_URL',
    Joi.string()
      .uri({ scheme: ['http', 'https'] })
      .empty(''),
    '',
    'FHIR terminology server',
  ),
  setting('TERMINOLOGY_TIMEOUT_MS', count().min(1).default(5000), '5000', 'time limit of one call to it'),
  setting('TERMINOLOGY_FAIL_ON_ERROR', flag(false), 'false', 'refuse commits when it fails'),
  setting(
    'PREFER_MINIMAL_UPDATE_STATUS',
    Joi.number().valid(200, 204).empty('').default(200),
    '200',
    '200 or 204 for updates without a body',
  ),
  setting(
    'EHR_STATUS_AS_REF',
    flag(true),
    'true',
    'show ehr_status of an EHR as a reference unless Prefer: resolve_refs or include=ehr_status asks for it',
  ),
  setting(
    'ACCEPT_FOREIGN_SYSTEM_ID',
    Joi.boolean().empty(''),
    '',
    'what comes of another system: empty = its system_id in audits is taken, and our own stored; true = also the foreign uid of a new COMPOSITION is ignored instead of refused; false = both are refused',
  ),
  setting('API_ALIAS_V1', flag(true), 'true', 'also serve the standard API below /v1'),
  setting(
    'STRICT_PARAMETERS',
    flag(true),
    'true',
    'refuse unknown query parameters and body members; of deletions and administration always',
  ),
  setting(
    'TRUSTED_PROXIES',
    text().default('').custom(proxies),
    '',
    'comma list of addresses or CIDR blocks whose X-Forwarded-* counts',
  ),
  setting('CORS_ORIGINS', text().default(''), '', 'comma list of origins; empty = CORS off'),
  setting(
    'ALLOWED_HOSTS',
    text().default('').custom(hosts),
    '',
    'comma list of hosts, with or without port, that requests may name beside localhost and PUBLIC_BASE_URL',
  ),
  setting(
    'VERSION_CACHE_SECONDS',
    count().min(0).max(31536000).default(0),
    '0',
    'how long clients may keep a version that they read by its id; 0 = not at all',
  ),
  setting('RATE_LIMIT_PER_MINUTE', count().min(0), '', RATE_LIMIT_MEANING),
  setting('MAX_CONCURRENT_REQUESTS', count().min(1), '', 'requests served at once; empty = no cap'),
  setting(
    'CSV_BOM',
    flag(false),
    'false',
    'whether CSV answers start with a byte order mark, as Excel wants it',
  ),
  setting(
    'SEAL_INTERVAL_MS',
    count().min(0).max(600000).default(5000),
    '5000',
    'how often new records are sealed; 0 = never',
  ),
  setting('SLOW_QUERY_MS', count().min(1).default(1000), '1000', 'queries slower than this are logged'),
  setting(
    'SHUTDOWN_TIMEOUT_MS',
    count().min(1).default(10000),
    '10000',
    'time running requests get at shutdown',
  ),
  setting('CLUSTER_WORKERS', count().min(1).max(64).default(1), '1', 'worker processes on one port'),
  setting(
    'TEMPLATE_ALLOW_OVERWRITE',
    flag(false),
    'false',
    'whether an upload may replace an unused template',
  ),
  setting(
    'TEMPLATE_CACHE_SIZE',
    count().min(1).max(100000).default(200),
    '200',
    'compiled templates kept in memory',
  ),
  setting(
    'TEMPLATE_CACHE_BYTES',
    count().min(1048576).default(134217728),
    '134217728',
    'bytes of compiled templates kept in memory, estimated',
  ),
  setting(
    'MAX_TEMPLATE_BYTES',
    count().min(1024).default(5242880),
    '5242880',
    'largest operational template (OPT)',
  ),
  setting(
    'COMMIT_GROUPS',
    count().min(1).max(64),
    '',
    'transactions with commits that one process runs at the same time, each EHR always in the same one; empty = 1 with a local database, else 4',
  ),
  setting(
    'MERGE_RETRIES',
    count().min(0).max(100).default(5),
    '5',
    'attempts of a merge against parallel writers',
  ),
  setting(
    'MERGE_REVERSIBLE_DAYS',
    count().min(1).max(36_500),
    '',
    'days after which a merge is made final and what is needed to undo it is dropped; empty = never',
  ),
  setting(
    'MERGE_NEEDS_APPROVAL',
    flag(false),
    'false',
    'true: a merge of EHRs waits until another administrator confirms it',
  ),
  setting(
    'MERGE_CANDIDATE_PATHS',
    text().default('').custom(candidatePaths),
    '',
    'comma list of paths in which EHRs of one person agree, docs/merge.md; empty = none',
  ),
  setting(
    'MERGE_STEPS_FROM',
    count().min(0).default(1_000),
    '1000',
    'an EHR with more versions is merged, and taken out again, in steps; others go on meanwhile',
  ),
  setting(
    'DEFAULT_TIMEZONE',
    text().empty('').default('UTC').custom(timezone),
    'UTC',
    'zone of times given without one: UTC, ±hh:mm or an IANA name',
  ),
  setting('LOG_LEVEL', choice(LOG_LEVELS, 'info'), 'info', LOG_LEVELS.join(', ')),
];

function setting(name: string, schema: Joi.Schema, defaultText: string, meaning: string): SettingDescription {
  return { name, schema, defaultText, meaning };
}

function rolePermissions(value: string, helpers: Joi.CustomHelpers): string | Joi.ErrorReport {
  const { problems } = readRolePermissions(value);
  return problems.length === 0 ? value : helpers.message({ custom: problems.join('; ') });
}

import Joi from 'joi';
import { DEFAULT_MAX_NODES } from '../base/node-limit.js';

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
const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'];

const text = (): Joi.StringSchema => Joi.string().allow('');
const flag = (value: boolean): Joi.Schema =>
  Joi.boolean().truthy('true').falsy('false').empty('').default(value);
const count = (): Joi.NumberSchema => Joi.number().integer().empty('');
const choice = (values: readonly string[], value: string): Joi.Schema =>
  Joi.string()
    .valid(...values)
    .empty('')
    .default(value);

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
    'auto',
    'auto, mongod or embedded; used when MONGODB_URI is empty',
  ),
  setting('MONGOD_BINARY', text().default(''), '', 'path of a mongod; empty = searched'),
  setting(
    'EMBEDDED_DATA_DIR',
    Joi.string().empty('').default('./data/mongodb'),
    './data/mongodb',
    'folder of the embedded database; temporary = gone at exit',
  ),
  setting(
    'EMBEDDED_CACHE_SIZE_GB',
    Joi.number().min(0.25).max(1024).empty(''),
    '',
    'memory for its data; empty = half of what the machine has above 1 GB, between 0.25 and 1',
  ),
  setting(
    'AUTH',
    Joi.string().valid('none', 'jwt').empty(''),
    '',
    'none or jwt for the standard API; empty = none on a loopback HOST, else jwt',
  ),
  setting('JWT_SECRET', text().default(''), '', 'HMAC secret, at least 32 bytes'),
  setting('JWT_PUBLIC_KEY', text().default(''), '', 'public key, PEM text or path of a PEM file'),
  setting(
    'JWT_JWKS_URL',
    Joi.string()
      .uri({ scheme: ['http', 'https'] })
      .empty(''),
    '',
    'address of a JSON Web Key Set',
  ),
  setting(
    'JWT_ALGORITHMS',
    list(JWT_ALGORITHMS),
    '',
    'allowed algorithms; empty = HS256 with a secret, RS256 with a public key or a key set',
  ),
  setting('JWT_ISSUER', text().default(''), '', 'required issuer; empty = any'),
  setting('JWT_AUDIENCE', text().default(''), '', 'required audience; empty = any'),
  setting(
    'JWT_ROLE_CLAIMS',
    text().empty('').default('realm_access.roles,scope,roles'),
    'realm_access.roles,scope,roles',
    'claims that hold roles',
  ),
  setting('JWT_CLOCK_TOLERANCE_S', count().min(0).max(600).default(30), '30', 'clock tolerance, seconds'),
  setting('ROLE_USER', text().empty('').default('USER'), 'USER', 'role name of users'),
  setting('ROLE_ADMIN', text().empty('').default('ADMIN'), 'ADMIN', 'role name of administrators'),
  setting('ADMIN_API_ACTIVE', flag(false), 'false', 'whether /rest/admin exists; needs a key'),
  setting('ADMIN_ALLOW_DELETE_ALL', flag(true), 'true', 'whether all templates can be deleted at once'),
  setting('AUDIT_READS', flag(false), 'false', 'whether reads of clinical data are recorded'),
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
  setting('AQL_SUBSUMPTION', flag(false), 'false', 'whether archetype ids match specialised archetypes'),
  setting(
    'AQL_LEAF_INDEX',
    choice(['all', 'numeric', 'none'], 'all'),
    'all',
    'which values are indexed for AQL conditions',
  ),
  setting('CHECK_EXTRA_NODES', flag(true), 'true', 'refuse nodes that the template does not know'),
  setting('CHECK_RM_RULES', flag(true), 'true', 'check the invariants of the reference model'),
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
  setting('EHR_STATUS_AS_REF', flag(false), 'false', 'show ehr_status of an EHR as a reference'),
  setting('ACCEPT_FOREIGN_SYSTEM_ID', flag(false), 'false', 'accept foreign audit system ids'),
  setting('API_ALIAS_V1', flag(true), 'true', 'also serve the standard API below /v1'),
  setting(
    'TRUSTED_PROXIES',
    text().default(''),
    '',
    'comma list of addresses or CIDR blocks whose X-Forwarded-* counts',
  ),
  setting('CORS_ORIGINS', text().default(''), '', 'comma list of origins; empty = CORS off'),
  setting('RATE_LIMIT_PER_MINUTE', count().min(1), '', 'requests per client and minute; empty = off'),
  setting('MAX_CONCURRENT_REQUESTS', count().min(1), '', 'requests served at once; empty = no cap'),
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
  setting('TEMPLATE_CACHE_SIZE', count().min(1).default(200), '200', 'compiled templates kept in memory'),
  setting(
    'MERGE_RETRIES',
    count().min(0).max(100).default(5),
    '5',
    'attempts of a merge against parallel writers',
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

function list(allowed: readonly string[], defaultText = ''): Joi.Schema {
  return text()
    .empty('')
    .default(defaultText)
    .custom((value: string, helpers) => {
      const unknown = commaList(value).filter((word) => !allowed.includes(word));
      return unknown.length === 0
        ? value
        : helpers.message({ custom: `{#label} has unknown words: ${unknown.join(', ')}` });
    });
}

function timezone(value: string): string {
  if (value === 'UTC' || /^[+-](0\d|1[0-4]):[0-5]\d$/.test(value)) return value;
  new Intl.DateTimeFormat('en', { timeZone: value });
  return value;
}

/** The words of a comma list, blanks and empty words left out. */
export function commaList(value: string): string[] {
  return value
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '');
}

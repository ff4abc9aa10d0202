import { FOUR_EYES_KINDS } from '../../../config/settings.js';
import {
  candidatePaths,
  choice,
  count,
  flag,
  hosts,
  orNull,
  proxies,
  text,
  timezone,
  words,
  wordsAmong,
} from '../setting-checks.js';
import { part, setting } from './setting.js';

/** What `RATE_LIMIT_PER_MINUTE` is when it is not set. */
export const DEFAULT_RATE_LIMIT_PER_MINUTE = 6000;
const RATE_LIMIT_MEANING = `requests of one user, else one address, per minute; 0 = off; empty = ${DEFAULT_RATE_LIMIT_PER_MINUTE}, and none on loopback`;
const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;

/** Proxies, rates, the process, templates, merges and the log. In the order of the documentation. */
export const OPERATION_SETTINGS = [
  setting(
    'TRUSTED_PROXIES',
    'trustedProxies',
    words([], proxies),
    'comma list of addresses or CIDR blocks whose X-Forwarded-* counts',
  ),
  setting('CORS_ORIGINS', 'corsOrigins', words(), 'comma list of origins; empty = CORS off'),
  setting(
    'ALLOWED_HOSTS',
    'allowedHosts',
    words([], hosts),
    'comma list of hosts, with or without port, that requests may name beside localhost and PUBLIC_BASE_URL',
  ),
  setting(
    'VERSION_CACHE_SECONDS',
    'versionCacheSeconds',
    count(0, 31536000).default(0),
    'how long clients may keep a version that they read by its id; 0, and with ACCESS_MODE=enforce = not at all',
  ),
  part('RATE_LIMIT_PER_MINUTE', orNull(count(0)), RATE_LIMIT_MEANING),
  setting(
    'MAX_CONCURRENT_REQUESTS',
    'maxConcurrentRequests',
    orNull(count(1)),
    'requests served at once; empty = no cap',
  ),
  setting(
    'REQUEST_WAIT_MS',
    'requestWaitMs',
    count(0, 600000).default(500),
    'a request that would take longer behind those under way of its kind is refused with 503; 0 = none is',
  ),
  setting(
    'WRITE_WAIT_MS',
    'database.writeWaitMs',
    count(100, 120000).default(10000),
    'time a write waits for others before it that change the same; then it is refused with 503',
  ),
  setting(
    'CSV_BOM',
    'csvBom',
    flag(false),
    'whether CSV answers start with a byte order mark, as Excel wants it',
  ),
  setting(
    'SEAL_INTERVAL_MS',
    'sealIntervalMs',
    count(0, 600000).default(5000),
    'how often new records are sealed; 0 = never',
  ),
  setting('SLOW_QUERY_MS', 'slowQueryMs', count(1).default(1000), 'queries slower than this are logged'),
  setting(
    'SHUTDOWN_TIMEOUT_MS',
    'shutdownTimeoutMs',
    count(1).default(10000),
    'time running requests get at shutdown',
  ),
  setting('CLUSTER_WORKERS', 'clusterWorkers', count(1, 64).default(1), 'worker processes on one port'),
  setting(
    'TEMPLATE_ALLOW_OVERWRITE',
    'templateAllowOverwrite',
    flag(false),
    'whether an upload may replace an unused template',
  ),
  setting(
    'TEMPLATE_REVISIONS',
    'templateRevisions',
    flag(false),
    'whether an upload of a known template id is its newest revision, and each VERSION notes by which one it was judged',
  ),
  setting(
    'TEMPLATE_CACHE_SIZE',
    'templateCacheSize',
    count(1, 100000).default(200),
    'compiled templates kept in memory',
  ),
  setting(
    'TEMPLATE_CACHE_BYTES',
    'templateCacheBytes',
    count(1048576).default(134217728),
    'bytes of compiled templates kept in memory, estimated',
  ),
  setting(
    'MAX_TEMPLATE_BYTES',
    'maxTemplateBytes',
    count(1024).default(5242880),
    'largest operational template (OPT)',
  ),
  part(
    'COMMIT_GROUPS',
    orNull(count(1, 64)),
    'transactions with commits that one process runs at the same time, each EHR always in the same one; empty = 1 with a local database, else 4',
  ),
  setting(
    'MERGE_RETRIES',
    'mergeRetries',
    count(0, 100).default(5),
    'attempts of a merge against parallel writers',
  ),
  setting(
    'MERGE_REVERSIBLE_DAYS',
    'mergeReversibleDays',
    orNull(count(1, 36_500)),
    'days after which a merge is made final and what is needed to undo it is dropped; empty = never',
  ),
  part(
    'FOUR_EYES',
    words([], wordsAmong(FOUR_EYES_KINDS)),
    'comma list of merge, move, erase, finalise, policy: what waits until a second person confirms it, docs/spec/merge.md#approval',
  ),
  setting(
    'FOUR_EYES_DAYS',
    'fourEyesDays',
    count(1, 365).default(30),
    'days after which what waits for a second person lapses',
  ),
  part('MERGE_NEEDS_APPROVAL', flag(false), 'older name: true = the word merge in FOUR_EYES'),
  setting(
    'MERGE_CANDIDATE_PATHS',
    'mergeCandidatePaths',
    words([], candidatePaths),
    'comma list of paths in which EHRs of one person agree, docs/merge.md; empty = none',
  ),
  setting(
    'MERGE_STEPS_FROM',
    'mergeStepsFrom',
    count(0).default(1_000),
    'an EHR with more versions is merged, and taken out again, in steps; others go on meanwhile',
  ),
  setting(
    'DEFAULT_TIMEZONE',
    'defaultTimezone',
    text('UTC').custom(timezone),
    'zone of times given without one: UTC, ±hh:mm or an IANA name',
  ),
  setting('LOG_LEVEL', 'logLevel', choice(LOG_LEVELS, 'info'), LOG_LEVELS.join(', ')),
];

import { DEFAULT_MAX_NODES } from '../../../openehr/base/errors.js';
import { choice, count, flag } from '../setting-checks.js';
import { setting, type SettingDescription } from './setting.js';

/** The longest time that a timer can be set for. */
const MAX_TIMER_MS = 2147483647;

/** Sizes of bodies, and how long and how many queries run. In the order of the documentation. */
export const QUERY_SETTINGS: readonly SettingDescription[] = [
  setting('MAX_BODY_BYTES', count().min(1024).default(16777216), '16777216', 'largest request body'),
  setting('MAX_QUERY_BYTES', count().min(1024).default(1048576), '1048576', 'largest body of a query'),
  setting(
    'BODY_BYTES_UNDER_WAY',
    count().min(1048576).default(268435456),
    '268435456',
    'bytes of bodies that a process holds at once; what is beyond is 503',
  ),
  setting(
    'BODY_BYTES_PER_USER',
    count().min(1048576).default(67108864),
    '67108864',
    'of them, those of one user; what is beyond is 503',
  ),
  setting(
    'BODY_BYTES_PER_ADDRESS',
    count().min(1048576).default(134217728),
    '134217728',
    'of them, those of one address; what is beyond is 503',
  ),
  setting(
    'RECEIVE_TIMEOUT_MS',
    count().min(1000).max(3600000).default(60000),
    '60000',
    'how long a request may take to come in; then its connection is ended with 408',
  ),
  setting(
    'MAX_CONNECTIONS',
    count().min(1).default(10000),
    '10000',
    'connections of a process; further ones are closed',
  ),
  setting(
    'MAX_BODY_NODES',
    count().min(1000).default(DEFAULT_MAX_NODES),
    String(DEFAULT_MAX_NODES),
    'most objects, arrays and values (JSON) or elements and attributes (XML) of a request body',
  ),
  setting(
    'BODY_MAX_HEAP_MIB',
    count().min(32).default(512),
    '512',
    'MiB of heap of a thread that reads large bodies, of which there are two; then 413',
  ),
  setting(
    'BODY_TIMEOUT_MS',
    count().min(100).max(MAX_TIMER_MS).default(30000),
    '30000',
    'how long a thread may take to parse, to read or to validate a body; then 413',
  ),
  setting(
    'MAX_COMPOSITION_BYTES',
    count().min(1024).max(8388608).default(8388608),
    '8388608',
    'largest object, canonical JSON',
  ),
  setting(
    'MAX_WORK_STEPS',
    count().min(100000).default(100000000),
    '100000000',
    'most steps of one request through objects, paths and expressions, all its parts together; then 422',
  ),
  setting(
    'AQL_MAX_COMPILE_STEPS',
    count().min(100000).default(500000),
    '500000',
    'of them, those that make the plan of a query; then 422',
  ),
  setting(
    'AQL_MAX_EXPRESSION_NODES',
    count().min(500).default(5000),
    '5000',
    'most nodes of the expressions of a query: paths, values outside of lists, function calls, conditions and what joins them; then 422',
  ),
  setting(
    'MAX_PATTERN_STEPS',
    count().min(1000).default(5000000),
    '5000000',
    'most steps of regular expressions of one request: characters times instructions of all values; then 422',
  ),
  setting(
    'MAX_PATTERN_VALUE_STEPS',
    count().min(1000).default(100000),
    '100000',
    'of them, those for one value; then 422',
  ),
  setting(
    'AQL_MAX_TUPLES',
    count().min(1000).default(1000000),
    '1000000',
    'most combinations of objects that a query makes which the database cannot answer by itself; then 422',
  ),
  setting(
    'AQL_MAX_EVALUATED_BYTES',
    count().min(1048576).default(268435456),
    '268435456',
    'most characters of whole objects that such a query reads, compares and answers; then 422',
  ),
  setting(
    'AQL_MAX_EVALUATED_VERSIONS',
    count().min(1).default(20000),
    '20000',
    'most VERSIONs that such a query loads; then 422',
  ),
  setting(
    'AQL_EVALUATOR_MAX_HEAP_MIB',
    count().min(32).default(512),
    '512',
    'MiB of heap of a thread that evaluates such queries, of which there are two; then 422',
  ),
  setting(
    'AQL_TRANSLATOR_MAX_HEAP_MIB',
    count().min(32).default(256),
    '256',
    'MiB of heap of a thread that makes the plans of large queries, of which there are two; then 422',
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
  setting(
    'AQL_STREAM_HOLD_MS',
    count().min(1).default(500),
    '500',
    'how long commits wait at most, on the embedded database, for a part of such an answer that is read at one moment',
  ),
  setting('AQL_SUBSUMPTION', flag(false), 'false', 'whether archetype ids match specialised archetypes'),
  setting(
    'AQL_LEAF_INDEX',
    choice(['all', 'numeric', 'none'], 'all'),
    'all',
    'which values are indexed for AQL conditions',
  ),
];

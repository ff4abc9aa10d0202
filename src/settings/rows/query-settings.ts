import { DEFAULT_MAX_NODES } from '../../../openehr/base/errors.js';
import { choice, count, flag, orNull } from '../setting-checks.js';
import { part, setting } from './setting.js';

/** The longest time that a timer can be set for. */
const MAX_TIMER_MS = 2147483647;

/** Sizes of bodies, and how long and how many queries run. In the order of the documentation. */
export const QUERY_SETTINGS = [
  setting('MAX_BODY_BYTES', 'maxBodyBytes', count(1024).default(16777216), 'largest request body'),
  setting('MAX_QUERY_BYTES', 'maxQueryBytes', count(1024).default(1048576), 'largest body of a query'),
  setting(
    'BODY_BYTES_UNDER_WAY',
    'bodyBytes.process',
    count(1048576).default(268435456),
    'bytes of bodies that a process holds at once; what is beyond is 503',
  ),
  setting(
    'BODY_BYTES_PER_USER',
    'bodyBytes.user',
    count(1048576).default(67108864),
    'of them, those of one user; what is beyond is 503',
  ),
  setting(
    'BODY_BYTES_PER_ADDRESS',
    'bodyBytes.address',
    count(1048576).default(134217728),
    'of them, those of one address; what is beyond is 503',
  ),
  setting(
    'RECEIVE_TIMEOUT_MS',
    'receiveTimeoutMs',
    count(1000, 3600000).default(60000),
    'how long a request may take to come in; then its connection is ended with 408',
  ),
  setting(
    'MAX_CONNECTIONS',
    'maxConnections',
    count(1).default(10000),
    'connections of a process; further ones are closed',
  ),
  setting(
    'MAX_BODY_NODES',
    'maxBodyNodes',
    count(1000).default(DEFAULT_MAX_NODES),
    'most objects, arrays and values (JSON) or elements and attributes (XML) of a request body',
  ),
  setting(
    'BODY_MAX_HEAP_MIB',
    'work.bodyHeapMiB',
    count(32).default(512),
    'MiB of heap of a thread that reads large bodies, of which there are two; then 413',
  ),
  setting(
    'BODY_TIMEOUT_MS',
    'work.bodyTimeMs',
    count(100, MAX_TIMER_MS).default(30000),
    'how long a thread may take to parse, to read or to validate a body; then 413',
  ),
  setting(
    'MAX_COMPOSITION_BYTES',
    'maxCompositionBytes',
    count(1024, 8388608).default(8388608),
    'largest object, canonical JSON',
  ),
  setting(
    'MAX_WORK_STEPS',
    'work.steps',
    count(100000).default(100000000),
    'most steps of one request through objects, paths and expressions, all its parts together; then 422',
  ),
  setting(
    'AQL_MAX_COMPILE_STEPS',
    'work.compileSteps',
    count(100000).default(500000),
    'of them, those that make the plan of a query; then 422',
  ),
  setting(
    'AQL_MAX_EXPRESSION_NODES',
    'work.expressionNodes',
    count(500).default(5000),
    'most nodes of the expressions of a query: paths, values outside of lists, function calls, conditions and what joins them; then 422',
  ),
  setting(
    'MAX_PATTERN_STEPS',
    'work.patternSteps',
    count(1000).default(5000000),
    'most steps of regular expressions of one request: characters times instructions of all values; then 422',
  ),
  setting(
    'MAX_PATTERN_VALUE_STEPS',
    'work.valueSteps',
    count(1000).default(100000),
    'of them, those for one value; then 422',
  ),
  setting(
    'AQL_MAX_TUPLES',
    'work.tuples',
    count(1000).default(1000000),
    'most combinations of objects that a query makes which the database cannot answer by itself; then 422',
  ),
  setting(
    'AQL_MAX_EVALUATED_BYTES',
    'work.resultBytes',
    count(1048576).default(268435456),
    'most characters of whole objects that such a query reads, compares and answers; then 422',
  ),
  setting(
    'AQL_MAX_EVALUATED_VERSIONS',
    'work.versions',
    count(1).default(20000),
    'most VERSIONs that such a query loads; then 422',
  ),
  setting(
    'AQL_EVALUATOR_MAX_HEAP_MIB',
    'work.evaluatorHeapMiB',
    count(32).default(512),
    'MiB of heap of a thread that evaluates such queries, of which there are two; then 422',
  ),
  setting(
    'AQL_TRANSLATOR_MAX_HEAP_MIB',
    'work.translatorHeapMiB',
    count(32).default(256),
    'MiB of heap of a thread that makes the plans of large queries, of which there are two; then 422',
  ),
  setting(
    'AQL_DEFAULT_FETCH',
    'aql.defaultFetch',
    orNull(count(1)),
    'row limit of a query without one; empty = AQL_MAX_FETCH',
  ),
  setting('AQL_MAX_FETCH', 'aql.maxFetch', orNull(count(1)), 'largest row limit; empty = none'),
  setting('AQL_TIMEOUT_MS', 'aql.timeoutMs', count(1).default(30000), 'time limit of a query'),
  setting(
    'AQL_MAX_CONCURRENT',
    'aql.maxConcurrent',
    count(1).default(4),
    'queries that run at once; more wait',
  ),
  part('AQL_MAX_PER_USER', orNull(count(1)), 'of them, those of one user; empty = all but one'),
  setting(
    'AQL_STREAM_TIMEOUT_MS',
    'aql.streamTimeoutMs',
    count(1, MAX_TIMER_MS).default(300000),
    'time limit of an NDJSON or CSV answer; then its connection is closed',
  ),
  setting(
    'AQL_STREAM_IDLE_MS',
    'aql.streamIdleMs',
    count(1, MAX_TIMER_MS).default(30000),
    'a client that takes nothing of the answer to its query for so long is cut off',
  ),
  setting(
    'AQL_STREAM_HOLD_MS',
    'aql.streamHoldMs',
    count(1).default(500),
    'how long commits wait at most, on the embedded database, for a part of such an answer that is read at one moment',
  ),
  setting(
    'AQL_SUBSUMPTION',
    'aql.subsumption',
    flag(false),
    'whether archetype ids match specialised archetypes',
  ),
  setting(
    'AQL_LEAF_INDEX',
    'aql.leafIndex',
    choice(['all', 'numeric', 'none'], 'all'),
    'which values are indexed for AQL conditions',
  ),
];

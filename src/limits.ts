import type { BudgetName } from '../openehr/base/errors.js';
import { MAX_WARNINGS } from '../aql/result/warning.js';
import { AQL_LIMITS } from '../aql/syntax/limits.js';
import { MAX_PATTERN_LENGTH, MAX_PATTERN_SIZE } from '../openehr/base/linear-pattern.js';
import { DEFAULT_MAX_DEPTH as MAX_XML_DEPTH, MAX_ATTRIBUTES } from '../openehr/base/xml-scan.js';
import { COMPARED_EHRS, COMPARED_OBJECTS } from '../change/policy/compare.js';
import { COUNTED_HIDDEN, LISTED_HIDDEN } from '../change/policy/observed.js';
import { MAX_MARKS } from '../change/mark/marks.js';
import { MOST_MARKS, MOST_MERGED_SCOPES, MOST_SCOPES } from '../models/cross-collection/marked-ehrs.js';
import { MOST_TAGGED } from '../models/cross-collection/tagged-ehrs.js';
import { MAX_POLICY_DEPTH, MAX_POLICY_LENGTH, MAX_POLICY_OPERATORS } from '../policy/read-policy.js';
import { MAX_PATH_LENGTH, MAX_TAGS, MAX_VALUE_LENGTH } from '../change/item-tag/tag-content.js';
import { DEFAULT_MAX_DEPTH as MAX_JSON_DEPTH } from '../openehr/format/canonical-json.js';
import { MAX_AUDIT_IDS } from '../models/audit.js';
import { MAX_ROW_LENGTH } from '../models/cross-collection/decoded-rows.js';
import { MAX_VOCABULARY_TEMPLATES } from '../models/definition/template-vocabulary.js';
import { MAX_ACCEPTED_FINDINGS, MAX_DROPPED_LENGTH } from '../openehr/rm/lenient.js';
import { MAX_VIOLATIONS_AS_DATA } from '../routes/http/failure/violations-body.js';
import { MAX_VIOLATIONS } from '../openehr/rm/violations.js';
import { MAX_CATEGORIES, MAX_CATEGORY_MEMBERS } from '../routes/admin/category-request.js';
import { MAX_NAME_LENGTH } from '../routes/definition/stored-query.js';
import { MAX_QUERY_PARAMETERS } from '../routes/http/parameter-values.js';
import { MAX_REMEMBERED_EHRS } from '../routes/query/answered-rows.js';
import { MAX_RESULT_LENGTH } from '../routes/query/query-answer.js';
import { PATIENT_PER_PLACE, QUERY_WAIT_MS, WAITING_PER_PLACE } from '../workers/gate.js';
import { TEMPLATE_LIMITS } from '../openehr/template/opt/limits.js';
import { LARGE_BODY_CHARACTERS, MAX_WAITING_BODIES, MAX_WORKER_THREADS } from '../workers/large-body.js';
import {
  ATTEMPTS_PER_ADDRESS,
  ATTEMPTS_PER_USER,
  ATTEMPTS_PERIOD_S,
  HASHES_AT_ONCE,
  HASHES_WAITING,
} from './identity/password-verifier.js';
import { ASKED_AT_ONCE, ASKING_WAITS, INACTIVE_PER_ADDRESS, INTROSPECTED } from './identity/introspection.js';
import { ALWAYS_ADMITTED } from './admission/admission.js';
import { MAX_REFUSED_ADDRESSES, REFUSALS_PER_MINUTE } from './middleware/audit.js';
import { MOST_COUNTED_CLIENTS } from './admission/rates.js';
import { MAX_PATH_CHARACTERS } from './middleware/path.js';
import { MAX_DISCARDED_BYTES } from './middleware/rest-of-body.js';

/** A limit that no setting moves. */
export interface Limit {
  readonly name: string;
  readonly value: number;
  /** What is counted, and what happens above it where that is not a 400. */
  readonly meaning: string;
}

const BODIES: readonly Limit[] = [
  { name: 'JSON depth', value: MAX_JSON_DEPTH, meaning: 'objects and arrays inside each other' },
  { name: 'XML depth', value: MAX_XML_DEPTH, meaning: 'elements inside each other' },
  { name: 'XML attributes', value: MAX_ATTRIBUTES, meaning: 'attributes of one element' },
  {
    name: 'large body',
    value: LARGE_BODY_CHARACTERS,
    meaning:
      'characters of a body that is still read, or of an object that is still written in another form, in the main thread; more is work of a worker thread',
  },
  {
    name: 'waiting large bodies',
    value: MAX_WAITING_BODIES,
    meaning: `large bodies of one user that wait for one of ${MAX_WORKER_THREADS} threads; further ones are 503`,
  },
  {
    name: 'rest of a refused body',
    value: MAX_DISCARDED_BYTES,
    meaning:
      'bytes that are still taken after the answer and thrown away, so that the answer is read; then the connection is closed',
  },
  {
    name: 'path',
    value: MAX_PATH_CHARACTERS,
    meaning: 'characters of the path of a request; a longer one is 414',
  },
  { name: 'query parameters', value: MAX_QUERY_PARAMETERS, meaning: 'query parameters of one request' },
  { name: 'findings', value: MAX_VIOLATIONS, meaning: 'violations that one answer lists; more are left out' },
  {
    name: 'findings as data',
    value: MAX_VIOLATIONS_AS_DATA,
    meaning: 'members of `violations` in an error body',
  },
];

const AQL: readonly Limit[] = [
  ...AQL_LIMITS,
  {
    name: 'result text',
    value: MAX_RESULT_LENGTH,
    meaning: 'characters of a RESULT_SET; larger ones are 422 unless they are asked for as NDJSON or CSV',
  },
  {
    name: 'row',
    value: MAX_ROW_LENGTH,
    meaning: 'characters of the whole objects of one row, in whatever form it is asked for',
  },
  { name: 'warnings', value: MAX_WARNINGS, meaning: 'warnings of one query; more are left out' },
  {
    name: 'templates of warnings',
    value: MAX_VOCABULARY_TEMPLATES,
    meaning: 'stored templates; of more, no warning says what names of a query they have not',
  },
  { name: 'stored query name', value: MAX_NAME_LENGTH, meaning: 'characters of the name of a stored query' },
];

const CLIENTS: readonly Limit[] = [
  {
    name: 'waiting time',
    value: QUERY_WAIT_MS,
    meaning: 'milliseconds that a query waits for a place; then it is answered 503',
  },
  {
    name: 'waiting queries',
    value: WAITING_PER_PLACE,
    meaning: 'queries of one user that may wait for each of `AQL_MAX_CONCURRENT`; more are 503',
  },
  {
    name: 'patient queries',
    value: PATIENT_PER_PLACE,
    meaning:
      'of them, for each place, those that wait whatever it takes; more wait where `REQUEST_WAIT_MS` is likely to be enough',
  },
  {
    name: 'requests under way',
    value: ALWAYS_ADMITTED,
    meaning: 'reads, and as many writes, of a process that are never refused for `REQUEST_WAIT_MS`',
  },
  {
    name: 'counted clients',
    value: MOST_COUNTED_CLIENTS,
    meaning: 'users and addresses whose requests are counted at a time; beyond, the oldest is counted anew',
  },
];

const PATTERNS: readonly Limit[] = [
  { name: 'pattern text', value: MAX_PATTERN_LENGTH, meaning: 'characters of one regular expression' },
  {
    name: 'pattern size',
    value: MAX_PATTERN_SIZE,
    meaning: 'instructions that one regular expression becomes',
  },
];

const OBJECTS: readonly Limit[] = [
  ...TEMPLATE_LIMITS,
  {
    name: 'accepted findings',
    value: MAX_ACCEPTED_FINDINGS,
    meaning: 'findings that lenient validation accepts of one object',
  },
  {
    name: 'left out',
    value: MAX_DROPPED_LENGTH,
    meaning: 'characters of unknown attributes that lenient validation leaves out of one object',
  },
  { name: 'item tags', value: MAX_TAGS, meaning: 'item tags of one object or of one of its versions' },
  { name: 'tag value', value: MAX_VALUE_LENGTH, meaning: 'characters of the value of an item tag' },
  { name: 'tag path', value: MAX_PATH_LENGTH, meaning: 'characters of the path of an item tag' },
];

const IDENTITY: readonly Limit[] = [
  {
    name: 'wrong passwords of a user',
    value: ATTEMPTS_PER_USER,
    meaning: `from one address in ${ATTEMPTS_PERIOD_S} s; then 429`,
  },
  {
    name: 'wrong passwords of an address',
    value: ATTEMPTS_PER_ADDRESS,
    meaning: `in ${ATTEMPTS_PERIOD_S} s; then 429`,
  },
  { name: 'hashes', value: HASHES_AT_ONCE, meaning: 'passwords hashed at once' },
  { name: 'waiting hashes', value: HASHES_WAITING, meaning: 'requests that wait for a hash; then 503' },
  {
    name: 'inactive tokens of an address',
    value: INACTIVE_PER_ADDRESS,
    meaning: 'that were introspected, in 60 s; then 429',
  },
  { name: 'introspections', value: ASKED_AT_ONCE, meaning: 'tokens introspected at once' },
  { name: 'waiting introspections', value: ASKING_WAITS, meaning: 'tokens that wait for it; then 503' },
  { name: 'introspected tokens', value: INTROSPECTED, meaning: 'answers that are remembered' },
];

const POLICIES: readonly Limit[] = [
  {
    name: 'policy text',
    value: MAX_POLICY_LENGTH,
    meaning: 'characters of the text of one policy of access',
  },
  {
    name: 'policy depth',
    value: MAX_POLICY_DEPTH,
    meaning: 'brackets and ifs inside each other in one policy',
  },
  { name: 'policy operators', value: MAX_POLICY_OPERATORS, meaning: 'operators of one policy' },
  { name: 'categories', value: MAX_CATEGORIES, meaning: 'categories that policies and marks may name' },
  {
    name: 'members of categories',
    value: MAX_CATEGORY_MEMBERS,
    meaning: 'templates and archetypes of all of them together',
  },
  {
    name: 'compared EHRs',
    value: COMPARED_EHRS,
    meaning: 'EHRs that a comparison of a draft of policies looks at; its answer says whether these are all',
  },
  { name: 'compared versions', value: COMPARED_OBJECTS, meaning: 'versions in them; the answer says so too' },
  {
    name: 'counted hidden records',
    value: COUNTED_HIDDEN,
    meaning:
      'records of what policies hid, or would, that are counted; of more the newest, and the answer says so',
  },
  {
    name: 'listed hidden counts',
    value: LISTED_HIDDEN,
    meaning: 'people and operations in that answer; it says whether these are all',
  },
  {
    name: 'marks',
    value: MOST_MARKS,
    meaning:
      'marks of all EHRs whose EHRs stand in a list or query; of more each document is asked. Of that many that came with merges a query is 422',
  },
  {
    name: 'marked parts',
    value: MOST_SCOPES,
    meaning:
      'different parts of EHRs that these marks are about, objects aside; of more each document is asked',
  },
  {
    name: 'marked parts by merges',
    value: MOST_MERGED_SCOPES,
    meaning:
      'the same of marks that came with merges, where there are more than these limits; of more a query is 422',
  },
  {
    name: 'marks of an EHR',
    value: MAX_MARKS,
    meaning: 'that hold for one EHR; of more it is 422',
  },
  {
    name: 'tagged EHRs',
    value: MOST_TAGGED,
    meaning:
      'EHRs with one tag that policies ask for, whose ids stand in a list or query; of more each document is asked',
  },
];

const AUDIT: readonly Limit[] = [
  {
    name: 'audit ids',
    value: MAX_AUDIT_IDS,
    meaning:
      'EHRs, and objects, that one record lists; further EHRs that a query answered stand in further records, without a limit',
  },
  {
    name: 'remembered EHRs',
    value: MAX_REMEMBERED_EHRS,
    meaning: 'EHRs of one answer that are remembered, so that none is recorded twice; of more one may be',
  },
  {
    name: 'refusals',
    value: REFUSALS_PER_MINUTE,
    meaning: 'refusals that are recorded for each user, or address without one, and minute; more are counted',
  },
  {
    name: 'refused addresses',
    value: MAX_REFUSED_ADDRESSES,
    meaning:
      'users and addresses whose refusals are counted apart in a minute; all others are counted together',
  },
];

/** What one request may use: the setting, where one moves it, and how what exceeds it is refused. */
export const REQUEST_BUDGETS: Readonly<Record<BudgetName, { readonly of: string; readonly status: string }>> =
  {
    bodyBytes: {
      of: '`MAX_BODY_BYTES`; of a query `MAX_QUERY_BYTES`, of a template `MAX_TEMPLATE_BYTES`',
      status: '413',
    },
    bodyNodes: { of: '`MAX_BODY_NODES`', status: '413' },
    bodyBytesUnderWay: {
      of: '`BODY_BYTES_UNDER_WAY`, `BODY_BYTES_PER_USER`, `BODY_BYTES_PER_ADDRESS`: all requests together',
      status: '503',
    },
    bodyHeap: { of: '`BODY_MAX_HEAP_MIB`', status: '413' },
    bodyTimeMs: { of: '`BODY_TIMEOUT_MS`', status: '413' },
    objectBytes: { of: '`MAX_COMPOSITION_BYTES`', status: '413' },
    steps: { of: '`MAX_WORK_STEPS`', status: '422' },
    compileSteps: { of: '`AQL_MAX_COMPILE_STEPS`', status: '422' },
    expressionNodes: { of: '`AQL_MAX_EXPRESSION_NODES`', status: '422' },
    patternSteps: { of: '`MAX_PATTERN_STEPS`', status: '422' },
    valueSteps: { of: '`MAX_PATTERN_VALUE_STEPS`', status: '422' },
    tuples: { of: '`AQL_MAX_TUPLES`', status: '422' },
    resultBytes: { of: '`AQL_MAX_EVALUATED_BYTES`', status: '422' },
    timeMs: { of: '`AQL_TIMEOUT_MS`', status: '408' },
    versions: { of: '`AQL_MAX_EVALUATED_VERSIONS`', status: '422' },
    evaluatorHeap: { of: '`AQL_EVALUATOR_MAX_HEAP_MIB`', status: '422' },
    translatorHeap: { of: '`AQL_TRANSLATOR_MAX_HEAP_MIB`', status: '422' },
    databaseMemory: { of: 'what MongoDB allows one stage', status: '422' },
    terminologyQuestions: { of: '`TERMINOLOGY_MAX_QUESTIONS`', status: '422' },
  };

/** Every limit that no setting moves, by what it is about; `docs/limits.md` is made of it. */
export const FIXED_LIMITS: Readonly<Record<string, readonly Limit[]>> = {
  'Request bodies': BODIES,
  AQL,
  'Users and addresses': CLIENTS,
  'Regular expressions of users': PATTERNS,
  'Stored objects': OBJECTS,
  Passwords: IDENTITY,
  Audit: AUDIT,
  'Policies of access': POLICIES,
};

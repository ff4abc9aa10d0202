import { collapsedToken } from '../../../openehr/base/text.js';
import { CdrError } from '../../../openehr/base/errors.js';
import { parseVersionAtTime } from '../../../openehr/base/iso8601.js';
import type { JsonObject } from '../../../openehr/base/json.js';
import { isUuid, parseEhrId } from '../../../openehr/base/object-version-id.js';
import { parseSealHead } from '../../../maintenance/seal-head.js';
import { COUNTED_KINDS } from '../../../models/cross-collection/statistics.js';
import type { SealHead } from '../../../models/cross-collection/seal-block.js';
import { uidBasedIdOf, uuidOf, versionUidOf } from './object-ids.js';

/** What a parser knows beside the text. */
interface ParameterContext {
  /** Name as it was sent, for messages. */
  readonly name: string;
  /** Zone of times given without one (`DEFAULT_TIMEZONE`). */
  readonly defaultTimezone: string;
  /** Of this server: in version uids its case makes no difference. */
  readonly systemId: string;
}

/** One parameter of an operation: where it stands, what it means, how its text becomes a value. */
export interface ParameterDescription<T = unknown> {
  readonly in: 'path' | 'query' | 'header';
  /** As it is sent; the key of the table unless said otherwise. */
  readonly name?: string;
  /** Other spellings that mean the same and are not documented. */
  readonly aliases?: readonly string[];
  readonly description: string;
  readonly schema?: JsonObject;
  /** Query: may be given several times. */
  readonly isList?: true;
  /** Value of a text that is not empty. Headers are read by the modules that know their grammar. @throws invalid */
  readonly parse: (text: string, context: ParameterContext) => T;
}

const TEXT: JsonObject = { type: 'string' };
const FLAG: JsonObject = { type: 'boolean', default: false };
const LIST: JsonObject = { type: 'array', items: { type: 'string' } };
const TIME: JsonObject = { type: 'string', format: 'date-time' };
const word = (...words: string[]): JsonObject => ({ type: 'string', enum: words });

const asText = (text: string): string => text;
const asTime = (text: string, { name, defaultTimezone }: ParameterContext): Date =>
  parseVersionAtTime(text, defaultTimezone, name);

/** One of the words, any letter case. */
function oneOf<T extends string>(...words: readonly T[]) {
  return (text: string, { name }: ParameterContext): T => {
    const known = words.find((candidate) => candidate.toLowerCase() === text.toLowerCase());
    if (known === undefined) throw new CdrError('invalid', `${name} must be one of ${words.join(', ')}`);
    return known;
  };
}

function wordsOf(...allowed: readonly string[]) {
  return (text: string, { name }: ParameterContext): string[] => {
    const words = text.split(',').map((part) => part.trim());
    const given = words.filter((part) => part !== '');
    if (!given.every((part) => allowed.includes(part)))
      throw new CdrError('invalid', `${name} may name ${allowed.join(', ')}`);
    return given;
  };
}

function flag(text: string, { name }: ParameterContext): boolean {
  if (text === 'true') return true;
  if (text === 'false') return false;
  throw new CdrError('invalid', `${name} must be true or false`);
}

function count(least: number, most = Number.MAX_SAFE_INTEGER) {
  return (text: string, { name }: ParameterContext): number => {
    const value = Number(text);
    if (!/^\d{1,15}$/.test(text) || value < least || value > most)
      throw new CdrError('invalid', `${name} must be a whole number from ${least} to ${most}`);
    return value;
  };
}

/** The range of a page is validated where the limits are known. */
function pageCount(text: string, { name }: ParameterContext): number {
  if (!/^-?\d{1,15}$/.test(text)) throw new CdrError('invalid', `${name} must be a whole number`);
  return Number(text);
}

function uuid(text: string, { name }: ParameterContext): string {
  if (!isUuid(text)) throw new CdrError('invalid', `${name} must be a UUID`);
  return text.toLowerCase();
}

/** Words that fit the grammar of an internet id but are what a program sends by mistake. */
const NO_ID = /^(?:all|any|none|list|search|null|undefined|nan|true|false)$/i;

function ehrId(text: string): string {
  if (NO_ID.test(text.trim()))
    throw new CdrError(
      'invalid',
      `'${text.trim()}' is no ehr_id: no operation is about all EHRs, and an id is a UUID, an ISO OID or an internet id`,
    );
  const id = parseEhrId(text.trim());
  if (id === null) throw new CdrError('invalid', 'the ehr_id must be a UUID, an ISO OID or an internet id');
  return id;
}

function versionAtTime(text: string, { defaultTimezone }: ParameterContext): Date | null {
  if (text.trim() === '') return null;
  try {
    return parseVersionAtTime(text.trim(), defaultTimezone);
  } catch (error) {
    if (!(error instanceof CdrError)) throw error;
    const message = `the value is not valid for version_at_time parameter: ${error.message}`;
    throw new CdrError('invalid', message, { cause: error });
  }
}

function aqlOnly(text: string): string {
  if (text.toUpperCase() !== 'AQL') throw new CdrError('invalid', 'query_type must be AQL');
  return text;
}

/** @throws invalid when it is no head */
function sealHeadOf(text: string): SealHead {
  return parseSealHead(text);
}

const header = (description: string, schema: JsonObject = TEXT) =>
  ({ in: 'header', description, schema, parse: asText }) as const;
const query = <T>(description: string, parse: (text: string, context: ParameterContext) => T, more = {}) =>
  ({ in: 'query', description, parse, ...more }) as ParameterDescription<T> & { readonly in: 'query' };
const path = <T>(description: string, parse: (text: string, context: ParameterContext) => T) =>
  ({ in: 'path', description, parse }) as const;

/** Every parameter of every operation, each described once. */
const PARAMETERS = {
  ehr_id: path('HIER_OBJECT_ID of the EHR', ehrId),
  version_uid: path('OBJECT_VERSION_ID, `<uuid>::<system id>::<version number>`', versionUidOf),
  versioned_object_uid: path('UUID of the container', uuidOf),
  uid_based_id: path('UUID of the container, or OBJECT_VERSION_ID of one version', uidBasedIdOf),
  contribution_uid: path('UUID of the CONTRIBUTION', uuidOf),
  contribution_id: path('UUID of the CONTRIBUTION', uuidOf),
  composition_id: path('UUID of the container, or OBJECT_VERSION_ID of one of its versions', uidBasedIdOf),
  directory_id: path('UUID of the container, or OBJECT_VERSION_ID of one of its versions', uidBasedIdOf),
  template_id: path('template_id of the operational template', collapsedToken),
  archetype_id: path('ARCHETYPE_ID, such as `openEHR-EHR-OBSERVATION.blood_pressure.v2`', asText),
  qualified_query_name: path('`[<namespace>::]<query-name>`; in a list a pattern of it', asText),
  version: path('SEMVER, whole or its first parts', asText),
  key: path('Key of the tag', asText),
  other_ehr_id: path('HIER_OBJECT_ID of the other EHR', ehrId),
  draft_id: path('UUID of the draft, which the client chooses', uuidOf),
  dashboard_id: path('UUID of the dashboard, which the client chooses', uuidOf),
  merge_id: path('Id of the merge, as in answers about it', uuidOf),
  name_space: path('`<namespace>::`, or the name of a query without one', asText),
  approval_id: path('Id of what waits, as in answers about it', uuidOf),
  merged_ehr_id: path('EHR id that was merged away', uuidOf),
  name: path('Name of the metric or logger', asText),
  file: path('Name of the file', asText),

  subject_id: query('id of the patient: `subject.external_ref.id.value`', asText),
  subject_namespace: query('`subject.external_ref.namespace`', asText),
  include: query(
    'Comma list: `compositions`, `contributions` add references to the EHR, `versions` to the latest version of each thing in it; `ehr_status` gives the EHR_STATUS itself',
    wordsOf('compositions', 'contributions', 'ehr_status', 'versions'),
  ),
  version_at_time: query(
    'Extended ISO 8601 time: the version that was the latest then; absent: now',
    versionAtTime,
  ),
  templateId: query('Template of a FLAT or STRUCTURED body', collapsedToken),
  format: query('Form of the COMPOSITION in request and response', asText, {
    schema: word('JSON', 'XML', 'FLAT', 'STRUCTURED'),
  }),
  openehrVersion: query('lifecycle_state code, as the header `openEHR-VERSION` has it', asText, {
    aliases: ['stdVersion'],
  }),
  path: query('Names of folders below the root, separated by `/`', (text): string[] =>
    text.split('/').filter((name) => name !== ''),
  ),
  type: query('Whether the example is made for reading or for committing', oneOf('input', 'output'), {
    schema: { ...word('input', 'output'), default: 'input' },
  }),
  detail_level: query('How much of the template the example fills', oneOf('required', 'medium', 'complete'), {
    schema: { ...word('required', 'medium', 'complete'), default: 'required' },
  }),
  verify: query('Say in `Everchart-Signature` whether the signature is that of the version', flag, {
    schema: FLAG,
  }),
  writes: query('`minimal`: as writes answer without `Prefer`, without a body', oneOf('any', 'minimal'), {
    schema: word('any', 'minimal'),
  }),
  query_type: query('Language of the query', aqlOnly, { schema: { ...word('AQL'), default: 'AQL' } }),
  query_type_alias: query('Another name of `query_type`', aqlOnly, { name: 'type' }),
  q: query('AQL text', asText),
  query_ehr_id: query('Narrows every EHR of the query to this one', ehrId, { name: 'ehr_id' }),
  filter_template_id: query('Only templates of this id; `*` stands for any characters', collapsedToken, {
    name: 'template_id',
  }),
  filter_concept: query('Only templates of this concept; `*` stands for any characters', asText, {
    name: 'concept',
  }),
  filter_version: query('Only templates whose id ends with this version (`v1`, `1.2`)', asText, {
    name: 'version',
  }),
  // Without a default: generated clients send it, and a query with LIMIT takes no `offset`.
  offset: query('Rows to leave out', pageCount, { schema: { type: 'integer', minimum: 0 } }),
  fetch: query('Rows to give at most', pageCount, { schema: { type: 'integer', minimum: 1 } }),
  query_parameters: query(
    '`name=value` of a query parameter; any other unknown key is a parameter as well',
    asText,
    { schema: LIST, isList: true },
  ),
  as_of: query('Time: the query sees the versions that were the latest then', asText),
  tag_key: query('Only tags with one of these keys', asText, { schema: LIST, isList: true }),
  tag_value: query('Only tags with one of these values', asText, { schema: LIST, isList: true }),
  tag_target_path: query('Only tags with one of these paths', asText, { schema: LIST, isList: true }),
  deleted_ehr_id: query('EHR to be removed; absent: all', ehrId, {
    name: 'ehr_id',
    schema: LIST,
    isList: true,
  }),
  ids: query('Only tags with one of these ids', uuid, { schema: LIST, isList: true }),
  keys: query('Only tags with one of these keys', asText, { schema: LIST, isList: true }),
  source: query('EHR that was merged away', uuid),
  target: query('EHR that it was merged into', uuid),
  cascaded: query('Also merges that followed from others', flag, { schema: FLAG }),
  cascade: query('Also with EHRs that were merged into it and could be taken out', flag, { schema: FLAG }),
  pending: query('The merges that wait for another administrator, instead of those that stand', flag, {
    schema: FLAG,
  }),
  undone: query('The merges that were taken back, instead of those that stand', flag, { schema: FLAG }),
  merge_offset: query('Merges to leave out', count(0), {
    name: 'offset',
    schema: { type: 'integer', minimum: 0, default: 0 },
  }),
  merge_fetch: query('Merges to give at most', count(1, 1000), {
    name: 'fetch',
    schema: { type: 'integer', minimum: 1, maximum: 1000, default: 100 },
  }),
  approval_ehr_id: query('Only what changes this EHR', ehrId, { name: 'ehr_id' }),
  approval_offset: query('Those to leave out', count(0), {
    name: 'offset',
    schema: { type: 'integer', minimum: 0, default: 0 },
  }),
  approval_fetch: query('Those to give at most', count(1, 1000), {
    name: 'fetch',
    schema: { type: 'integer', minimum: 1, maximum: 1000, default: 100 },
  }),
  identifier: query('EHR id, id of the subject in any namespace, or `id` of a DV_IDENTIFIER', asText),
  ehr_after: query('`next` of the page before', ehrId, { name: 'after' }),
  ehr_fetch: query('EHRs of one page', count(1, 1000), {
    name: 'fetch',
    schema: { type: 'integer', minimum: 1, maximum: 1000, default: 100 },
  }),
  candidate_ehr_id: query('Who may be the person of this EHR?', ehrId, { name: 'ehr_id' }),
  candidate_after: query('`next` of the page before', ehrId, { name: 'after' }),
  candidate_fetch: query('Pairs after which the page ends', count(1, 1000), {
    name: 'fetch',
    schema: { type: 'integer', minimum: 1, maximum: 1000, default: 100 },
  }),
  unmerge_data: query('Also what is needed to undo a reversible merge', flag, { schema: FLAG }),
  from: query('Earliest time of a record', asTime, { schema: TIME }),
  to: query('Latest time of a record', asTime, { schema: TIME }),
  counted_list: query('Also list those of this kind', oneOf(...COUNTED_KINDS), {
    name: 'list',
    schema: word(...COUNTED_KINDS),
  }),
  user: query('Only records of the user with this name or `sub`', asText),
  operation: query('Only records of this operation: an operationId, or `unknown`', asText),
  audit_status: query('Only records of calls that were answered with this status', count(100, 599), {
    name: 'status',
    schema: { type: 'integer', minimum: 100, maximum: 599 },
  }),
  audit_ehr_id: query('Only records about this EHR', ehrId, { name: 'ehr_id' }),
  audit_offset: query('Records to leave out', count(0), {
    name: 'offset',
    schema: { type: 'integer', minimum: 0, default: 0 },
  }),
  audit_fetch: query('Records to give at most', count(1, 1000), {
    name: 'fetch',
    schema: { type: 'integer', minimum: 1, maximum: 1000, default: 100 },
  }),
  since: query('Head of the seals that was kept elsewhere and must be in the chain', sealHeadOf),
  metric_tag: query('`key:value` that the measurements must have', asText, {
    name: 'tag',
    schema: LIST,
    isList: true,
  }),

  'If-Match': header('Version uid that the change follows'),
  Prefer: header(
    '`return=minimal` (default), `return=identifier` or `return=representation`; `resolve_refs`; `validation=lenient`',
  ),
  'openEHR-VERSION': header('lifecycle_state and signature of the version'),
  'openEHR-AUDIT_DETAILS': header('change_type, description, committer of the audit'),
  'openEHR-TEMPLATE_ID': header('Template of a FLAT or STRUCTURED body'),
  'openEHR-EHR-id': header('Another form of the query parameter `ehr_id`'),
  'openehr-item-tag': header('Tags of the container: `key="a",value="b"; key="c"`'),
  'openehr-version-item-tag': header('Tags of the version that is made'),
  'Idempotency-Key': header('The same key with the same body gives the first answer again for 24 h', {
    type: 'string',
    minLength: 1,
    maxLength: 255,
  }),
} satisfies Readonly<Record<string, ParameterDescription>>;

/** Key of a described parameter. */
export type ParameterName = keyof typeof PARAMETERS;

/** Value that the text of a parameter becomes. */
export type ParameterValue<K extends ParameterName> = ReturnType<(typeof PARAMETERS)[K]['parse']>;

/** The description of a parameter, with its optional members. */
export function parameterDescription<K extends ParameterName>(
  key: K,
): ParameterDescription<ParameterValue<K>> & { readonly sentAs: string } {
  return DESCRIPTIONS[key] as ParameterDescription<ParameterValue<K>> & { readonly sentAs: string };
}

const DESCRIPTIONS = Object.fromEntries(
  Object.entries<ParameterDescription>(PARAMETERS).map(([key, description]) => [
    key,
    { ...description, sentAs: description.name ?? key },
  ]),
) as Readonly<Record<ParameterName, ParameterDescription & { readonly sentAs: string }>>;

/** The keys of the parameters that a path template names in braces, in their order. */
export function pathParameterNames(template: string): ParameterName[] {
  return [...template.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => {
    if (!Object.hasOwn(PARAMETERS, name)) throw new TypeError(`no parameter ${name} is described`);
    return name as ParameterName;
  });
}

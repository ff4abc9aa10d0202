import { collapsedToken } from '../../../openehr/base/text.js';
import { CdrError } from '../../../openehr/base/errors.js';
import { parseVersionAtTime } from '../../../openehr/base/iso8601.js';
import type { JsonObject } from '../../../openehr/base/json.js';
import { isUuid, parseEhrId } from '../../../openehr/base/object-version-id.js';
import { parseSealHead } from '../../../maintenance/seal-head.js';
import { COUNTED_KINDS } from '../../../models/cross-collection/statistics.js';
import type { SealHead } from '../../../models/cross-collection/seal-block.js';
import { policyIdOf, uidBasedIdOf, uuidOf, versionUidOf } from './object-ids.js';
import {
  asText,
  flag,
  line,
  oneOf,
  otherwise,
  pageNumber,
  severalOf,
  text,
  TEXT,
  time,
  wholeNumber,
  wordsOf,
  type Kind,
  type ParameterContext,
} from './parameter-kinds.js';

/** One parameter of an operation: where it stands, what it means, how its text becomes a value. */
export interface ParameterDescription<T = unknown> extends Kind<T> {
  readonly in: 'path' | 'query' | 'header';
  /** As it is sent; the key of the table unless said otherwise. */
  readonly name?: string;
  /** Other spellings that mean the same and are not documented. */
  readonly aliases?: readonly string[];
  readonly description: string;
  /** Query: may be given several times. */
  readonly isList?: true;
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

/** @throws invalid when it is no id of a record of the audit */
function auditId(text: string): string {
  if (!/^[0-9a-z][0-9a-z.-]{0,63}$/.test(text))
    throw new CdrError('invalid', 'after must be the `next` of the page before');
  return text;
}

/** @throws invalid when it is no head */
function sealHeadOf(text: string): SealHead {
  return parseSealHead(text);
}

const header = (description: string, schema: JsonObject = TEXT) =>
  ({ in: 'header', description, schema, parse: asText }) as const;
const query = <K extends Kind<unknown>>(
  description: string,
  kind: K,
  more: Pick<ParameterDescription, 'name' | 'aliases'> = {},
) => ({ in: 'query' as const, description, ...kind, ...more });
const path = <T>(description: string, parse: (text: string, context: ParameterContext) => T) =>
  ({ in: 'path', description, parse }) as const;

/** Members of a list that are left out before those that are given. */
const offset = (what: string) =>
  query(`${what} to leave out`, otherwise(0, wholeNumber(0)), { name: 'offset' });
/** The length of a part of a list. */
const fetch = (description: string) =>
  query(description, otherwise(100, wholeNumber(1, 1000)), { name: 'fetch' });

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
  template_revision: path('Number or digest of a revision of the template', asText),
  archetype_id: path('ARCHETYPE_ID, such as `openEHR-EHR-OBSERVATION.blood_pressure.v2`', asText),
  qualified_query_name: path('`[<namespace>::]<query-name>`; in a list a pattern of it', asText),
  version: path('SEMVER, whole or its first parts', asText),
  key: path('Key of the tag', asText),
  other_ehr_id: path('HIER_OBJECT_ID of the other EHR', ehrId),
  draft_id: path('UUID of the draft, which the client chooses', uuidOf),
  dashboard_id: path('UUID of the dashboard, which the client chooses', uuidOf),
  merge_id: path('Id of the merge, as in answers about it', uuidOf),
  batch: path('UUID of the import, which the client chooses', uuidOf),
  comparison_id: path('Id of the comparison, as in the answer that began it', uuidOf),
  import_id: path('Id of the import, as in the answer of what made it', uuidOf),
  upgrade_id: path('Id of the upgrade, as in the answer that began it', uuidOf),
  name_space: path('`<namespace>::`, or the name of a query without one', asText),
  approval_id: path('Id of what waits, as in answers about it', uuidOf),
  merged_ehr_id: path('EHR id that was merged away', uuidOf),
  name: path('Name of the metric or logger', asText),
  user_name: path('Name of the user', asText),
  policy_id: path('Id of the policy, of letters, digits and `._-`', policyIdOf),
  file: path('Name of the file', asText),

  subject_id: query('id of the patient: `subject.external_ref.id.value`', text),
  subject_namespace: query('`subject.external_ref.namespace`', text),
  include: query(
    'Comma list: `compositions`, `contributions` add references to the EHR, `versions` to the latest version of each thing in it; `ehr_status` gives the EHR_STATUS itself',
    wordsOf('compositions', 'contributions', 'ehr_status', 'versions'),
  ),
  version_at_time: query('Extended ISO 8601 time: the version that was the latest then; absent: now', {
    parse: versionAtTime,
  }),
  templateId: query('Template of a FLAT or STRUCTURED body', { parse: collapsedToken }),
  revision: query('Number or digest of a revision of the template; absent: the newest', text),
  format: query('Form of the COMPOSITION in request and response', {
    ...oneOf('JSON', 'XML', 'FLAT', 'STRUCTURED'),
    parse: asText,
  }),
  openehrVersion: query('lifecycle_state code, as the header `openEHR-VERSION` has it', text, {
    aliases: ['stdVersion'],
  }),
  path: query('Names of folders below the root, separated by `/`', {
    parse: (given: string): string[] => given.split('/').filter((name) => name !== ''),
  }),
  type: query(
    'Whether the example is made for reading or for committing',
    otherwise('input', oneOf('input', 'output')),
  ),
  history: query('Also what holds no more', flag),
  dry_run: query('Tell what would be done, and do nothing', flag),
  data: query(
    'Judge stored COMPOSITIONs in the background as well, which needs the permission `admin`: some at random, or all',
    oneOf('sample', 'all'),
  ),
  detail_level: query(
    'How much of the template the example fills',
    otherwise('required', oneOf('required', 'medium', 'complete')),
  ),
  verify: query('Say in `Everchart-Signature` whether the signature is that of the version', flag),
  writes: query('`minimal`: as writes answer `return=minimal`, without a body', oneOf('any', 'minimal')),
  query_type: query('Language of the query', {
    schema: { ...oneOf('AQL').schema, default: 'AQL' },
    parse: aqlOnly,
  }),
  query_type_alias: query('Another name of `query_type`', { parse: aqlOnly }, { name: 'type' }),
  q: query('AQL text', text),
  query_ehr_id: query('Narrows every EHR of the query to this one', { parse: ehrId }, { name: 'ehr_id' }),
  filter_template_id: query(
    'Only templates of this id; `*` stands for any characters',
    { parse: collapsedToken },
    {
      name: 'template_id',
    },
  ),
  filter_concept: query('Only templates of this concept; `*` stands for any characters', text, {
    name: 'concept',
  }),
  filter_version: query('Only templates whose id ends with this version (`v1`, `1.2`)', text, {
    name: 'version',
  }),
  // Without a default: generated clients send it, and a query with LIMIT takes no `offset`.
  offset: query('Rows to leave out', pageNumber(0)),
  fetch: query('Rows to give at most', pageNumber(1)),
  query_parameters: query(
    '`name=value` of a query parameter; any other unknown key is a parameter as well',
    severalOf(text),
  ),
  as_of: query('Time: the query sees the versions that were the latest then', text),
  tag_key: query('Only tags with one of these keys', severalOf(text)),
  tag_value: query('Only tags with one of these values', severalOf(text)),
  tag_target_path: query('Only tags with one of these paths', severalOf(text)),
  deleted_ehr_id: query('EHR to be removed; absent: all', severalOf({ parse: ehrId }), { name: 'ehr_id' }),
  ids: query('Only tags with one of these ids', severalOf({ parse: uuid })),
  keys: query('Only tags with one of these keys', severalOf(text)),
  source: query('EHR that was merged away', { parse: uuid }),
  target: query('EHR that it was merged into', { parse: uuid }),
  cascaded: query('Also merges that followed from others', flag),
  cascade: query('Also with EHRs that were merged into it and could be taken out', flag),
  reason: query('Why, at most 500 characters: the audit keeps it', line(500)),
  requested_by: query('Who asked for it, at most 200 characters: the audit keeps it', line(200)),
  pending: query('The merges that wait for another administrator, instead of those that stand', flag),
  undone: query('The merges that were taken back, instead of those that stand', flag),
  merge_offset: offset('Merges'),
  merge_fetch: fetch('Merges to give at most'),
  approval_ehr_id: query('Only what changes this EHR', { parse: ehrId }, { name: 'ehr_id' }),
  approval_offset: offset('Those'),
  approval_fetch: fetch('Those to give at most'),
  identifier: query('EHR id, id of the subject in any namespace, or `id` of a DV_IDENTIFIER', text),
  ehr_after: query('`next` of the page before', { parse: ehrId }, { name: 'after' }),
  ehr_fetch: fetch('EHRs of one page'),
  candidate_ehr_id: query('Who may be the person of this EHR?', { parse: ehrId }, { name: 'ehr_id' }),
  candidate_after: query('`next` of the page before', { parse: ehrId }, { name: 'after' }),
  candidate_fetch: fetch('Pairs after which the page ends'),
  unmerge_data: query('Also what is needed to undo a reversible merge', flag),
  from: query('Earliest time of a record', time),
  to: query('Latest time of a record', time),
  counted_list: query('Also list those of this kind', oneOf(...COUNTED_KINDS), { name: 'list' }),
  user: query('Only records of the user with this name or `sub`', text),
  operation: query('Only records of this operation: an operationId, or `unknown`', text),
  audit_status: query('Only records of calls that were answered with this status', wholeNumber(100, 599), {
    name: 'status',
  }),
  audit_ehr_id: query('Only records about this EHR', { parse: ehrId }, { name: 'ehr_id' }),
  audit_offset: offset('Records'),
  audit_fetch: fetch('Records to give at most'),
  audit_format: query(
    '`fhir`: AuditEvents of FHIR R4 in a Bundle, as IHE BALP has them',
    otherwise('json', oneOf('json', 'fhir')),
    { name: 'format' },
  ),
  audit_order: query('Which records come first', otherwise('newest', oneOf('newest', 'oldest')), {
    name: 'order',
  }),
  audit_after: query(
    'Where the page before ended: `id` of its last record, of a Bundle as its link says',
    text,
    {
      name: 'after',
    },
  ),
  report_language: query('Of the words; else that of `Accept-Language`', oneOf('en', 'de'), {
    name: 'language',
  }),
  report_after: query('`next` of the page before', { parse: auditId }, { name: 'after' }),
  report_fetch: fetch('Accesses to give at most'),
  since: query('Head of the seals that was kept elsewhere and must be in the chain', { parse: sealHeadOf }),
  subject: query(
    '`drop`: an EHR whose subject another one has is restored without it, and not refused',
    otherwise('keep', oneOf('keep', 'drop')),
  ),
  plan: query('`hash` of the plan that is to be carried out', text),
  versions: query(
    'Whether all versions of each object are wanted, or the latest one',
    otherwise('all', oneOf('all', 'latest')),
  ),
  metric_tag: query('`key:value` that the measurements must have', severalOf(text), { name: 'tag' }),

  'If-Match': header('Version uid that the change follows'),
  'dashboard-If-Match': {
    ...header('`saved_at` of the dashboard that the change follows, in quotes; absent: whatever it is'),
    name: 'If-Match',
  },
  'categories-If-Match': {
    ...header('`ETag` of the categories that the change follows; absent: whatever they are'),
    name: 'If-Match',
  },
  Prefer: header(
    '`return=minimal` (unless `PREFER_DEFAULT` says otherwise), `return=identifier` or `return=representation`; `resolve_refs`; `validation=lenient`',
  ),
  'openEHR-VERSION': header('lifecycle_state and signature of the version'),
  'openEHR-AUDIT_DETAILS': header('change_type, description, committer of the audit'),
  'openEHR-TEMPLATE_ID': header(
    'Template of a FLAT or STRUCTURED body; `<template_id>;revision=<number>`: the revision by which content is judged',
  ),
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

/** What a query parameter has that is not given. */
export type UsualValue<K extends ParameterName> = (typeof PARAMETERS)[K] extends { readonly usual: infer U }
  ? U
  : null;

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

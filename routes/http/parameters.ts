import type { JsonObject } from '../../base/json.js';

interface ParameterDoc {
  readonly in: 'query' | 'header';
  /** As it is sent; the key of the table unless said otherwise. */
  readonly name?: string;
  readonly description: string;
  readonly schema?: JsonObject;
}

const TEXT: JsonObject = { type: 'string' };
const FLAG: JsonObject = { type: 'boolean', default: false };
const LIST: JsonObject = { type: 'array', items: { type: 'string' } };
const TIME: JsonObject = { type: 'string', format: 'date-time' };
const word = (...words: string[]): JsonObject => ({ type: 'string', enum: words });

/** Query and header parameters, each described once. Contract, sections 2 to 6 and 8 to 13. */
const PARAMETERS = {
  subject_id: { in: 'query', description: 'id of the patient: `subject.external_ref.id.value`' },
  subject_namespace: { in: 'query', description: '`subject.external_ref.namespace`' },
  include: {
    in: 'query',
    description: 'Comma list of `compositions`, `contributions`: references to add to the EHR',
  },
  version_at_time: {
    in: 'query',
    description: 'Extended ISO 8601 time: the version that was the latest then; absent: now',
  },
  templateId: { in: 'query', description: 'Template of a FLAT or STRUCTURED body' },
  format: {
    in: 'query',
    description: 'Form of the COMPOSITION in request and response',
    schema: word('JSON', 'XML', 'FLAT', 'STRUCTURED'),
  },
  openehrVersion: {
    in: 'query',
    description: 'lifecycle_state code, as the header `openEHR-VERSION` has it',
  },
  path: { in: 'query', description: 'Names of folders below the root, separated by `/`' },
  type: {
    in: 'query',
    description: 'Whether the example is made for reading or for committing',
    schema: { ...word('input', 'output'), default: 'input' },
  },
  detail_level: {
    in: 'query',
    description: 'How much of the template the example fills',
    schema: { ...word('required', 'medium', 'complete'), default: 'required' },
  },
  query_type: {
    in: 'query',
    description: 'Language of the query',
    schema: { ...word('AQL'), default: 'AQL' },
  },
  query_type_alias: { in: 'query', name: 'type', description: 'Another name of `query_type`' },
  q: { in: 'query', description: 'AQL text' },
  ehr_id: { in: 'query', description: 'Narrows every EHR of the query to this one' },
  offset: {
    in: 'query',
    description: 'Rows to leave out',
    schema: { type: 'integer', minimum: 0, default: 0 },
  },
  fetch: { in: 'query', description: 'Rows to give at most', schema: { type: 'integer', minimum: 1 } },
  query_parameters: {
    in: 'query',
    description: '`name=value` of a query parameter; any other unknown key is a parameter as well',
    schema: LIST,
  },
  as_of: { in: 'query', description: 'Time: the query sees the versions that were the latest then' },
  tag_key: { in: 'query', description: 'Only tags with one of these keys', schema: LIST },
  tag_value: { in: 'query', description: 'Only tags with one of these values', schema: LIST },
  tag_target_path: { in: 'query', description: 'Only tags with one of these paths', schema: LIST },
  ids: { in: 'query', description: 'Only tags with one of these ids', schema: LIST },
  keys: { in: 'query', description: 'Only tags with one of these keys', schema: LIST },
  source: { in: 'query', description: 'EHR that was merged away' },
  target: { in: 'query', description: 'EHR that it was merged into' },
  cascaded: { in: 'query', description: 'Also merges that followed from others', schema: FLAG },
  unmerge_data: { in: 'query', description: 'Also what is needed to undo a reversible merge', schema: FLAG },
  from: { in: 'query', description: 'Earliest time of a record', schema: TIME },
  to: { in: 'query', description: 'Latest time of a record', schema: TIME },
  user: { in: 'query', description: 'Only records of this user' },
  audit_ehr_id: { in: 'query', name: 'ehr_id', description: 'Only records about this EHR' },
  audit_fetch: {
    in: 'query',
    name: 'fetch',
    description: 'Records to give at most',
    schema: { type: 'integer', minimum: 1, maximum: 1000, default: 100 },
  },
  metric_tag: {
    in: 'query',
    name: 'tag',
    description: '`key:value` that the measurements must have',
    schema: LIST,
  },
  'If-Match': { in: 'header', description: 'Version uid that the change follows' },
  Prefer: {
    in: 'header',
    description: '`return=minimal` (default), `return=identifier` or `return=representation`; `resolve_refs`',
  },
  'openEHR-VERSION': { in: 'header', description: 'lifecycle_state and signature of the version' },
  'openEHR-AUDIT_DETAILS': { in: 'header', description: 'change_type, description, committer of the audit' },
  'openEHR-TEMPLATE_ID': { in: 'header', description: 'Template of a FLAT or STRUCTURED body' },
  'openEHR-EHR-id': { in: 'header', description: 'Another form of the query parameter `ehr_id`' },
  'openehr-item-tag': { in: 'header', description: 'Tags of the container: `key="a",value="b"; key="c"`' },
  'openehr-version-item-tag': { in: 'header', description: 'Tags of the version that is made' },
  'Idempotency-Key': {
    in: 'header',
    description: 'The same key with the same body gives the first answer again for 24 h',
    schema: { type: 'string', minLength: 1, maxLength: 255 },
  },
} as const satisfies Readonly<Record<string, ParameterDoc>>;

/** Key of a described parameter. */
export type ParameterName = keyof typeof PARAMETERS;

/** What the parameters in paths are. */
export const PATH_PARAMETERS: Readonly<Record<string, string>> = {
  ehr_id: 'HIER_OBJECT_ID of the EHR',
  version_uid: 'OBJECT_VERSION_ID, `<uuid>::<system id>::<version number>`',
  versioned_object_uid: 'UUID of the container',
  uid_based_id: 'UUID of the container, or OBJECT_VERSION_ID of one version',
  contribution_uid: 'UUID of the CONTRIBUTION',
  contribution_id: 'UUID of the CONTRIBUTION',
  composition_id: 'UUID of the container, or OBJECT_VERSION_ID of one of its versions',
  directory_id: 'UUID of the container, or OBJECT_VERSION_ID of one of its versions',
  template_id: 'template_id of the operational template',
  qualified_query_name: '`[<namespace>::]<query-name>`; in a list a pattern of it',
  version: 'SEMVER, whole or its first parts',
  key: 'Key of the tag',
  id: 'EHR id that was merged away',
  name: 'Name of the metric or logger',
};

/** The OpenAPI objects of all query and header parameters. */
export function parameterComponents(): JsonObject {
  return Object.fromEntries(
    Object.entries<ParameterDoc>(PARAMETERS).map(([key, parameter]) => [
      key,
      {
        name: parameter.name ?? key,
        in: parameter.in,
        description: parameter.description,
        schema: parameter.schema ?? TEXT,
      },
    ]),
  );
}

/** Name of a parameter as it is sent, and where. */
export function sentParameter(key: ParameterName): {
  readonly name: string;
  readonly in: 'query' | 'header';
} {
  const parameter: ParameterDoc = PARAMETERS[key];
  return { name: parameter.name ?? key, in: parameter.in };
}

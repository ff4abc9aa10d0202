import type { JsonObject } from '../../../openehr/base/json.js';

import { ADMIN_SCHEMAS } from './admin-schemas.js';
import { AUDIT_SCHEMAS } from './audit-schemas.js';
import { TEMPLATE_SCHEMAS } from './template-schemas.js';
import { ERROR_SCHEMAS } from './error-schemas.js';
import { OVERVIEW_SCHEMAS } from './overview-schemas.js';
import { POLICY_SCHEMAS } from './policy-schemas.js';
import { OWN_SCHEMAS } from './own-schemas.js';
import { ANY, COUNT, FLAG, listOf, object, ref, TEXT, TIME, UUID, word } from './schema-parts.js';
import { discriminatorOf, RM_SCHEMAS, rmReference } from './rm-schemas.js';
import type { RmClassName } from '../../../openehr/rm/model/rm.js';

/** What a client may say of an AUDIT_DETAILS; the rest is the server's. */
const NEW_AUDIT: JsonObject = {
  ...object(
    {
      _type: { enum: ['AUDIT_DETAILS', 'ATTESTATION'] },
      change_type: ref('DV_CODED_TEXT'),
      description: rmReference('DV_TEXT'),
      committer: ref('PARTY_PROXY'),
      system_id: TEXT,
    },
    [],
  ),
};

const LISTED_EHR = {
  ehr_id: TEXT,
  time_created: TIME,
  subject: object({ id: TEXT, namespace: TEXT }, ['id', 'namespace']),
  is_queryable: FLAG,
  is_modifiable: FLAG,
};
/** The rest is what the EHR_STATUS says, which policies of access may hide. */
const LISTED_ALWAYS = ['ehr_id', 'time_created'];

const QUERY_MEMBERS = {
  offset: COUNT,
  fetch: COUNT,
  query_parameters: ANY,
  ehr_id: TEXT,
  as_of: TIME,
} as const;

function newContribution(version: string): JsonObject {
  const members = {
    _type: { const: 'CONTRIBUTION' },
    uid: ref('HIER_OBJECT_ID'),
    audit: NEW_AUDIT,
    versions: { ...listOf(ref(version)), minItems: 1 },
  };
  return object(members, ['versions']);
}

function newVersion(data: JsonObject): JsonObject {
  const members = {
    _type: { enum: ['ORIGINAL_VERSION', 'IMPORTED_VERSION'] },
    uid: ref('OBJECT_VERSION_ID'),
    preceding_version_uid: ref('OBJECT_VERSION_ID'),
    commit_audit: { ...NEW_AUDIT, required: ['change_type'] },
    lifecycle_state: ref('DV_CODED_TEXT'),
    data,
    attestations: listOf(ANY),
    signature: TEXT,
    item: {
      ...ref('ORIGINAL_VERSION'),
      description: 'Of an IMPORTED_VERSION, which has no other member than audit and signature',
    },
  };
  return object(members, ['commit_audit']);
}

/** Bodies of requests and answers, each described once. */
const SCHEMAS = {
  ...ERROR_SCHEMAS,
  UidOnly: { ...object({ uid: TEXT }), description: 'With `Prefer: return=identifier`' },
  NewContribution: {
    ...newContribution('NewVersion'),
    description: 'A CONTRIBUTION to be committed: docs/spec/rest.md#contribution',
  },
  SimplifiedNewContribution: {
    ...newContribution('SimplifiedNewVersion'),
    description: 'The same with its COMPOSITIONs in FLAT or STRUCTURED',
  },
  NewVersion: {
    ...newVersion(ref('VersionData')),
    description: 'A version to be committed; `data` is missing of a deletion',
  },
  SimplifiedNewVersion: {
    ...newVersion(ANY),
    description: 'The same; `data` of a COMPOSITION in FLAT or STRUCTURED, everything else canonical',
  },
  SimplifiedContribution: {
    ...object({
      _type: { const: 'CONTRIBUTION' },
      uid: ref('HIER_OBJECT_ID'),
      versions: listOf(ANY),
      audit: ANY,
    }),
    description: 'A CONTRIBUTION; with `resolve_refs` its COMPOSITIONs are in FLAT or STRUCTURED',
  },
  VersionData: {
    oneOf: [ref('COMPOSITION'), ref('EHR_STATUS'), ref('FOLDER')],
    discriminator: discriminatorOf(['COMPOSITION', 'EHR_STATUS', 'FOLDER']),
  },
  ServerDescription: object({
    solution: TEXT,
    solution_version: TEXT,
    vendor: TEXT,
    restapi_specs_version: TEXT,
    conformance_profile: TEXT,
    endpoints: listOf(TEXT),
  }),
  SmartConfiguration: object(
    {
      issuer: TEXT,
      authorization_endpoint: TEXT,
      token_endpoint: TEXT,
      grant_types_supported: listOf(TEXT),
      response_types_supported: listOf(TEXT),
      code_challenge_methods_supported: listOf(TEXT),
      scopes_supported: listOf(TEXT),
      capabilities: listOf(TEXT),
      services: {
        type: 'object',
        additionalProperties: object(
          { baseUrl: TEXT, description: TEXT, documentation: TEXT, openapi: TEXT },
          ['baseUrl'],
        ),
      },
    },
    ['scopes_supported', 'capabilities', 'services'],
  ),
  ArchetypeSource: { type: 'string', description: 'ADL 1.4' },
  Archetype: object(
    {
      archetype_id: TEXT,
      original_language: TEXT,
      languages: listOf(TEXT),
      concept: TEXT,
      terms: {
        type: 'object',
        description: 'By language',
        additionalProperties: listOf(object({ code: TEXT, text: TEXT, description: TEXT }, ['code', 'text'])),
      },
      created_timestamp: TIME,
    },
    ['archetype_id', 'original_language', 'languages', 'concept', 'terms'],
  ),
  ArchetypeList: listOf(
    object({ archetype_id: TEXT, concept: TEXT, languages: listOf(TEXT), created_timestamp: TIME }),
  ),
  OperationalTemplate: { type: 'string', description: 'OPT 1.4 as XML text' },
  TemplateList: listOf(
    object({ template_id: TEXT, concept: TEXT, archetype_id: TEXT, created_timestamp: TIME }),
  ),
  WebTemplate: object(
    {
      templateId: TEXT,
      semVer: TEXT,
      version: TEXT,
      defaultLanguage: TEXT,
      languages: listOf(TEXT),
      tree: ref('WebTemplateNode'),
    },
    ['templateId', 'version', 'defaultLanguage', 'languages', 'tree'],
  ),
  WebTemplateNode: object(
    {
      id: { ...TEXT, description: 'Its segment in FLAT paths' },
      name: TEXT,
      localizedName: TEXT,
      rmType: { ...TEXT, description: 'Class of the reference model' },
      nodeId: TEXT,
      min: COUNT,
      max: { type: 'integer', description: '-1: not limited' },
      localizedNames: { type: 'object', additionalProperties: TEXT },
      localizedDescriptions: { type: 'object', additionalProperties: TEXT },
      aqlPath: TEXT,
      inputs: listOf(ANY),
      children: listOf(ref('WebTemplateNode')),
    },
    ['id', 'rmType', 'min', 'max'],
  ),
  AqlText: { type: 'string', description: 'AQL' },
  AqlBody: object({ q: TEXT }),
  FLAT: {
    type: 'object',
    description: 'Paths of the web template with their values',
    // Text, number, boolean or null: a list of types is more than generators can read.
    additionalProperties: {},
  },
  STRUCTURED: {
    ...ANY,
    description:
      'As FLAT, as a tree: each node is a list, values stand below `|` and the name of their attribute',
  },
  NDJSON: {
    type: 'string',
    contentMediaType: 'application/x-ndjson',
    description: 'First line: RESULT_SET without `rows`; each other line: one row, an array',
  },
  CSV: {
    type: 'string',
    contentMediaType: 'text/csv',
    description: 'First line: names of the columns; formulas are neutralised',
  },
  EXTRACT: {
    ...ANY,
    description:
      'EXTRACT of the reference model: chapters with X_VERSIONED_OBJECTs and their ORIGINAL_VERSIONs',
  },
  StoredQuery: object({ name: TEXT, type: word('AQL'), version: TEXT, saved: TIME, q: TEXT }),
  StoredQueryList: listOf(ref('StoredQuery')),
  QueryRequest: object({ q: TEXT, ...QUERY_MEMBERS }, ['q']),
  StoredQueryRequest: object(QUERY_MEMBERS, []),
  RESULT_SET: object(
    {
      meta: ANY,
      name: TEXT,
      q: TEXT,
      columns: listOf(object({ name: TEXT, path: TEXT }, ['name'])),
      rows: listOf({ type: 'array', items: {} }),
    },
    ['q', 'columns', 'rows'],
  ),
  ItemTagList: listOf(
    object({ key: TEXT, value: TEXT, target_path: TEXT, target: ANY, owner_id: ANY }, [
      'key',
      'target',
      'owner_id',
    ]),
  ),
  ItemTagUpdate: listOf(object({ key: TEXT, value: TEXT, target_path: TEXT }, ['key'])),
  ItemTagDtoList: listOf(
    object(
      {
        id: UUID,
        owner_id: TEXT,
        target: UUID,
        target_type: word('COMPOSITION', 'EHR_STATUS'),
        target_path: TEXT,
        key: TEXT,
        value: TEXT,
      },
      ['key'],
    ),
  ),
  ItemTagIds: { type: 'array', description: 'Ids, or whole tags with their ids', items: {} },
  ServerStatus: object(
    {
      version: TEXT,
      openehr_rm_version: TEXT,
      openehr_rest_version: TEXT,
      node_version: TEXT,
      os_version: TEXT,
      mongodb_version: TEXT,
      ehrbase_version: TEXT,
    },
    [
      'version',
      'openehr_rm_version',
      'openehr_rest_version',
      'node_version',
      'os_version',
      'mongodb_version',
    ],
  ),
  ...OVERVIEW_SCHEMAS,
  EhrList: object({ ehrs: listOf(ref('ListedEhr')), truncated: FLAG }, ['ehrs']),
  ListedEhr: object(LISTED_EHR, LISTED_ALWAYS),
  FavouriteList: listOf(object({ ...LISTED_EHR, since: TIME }, [...LISTED_ALWAYS, 'since'])),
  Health: object({ status: word('UP', 'DOWN'), components: ANY }, ['status']),
  Object: ANY,
  Text: TEXT,
  LogLevel: object({ configuredLevel: word('OFF', 'FATAL', 'ERROR', 'WARN', 'INFO', 'DEBUG', 'TRACE') }),
  ...ADMIN_SCHEMAS,
  ...AUDIT_SCHEMAS,
  ...TEMPLATE_SCHEMAS,
  ...OWN_SCHEMAS,
  ...POLICY_SCHEMAS,
} as const satisfies Readonly<Record<string, JsonObject>>;

/** Name of a described body: one of ours, or a class of the reference model. */
export type SchemaName = keyof typeof SCHEMAS | RmClassName;

/** All of them by name. */
export const ALL_SCHEMAS: Readonly<Record<string, JsonObject>> = { ...RM_SCHEMAS, ...SCHEMAS };

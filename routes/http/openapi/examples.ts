import { CHANGE_TYPE, LIFECYCLE, lifecycleTerm } from '../../../change/commit/codes.js';
import { readFileSync } from 'node:fs';
import { type JsonObject, jsonObjectOf, type JsonValue } from '../../../openehr/base/json.js';
import { CANONICAL_NAMESPACES, toXml, xmlFragment } from '../../../openehr/format/canonical-xml.js';
import { flatToStructured } from '../../../openehr/format/composition/structured.js';
import { readRm } from '../../../openehr/rm/read.js';
import type { SchemaName } from './schemas.js';

/** A template and a composition of it in two formats, in the folder `data`. */
const TEMPLATE = 'minimal_evaluation.en.v1.opt';
const COMPOSITION = 'minimal_evaluation.en.v1.json';
const ARCHETYPE = 'pulse_of_house.adl';
const FLAT = 'minimal_evaluation.en.v1.flat.json';

const AQL = 'SELECT e/ehr_id/value AS ehr_id FROM EHR e LIMIT 5';
/** Who treats a patient sees the record. */
const POLICY = `permit (principal, action, resource)
when {
  principal has organisation && resource.hasTag("access.ward") &&
  resource.getTag("access.ward").contains(principal.organisation)
};`;
const EHR_STATUS: JsonObject = {
  _type: 'EHR_STATUS',
  archetype_node_id: 'openEHR-EHR-EHR_STATUS.generic.v1',
  archetype_details: {
    _type: 'ARCHETYPED',
    archetype_id: { _type: 'ARCHETYPE_ID', value: 'openEHR-EHR-EHR_STATUS.generic.v1' },
    rm_version: '1.0.4',
  },
  name: { _type: 'DV_TEXT', value: 'EHR Status' },
  subject: { _type: 'PARTY_SELF' },
  is_queryable: true,
  is_modifiable: true,
};
const FOLDER: JsonObject = {
  _type: 'FOLDER',
  archetype_node_id: 'openEHR-EHR-FOLDER.generic.v1',
  name: { _type: 'DV_TEXT', value: 'root' },
  folders: [
    {
      _type: 'FOLDER',
      archetype_node_id: 'openEHR-EHR-FOLDER.generic.v1',
      name: { _type: 'DV_TEXT', value: 'episodes' },
    },
  ],
};
const MERGE = {
  source_ehr: '7d44b88c-4199-4bad-97dc-d78268e01398',
  target_ehr: '297c3e91-7c17-4497-85dd-01e05aaae44e',
};

const INTERCHANGE = [
  { kind: 'header', format: 'everchart-interchange', version: 1 },
  {
    kind: 'stored_query',
    name: 'org.example.moved::ehrs',
    version: '1.0.0',
    saved: '2026-01-31T12:00:00Z',
    q: AQL,
  },
]
  .map((line) => `${JSON.stringify(line)}\n`)
  .join('');

/** An EXTRACT of an EHR that has nothing but its EHR_STATUS: whose it is, and the X_VERSIONED_OBJECT. */
function extracted(uuid: string, ehrId: string, contributionUid: string) {
  const id = (_type: string, value: string): JsonObject => ({ _type, value });
  const [created = {}] = contribution(EHR_STATUS).versions as JsonObject[];
  const version = {
    ...created,
    contribution: {
      ...{ _type: 'OBJECT_REF', namespace: 'local', type: 'CONTRIBUTION' },
      id: id('HIER_OBJECT_ID', contributionUid),
    },
    uid: id('OBJECT_VERSION_ID', `${uuid}::old.system::1`),
    lifecycle_state: lifecycleTerm(LIFECYCLE.complete),
  };
  const audit = {
    ...(created.commit_audit as JsonObject),
    system_id: 'old.system',
    committer: { _type: 'PARTY_IDENTIFIED', name: 'Ada Moe' },
    time_committed: id('DV_DATE_TIME', '2026-01-31T12:00:00Z'),
  };
  return { ehrId, uid: id('HIER_OBJECT_ID', uuid), version: { ...version, commit_audit: audit } };
}

function extract(): JsonObject {
  const { ehrId, uid, version } = extracted(
    '9f0c8e0b-6b0b-4a43-9d55-0c6d3b3fd0b1',
    MERGE.source_ehr,
    '5f1c9a6e-1b7d-4e0a-9c3b-0a8b6d2f4e11',
  );
  const item = { _type: 'X_VERSIONED_EHR_STATUS', uid, versions: [version] };
  const items = [{ _type: 'OPENEHR_CONTENT_ITEM', item }];
  return {
    _type: 'EXTRACT',
    chapters: [{ _type: 'EXTRACT_ENTITY_CHAPTER', extract_id_key: ehrId, items }],
  };
}

/** One of another EHR, part by part: the classes of an EXTRACT are none of those that the writer of XML knows. */
function extractXml(): string {
  const { ehrId, uid, version } = extracted(
    '3b0c9a52-3d7f-4f0e-8d4c-5a1f6f1f7a20',
    MERGE.target_ehr,
    'c4d2a6f1-52b7-4e39-8a0f-7b6e9d3c1f58',
  );
  const content =
    xmlFragment(uid, 'uid', 'HIER_OBJECT_ID') + xmlFragment(version, 'versions', 'ORIGINAL_VERSION');
  const item = `<item xsi:type="X_VERSIONED_EHR_STATUS">${content}</item>`;
  const items = `<items xsi:type="OPENEHR_CONTENT_ITEM">${item}</items>`;
  const chapter = `<chapters xsi:type="EXTRACT_ENTITY_CHAPTER"><extract_id_key>${ehrId}</extract_id_key>${items}</chapters>`;
  const namespaces = Object.entries(CANONICAL_NAMESPACES).map(([name, value]) => ` ${name}="${value}"`);
  return `<?xml version="1.0"?><extract${namespaces.join('')}>${chapter}</extract>`;
}

/** Bodies in canonical JSON or JSON of our own, by their schema. */
const JSON_EXAMPLES: Readonly<Partial<Record<SchemaName, () => JsonValue>>> = {
  EHR_STATUS: () => EHR_STATUS,
  COMPOSITION: composition,
  FOLDER: () => FOLDER,
  NewContribution: () => contribution(),
  AqlText: () => ({ q: AQL }),
  QueryRequest: () => ({ q: 'SELECT e/ehr_id/value AS ehr_id FROM EHR e', fetch: 5 }),
  StoredQueryRequest: () => ({ query_parameters: {} }),
  ItemTagUpdate: () => [{ key: 'status', value: 'reviewed' }],
  ItemTagDtoList: () => [{ key: 'ward', value: 'A2' }],
  ItemTagIds: () => ['b4ae0c4f-1d1f-4ba7-9f0e-36ab0d1a1c1e'],
  DashboardBody: () => ({
    name: 'Ward',
    panels: [{ title: 'Records', q: 'SELECT COUNT(*) FROM EHR e', show: 'table' }],
  }),
  ConceptSearch: () => ({ value_set: 'http://hl7.org/fhir/ValueSet/observation-status', filter: 'final' }),
  PrintBody: () => ({ of: 'result', q: 'SELECT e/ehr_id/value FROM EHR e' }),
  DraftBody: () => ({
    template_id: 'minimal_evaluation.en.v1',
    content: { 'minimal/minimal:0/quantity|magnitude': 12 },
  }),
  UserBody: () => ({ roles: ['USER'], password: 'a password of some words' }),
  AccessPolicyBody: () => ({ policy: POLICY }),
  AccessCategoriesBody: () => ({
    categories: [{ name: 'psychiatry', templates: ['psychiatry_note.v1'], archetypes: [] }],
  }),
  EhrMarksBody: () => ({ marks: [] }),
  AccessQuestion: () => ({
    principal: { sub: 'ada', roles: ['PHYSICIAN'], organisation: 'ward-3b' },
    action: 'read',
    resource: { type: 'Ehr', ehr_id: MERGE.target_ehr, tags: { 'access.ward': ['ward-3b'] } },
  }),
  AccessDraft: () => ({
    policies: [{ id: 'own-ward', policy: POLICY }],
    principals: [{ sub: 'ada', organisation: 'ward-3b' }],
  }),
  LogLevel: () => ({ configuredLevel: 'INFO' }),
  MergeRequestBody: () => ({ ...MERGE, reversible: true, dry_run: true }),
  FinaliseRequestBody: () => ({ reason: 'the time to object is over' }),
  MoveRequestBody: () => ({
    target_ehr: MERGE.target_ehr,
    reason: 'recorded for another patient',
    dry_run: true,
  }),
  UnmergeRequestBody: () => ({ ...MERGE, dry_run: true }),
  ConfirmMergeBody: () => ({ dry_run: true }),
  DistinctBody: () => ({ reason: 'twins: born on the same day, with two numbers of insurance' }),
  QueryOwnerBody: () => ({ sub: '5f1c9a6e-1b7d-4e0a-9c3b-0a8b6d2f4e11' }),
  InterchangeLines: () => INTERCHANGE,
  EXTRACT: extract,
  TemplateUpgradeBody: () => ({ rules: [] }),
  TwoRevisions: () => ({ from: '1', to: '1' }),
  WithdrawMergeBody: () => ({ reason: 'two patients of the same name' }),
};

/** Bodies as plain text. */
const TEXT_EXAMPLES: Readonly<Partial<Record<SchemaName, string>>> = {
  AqlText: AQL,
  AccessPolicyBody: POLICY,
};

/** The root element of XML where it is not the name of the schema in lower case. */
const XML_ROOTS: Readonly<Partial<Record<SchemaName, string>>> = { NewContribution: 'contribution' };

/** Operational templates, where they are not JSON. */
const OPTS: ReadonlySet<SchemaName> = new Set(['OperationalTemplate', 'TwoRevisions']);

const kept = new Map<string, JsonValue | undefined>();

/** An example of a body as it is sent: JSON as a value, everything else as text. undefined: there is none. */
export function exampleOf(schema: SchemaName, mediaType: string): JsonValue | undefined {
  const key = `${schema} ${mediaType}`;
  if (!kept.has(key)) kept.set(key, made(schema, mediaType));
  return kept.get(key);
}

function made(schema: SchemaName, mediaType: string): JsonValue | undefined {
  if (OPTS.has(schema) && mediaType !== 'application/json') return dataFile(TEMPLATE);
  if (schema === 'ArchetypeSource') return dataFile(ARCHETYPE);
  if (mediaType === 'text/plain') return TEXT_EXAMPLES[schema];
  const simplified = simplifiedExample(mediaType);
  if (simplified !== undefined) return schema === 'NewContribution' ? contribution(simplified) : simplified;
  const value = JSON_EXAMPLES[schema]?.();
  return value === undefined || !mediaType.endsWith('/xml') ? value : xmlOf(schema, value);
}

function xmlOf(schema: SchemaName, value: JsonValue): string {
  if (schema === 'EXTRACT') return extractXml();
  return toXml(value as JsonObject, XML_ROOTS[schema] ?? schema.toLowerCase());
}

function simplifiedExample(mediaType: string): JsonObject | undefined {
  if (mediaType.includes('.flat+')) return json(FLAT);
  return mediaType.includes('.structured+') ? flatToStructured(json(FLAT)) : undefined;
}

/** With `_type` on every object, also where it may be left out. */
function composition(): JsonObject {
  const { object } = readRm(json(COMPOSITION) as JsonValue, 'COMPOSITION');
  const example = { ...(object as JsonObject) };
  delete example.uid;
  return example;
}

function contribution(data: JsonObject = composition()): JsonObject {
  const defining_code = {
    _type: 'CODE_PHRASE',
    terminology_id: { _type: 'TERMINOLOGY_ID', value: 'openehr' },
    code_string: CHANGE_TYPE.creation,
  };
  const change_type = { _type: 'DV_CODED_TEXT', value: 'creation', defining_code };
  const commit_audit = { _type: 'AUDIT_DETAILS', change_type };
  return {
    _type: 'CONTRIBUTION',
    versions: [{ _type: 'ORIGINAL_VERSION', commit_audit, data }],
  };
}

function json(name: string): JsonObject {
  return jsonObjectOf(dataFile(name));
}

function dataFile(name: string): string {
  return readFileSync(new URL(`./data/${name}`, import.meta.url), 'utf8');
}

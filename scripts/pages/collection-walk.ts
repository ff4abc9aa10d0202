/** What makes the collection a walk from beginning to end: order, variables that chain, and what each request expects. */

/** Folders by their tag in the order in which one needs what another made. */
export const FOLDERS = [
  'System',
  'TEMPLATE',
  'ARCHETYPE',
  'Terminology',
  'STORED_QUERY',
  'EHR',
  'EHR_STATUS',
  'COMPOSITION',
  'Drafts',
  'Favourites',
  'Marks',
  'Prints',
  'DIRECTORY',
  'CONTRIBUTION',
  'QUERY',
  'Dashboards',
  'ITEM_TAG',
  'ITEM_TAG of EHRbase',
  'Access report',
  'Status',
  'Management',
  'EHR merge',
  'Administration',
];

/** Operations that come first and last in their folder; the others as in the document. */
const FIRST = [
  'directory_create',
  'ehr_create',
  'archetype_adl1.4_upload',
  'query_store',
  'query_store_version',
  'composition_item_tag_put',
  'ehr_status_item_tag_put',
];
const FIRST_TOO = [
  'draft_save',
  'favourite_save',
  'dashboard_save',
  'composition_tags_update',
  'ehr_status_tags_update',
  'mergeEhrs',
  'putPolicy',
];
/** Before two EHRs are merged. */
const BEFORE_ALL = ['sayDistinct', 'takeBackDistinct'];
const LAST = [
  'composition_delete',
  'directory_delete',
  'unmerge',
  'deleteComposition',
  'deleteDirectory',
  'deleteEhr',
  'removeTemplateRevision',
  'deleteTemplate',
  'deleteStoredQuery',
  'deleteAllTemplates',
  'removePolicy',
];

/** Where an operation stands in its folder. */
export function rankOf(id: string): number {
  if (BEFORE_ALL.includes(id)) return -1;
  if (FIRST.includes(id) || FIRST_TOO.includes(id)) return 0;
  return 1 + (LAST.indexOf(id) + 1);
}

/** The variables of the collection; what is empty is set by a request. */
export const VARIABLES: Readonly<Record<string, string>> = {
  origin: 'http://127.0.0.1:8080',
  token: '',
  delete_all: '',
  template_id: 'minimal_evaluation.en.v1',
  query_name: 'org.example.collection::ehrs',
  query_name_space: 'org.example.collection::',
  query_version: '1.0.0',
  subject_id: '',
  other_subject_id: '',
  ehr_id: '',
  other_ehr_id: '',
  ehr_status_uid: '',
  ehr_status_id: '',
  composition_uid: '',
  composition_id: '',
  directory_uid: '',
  directory_id: '',
  contribution_uid: '',
  merge_id: '00000000-0000-4000-8000-000000000000',
  approval_id: '00000000-0000-4000-8000-000000000000',
  draft_id: '00000000-0000-4000-8000-000000000001',
  dashboard_id: '00000000-0000-4000-8000-000000000002',
  tag_ids: '[]',
};

/** The value of a parameter of a path. */
export function pathValue(name: string, operationId: string): string {
  const resource = ['ehr_status', 'directory'].find((one) => operationId.includes(one)) ?? 'composition';
  if (name === 'version_uid') return `{{${resource}_uid}}`;
  if (name === 'uid_based_id')
    return operationId === 'composition_delete' ? '{{composition_uid}}' : `{{${resource}_id}}`;
  if (name === 'ehr_id') return operationId === 'ehr_create_with_id' ? '{{other_ehr_id}}' : '{{ehr_id}}';
  return PATH_VALUES[name] ?? '';
}

const PATH_VALUES: Readonly<Record<string, string>> = {
  template_id: '{{template_id}}',
  template_revision: '1',
  upgrade_id: '00000000-0000-4000-8000-000000000003',
  comparison_id: '00000000-0000-4000-8000-000000000003',
  archetype_id: 'openEHR-EHR-OBSERVATION.pulse_of_house.v1',
  qualified_query_name: '{{query_name}}',
  version: '{{query_version}}',
  versioned_object_uid: '{{composition_id}}',
  composition_id: '{{composition_id}}',
  directory_id: '{{directory_id}}',
  contribution_uid: '{{contribution_uid}}',
  contribution_id: '{{contribution_uid}}',
  merged_ehr_id: '{{other_ehr_id}}',
  merge_id: '{{merge_id}}',
  approval_id: '{{approval_id}}',
  batch: '00000000-0000-4000-8000-000000000003',
  draft_id: '{{draft_id}}',
  dashboard_id: '{{dashboard_id}}',
  user_name: 'collection',
  policy_id: 'collection',
  other_ehr_id: '{{other_ehr_id}}',
  key: 'status',
  name_space: '{{query_name_space}}',
};

/** Query parameters that a request has to have. */
export const QUERY_VALUES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  ehr_find: { identifier: '{{subject_id}}' },
  ehr_get_by_subject: { subject_id: '{{subject_id}}', subject_namespace: 'collection' },
  query_execute_adhoc: { q: 'SELECT e/ehr_id/value AS ehr_id FROM EHR e LIMIT 5' },
  getMergeDetails: { source: '{{other_ehr_id}}', target: '{{ehr_id}}' },
  deleteEhr: { cascade: 'true' },
};

/** Values of the path by operation, where the name alone does not decide. */
export const OWN_PATH_VALUES: Readonly<Record<string, string>> = {
  management_metric: 'http_server_requests_seconds',
  management_logger: 'ROOT',
  management_logger_set: 'ROOT',
};

/** `If-Match` of a change. */
export const IF_MATCH: Readonly<Record<string, string>> = {
  composition_update: '"{{composition_uid}}"',
  ehr_status_update: '"{{ehr_status_uid}}"',
  directory_update: '"{{directory_uid}}"',
  directory_delete: '"{{directory_uid}}"',
};

/** Statuses beside those of success: of a second run, of a server that others use too, or where two administrators are needed. */
const ALSO_EXPECTED: Readonly<Record<string, readonly number[]>> = {
  // With SMART_SCOPES=off it is not there.
  smart_configuration: [401, 404],
  'template_adl1.4_upload': [409],
  'archetype_adl1.4_upload': [409],
  query_store_version: [409],
  confirmMerge: [404],
  withdrawMerge: [404],
  confirmApproval: [404],
  withdrawApproval: [404],
  finaliseMerge: [404],
  // To the EHR where it is already.
  moveComposition: [400, 404, 409],
  updateTemplate: [422],
  deleteTemplate: [422],
  removeTemplateRevision: [404, 422],
  getTemplateComparison: [404],
  cancelTemplateComparison: [404],
  resumeTemplateComparison: [404],
  upgradeTemplate: [400, 404],
  getTemplateUpgrade: [404],
  pauseTemplateUpgrade: [404],
  resumeTemplateUpgrade: [404],
  undoTemplateUpgrade: [404],
  deleteAllTemplates: [422],
  // Where no terminology server is named, and where an identity provider knows the users.
  terminology_search: [404],
  saveUser: [404],
  removeUser: [404],
  // Where there are no policies, nor marks.
  marks_get: [409],
  marks_put: [409],
  listPolicies: [404],
  getPolicy: [404],
  listPolicyVersions: [404],
  putPolicy: [404],
  removePolicy: [404],
  validatePolicy: [404],
  decideAccess: [404],
  comparePolicies: [404],
  listObserved: [404],
  getCategories: [404],
  putCategories: [404],
  listCategoryVersions: [404],
  // Nobody may by `*`; and the examples are of an EHR that is there, without a plan, and of no import.
  restore: [403],
  ehr_extract_create: [403, 409],
  addExtract: [400, 403],
  undoExtract: [400, 403, 404],
};

/** Text of a body with the values of the walk in the place of those of the example. */
export function bodyText(id: string, example: string): string {
  const subject = (name: string): string =>
    JSON.stringify({
      _type: 'PARTY_SELF',
      external_ref: {
        _type: 'PARTY_REF',
        id: { _type: 'GENERIC_ID', value: `{{${name}}}`, scheme: 'collection' },
        namespace: 'collection',
        type: 'PERSON',
      },
    });
  if (id.endsWith('item_tag_delete')) return '{{tag_ids}}';
  const name = id === 'ehr_create_with_id' ? 'other_subject_id' : 'subject_id';
  return (
    example
      .replace(
        /\{\s*"_type": "PARTY_SELF"\s*\}/,
        id.startsWith('ehr_') || id === 'updateEhr' ? subject(name) : '$&',
      )
      .replace('7d44b88c-4199-4bad-97dc-d78268e01398', '{{other_ehr_id}}')
      .replace('297c3e91-7c17-4497-85dd-01e05aaae44e', '{{ehr_id}}')
      // The log of the server stays as quiet as it is.
      .replace('"configuredLevel": "INFO"', '"configuredLevel": "WARN"')
      .replace('"dry_run": true', id === 'mergeEhrs' ? '"dry_run": false' : '$&')
  );
}

/** Script before a request. */
export function beforeScript(id: string): string[] {
  if (id === 'ehr_create')
    return [`pm.collectionVariables.set('subject_id', pm.variables.replaceIn('{{$guid}}'));`];
  if (id === 'ehr_create_with_id')
    return ['other_ehr_id', 'other_subject_id'].map(
      (name) => `pm.collectionVariables.set('${name}', pm.variables.replaceIn('{{$guid}}'));`,
    );
  if (id === 'deleteAllTemplates')
    return [
      '// Set the variable delete_all to yes to really do it.',
      `if (pm.variables.get('delete_all') !== 'yes') pm.execution.skipRequest();`,
    ];
  return [];
}

/** Script after a request: what it must answer, and the variables that it sets. */
export function afterScript(id: string, statuses: readonly number[]): string[] {
  const expected = [...statuses, ...(ALSO_EXPECTED[id] ?? [])];
  return [
    `pm.test('answers ${expected.join(' or ')}', () => pm.expect(pm.response.code).to.be.oneOf(${JSON.stringify(expected)}));`,
    ...(SETS[id] ?? []),
  ];
}

const version = (resource: string): string[] => [
  `const uid = pm.response.headers.get('ETag').replace(/^W\\/|"/g, '');`,
  `pm.collectionVariables.set('${resource}_uid', uid);`,
  `pm.collectionVariables.set('${resource}_id', uid.split('::')[0]);`,
];
const TAG_IDS = [
  `pm.collectionVariables.set('tag_ids', JSON.stringify(pm.response.json().map(({ id }) => id)));`,
];

const SETS: Readonly<Record<string, readonly string[]>> = {
  ehr_create: [
    `pm.collectionVariables.set('ehr_id', pm.response.headers.get('ETag').replace(/^W\\/|"/g, ''));`,
  ],
  ehr_status_get_at_time: version('ehr_status'),
  ehr_status_update: version('ehr_status'),
  composition_create: version('composition'),
  composition_update: version('composition'),
  directory_create: version('directory'),
  directory_update: version('directory'),
  contribution_create: [
    `pm.collectionVariables.set('contribution_uid', pm.response.headers.get('ETag').replace(/^W\\/|"/g, ''));`,
  ],
  contribution_get: [
    `const [made] = pm.response.json().versions;`,
    `pm.collectionVariables.set('composition_uid', made.id.value);`,
    `pm.collectionVariables.set('composition_id', made.id.value.split('::')[0]);`,
  ],
  composition_item_tag_get: TAG_IDS,
  ehr_status_item_tag_get: TAG_IDS,
};

import type { BodyDoc, OperationGroup, ResponseDoc } from '../http/operation.js';

const V1 = '/rest/openehr/v1';
const EHR = `${V1}/ehr/{ehr_id}`;
const ehr: BodyDoc = { schema: 'EHR', types: 'rm' };
const ehrStatus: BodyDoc = { schema: 'EHR_STATUS', types: 'rm' };

const version = (description: string, body: BodyDoc): ResponseDoc => ({
  description,
  body,
  headers: ['ETag', 'Location', 'Last-Modified'],
});

/** What the server is. */
export const SYSTEM_OPERATIONS: OperationGroup = {
  tag: 'System',
  description: 'What this server is',
  operations: [
    {
      id: 'options',
      method: 'options',
      path: `${V1}/`,
      summary: 'Describe the server',
      access: 'user',
      responses: {
        200: {
          description: 'The server',
          body: { schema: 'ServerDescription', types: 'json' },
          headers: ['Allow'],
        },
      },
      errors: [],
    },
  ],
};

/** Contract section 8, EHR. */
export const EHR_OPERATIONS: OperationGroup = {
  tag: 'EHR',
  description: 'Electronic health records. There is no operation that lists them all',
  operations: [
    {
      id: 'ehr_create',
      method: 'post',
      path: `${V1}/ehr`,
      summary: 'Create an EHR',
      access: 'user',
      parameters: ['Prefer', 'openEHR-VERSION', 'openEHR-AUDIT_DETAILS', 'Idempotency-Key'],
      request: { ...ehrStatus, required: false },
      responses: { 201: version('Created; a body only when `Prefer` asks for one', ehr) },
      errors: [400, 409, 422],
    },
    {
      id: 'ehr_get_by_subject',
      method: 'get',
      path: `${V1}/ehr`,
      summary: 'Find the EHR of a patient',
      access: 'user',
      parameters: ['subject_id', 'subject_namespace', 'include'],
      responses: { 200: version('The EHR', ehr) },
      errors: [400, 404],
    },
    {
      id: 'ehr_create_with_id',
      method: 'put',
      path: EHR,
      summary: 'Create an EHR with a given id',
      access: 'user',
      parameters: ['Prefer', 'openEHR-VERSION', 'openEHR-AUDIT_DETAILS'],
      request: { ...ehrStatus, required: false },
      responses: { 201: version('Created; a body only when `Prefer` asks for one', ehr) },
      errors: [400, 409],
    },
    {
      id: 'ehr_get_by_id',
      method: 'get',
      path: EHR,
      summary: 'Get an EHR',
      access: 'user',
      parameters: ['include'],
      responses: { 200: version('The EHR', ehr) },
      errors: [400, 404],
    },
  ],
};

/** Contract section 8, EHR_STATUS. */
export const EHR_STATUS_OPERATIONS: OperationGroup = {
  tag: 'EHR_STATUS',
  description: 'Versioned status of an EHR; made with the EHR and never deleted',
  operations: [
    {
      id: 'ehr_status_get_at_time',
      method: 'get',
      path: `${EHR}/ehr_status`,
      summary: 'Get the status, now or at a time',
      access: 'user',
      parameters: ['version_at_time'],
      responses: { 200: version('The status', ehrStatus) },
      errors: [400, 404],
    },
    {
      id: 'ehr_status_get_by_version',
      method: 'get',
      path: `${EHR}/ehr_status/{version_uid}`,
      summary: 'Get one version of the status',
      access: 'user',
      responses: { 200: version('The status', ehrStatus) },
      errors: [400, 404],
    },
    {
      id: 'ehr_status_update',
      method: 'put',
      path: `${EHR}/ehr_status`,
      summary: 'Commit a new version of the status',
      access: 'user',
      parameters: [
        'If-Match',
        'Prefer',
        'openEHR-VERSION',
        'openEHR-AUDIT_DETAILS',
        'openehr-item-tag',
        'openehr-version-item-tag',
      ],
      request: ehrStatus,
      responses: { 200: version('Updated; a body only when `Prefer` asks for one', ehrStatus) },
      errors: [400, 404, 409, 412],
    },
    ...versionedOperations('versioned_ehr_status', `${EHR}/versioned_ehr_status`),
  ],
};

/** The four reads of a container. */
export function versionedOperations(id: string, path: string): OperationGroup['operations'] {
  const original: BodyDoc = { schema: 'ORIGINAL_VERSION', types: 'rm' };
  return [
    {
      id: `${id}_get`,
      method: 'get',
      path,
      summary: 'Get the container',
      access: 'user',
      responses: { 200: { description: 'The container', body: { schema: 'VERSIONED_OBJECT', types: 'rm' } } },
      errors: [400, 404],
    },
    {
      id: `${id}_revision_history_get`,
      method: 'get',
      path: `${path}/revision_history`,
      summary: 'Get the audits of all versions',
      access: 'user',
      responses: { 200: { description: 'The history', body: { schema: 'REVISION_HISTORY', types: 'rm' } } },
      errors: [400, 404],
    },
    {
      id: `${id}_version_get_at_time`,
      method: 'get',
      path: `${path}/version`,
      summary: 'Get a version with its audit, now or at a time',
      access: 'user',
      parameters: ['version_at_time'],
      responses: { 200: version('The version', original) },
      errors: [400, 404],
    },
    {
      id: `${id}_version_get_by_id`,
      method: 'get',
      path: `${path}/version/{version_uid}`,
      summary: 'Get one version with its audit',
      access: 'user',
      responses: { 200: version('The version', original) },
      errors: [400, 404],
    },
  ];
}

import { versionedOperations } from './ehr-operations.js';
import type { BodyDoc, OperationGroup, ResponseDoc } from '../http/operation.js';

const EHR = '/rest/openehr/v1/ehr/{ehr_id}';
const composition: BodyDoc = { schema: 'COMPOSITION', types: 'composition' };
const folder: BodyDoc = { schema: 'FOLDER', types: 'rm' };
const contribution: BodyDoc = { schema: 'CONTRIBUTION', types: 'rm' };

const version = (description: string, body?: BodyDoc): ResponseDoc => ({
  description,
  ...(body !== undefined && { body }),
  headers: ['ETag', 'Location', 'Last-Modified'],
});
const DELETED = version('Deleted then; the headers tell the deletion');

/** Contract section 8, COMPOSITION. */
export const COMPOSITION_OPERATIONS: OperationGroup = {
  tag: 'COMPOSITION',
  description: 'Versioned clinical documents in canonical JSON, XML, FLAT and STRUCTURED',
  operations: [
    {
      id: 'composition_create',
      method: 'post',
      path: `${EHR}/composition`,
      summary: 'Commit a new COMPOSITION',
      access: 'user',
      parameters: [
        'templateId',
        'format',
        'Prefer',
        'openEHR-VERSION',
        'openEHR-AUDIT_DETAILS',
        'openEHR-TEMPLATE_ID',
        'openehr-item-tag',
        'openehr-version-item-tag',
        'Idempotency-Key',
      ],
      request: composition,
      responses: { 201: version('Created; a body only when `Prefer` asks for one', composition) },
      errors: [400, 404, 409, 412, 422],
    },
    {
      id: 'composition_get',
      method: 'get',
      path: `${EHR}/composition/{uid_based_id}`,
      summary: 'Get a COMPOSITION: one version, or the one of a container now or at a time',
      access: 'user',
      parameters: ['version_at_time', 'format'],
      responses: { 200: version('The COMPOSITION', composition), 204: DELETED },
      errors: [400, 404],
    },
    {
      id: 'composition_update',
      method: 'put',
      path: `${EHR}/composition/{versioned_object_uid}`,
      summary: 'Commit a new version of a COMPOSITION',
      access: 'user',
      parameters: [
        'templateId',
        'format',
        'openehrVersion',
        'If-Match',
        'Prefer',
        'openEHR-VERSION',
        'openEHR-AUDIT_DETAILS',
        'openEHR-TEMPLATE_ID',
        'openehr-item-tag',
        'openehr-version-item-tag',
      ],
      request: composition,
      responses: { 200: version('Updated; a body only when `Prefer` asks for one', composition) },
      errors: [400, 404, 409, 412, 422],
    },
    {
      id: 'composition_delete',
      method: 'delete',
      path: `${EHR}/composition/{version_uid}`,
      summary: 'Delete a COMPOSITION logically',
      access: 'user',
      parameters: ['openEHR-AUDIT_DETAILS'],
      responses: { 204: version('Deleted; the headers tell the deletion version') },
      errors: [400, 404, 409],
    },
    ...versionedOperations('versioned_composition', `${EHR}/versioned_composition/{versioned_object_uid}`),
  ],
};

/** Contract section 8, directory. */
export const DIRECTORY_OPERATIONS: OperationGroup = {
  tag: 'DIRECTORY',
  description: 'Versioned FOLDER tree of an EHR',
  operations: [
    {
      id: 'directory_create',
      method: 'post',
      path: `${EHR}/directory`,
      summary: 'Create the directory',
      access: 'user',
      parameters: ['Prefer', 'openEHR-VERSION', 'openEHR-AUDIT_DETAILS', 'Idempotency-Key'],
      request: folder,
      responses: { 201: version('Created; a body only when `Prefer` asks for one', folder) },
      errors: [400, 404, 409, 412, 422],
    },
    {
      id: 'directory_get_at_time',
      method: 'get',
      path: `${EHR}/directory`,
      summary: 'Get the directory or one of its folders, now or at a time',
      access: 'user',
      parameters: ['version_at_time', 'path'],
      responses: { 200: version('The FOLDER', folder), 204: DELETED },
      errors: [400, 404],
    },
    {
      id: 'directory_get_by_version',
      method: 'get',
      path: `${EHR}/directory/{version_uid}`,
      summary: 'Get one version of the directory or of one of its folders',
      access: 'user',
      parameters: ['path'],
      responses: { 200: version('The FOLDER', folder), 204: DELETED },
      errors: [400, 404],
    },
    {
      id: 'directory_update',
      method: 'put',
      path: `${EHR}/directory`,
      summary: 'Commit a new version of the directory',
      access: 'user',
      parameters: ['If-Match', 'Prefer', 'openEHR-VERSION', 'openEHR-AUDIT_DETAILS'],
      request: folder,
      responses: { 200: version('Updated; a body only when `Prefer` asks for one', folder) },
      errors: [400, 404, 409, 412],
    },
    {
      id: 'directory_delete',
      method: 'delete',
      path: `${EHR}/directory`,
      summary: 'Delete the directory logically',
      access: 'user',
      parameters: ['If-Match', 'openEHR-AUDIT_DETAILS'],
      responses: { 204: version('Deleted; the headers tell the deletion version') },
      errors: [400, 404, 409, 412],
    },
  ],
};

/** Contract section 8, CONTRIBUTION. */
export const CONTRIBUTION_OPERATIONS: OperationGroup = {
  tag: 'CONTRIBUTION',
  description: 'Changes that were committed together',
  operations: [
    {
      id: 'contribution_create',
      method: 'post',
      path: `${EHR}/contribution`,
      summary: 'Commit creations, updates, deletions and attestations together',
      access: 'user',
      parameters: ['Prefer', 'openEHR-VERSION', 'openEHR-AUDIT_DETAILS', 'Idempotency-Key'],
      request: contribution,
      responses: { 201: version('Created; a body only when `Prefer` asks for one', contribution) },
      errors: [400, 404, 409, 412, 422],
    },
    {
      id: 'contribution_get',
      method: 'get',
      path: `${EHR}/contribution/{contribution_uid}`,
      summary: 'Get a CONTRIBUTION; with `Prefer: resolve_refs` its whole versions',
      access: 'user',
      parameters: ['Prefer'],
      responses: { 200: version('The CONTRIBUTION', contribution) },
      errors: [400, 404],
    },
  ],
};

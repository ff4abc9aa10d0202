import type { BodyDoc, OperationDoc, OperationGroup } from '../http/operation.js';

const ADMIN = '/rest/admin';
const EHR = `${ADMIN}/ehr/{ehr_id}`;
const deleted: BodyDoc = { schema: 'AdminDeleteResponseData', types: 'rm' };
const updated: BodyDoc = { schema: 'AdminUpdateResponseData', types: 'rm' };
const details: BodyDoc = { schema: 'MergeDetailsDto', types: 'rm' };
const records: BodyDoc = { schema: 'AuditRecordList', types: 'json' };

const admin = (
  doc: Omit<OperationDoc, 'access' | 'errors'> & {
    readonly errors?: OperationDoc['errors'];
  },
): OperationDoc => ({ access: 'admin', errors: [], ...doc });

const erase = (id: string, path: string, summary: string): OperationDoc =>
  admin({
    id,
    method: 'delete',
    path,
    summary,
    responses: { 200: { description: 'Removed with its history', body: deleted } },
    errors: [400, 404],
  });

/** Contract section 13. The whole group exists only with `ADMIN_API_ACTIVE=true`. */
export const ADMIN_OPERATIONS: OperationGroup = {
  tag: 'Administration',
  description: 'Physical deletion, templates, audit; needs a token with the admin role',
  operations: [
    admin({
      id: 'getStatus',
      method: 'get',
      path: `${ADMIN}/status`,
      summary: 'Tell whether the admin API is active and permitted',
      responses: { 200: { description: 'It is', body: { schema: 'AdminStatusResponseData', types: 'rm' } } },
    }),
    admin({
      id: 'updateTemplate',
      method: 'put',
      path: `${ADMIN}/template/{template_id}`,
      summary: 'Replace an unused template',
      request: { schema: 'OperationalTemplate', types: 'xml' },
      responses: {
        200: { description: 'The template', body: { schema: 'OperationalTemplate', types: 'rm' } },
      },
      errors: [400, 404, 422],
    }),
    admin({
      id: 'deleteTemplate',
      method: 'delete',
      path: `${ADMIN}/template/{template_id}`,
      summary: 'Remove an unused template',
      responses: { 202: { description: 'Removed', body: deleted } },
      errors: [404, 422],
    }),
    admin({
      id: 'deleteAllTemplates',
      method: 'delete',
      path: `${ADMIN}/template/all`,
      summary: 'Remove all templates, provided that none is used',
      responses: { 200: { description: 'Removed', body: deleted } },
      errors: [405, 422],
    }),
    admin({
      id: 'updateEhr',
      method: 'put',
      path: EHR,
      summary: 'Commit a new version of the EHR_STATUS without If-Match',
      request: { schema: 'EHR_STATUS', types: 'rm', required: false },
      responses: { 200: { description: 'How many versions were made', body: updated } },
      errors: [400, 404, 409],
    }),
    admin({
      id: 'deleteEhr',
      method: 'delete',
      path: EHR,
      summary: 'Remove an EHR with everything in it',
      responses: { 204: { description: 'Removed' } },
      errors: [400, 404],
    }),
    admin({
      id: 'updateContribution',
      method: 'put',
      path: `${EHR}/contribution/{contribution_id}`,
      summary: 'Has no effect: audits never change',
      responses: { 200: { description: 'Nothing was changed', body: updated } },
      errors: [400, 404],
    }),
    admin({
      id: 'deleteContribution',
      method: 'delete',
      path: `${EHR}/contribution/{contribution_id}`,
      summary: 'Not offered',
      responses: {},
      errors: [501],
    }),
    erase('deleteComposition', `${EHR}/composition/{composition_id}`, 'Remove a COMPOSITION'),
    erase('deleteDirectory', `${EHR}/directory/{directory_id}`, 'Remove a directory'),
    admin({
      id: 'deleteStoredQuery',
      method: 'delete',
      path: `${ADMIN}/query/{qualified_query_name}/{version}`,
      summary: 'Remove one version of a stored query',
      responses: { 200: { description: 'Removed' } },
      errors: [400, 404],
    }),
    admin({
      id: 'audit',
      method: 'get',
      path: `${ADMIN}/audit`,
      summary: 'List the calls of the admin API and, if kept, reads',
      parameters: ['from', 'to', 'user', 'audit_ehr_id', 'offset', 'audit_fetch'],
      responses: { 200: { description: 'Newest first', body: records } },
      errors: [400],
    }),
    admin({
      id: 'access',
      method: 'get',
      path: `${EHR}/access`,
      summary: 'List the recorded calls about one EHR',
      parameters: ['from', 'to', 'user', 'offset', 'audit_fetch'],
      responses: { 200: { description: 'Newest first', body: records } },
      errors: [400, 404],
    }),
    admin({
      id: 'verify',
      method: 'post',
      path: `${ADMIN}/verify`,
      summary: 'Check the stored data against its own rules',
      responses: { 200: { description: 'What was found', body: { schema: 'VerifyReport', types: 'json' } } },
      errors: [409],
    }),
  ],
};

/** Contract section 14. */
export const MERGE_OPERATIONS: OperationGroup = {
  tag: 'EHR merge',
  description: 'Dissolving one EHR into another, and undoing it',
  operations: [
    admin({
      id: 'mergeEhrs',
      method: 'post',
      path: `${ADMIN}/ehr/merge`,
      summary: 'Merge one EHR into another',
      parameters: ['Idempotency-Key'],
      request: { schema: 'MergeRequestBody', types: 'json' },
      responses: { 200: { description: 'What was done, or would be', body: details } },
      errors: [400, 404, 409, 422],
    }),
    admin({
      id: 'unmergeEhrs',
      method: 'post',
      path: `${ADMIN}/ehr/unmerge`,
      summary: 'Undo a reversible merge',
      parameters: ['Idempotency-Key'],
      request: { schema: 'UnmergeRequestBody', types: 'json' },
      responses: { 200: { description: 'What was undone, or would be', body: details } },
      errors: [400, 404, 409, 422],
    }),
    admin({
      id: 'getMergeTarget',
      method: 'get',
      path: `${ADMIN}/ehr/merge_target/{id}`,
      summary: 'Tell where a merged EHR ended',
      responses: { 200: { description: 'EHR id', body: { schema: 'Text', types: 'textOrJson' } } },
      errors: [400, 404],
    }),
    admin({
      id: 'getMergeStatusList',
      method: 'get',
      path: `${ADMIN}/ehr/merge_status`,
      summary: 'List merges',
      parameters: ['source', 'target', 'cascaded'],
      responses: {
        200: { description: 'Oldest first', body: { schema: 'MergeDetailsList', types: 'rm' } },
      },
      errors: [400, 404],
    }),
    admin({
      id: 'getMergeDetails',
      method: 'get',
      path: `${ADMIN}/ehr/merge_details`,
      summary: 'Get the merge of one EHR into another',
      parameters: ['source', 'target', 'unmerge_data'],
      responses: { 200: { description: 'The merge', body: details } },
      errors: [400, 404],
    }),
  ],
};

import type { BodyDoc, OperationDoc, OperationGroup } from '../http/operation.js';

const TEMPLATE = '/rest/openehr/v1/definition/template';
const ADL14 = `${TEMPLATE}/adl1.4`;
const QUERY = '/rest/openehr/v1/definition/query';
const storedQuery: BodyDoc = { schema: 'StoredQuery', types: 'json' };
const storedQueries: BodyDoc = { schema: 'StoredQueryList', types: 'json' };

const adl2 = (id: string, method: 'get' | 'post', path: string): OperationDoc => ({
  id,
  method,
  path: `${TEMPLATE}/adl2${path}`,
  summary: 'Templates in ADL 2 are not offered',
  access: 'user',
  responses: {},
  errors: [501],
});

/** Contract section 9, templates. */
export const TEMPLATE_OPERATIONS: OperationGroup = {
  tag: 'TEMPLATE',
  description: 'Operational templates',
  operations: [
    {
      id: 'template_adl1.4_upload',
      method: 'post',
      path: ADL14,
      summary: 'Upload an operational template (OPT 1.4)',
      access: 'user',
      parameters: ['Prefer', 'Idempotency-Key'],
      request: { schema: 'OperationalTemplate', types: 'xml' },
      responses: {
        201: {
          description: 'Stored; a body only when `Prefer` asks for one',
          body: { schema: 'OperationalTemplate', types: 'uploadedTemplate' },
          headers: ['ETag', 'Location', 'Last-Modified'],
        },
      },
      errors: [400, 409, 422],
    },
    {
      id: 'template_adl1.4_list',
      method: 'get',
      path: ADL14,
      summary: 'List the templates',
      access: 'user',
      responses: { 200: { description: 'All templates', body: { schema: 'TemplateList', types: 'rm' } } },
      errors: [],
    },
    {
      id: 'template_adl1.4_get',
      method: 'get',
      path: `${ADL14}/{template_id}`,
      summary: 'Get a template as OPT or as web template',
      access: 'user',
      responses: {
        200: {
          description: 'The template',
          body: { schema: 'OperationalTemplate', types: 'template' },
          headers: ['ETag', 'Last-Modified'],
        },
      },
      errors: [404],
    },
    {
      id: 'template_adl1.4_example',
      method: 'get',
      path: `${ADL14}/{template_id}/example`,
      summary: 'Get an example COMPOSITION of a template, which can be committed as it is',
      access: 'user',
      parameters: ['type', 'detail_level', 'format'],
      responses: {
        200: { description: 'The example', body: { schema: 'COMPOSITION', types: 'composition' } },
      },
      errors: [400, 404],
    },
    {
      id: 'template_adl1.4_webtemplate',
      method: 'get',
      path: `${ADL14}/{template_id}/webtemplate`,
      summary: 'Get a web template (deprecated: get the template with its media type)',
      access: 'user',
      responses: {
        200: {
          description: 'The web template',
          body: { schema: 'WebTemplate', types: 'webTemplate' },
          headers: ['ETag', 'Last-Modified', 'Deprecated', 'Link'],
        },
      },
      errors: [404],
    },
    adl2('template_adl2_upload', 'post', ''),
    adl2('template_adl2_list', 'get', ''),
    adl2('template_adl2_get', 'get', '/{template_id}'),
    adl2('template_adl2_get_version', 'get', '/{template_id}/{version}'),
    adl2('template_adl2_example', 'get', '/{template_id}/example'),
  ],
};

const put = (id: string, path: string, summary: string, errors: OperationDoc['errors']): OperationDoc => ({
  id,
  method: 'put',
  path,
  summary,
  access: 'user',
  parameters: ['query_type', 'query_type_alias'],
  request: { schema: 'AqlText', types: 'query' },
  responses: { 200: { description: 'Stored', body: storedQuery, headers: ['Location'] } },
  errors,
});

/** Contract section 9, stored queries. */
export const STORED_QUERY_OPERATIONS: OperationGroup = {
  tag: 'STORED_QUERY',
  description: 'AQL queries under a name and a version',
  operations: [
    {
      id: 'query_list_all',
      method: 'get',
      path: QUERY,
      summary: 'List all stored queries',
      access: 'user',
      responses: { 200: { description: 'By name, newest version first', body: storedQueries } },
      errors: [],
    },
    {
      id: 'query_list',
      method: 'get',
      path: `${QUERY}/{qualified_query_name}`,
      summary: 'List the stored queries whose name fits a pattern',
      access: 'user',
      responses: { 200: { description: 'By name, newest version first; may be empty', body: storedQueries } },
      errors: [400],
    },
    put('query_store', `${QUERY}/{qualified_query_name}`, 'Store a query as the next major version', [400]),
    {
      id: 'query_get',
      method: 'get',
      path: `${QUERY}/{qualified_query_name}/{version}`,
      summary: 'Get a stored query: this version, or the highest release that begins so',
      access: 'user',
      responses: { 200: { description: 'The query', body: storedQuery } },
      errors: [400, 404],
    },
    put(
      'query_store_version',
      `${QUERY}/{qualified_query_name}/{version}`,
      'Store a query under this version, or as the next one that begins so',
      [400, 409],
    ),
  ],
};

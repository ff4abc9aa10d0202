import type { OperationDoc, OperationGroup } from '../http/operation.js';

const MANAGEMENT = '/management';

/** Versions of the server and of what it runs on; this document. */
export const STATUS_OPERATIONS: OperationGroup = {
  tag: 'Status',
  description: 'Versions of the server, and this description of its API',
  operations: [
    {
      id: 'status_get',
      method: 'get',
      path: '/rest/status',
      summary: 'Get the versions of the server',
      access: 'user',
      responses: { 200: { description: 'The versions', body: { schema: 'ServerStatus', types: 'rm' } } },
      errors: [],
    },
    {
      id: 'openapi_get',
      method: 'get',
      path: '/rest/openapi.json',
      summary: 'Get this document',
      access: 'open',
      responses: { 200: { description: 'OpenAPI 3.1', body: { schema: 'Object', types: 'json' } } },
      errors: [],
    },
  ],
};

const get = (id: string, path: string, summary: string, more: Partial<OperationDoc> = {}): OperationDoc => ({
  id,
  method: 'get',
  path: `${MANAGEMENT}${path}`,
  summary,
  access: 'management',
  responses: { 200: { description: 'The facts asked for', body: { schema: 'Object', types: 'json' } } },
  errors: [],
  ...more,
});
const health = (id: string, path: string, summary: string, access: OperationDoc['access']): OperationDoc =>
  get(id, path, summary, {
    access,
    responses: {
      200: { description: 'It is up', body: { schema: 'Health', types: 'json' } },
      503: { description: 'It is down', body: { schema: 'Health', types: 'json' } },
    },
  });

/** Contract section 12. Only the endpoints of `MANAGEMENT_ENDPOINTS` exist. */
export const MANAGEMENT_OPERATIONS: OperationGroup = {
  tag: 'Management',
  description: 'Health, metrics and logs of the process, as far as `MANAGEMENT_ENDPOINTS` switches them on',
  operations: [
    get('management_links', '', 'List the endpoints that are switched on'),
    health('management_health', '/health', 'Get the health of server and database', 'management'),
    health('management_liveness', '/health/liveness', 'Tell whether the process lives', 'open'),
    health('management_readiness', '/health/readiness', 'Tell whether requests can be served', 'open'),
    get('management_info', '/info', 'Get name, version and time of the build'),
    get('management_env', '/env', 'Get runtime facts and configuration, secrets masked'),
    get('management_metrics', '/metrics', 'List the names of the metrics'),
    get('management_metric', '/metrics/{name}', 'Get one metric', {
      parameters: ['metric_tag'],
      errors: [404],
    }),
    get('management_prometheus', '/prometheus', 'Get all metrics in the text format of Prometheus', {
      responses: { 200: { description: 'The metrics', body: { schema: 'Text', types: 'text' } } },
    }),
    get('management_loggers', '/loggers', 'List the loggers with their levels'),
    get('management_logger', '/loggers/{name}', 'Get the level of a logger', { errors: [404] }),
    {
      id: 'management_logger_set',
      method: 'post',
      path: `${MANAGEMENT}/loggers/{name}`,
      summary: 'Set the level of a logger',
      access: 'management',
      request: { schema: 'LogLevel', types: 'json' },
      responses: { 204: { description: 'Set' } },
      errors: [400, 404],
    },
  ],
};

import type { ApiCase } from './cases.js';

/** Cases of what tells of the server itself. */
export function operationCases(): ApiCase[] {
  const level = { configuredLevel: 'ERROR' };
  const plain = 'links health liveness readiness info env metrics prometheus loggers'.split(' ');
  return [
    { id: 'status_get', status: 200, call: () => ({}) },
    { id: 'smart_configuration', status: 200, call: () => ({}) },
    { id: 'openapi_get', status: 200, call: () => ({}) },
    ...plain.map((id): ApiCase => ({ id: `management_${id}`, status: 200, call: () => ({}) })),
    { id: 'management_readiness', status: 503, call: () => ({ isStarting: true }) },
    {
      id: 'management_metric',
      status: 200,
      call: () => ({ params: { name: 'http_server_requests_running' } }),
    },
    { id: 'management_metric', status: 404, call: () => ({ params: { name: 'none' } }) },
    { id: 'management_logger', status: 200, call: () => ({ params: { name: 'ROOT' } }) },
    { id: 'management_logger', status: 404, call: () => ({ params: { name: 'none' } }) },
    { id: 'management_logger_set', status: 204, call: () => ({ params: { name: 'ROOT' }, body: level }) },
    { id: 'management_logger_set', status: 400, call: () => ({ params: { name: 'ROOT' }, body: {} }) },
    { id: 'management_logger_set', status: 404, call: () => ({ params: { name: 'none' }, body: level }) },
  ];
}

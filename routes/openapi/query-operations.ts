import type { BodyDoc, OperationDoc, OperationGroup } from '../http/operation.js';
import type { ParameterName } from '../http/parameters.js';

const QUERY = '/rest/openehr/v1/query';
const resultSet: BodyDoc = { schema: 'ResultSet', types: 'resultSet' };
const LIMITS: readonly ParameterName[] = ['ehr_id', 'offset', 'fetch', 'as_of', 'openEHR-EHR-id'];
const GET_PARAMETERS: readonly ParameterName[] = [...LIMITS, 'query_parameters'];

type QueryDoc = Pick<OperationDoc, 'id' | 'method' | 'path' | 'summary'> & {
  readonly parameters: readonly ParameterName[];
  readonly request?: BodyDoc;
  readonly isStored: boolean;
};

function execution({ isStored, ...doc }: QueryDoc): OperationDoc {
  return {
    ...doc,
    access: 'user',
    responses: { 200: { description: 'The rows', body: resultSet, headers: ['ETag'] } },
    errors: isStored ? [400, 404, 408, 422, 502] : [400, 408, 422, 502],
  };
}

const storedPaths = [
  ['', 'its newest release'],
  ['/{version}', 'the version that begins so'],
] as const;

/** Contract section 10. */
export const QUERY_OPERATIONS: OperationGroup = {
  tag: 'QUERY',
  description: 'Execution of AQL',
  operations: [
    execution({
      id: 'query_execute_adhoc',
      method: 'get',
      path: `${QUERY}/aql`,
      summary: 'Execute an AQL query',
      parameters: ['q', ...GET_PARAMETERS],
      isStored: false,
    }),
    execution({
      id: 'query_execute_adhoc_post',
      method: 'post',
      path: `${QUERY}/aql`,
      summary: 'Execute an AQL query given in the body',
      parameters: LIMITS,
      request: { schema: 'QueryRequest', types: 'json' },
      isStored: false,
    }),
    {
      id: 'query_explain',
      method: 'post',
      path: `${QUERY}/aql/explain`,
      summary: 'Tell how an AQL query runs: parts, pipeline, indexes and documents examined, hints; no data',
      access: 'user',
      parameters: LIMITS,
      request: { schema: 'QueryRequest', types: 'json' },
      responses: { 200: { description: 'The explanation', body: { schema: 'Object', types: 'json' } } },
      errors: [400, 408, 422, 502],
    },
    ...storedPaths.flatMap(([path, which], index) => [
      execution({
        id: index === 0 ? 'query_execute_stored' : 'query_execute_stored_version',
        method: 'get',
        path: `${QUERY}/{qualified_query_name}${path}`,
        summary: `Execute a stored query: ${which}`,
        parameters: GET_PARAMETERS,
        isStored: true,
      }),
      execution({
        id: index === 0 ? 'query_execute_stored_post' : 'query_execute_stored_version_post',
        method: 'post',
        path: `${QUERY}/{qualified_query_name}${path}`,
        summary: `Execute a stored query: ${which}; parameters in the body`,
        parameters: LIMITS,
        request: { schema: 'StoredQueryRequest', types: 'json', required: false },
        isStored: true,
      }),
    ]),
  ],
};

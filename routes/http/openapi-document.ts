import { STATUS_CODES } from 'node:http';

import type { JsonObject } from '../../base/json.js';
import { PRODUCT, PRODUCT_VERSION } from '../system/product.js';
import { ADMIN_OPERATIONS, MERGE_OPERATIONS } from '../openapi/admin-operations.js';
import {
  COMPOSITION_OPERATIONS,
  CONTRIBUTION_OPERATIONS,
  DIRECTORY_OPERATIONS,
} from '../openapi/content-operations.js';
import { STORED_QUERY_OPERATIONS, TEMPLATE_OPERATIONS } from '../openapi/definition-operations.js';
import { EHR_OPERATIONS, EHR_STATUS_OPERATIONS, SYSTEM_OPERATIONS } from '../openapi/ehr-operations.js';
import type {
  AccessDoc,
  BodyDoc,
  ErrorStatus,
  OperationDoc,
  OperationGroup,
  ResponseDoc,
} from './operation.js';
import { ERROR_MEANINGS, MEDIA_TYPES } from './operation.js';
import { MANAGEMENT_OPERATIONS, STATUS_OPERATIONS } from '../openapi/operation-operations.js';
import { parameterComponents, PATH_PARAMETERS } from './parameters.js';
import { QUERY_OPERATIONS } from '../openapi/query-operations.js';
import type { SchemaName } from './schemas.js';
import { SCHEMAS } from './schemas.js';
import { OWN_TAG_OPERATIONS, TAG_OPERATIONS } from '../openapi/tag-operations.js';

/** Every operation of the product: the table that the document is made of. */
export const OPERATION_GROUPS: readonly OperationGroup[] = [
  SYSTEM_OPERATIONS,
  EHR_OPERATIONS,
  EHR_STATUS_OPERATIONS,
  COMPOSITION_OPERATIONS,
  DIRECTORY_OPERATIONS,
  CONTRIBUTION_OPERATIONS,
  TEMPLATE_OPERATIONS,
  STORED_QUERY_OPERATIONS,
  QUERY_OPERATIONS,
  TAG_OPERATIONS,
  OWN_TAG_OPERATIONS,
  STATUS_OPERATIONS,
  MANAGEMENT_OPERATIONS,
  ADMIN_OPERATIONS,
  MERGE_OPERATIONS,
];

/** Statuses that an operation may give beside its own, by who may call it and what it takes and gives. */
export function generalErrors(operation: OperationDoc): readonly ErrorStatus[] {
  const byAccess: Readonly<Record<AccessDoc, readonly ErrorStatus[]>> = {
    user: [401, 403, 503],
    admin: [401, 403, 503],
    management: [401, 403],
    open: [],
  };
  const writesBody = Object.values(operation.responses).some((response) => response.body !== undefined);
  const negotiates = writesBody && operation.access !== 'management' && operation.access !== 'open';
  return [
    ...byAccess[operation.access],
    ...(negotiates && operation.id !== 'options' ? ([406] as const) : []),
    ...(operation.request === undefined ? [] : ([413] as const)),
    ...(operation.request === undefined || operation.access === 'management' ? [] : ([415] as const)),
  ];
}

/** The description of the API in OpenAPI 3.1. `origin`: scheme, host and port of the server. */
export function openApiDocument(origin: string): JsonObject {
  return {
    openapi: '3.1.0',
    info: {
      title: PRODUCT,
      version: PRODUCT_VERSION,
      description:
        'openEHR clinical data repository: ITS-REST 1.0.3 with item tags, administration, EHR merge',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: origin }],
    tags: OPERATION_GROUPS.map(({ tag, description }) => ({ name: tag, description })),
    paths: pathItems(),
    components: {
      schemas: SCHEMAS,
      parameters: parameterComponents(),
      responses: errorComponents(),
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' } },
    },
  };
}

function pathItems(): JsonObject {
  const items: Record<string, JsonObject> = {};
  for (const group of OPERATION_GROUPS) {
    for (const operation of group.operations) {
      const item = (items[operation.path] ??= {});
      item[operation.method] = operationObject(operation, group.tag);
    }
  }
  return items;
}

function operationObject(operation: OperationDoc, tag: string): JsonObject {
  const { id, path, summary, access, parameters = [], request } = operation;
  return {
    operationId: id,
    summary,
    tags: [tag],
    parameters: [
      ...pathParameters(path),
      ...parameters.map((name) => ({ $ref: `#/components/parameters/${name}` })),
    ],
    ...(request !== undefined && {
      requestBody: { required: request.required ?? true, content: contentOf(request) },
    }),
    responses: responsesOf(operation),
    security: securityOf(access),
  };
}

/** Tokens are optional where the configuration may open the access. */
function securityOf(access: AccessDoc): JsonObject[] {
  if (access === 'open') return [];
  return access === 'admin' ? [{ bearer: [] }] : [{ bearer: [] }, {}];
}

function pathParameters(path: string): JsonObject[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => ({
    name,
    in: 'path',
    required: true,
    description: PATH_PARAMETERS[name] ?? name,
    schema: { type: 'string' },
  }));
}

function responsesOf(operation: OperationDoc): JsonObject {
  const own = Object.entries(operation.responses).map(([status, response]) => [
    status,
    responseObject(response, givesIdentifier(operation)),
  ]);
  const errors = [...operation.errors, ...generalErrors(operation)]
    .filter((status) => operation.responses[status] === undefined)
    .map((status) => [status, { $ref: `#/components/responses/${status}` }]);
  return Object.fromEntries([...own, ...errors]) as JsonObject;
}

/** Whether `Prefer: return=identifier` is answered with the id alone. */
function givesIdentifier({ method, access, parameters = [], responses }: OperationDoc): boolean {
  const isTagWrite = Object.values(responses).some(({ body }) => body?.schema.startsWith('ItemTag') === true);
  return method !== 'get' && access === 'user' && parameters.includes('Prefer') && !isTagWrite;
}

function responseObject(
  { description, body, headers = [] }: ResponseDoc,
  mayBeIdentifier: boolean,
): JsonObject {
  return {
    description,
    ...(headers.length > 0 && {
      headers: Object.fromEntries(headers.map((name) => [name, { schema: { type: 'string' } }])),
    }),
    ...(body !== undefined && { content: contentOf(body, mayBeIdentifier ? ['Identifier'] : []) }),
  };
}

function contentOf({ schema, types }: BodyDoc, others: readonly SchemaName[] = []): JsonObject {
  const references = [schema, ...others].map((name) => ({ $ref: `#/components/schemas/${name}` }));
  const described = references.length === 1 ? references[0] : { oneOf: references };
  return Object.fromEntries(MEDIA_TYPES[types].map((type) => [type, { schema: described ?? {} }]));
}

function errorComponents(): JsonObject {
  return Object.fromEntries(
    Object.entries(ERROR_MEANINGS).map(([status, meaning]) => [
      status,
      {
        description: `${STATUS_CODES[status] ?? ''}: ${meaning}`,
        content: contentOf({ schema: 'Error', types: 'rm' }),
      },
    ]),
  );
}

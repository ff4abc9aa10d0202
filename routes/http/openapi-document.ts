import { STATUS_CODES } from 'node:http';

import { DIALECTS, type Dialect, type ItsRest } from '../../openehr/base/dialect.js';
import type { JsonObject, JsonValue } from '../../openehr/base/json.js';
import { PRODUCT, PRODUCT_VERSION } from './product.js';
import { exampleOf } from './openapi/examples.js';
import type {
  Access,
  AnswerDescription,
  BodyDescription,
  ErrorStatus,
  Operation,
  OperationGroup,
} from './operation/operation.js';
import { ERROR_MEANINGS, MEDIA_TYPES } from './operation/operation.js';
import { parameterDescription, pathParameterNames, type ParameterName } from './operation/parameters.js';
import type { SchemaName } from './openapi/schemas.js';
import { isRmSchema, rmReference } from './openapi/rm-schemas.js';
import { ALL_SCHEMAS } from './openapi/schemas.js';

/** Every status that an operation may answer but 500, which is a defect: those of its row, and what follows from the row. */
export function documentedStatuses(operation: Operation): readonly number[] {
  const own = Object.keys(operation.responses).map(Number);
  return [...new Set([...own, ...operation.errors, ...generalErrors(operation)])];
}

/** Statuses that an operation may give beside its own, by who may call it and what it takes and gives. */
function generalErrors(operation: Operation): readonly ErrorStatus[] {
  const { access, request, errors, parameters = [] } = operation;
  const isManagement = operation.path.startsWith('/management');
  const isKeyed = parameters.includes('Idempotency-Key');
  const isWritten = isOtherForm(operation);
  const possible: readonly (readonly [ErrorStatus, boolean])[] = [
    [503, operation.isProbe !== true],
    [406, access !== 'open' && !isManagement && negotiates(operation)],
    [409, isKeyed],
    [413, request !== undefined || isWritten],
    [415, request !== undefined && !isManagement],
    [422, request !== undefined || isKeyed || isWritten],
    [429, operation.isProbe !== true],
    // A query parameter that is not known.
    [400, !errors.includes(400) && operation.takesVariables !== true],
  ];
  return [...accessErrors(operation), ...possible.flatMap(([status, isSo]) => (isSo ? [status] : []))];
}

function negotiates({ id, responses }: Operation): boolean {
  return id !== 'options' && Object.values(responses).some((response) => response.body !== undefined);
}

/** Whether what is stored may be answered in another form, which is work of the request's budget. */
function isOtherForm({ access, responses }: Operation): boolean {
  const isOfRecord = access === 'read' || access === 'write' || access === 'define';
  return isOfRecord && Object.values(responses).some(({ body }) => OTHER_FORMS.has(body?.types));
}

const OTHER_FORMS: ReadonlySet<BodyDescription['types'] | undefined> = new Set([
  'rm',
  'composition',
  'template',
  'webTemplate',
]);

/** 403 of what is open: a Host that is not the server's. */
function accessErrors({ access, isProbe }: Operation): readonly ErrorStatus[] {
  if (access !== 'open') return [401, 403];
  return isProbe === true ? [] : [403];
}

/** What the answers of writes are described as: with the body that `Prefer` asks for, or as those without it have none. */
export type DescribedWrites = 'any' | 'minimal';

/** The description of the API in OpenAPI 3.1. `baseUrl`: origin of the server with its base path. `edition`: whose rows these are. */
export function openApiDocument(
  groups: readonly OperationGroup[],
  baseUrl: string,
  writes: DescribedWrites = 'any',
  edition: ItsRest = '1.0.3',
): JsonObject {
  const documented = groups.map(({ operations, ...group }) => ({
    ...group,
    operations: operations.filter(({ isDocumented = true }) => isDocumented),
  }));
  const operations = documented.flatMap((group) => group.operations);
  const paths = pathItems(documented, writes);
  const components = {
    schemas: { ...(ALL_SCHEMAS as JsonObject), ...OR_UID },
    parameters: parameterComponents(operations),
    responses: errorComponents(DIALECTS[edition]),
  };
  const used = referencesFrom(paths, components);
  const kept: JsonObject = {};
  for (const [kind, members] of Object.entries(components))
    kept[kind] = Object.fromEntries(
      Object.entries(members).filter(([name]) => used.has(`#/components/${kind}/${name}`)),
    );
  return {
    openapi: '3.1.0',
    info: {
      title: PRODUCT,
      version: PRODUCT_VERSION,
      description: `openEHR clinical data repository: ITS-REST ${edition} with item tags, administration, EHR merge`,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: baseUrl }],
    tags: documented.map(({ tag, description }) => ({ name: tag, description })),
    paths,
    components: {
      ...kept,
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
        basic: { type: 'http', scheme: 'basic' },
      },
    },
  };
}

/** Every `$ref` that the paths reach, through components too: a server describes only what it offers. */
function referencesFrom(
  paths: JsonObject,
  components: Readonly<Record<string, JsonObject>>,
): ReadonlySet<string> {
  const found = new Set<string>();
  const visit = (value: JsonValue | undefined): void => {
    if (typeof value !== 'object' || value === null) return;
    for (const [key, member] of Object.entries(value)) {
      if (key !== '$ref' || typeof member !== 'string') visit(member);
      else if (!found.has(member)) {
        found.add(member);
        const [kind = '', name = ''] = member.split('/').slice(2);
        visit(components[kind]?.[name]);
      }
    }
  };
  visit(paths);
  return found;
}

function pathItems(groups: readonly OperationGroup[], writes: DescribedWrites): JsonObject {
  const items: Record<string, JsonObject> = {};
  for (const group of groups) {
    for (const operation of group.operations) {
      const item = (items[operation.path] ??= {});
      item[operation.method.toLowerCase()] = operationObject(operation, group.tag, writes);
    }
  }
  return items;
}

function operationObject(operation: Operation, tag: string, writes: DescribedWrites): JsonObject {
  const { id, path, summary, access, parameters = [], request } = operation;
  return {
    operationId: id,
    summary,
    tags: [tag],
    parameters: [...pathParameterNames(path), ...parameters].map(referenceTo),
    ...(request !== undefined && {
      requestBody: { required: request.required ?? true, content: withExamples(request) },
    }),
    responses: responsesOf(operation, writes),
    security: securityOf(access),
  };
}

const referenceTo = (key: ParameterName): JsonObject => ({ $ref: `#/components/parameters/${key}` });

/** An identity is optional where the configuration may open the access. */
function securityOf(access: Access): JsonObject[] {
  if (access === 'open') return [];
  const ways = [{ bearer: [] }, { basic: [] }];
  return ['identified', 'admin', 'audit', 'restore'].includes(access) ? ways : [...ways, {}];
}

function parameterComponents(operations: readonly Operation[]): JsonObject {
  const used = operations.flatMap(({ path, parameters = [] }) => [
    ...pathParameterNames(path),
    ...parameters,
  ]);
  return Object.fromEntries(
    [...new Set(used)].sort().map((key) => {
      const { sentAs, in: place, description, schema } = parameterDescription(key);
      const required = place === 'path' && { required: true };
      return [
        key,
        { name: sentAs, in: place, ...required, description, schema: schema ?? { type: 'string' } },
      ];
    }),
  );
}

function responsesOf(operation: Operation, writes: DescribedWrites): JsonObject {
  const isWrite = givesIdentifier(operation);
  const own = Object.entries(operation.responses).map(([status, { body, ...response }]) => [
    status,
    body === undefined || (isWrite && writes === 'minimal')
      ? responseObject(response)
      : responseObject({ ...response, body }, isWrite),
  ]);
  const errors = documentedStatuses(operation)
    .filter((status) => operation.responses[status] === undefined)
    .map((status) => [status, { $ref: `#/components/responses/${status}` }]);
  return Object.fromEntries([...own, ...errors]) as JsonObject;
}

/** Whether `Prefer: return=identifier` is answered with the id alone. */
function givesIdentifier({ method, parameters = [], responses }: Operation): boolean {
  const isTagWrite = Object.values(responses).some(({ body }) => body?.schema.startsWith('ItemTag') === true);
  return method !== 'GET' && parameters.includes('Prefer') && !isTagWrite;
}

function responseObject(
  { description, body, headers = [] }: AnswerDescription,
  mayBeIdentifier = false,
): JsonObject {
  return {
    description,
    ...(headers.length > 0 && {
      headers: Object.fromEntries(headers.map((name) => [name, { schema: { type: 'string' } }])),
    }),
    ...(body !== undefined && { content: contentOf(body, mayBeIdentifier) }),
  };
}

function contentOf({ schema, types }: BodyDescription, mayBeIdentifier = false): JsonObject {
  return Object.fromEntries(
    MEDIA_TYPES[types].map((type) => {
      const own = schemaOf(schema, type);
      const name = typeof own.$ref === 'string' ? orUidName(own.$ref.replace(SCHEMAS, '')) : '';
      return [type, { schema: mayBeIdentifier && name in OR_UID ? { $ref: SCHEMAS + name } : own }];
    }),
  );
}

const SCHEMAS = '#/components/schemas/';

/** Of simplified forms, where the uid alone is answered as `application/json`; and generators make no type of a union with a map. */
const WITHOUT_UID: readonly string[] = ['FLAT', 'STRUCTURED', 'SimplifiedContribution'];

/** By a name of its own, what a write answers in JSON: the object, or its uid alone as `Prefer` says. */
const OR_UID: JsonObject = Object.fromEntries(
  Object.keys(ALL_SCHEMAS)
    .filter((name) => !WITHOUT_UID.includes(name))
    .map((name) => [orUidName(name), { anyOf: [{ $ref: SCHEMAS + name }, { $ref: `${SCHEMAS}UidOnly` }] }]),
);

/** `EhrStatusOrUid` */
function orUidName(name: string): string {
  const words = name
    .split('_')
    .map((word) => (/[a-z]/.test(word) ? word : word.charAt(0) + word.slice(1).toLowerCase()));
  return `${words.join('')}OrUid`;
}

/** The forms that have a schema of their own, whatever is in them. */
const BY_MEDIA_TYPE: Readonly<Record<string, SchemaName>> = {
  'application/openehr.wt.flat+json': 'FLAT',
  'application/openehr.wt.structured+json': 'STRUCTURED',
  'application/openehr.wt+json': 'WebTemplate',
  'application/x-ndjson': 'NDJSON',
  'text/csv': 'CSV',
};

/** What a canonical body is in a simplified form, where that is said of the COMPOSITIONs in it. */
const WITH_SIMPLIFIED: Readonly<Partial<Record<SchemaName, SchemaName>>> = {
  NewContribution: 'SimplifiedNewContribution',
  CONTRIBUTION: 'SimplifiedContribution',
};

/** The schema of a body in one media type: what is no JSON is text. */
function schemaOf(body: SchemaName, mediaType: string): JsonObject {
  const isJson = mediaType === 'application/json' || mediaType.endsWith('+json');
  const whole = body === 'InterchangeLines' ? undefined : BY_MEDIA_TYPE[mediaType];
  const name = (whole === undefined ? undefined : WITH_SIMPLIFIED[body]) ?? whole ?? jsonName(body, isJson);
  if (!isJson && !TEXTS.has(name))
    return { type: 'string', contentMediaType: mediaType, description: `${name} as ${mediaType}` };
  return isRmSchema(name) ? rmReference(name) : { $ref: `#/components/schemas/${name}` };
}

const TEXTS: ReadonlySet<string> = new Set([
  'OperationalTemplate',
  'ArchetypeSource',
  'NDJSON',
  'CSV',
  'InterchangeLines',
]);

/** What JSON calls otherwise than text. */
function jsonName(body: SchemaName, isJson: boolean): SchemaName {
  if (isJson && body === 'AqlText') return 'AqlBody';
  if (isJson && body === 'ArchetypeSource') return 'Archetype';
  if (!isJson && body === 'TwoRevisions') return 'OperationalTemplate';
  return isJson && body === 'OperationalTemplate' ? 'WebTemplate' : body;
}

function withExamples(body: BodyDescription): JsonObject {
  const content = contentOf(body);
  return Object.fromEntries(
    Object.entries(content).map(([type, media]) => {
      const example = exampleOf(body.schema, type);
      return [type, { ...(media as JsonObject), ...(example !== undefined && { example }) }];
    }),
  );
}

function errorComponents({ isLocationOfNewOnly }: Dialect): JsonObject {
  const stale = isLocationOfNewOnly && { 412: 'The version named is not the latest one, which `ETag` names' };
  return Object.fromEntries(
    Object.entries({ ...ERROR_MEANINGS, ...stale }).map(([status, meaning]) => [
      status,
      {
        description: `${STATUS_CODES[status] ?? ''}: ${meaning}`,
        content: contentOf({ schema: 'Error', types: 'rm' }),
      },
    ]),
  );
}

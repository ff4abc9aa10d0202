import type { JsonObject, JsonValue } from '../../openehr/base/json.js';
import { isJsonObject } from '../../openehr/base/json.js';
import { openApiDocument } from '../../routes/http/openapi-document.js';
import { everyOperation } from '../../src/operation-table.js';
import { PRODUCT } from '../../routes/http/product.js';
import {
  afterScript,
  beforeScript,
  bodyText,
  FOLDERS,
  IF_MATCH,
  OWN_PATH_VALUES,
  pathValue,
  QUERY_VALUES,
  rankOf,
  VARIABLES,
} from './collection-walk.js';

/** Where the committed collection lies. */
export const COLLECTION_FILE = 'docs/everchart.postman_collection.json';

const METHODS = ['get', 'put', 'post', 'delete', 'options'] as const;

/**
 * Every operation of the OpenAPI document as a Postman collection 2.1, one folder for each tag: a walk that can be run from
 * beginning to end, each request with its body, what it needs of those before and what it expects.
 */
export function collectionText(): string {
  const document = openApiDocument(everyOperation().groups, '{{origin}}');
  const tags = objects(document.tags).sort((one, other) => placeOf(one) - placeOf(other));
  const items = tags.map((tag) => ({
    name: tag.name ?? '',
    description: tag.description ?? '',
    item: requestsOf(document, tag.name ?? ''),
  }));
  const collection = {
    info: {
      name: PRODUCT,
      description:
        'Set `origin` and, where the server asks for one, `token`; the folders of administration need the permission admin. Run it from beginning to end, or a request after those that set its variables. Generated from the OpenAPI document.',
      schema: 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json',
    },
    auth: { type: 'bearer', bearer: [{ key: 'token', value: '{{token}}', type: 'string' }] },
    variable: Object.entries(VARIABLES).map(([key, value]) => ({ key, value })),
    item: items,
  };
  return `${JSON.stringify(collection, null, 2)}\n`;
}

function placeOf({ name }: JsonObject): number {
  return FOLDERS.indexOf(textOf(name));
}

function requestsOf(document: JsonObject, tag: JsonValue): JsonObject[] {
  const paths = isJsonObject(document.paths) ? document.paths : {};
  const found = Object.entries(paths).flatMap(([path, operations]) =>
    METHODS.flatMap((method) => {
      const operation = isJsonObject(operations) ? operations[method] : undefined;
      if (!isJsonObject(operation) || !listOf(operation.tags).includes(tag)) return [];
      return [{ method, path, operation, id: textOf(operation.operationId) }];
    }),
  );
  return found
    .sort((one, other) => rankOf(one.id) - rankOf(other.id))
    .map((described) => requestOf(document, described));
}

interface Described {
  readonly method: string;
  readonly path: string;
  readonly operation: JsonObject;
  readonly id: string;
}

function requestOf(document: JsonObject, described: Described): JsonObject {
  const { method, path, operation, id } = described;
  const parameters = objects(operation.parameters).map((parameter) => resolved(document, parameter));
  const given = (place: string): JsonObject[] => parameters.filter((parameter) => parameter.in === place);
  const valued = ({ name, description }: JsonObject, value: string | undefined): JsonObject => ({
    key: name ?? '',
    value: value ?? '',
    description: description ?? '',
    ...(value === undefined && { disabled: true }),
  });
  const raw = `{{origin}}${path.replaceAll(/\{(\w+)\}/g, ':$1')}`;
  const [type, body] = bodyOf(described);
  const query = QUERY_VALUES[id] ?? {};
  return {
    name: operation.summary ?? '',
    event: eventsOf(described),
    request: {
      method: method.toUpperCase(),
      header: [
        ...(type === null ? [] : [{ key: 'Content-Type', value: type }]),
        ...given('header').map((header) =>
          valued(header, header.name === 'If-Match' ? IF_MATCH[id] : undefined),
        ),
      ],
      url: {
        raw,
        host: ['{{origin}}'],
        path: raw.split('/').slice(1),
        query: given('query').map((parameter) => valued(parameter, query[textOf(parameter.name)])),
        variable: given('path').map((parameter) =>
          valued(parameter, OWN_PATH_VALUES[id] ?? pathValue(textOf(parameter.name), id)),
        ),
      },
      ...(type !== null && { body: { mode: 'raw', raw: body } }),
    },
  };
}

/** The scripts around a request. Success is what is documented; an operation that is not offered answers 501. */
function eventsOf({ operation, id }: Described): JsonObject[] {
  const statuses = Object.keys(isJsonObject(operation.responses) ? operation.responses : {}).map(Number);
  const successes = statuses.filter((status) => status < 300);
  const scripts = [
    ['prerequest', beforeScript(id)],
    ['test', afterScript(id, successes.length > 0 ? successes : [501])],
  ] as const;
  return scripts
    .filter(([, exec]) => exec.length > 0)
    .map(([listen, exec]) => ({ listen, script: { type: 'text/javascript', exec: [...exec] } }));
}

/** The first media type of a body with its example. */
function bodyOf({ operation, id }: Described): readonly [string | null, string] {
  const { requestBody } = operation;
  const content = isJsonObject(requestBody) && isJsonObject(requestBody.content) ? requestBody.content : {};
  const [first] = Object.entries(content);
  if (first === undefined) return [null, ''];
  const [type, media] = first;
  const example = isJsonObject(media) ? media.example : undefined;
  const text = typeof example === 'string' ? example : JSON.stringify(example ?? {}, null, 2);
  return [type, bodyText(id, text)];
}

function resolved(document: JsonObject, parameter: JsonObject): JsonObject {
  if (typeof parameter.$ref !== 'string') return parameter;
  let found: JsonValue | undefined = document;
  for (const step of parameter.$ref.split('/').slice(1))
    found = isJsonObject(found) ? found[step] : undefined;
  return isJsonObject(found) ? found : parameter;
}

function objects(value: JsonValue | undefined): JsonObject[] {
  return listOf(value).filter(isJsonObject);
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : '';
}

function listOf(value: JsonValue | undefined): JsonValue[] {
  return Array.isArray(value) ? value : [];
}

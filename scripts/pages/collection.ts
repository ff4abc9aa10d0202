import type { JsonObject, JsonValue } from '../../openehr/base/json.js';
import { isJsonObject } from '../../openehr/base/json.js';
import { openApiDocument } from '../../routes/http/openapi/openapi-document.js';
import { everyOperation } from '../../src/operation-table.js';
import { PRODUCT } from '../../routes/system/product.js';

/** Where the committed collection lies. */
export const COLLECTION_FILE = 'docs/everchart.postman_collection.json';

const METHODS = ['get', 'put', 'post', 'delete', 'options'] as const;

/** Every operation of the OpenAPI document as a Postman collection 2.1, one folder for each tag. */
export function collectionText(): string {
  const document = openApiDocument(everyOperation().groups, '{{origin}}');
  const tags = objects(document.tags);
  const items = tags.map((tag) => ({
    name: tag.name ?? '',
    description: tag.description ?? '',
    item: requestsOf(document, tag.name ?? ''),
  }));
  const collection = {
    info: {
      name: PRODUCT,
      description:
        'Set `origin` and, where the server asks for one, `token`. Generated from the OpenAPI document.',
      schema: 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json',
    },
    auth: { type: 'bearer', bearer: [{ key: 'token', value: '{{token}}', type: 'string' }] },
    variable: [
      { key: 'origin', value: 'http://127.0.0.1:8080' },
      { key: 'token', value: '' },
    ],
    item: items,
  };
  return `${JSON.stringify(collection, null, 2)}\n`;
}

function requestsOf(document: JsonObject, tag: JsonValue): JsonObject[] {
  const paths = isJsonObject(document.paths) ? document.paths : {};
  return Object.entries(paths).flatMap(([path, operations]) =>
    METHODS.flatMap((method) => {
      const operation = isJsonObject(operations) ? operations[method] : undefined;
      if (!isJsonObject(operation) || !listOf(operation.tags).includes(tag)) return [];
      return [requestOf(document, { method, path, operation })];
    }),
  );
}

function requestOf(
  document: JsonObject,
  {
    method,
    path,
    operation,
  }: { readonly method: string; readonly path: string; readonly operation: JsonObject },
): JsonObject {
  const parameters = objects(operation.parameters).map((parameter) => resolved(document, parameter));
  const given = (place: string): JsonObject[] => parameters.filter((parameter) => parameter.in === place);
  const described = ({ name, description }: JsonObject): JsonObject => ({
    key: name ?? '',
    value: '',
    description: description ?? '',
  });
  const raw = `{{origin}}${path.replaceAll(/\{(\w+)\}/g, ':$1')}`;
  const type = bodyType(operation);
  const headers = given('header').map((header) => ({ ...described(header), disabled: true }));
  return {
    name: operation.summary ?? '',
    request: {
      method: method.toUpperCase(),
      header: [...(type === null ? [] : [{ key: 'Content-Type', value: type }]), ...headers],
      url: {
        raw,
        host: ['{{origin}}'],
        path: raw.split('/').slice(1),
        query: given('query').map((query) => ({ ...described(query), disabled: true })),
        variable: given('path').map(described),
      },
      ...(type !== null && { body: { mode: 'raw', raw: '' } }),
    },
  };
}

function bodyType(operation: JsonObject): string | null {
  const { requestBody } = operation;
  const content = isJsonObject(requestBody) && isJsonObject(requestBody.content) ? requestBody.content : {};
  return Object.keys(content)[0] ?? null;
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

function listOf(value: JsonValue | undefined): JsonValue[] {
  return Array.isArray(value) ? value : [];
}

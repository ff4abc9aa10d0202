import { readdirSync, readFileSync } from 'node:fs';
import { Ajv } from 'ajv';
import { parse } from 'yaml';
import type { JsonObject, JsonValue } from '../../../openehr/base/json.js';
import type { Operation } from '../../../routes/http/operation/operation.js';
import { STANDARD_API } from '../../../routes/http/request/request-state.js';

const FOLDER = 'test/fixtures/its-rest-1.1';

interface Referring {
  readonly $ref?: string;
}
interface Media {
  readonly schema: JsonObject;
}
interface DocumentResponse {
  readonly headers?: Readonly<Record<string, unknown>>;
  readonly content?: Readonly<Record<string, Media | undefined>>;
}
interface DocumentOperation {
  readonly operationId: string;
  readonly responses: Readonly<Record<string, DocumentResponse & Referring>>;
}
interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, DocumentOperation>>>>;
  readonly components: Readonly<Record<string, Readonly<Record<string, JsonObject>>>>;
}

/** An operation of the official documents of ITS-REST 1.1.0. */
interface OfficialOperation {
  readonly id: string;
  readonly method: string;
  /** Below the standard API, parameters as `{}`. */
  readonly path: string;
  readonly statuses: readonly number[];
  /** Names of the headers of an answer, in lower case. */
  readonly headersOf: (status: number) => readonly string[];
  /** What a JSON body has against its schema; empty where the document has none. */
  readonly violations: (status: number, body: unknown) => readonly string[];
}

/** What has to be corrected in memory, each with its reason; the files stay as they are. */
function corrected(document: OpenApi): OpenApi {
  const { schemas = {} } = document.components;
  const { Archetyped, Composition, Error: error, ...others } = schemas;
  // It alone is closed, so that it could not have the `_type` that every object of the reference model may have.
  if (Archetyped !== undefined) delete Archetyped.additionalProperties;
  // RM: COMPOSITION.context and content are 0..1: a persistent COMPOSITION has no context, and a template may ask for no content.
  if (Composition !== undefined)
    Composition.required = without(without(Composition.required, 'context'), 'content');
  // "The response body MAY contain error details" (response 400): they cannot be required, and a bad header has none.
  if (error !== undefined) error.required = without(error.required, 'validationErrors');
  // RM common: ITEM_TAG.target is a UID_BASED_ID; the document has an OBJECT_REF.
  for (const [name, schema] of Object.entries(others))
    if (name.startsWith('ItemTagOf'))
      Object.assign(schema.properties as JsonObject, {
        target: { $ref: '#/components/schemas/UUidBasedId' },
      });
  return document;
}

function without(names: JsonValue | undefined, name: string): JsonValue {
  return Array.isArray(names) ? names.filter((each) => each !== name) : [];
}

/** Every operation of the documents, once. */
export function officialOperations(): OfficialOperation[] {
  const names = readdirSync(FOLDER).filter((name) => name.endsWith('.yaml'));
  return names.flatMap((name) =>
    operationsOf(corrected(parse(readFileSync(`${FOLDER}/${name}`, 'utf8')) as OpenApi)),
  );
}

function operationsOf(document: OpenApi): OfficialOperation[] {
  const ajv = new Ajv({ strict: false, validateFormats: false });
  ajv.addSchema({ $id: 'document', components: document.components });
  const resolved = <T>(value: T & Referring): T => {
    if (value.$ref === undefined) return value;
    const [, kind = '', name = ''] = value.$ref.split('/').slice(1);
    return document.components[kind]?.[name] as T;
  };
  return Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item)
      .filter(([method]) => method !== 'parameters')
      .map(([method, operation]): OfficialOperation => {
        const responseOf = (status: number): DocumentResponse | undefined => {
          const response = operation.responses[String(status)];
          return response === undefined ? undefined : resolved<DocumentResponse>(response);
        };
        return {
          id: operation.operationId,
          method: method.toUpperCase(),
          // A template of a URI with its query (`/admin/ehr/all{?ehr_id*}`) is no path of OpenAPI.
          path: bare(path === '/' ? '' : path.replace(/\{\?.*$/, '')),
          statuses: Object.keys(operation.responses).map(Number),
          headersOf: (status) =>
            Object.keys(responseOf(status)?.headers ?? {}).map((name) => name.toLowerCase()),
          violations: (status, body) => {
            const schema = responseOf(status)?.content?.['application/json']?.schema;
            if (schema === undefined) return [];
            const validate = ajv.compile(placed(schema));
            if (validate(body)) return [];
            return (validate.errors ?? []).map((error) => `${error.instancePath} ${error.message ?? ''}`);
          },
        };
      }),
  );
}

/** A whole resource or its identifier is both where the resource requires nothing, as an EHR: `anyOf` is what is meant. */
function placed(schema: JsonObject): JsonObject {
  const { oneOf, ...rest } = schema;
  const text = JSON.stringify({ ...rest, ...(oneOf !== undefined && { anyOf: oneOf }) });
  return JSON.parse(text.replaceAll('"#/components/', '"document#/components/')) as JsonObject;
}

/** The row of the table of operations that an official operation is. */
export function rowOf(official: OfficialOperation, rows: readonly Operation[]): Operation | undefined {
  return rows.find(
    ({ method, path }) => method === official.method && bare(path) === `${STANDARD_API}${official.path}`,
  );
}

function bare(path: string): string {
  return path.replaceAll(/\{\w+\}/g, '{}');
}

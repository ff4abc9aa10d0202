import { Ajv2020 } from 'ajv/dist/2020.js';
import type { JsonObject } from '../../../openehr/base/json.js';
import { openApiDocument } from '../../../routes/http/openapi-document.js';
import type { Operation } from '../../../routes/http/operation/operation.js';
import { everyOperation } from '../../../src/operation-table.js';

const document = openApiDocument(everyOperation().groups, 'http://127.0.0.1');
const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: false });
ajv.addSchema({ $id: 'api', components: document.components });

type Media = Readonly<Record<string, { schema: JsonObject } | undefined>>;

/** What the body of an answer has against its schema in the document. */
export function answerViolations(
  operation: Operation,
  type: string,
  answer: { readonly status: number; readonly body: unknown },
): string[] {
  const { responses } = described(operation);
  const content = (responses as Record<string, { content?: Media }>)[String(answer.status)]?.content;
  return violations(content?.[type]?.schema, answer.body);
}

/** What a body that is sent has against its schema in the document. */
export function requestViolations(operation: Operation, type: string, body: unknown): string[] {
  const { requestBody } = described(operation);
  return violations((requestBody as { content: Media }).content[type]?.schema, body);
}

function described({ path, method }: Operation): JsonObject {
  const item = (document.paths as Record<string, Record<string, JsonObject>>)[path];
  return item?.[method.toLowerCase()] ?? {};
}

function violations(schema: JsonObject | undefined, value: unknown): string[] {
  if (schema === undefined) return ['the document has no schema'];
  const text = JSON.stringify(schema).replaceAll('"#/components/', '"api#/components/');
  const validate = ajv.compile(JSON.parse(text) as JsonObject);
  return validate(value)
    ? []
    : (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${String(message)}`);
}

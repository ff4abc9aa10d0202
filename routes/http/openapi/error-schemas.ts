import { ERROR_STATUS } from '../failure/error-status.js';
import type { JsonObject } from '../../../openehr/base/json.js';

const TEXT: JsonObject = { type: 'string' };
const POSITION: JsonObject = { type: 'integer', minimum: 1 };

/** The error body and its parts: docs/spec/rest.md#error-body */
export const ERROR_SCHEMAS = {
  Error: {
    type: 'object',
    properties: {
      error: TEXT,
      message: TEXT,
      code: { type: 'string', enum: [...Object.keys(ERROR_STATUS), 'internal'] },
      request_id: { type: 'string', format: 'uuid' },
      validationErrors: { type: 'array', items: TEXT },
      violations: { type: 'array', items: { $ref: '#/components/schemas/Violation' } },
    },
    required: ['error', 'message', 'code', 'request_id'],
  },
  Violation: {
    type: 'object',
    properties: {
      path: TEXT,
      aqlPath: TEXT,
      flatPath: TEXT,
      code: TEXT,
      rule: TEXT,
      message: TEXT,
      expected: { type: 'array', items: {} },
      found: {},
      line: POSITION,
      column: POSITION,
    },
    required: ['path', 'code', 'message'],
  },
} as const satisfies Record<string, JsonObject>;

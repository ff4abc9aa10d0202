import type { ParameterName } from './parameters.js';
import type { SchemaName } from './schemas.js';

/** Media types of bodies, by what they are about (contract, section 6). */
export const MEDIA_TYPES = {
  rm: ['application/json', 'application/xml'],
  composition: [
    'application/json',
    'application/xml',
    'application/openehr.wt.flat+json',
    'application/openehr.wt.structured+json',
  ],
  json: ['application/json'],
  xml: ['application/xml'],
  text: ['text/plain'],
  template: ['application/xml', 'application/openehr.wt+json', 'application/json', 'text/plain'],
  uploadedTemplate: ['application/xml', 'application/openehr.wt+json', 'application/json'],
  webTemplate: ['application/openehr.wt+json', 'application/json'],
  query: ['text/plain', 'application/json'],
  resultSet: ['application/json', 'application/x-ndjson', 'text/csv'],
  textOrJson: ['text/plain', 'application/json'],
} as const;

/** A body: its schema and the media types it may have. */
export interface BodyDoc {
  readonly schema: SchemaName;
  readonly types: keyof typeof MEDIA_TYPES;
  /** Request only; true unless said otherwise. */
  readonly required?: boolean;
}

/** A response header that clients may count on. */
export type HeaderName = 'ETag' | 'Location' | 'Last-Modified' | 'Allow' | 'Deprecated' | 'Link';

/** An answer of success, or of failure when its meaning is particular to the operation. */
export interface ResponseDoc {
  readonly description: string;
  readonly body?: BodyDoc;
  readonly headers?: readonly HeaderName[];
}

/** Who may call: `user` as `AUTH` says, `admin` always by token, `management` as `MANAGEMENT_ACCESS` says. */
export type AccessDoc = 'user' | 'admin' | 'management' | 'open';

/** One operation of the API: a row of the contract's tables. */
export interface OperationDoc {
  /** Unique name, that of ITS-REST where it has one. */
  readonly id: string;
  readonly method: 'get' | 'put' | 'post' | 'delete' | 'options';
  /** Whole path as an OpenAPI template; parameters in braces are described by their names. */
  readonly path: string;
  readonly summary: string;
  readonly access: AccessDoc;
  /** Query and header parameters. */
  readonly parameters?: readonly ParameterName[];
  readonly request?: BodyDoc;
  readonly responses: Readonly<Record<number, ResponseDoc>>;
  /** Statuses of failure with their general meaning, beside those every operation has. */
  readonly errors: readonly ErrorStatus[];
}

/** Operations that belong together. */
export interface OperationGroup {
  readonly tag: string;
  readonly description: string;
  readonly operations: readonly OperationDoc[];
}

/** General meaning of the statuses of failure (contract, section 7). */
export const ERROR_MEANINGS = {
  400: 'Malformed id, parameter, header or body; the message tells which',
  401: 'No token, or one that is not valid',
  403: 'The token lacks the role',
  404: 'Unknown id, or the resource belongs to another EHR',
  405: 'Switched off in this server',
  406: 'No representation can be made that `Accept` takes',
  408: 'The query took longer than `AQL_TIMEOUT_MS`',
  409: 'The state of the EHR or of the resource does not allow it',
  412: 'The version named is not the latest one, which `ETag` and `Location` tell',
  413: 'The body is too large',
  415: 'The type of the body is not supported',
  422: 'The body can be read but not accepted; `validationErrors` tells all findings',
  501: 'Not offered by this server',
  502: 'The terminology server failed',
  503: 'The database is away, or the server is starting, busy or stopping',
} as const;

/** A documented status of failure. */
export type ErrorStatus = keyof typeof ERROR_MEANINGS;

import type { Context } from 'koa';
import type { Permission } from '../../../config/settings.js';
import type { IdempotentResult } from '../../../models/idempotency.js';
import type { FailureRecord } from '../failure/error-status.js';
import type { ParameterName } from './parameters.js';
import type { SchemaName } from '../openapi/schemas.js';

export type { Permission } from '../../../config/settings.js';

/** Media types of bodies, by what they are about. */
export const MEDIA_TYPES = {
  rm: ['application/json', 'application/xml'],
  summaries: ['application/json', 'application/xml'],
  composition: [
    'application/json',
    'application/xml',
    'application/openehr.wt.flat+json',
    'application/openehr.wt.structured+json',
  ],
  json: ['application/json'],
  xml: ['application/xml'],
  compared: ['application/xml', 'application/json'],
  text: ['text/plain'],
  html: ['text/html'],
  template: ['application/xml', 'application/openehr.wt+json', 'application/json', 'text/plain'],
  archetype: ['text/plain', 'application/json'],
  uploadedTemplate: ['application/xml', 'application/openehr.wt+json', 'application/json'],
  webTemplate: ['application/openehr.wt+json', 'application/json'],
  query: ['text/plain', 'application/json'],
  resultSet: ['application/json', 'application/x-ndjson', 'text/csv'],
  records: ['application/json', 'text/csv'],
  auditRecords: ['application/json', 'text/csv', 'application/fhir+json'],
  lines: ['application/x-ndjson'],
  textOrJson: ['text/plain', 'application/json'],
  policy: ['application/json', 'text/plain'],
} as const;

/** A body: its schema and the media types it may have. */
export interface BodyDescription {
  readonly schema: SchemaName;
  readonly types: keyof typeof MEDIA_TYPES;
  /** Request only; true unless said otherwise. */
  readonly required?: boolean;
}

/** A response header that clients may count on. */
type HeaderName =
  | ('ETag' | 'Location' | 'Last-Modified' | 'Allow' | 'Deprecated' | 'Link')
  | ('Everchart-Signature' | 'Everchart-Template-Revision');

/** An answer of success, or of failure when its meaning is particular to the operation. */
export interface AnswerDescription {
  readonly description: string;
  readonly body?: BodyDescription;
  readonly headers?: readonly HeaderName[];
}

/**
 * Who may call: `open` everybody; `anyone` whoever has any permission, and everybody with `AUTH=none`; `identified` the
 * same, but with `AUTH=none` too; else who has the permission. `audit`, `admin` and `restore` need an identity always, the
 * others only unless `AUTH=none`.
 */
export type Access = 'open' | 'anyone' | 'identified' | Permission;

/**
 * What the audit notes: `read` and `query` with `AUDIT_READS`, `write` and `admin` always, `none` nothing but refusals.
 */
export type AuditKind = 'none' | 'read' | 'query' | 'write' | 'admin';

/**
 * What an operation gives or changes of records, as policies of access are asked for it: the action, of a `contribution` that of each
 * entry. `nothing`: no record is in it; `whole`: administration of all that is there, for whom the permission is enough, which answers ids
 * and counts. docs/access.md#enforced
 */
export type Disclosure =
  'nothing' | 'whole' | 'read' | 'query' | 'export' | 'create' | 'update' | 'delete' | 'contribution';

/** HTTP methods of the table; HEAD follows from GET. */
type Method = 'GET' | 'PUT' | 'POST' | 'DELETE' | 'OPTIONS';

/** Bytes that a body may have, and the setting that says so; null: no setting does. */
export interface LargestBody {
  readonly bytes: number;
  readonly setting:
    'MAX_BODY_BYTES' | 'MAX_QUERY_BYTES' | 'MAX_TEMPLATE_BYTES' | 'MAX_COMPOSITION_BYTES' | null;
}

/** One operation of the API. Router, documentation, access, audit, metrics and `Allow` are derived from it. */
export interface Operation {
  /** Unique: the operationId of the OpenAPI document and the operation of audit records. */
  readonly id: string;
  readonly method: Method;
  /** Whole path; `{…}` are keys of the table of parameters. Compared with its case. */
  readonly path: string;
  readonly summary: string;
  readonly access: Access;
  /** Query parameter with which it needs the permission `admin`, whatever `access` says. */
  readonly adminWith?: ParameterName;
  readonly audit: AuditKind;
  /** Where policies are enforced a server with a row that does not say it does not start. */
  readonly discloses: Disclosure;
  /** Query and header parameters. A query parameter that stands neither here is refused. */
  readonly parameters?: readonly ParameterName[];
  /** true: every other query parameter is a variable of an AQL query. */
  readonly takesVariables?: true;
  /** Absent: a body is not read. */
  readonly request?: BodyDescription;
  /** Absent: `MAX_BODY_BYTES`, of a query `MAX_QUERY_BYTES`. */
  readonly largestBody?: LargestBody;
  readonly responses: Readonly<Record<number, AnswerDescription>>;
  /** Where that is not the first one: what is answered when the transaction is committed. */
  readonly committedStatus?: number;
  /** Statuses of failure with their general meaning, beside those every operation has. */
  readonly errors: readonly ErrorStatus[];
  /** How its error bodies begin; absent: as those of the standard API. */
  readonly failure?: FailureRecord;
  /** false: no part of the OpenAPI document (pages and their files). */
  readonly isDocumented?: false;
  /** true: answers while the server starts, and whatever the limits of requests say. */
  readonly isProbe?: true;
  /** Answers a repeated `Idempotency-Key` from what the first request made. */
  readonly replay?: (ctx: Context, result: IdempotentResult) => Promise<void> | void;
  readonly handle: (ctx: Context) => Promise<void> | void;
}

/** What an operation answers when its transaction is committed: the first status of its row unless it says otherwise. */
export function successStatus({ responses, committedStatus }: Operation): number {
  if (committedStatus !== undefined) return committedStatus;
  const [first = 200] = Object.keys(responses).map(Number);
  return first;
}

/** Operations that belong together. */
export interface OperationGroup {
  readonly tag: string;
  readonly description: string;
  readonly operations: readonly Operation[];
}

/** General meaning of the statuses of failure. */
export const ERROR_MEANINGS = {
  400: 'Malformed id, parameter, header or body; the message says which',
  401: 'No identity, or one that is not valid',
  403: 'The identity lacks the permission, or the request comes from another site or for another host',
  404: 'Unknown id, or the resource belongs to another EHR',
  405: 'Switched off in this server',
  406: 'No representation can be made that `Accept` takes',
  408: 'The query took longer than `AQL_TIMEOUT_MS`',
  409: 'The state of the EHR or of the resource does not allow it',
  412: 'The version named is not the latest one, which `ETag` and `Location` name',
  413: 'The body is too large, or what is answered too much to be written in the form asked for',
  415: 'The type of the body is not supported',
  422: 'The body can be read but not accepted (`validationErrors` has all findings), or the request needs more work than a server allows one',
  429: 'Too many requests, or too many wrong passwords; `Retry-After` says when to come again',
  501: 'Not offered by this server',
  502: 'The terminology server failed',
  503: 'The database is away, or the server is starting, busy or stopping',
} as const;

/** A documented status of failure. */
export type ErrorStatus = keyof typeof ERROR_MEANINGS;

import type { JsonObject } from './json.js';
import type { Violation } from './violation.js';

/** The kinds of failure that a caller can meet. `routes/error-status.ts` gives each its HTTP status. */
export type ErrorCode =
  | 'invalid'
  | 'unauthenticated'
  | 'forbidden'
  /** A mark stands against a write, or is named to who may know why something cannot be read: one word in the answer. */
  | 'restricted'
  | 'restricted-read'
  | 'not-found'
  | 'method-not-allowed'
  | 'not-acceptable'
  | 'unsupported-media-type'
  | 'timeout'
  | 'conflict'
  | 'precondition-failed'
  | 'unprocessable'
  | 'too-large'
  | 'uri-too-long'
  | 'too-many-requests'
  | 'unavailable'
  | 'outcome-unknown'
  | 'not-implemented'
  | 'bad-gateway'
  | 'query-too-large'
  | 'transaction-too-large';

/**
 * What a refusal is about, where the editions of ITS-REST have different statuses for it (`openehr/base/dialect.ts`): content that
 * lacks an attribute of the reference model; content that can be read and breaks a rule; a COMPOSITION changed to another
 * template; an OPT that can be read and makes no sense; a tag; a directory that is not there.
 */
export type Refusal =
  'lacking-attribute' | 'broken-rule' | 'other-template' | 'template-text' | 'item-tag' | 'no-directory';

/** One thing that stands against what was asked for, as the answer shows it. */
export interface ErrorObstacle {
  readonly code: string;
  readonly message: string;
  readonly object_ids: readonly string[];
  readonly contribution_uid?: string;
  /** What can be chosen for it; empty: the message says what has to be done first. */
  readonly choices: readonly string[];
}

/** What one request may use: each is described in `src/limits.ts`. */
export type BudgetName =
  | 'steps'
  | 'patternSteps'
  | 'valueSteps'
  | 'compileSteps'
  | 'expressionNodes'
  | 'tuples'
  | 'resultBytes'
  | 'timeMs'
  | 'bodyBytes'
  | 'bodyNodes'
  | 'bodyBytesUnderWay'
  | 'bodyHeap'
  | 'bodyTimeMs'
  | 'objectBytes'
  | 'evaluatorHeap'
  | 'translatorHeap'
  | 'versions'
  | 'databaseMemory'
  | 'terminologyQuestions';

/** A budget of a request that is used up. */
export interface BudgetDetail {
  /** The label of the metric `everchart_budget_exceeded_total`. */
  readonly name: BudgetName;
  /** The setting that moves it; null for a fixed limit. */
  readonly setting: string | null;
  /** null: what the database allows. */
  readonly limit: number | null;
  /** null: nobody counted on. */
  readonly used: number | null;
}

/** What an error has beside its message. Never patient data. */
export interface ErrorDetails {
  /** Every violation of a validation. */
  readonly violations?: readonly Violation[];
  /** What is wrong with the request besides, as data; `validationErrors` does not list it. */
  readonly problems?: readonly Violation[];
  /** Latest OBJECT_VERSION_ID of the object in conflict: becomes `ETag`. */
  readonly latestVersionUid?: string;
  /** Path below the standard API (`/ehr/…/composition/…`) of that version: becomes `Location`. */
  readonly latestVersionPath?: string;
  /** EHR id that the EHR in question was merged into: becomes `Link`. */
  readonly mergedInto?: string;
  /** All reasons of a refused unmerge. */
  readonly reasons?: readonly string[];
  /** What stands against an unmerge, for programs. */
  readonly obstacles?: readonly ErrorObstacle[];
  /** Marks that restrict it, to who may know them. */
  readonly marks?: readonly JsonObject[];
  /** What a merge would do now, where that is not what was agreed on. */
  readonly plan?: JsonObject;
  /** Seconds after which a retry makes sense: becomes `Retry-After`. */
  readonly retryAfterSeconds?: number;
  /** Methods that the path does accept: becomes `Allow`. */
  readonly allow?: readonly string[];
  /** How a client may identify itself: each becomes a `WWW-Authenticate`. */
  readonly challenge?: readonly string[];
  /** The budget of the request that is used up, for the log and the metrics. */
  readonly budget?: BudgetDetail;
  /** What it is about, where the status depends on the edition of ITS-REST that is spoken. */
  readonly about?: Refusal;
  /** The original failure, kept for the log only. */
  readonly cause?: unknown;
}

/** The one error class of the product. Anything else that is thrown is a defect and answered 500. */
export class CdrError extends Error {
  readonly code: ErrorCode;
  readonly details: ErrorDetails;

  /** `message`: one sentence without final period, without patient data. */
  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = 'CdrError';
    this.code = code;
    this.details = details;
  }
}

/**
 * Nodes of one body (`MAX_BODY_NODES`) or template unless another limit is given. A node is every object, array and
 * scalar of JSON, every element and attribute of XML: what is built of a text costs memory and time by its nodes, not
 * by its bytes.
 */
export const DEFAULT_MAX_NODES = 250_000;

/** The refusal of a text with more nodes than are read. */
export function tooManyNodes(form: 'JSON' | 'XML', maxNodes: number): CdrError {
  const counted = form === 'JSON' ? 'objects, arrays and values' : 'elements and attributes';
  const budget: BudgetDetail = { name: 'bodyNodes', setting: 'MAX_BODY_NODES', limit: maxNodes, used: null };
  return new CdrError(
    'too-large',
    `the ${form} has more than ${maxNodes} nodes (${counted}; MAX_BODY_NODES): send less at a time`,
    { budget },
  );
}

/** Marks a branch that the types exclude; reaching it is a defect. */
export function unreachable(value: never): never {
  throw new TypeError(`unexpected value ${JSON.stringify(value)}`);
}

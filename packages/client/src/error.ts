import type { SetMark } from './mark.js';

/** One finding about content that was refused. */
export interface Violation {
  /** Where in the content, such as `/content[0]/data/events[0]`; empty where the server does not say. */
  readonly path: string;
  readonly message: string;
  /** Which rule, where the server names it. */
  readonly code?: string;
  /** The same place for AQL. */
  readonly aqlPath?: string;
  /** Its key in FLAT, also of canonical content: by it a form finds its field. */
  readonly flatPath?: string;
  readonly expected?: readonly unknown[];
  readonly found?: unknown;
  /** Where in a text, such as that of a query: from 1. */
  readonly line?: number;
  readonly column?: number;
}

/** What an error knows beside its message. */
export interface CdrErrorDetails {
  readonly status: number;
  readonly code: string;
  readonly violations?: readonly Violation[];
  readonly reasons?: readonly string[];
  readonly requestId?: string | undefined;
  readonly latestVersion?: string | undefined;
  readonly retryAfterSeconds?: number | undefined;
  readonly mergedInto?: string | undefined;
  readonly body?: unknown;
  readonly cause?: unknown;
}

/** Every failure of a call, but an abort: that is the reason of the signal. */
export class CdrError extends Error {
  override readonly name = 'CdrError';
  /** HTTP status; 0 when there was no answer. */
  readonly status: number;
  /** What kind of failure: the server's own word, else one by the status such as `not-found`; `network` without an answer. */
  readonly code: string;
  /** All findings about content. */
  readonly violations: readonly Violation[];
  /** Why an unmerge was refused. */
  readonly reasons: readonly string[];
  /** Finds the request in the log and the audit of the server. */
  readonly requestId: string | undefined;
  /** The version uid that a 409 or 412 was about. */
  readonly latestVersion: string | undefined;
  /** What the server asked to wait. */
  readonly retryAfterSeconds: number | undefined;
  /** Id of the EHR that the one asked for was merged into. */
  readonly mergedInto: string | undefined;
  /** The body of the answer as it came. */
  readonly body: unknown;

  constructor(message: string, details: CdrErrorDetails) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.status = details.status;
    this.code = details.code;
    this.violations = details.violations ?? [];
    this.reasons = details.reasons ?? [];
    this.requestId = details.requestId;
    this.latestVersion = details.latestVersion;
    this.retryAfterSeconds = details.retryAfterSeconds;
    this.mergedInto = details.mergedInto;
    this.body = details.body;
  }
}

/** A restriction of processing stands against a write (409), or is named to who may know why something cannot be read (403). */
export class RestrictedError extends CdrError {
  /** To administrators and auditors. */
  get marks(): readonly SetMark[] {
    const { body } = this;
    return isRecord(body) ? (listOf(body.marks) as SetMark[]) : [];
  }
}

/** Who asks may not do it: his permissions, or a policy of access where that is said (`ACCESS_REFUSED=403`). */
export class ForbiddenError extends CdrError {}

const CODES: Readonly<Record<number, string>> = {
  400: 'invalid',
  401: 'unauthenticated',
  403: 'forbidden',
  404: 'not-found',
  405: 'method-not-allowed',
  406: 'not-acceptable',
  408: 'timeout',
  409: 'conflict',
  412: 'precondition-failed',
  413: 'too-large',
  414: 'uri-too-long',
  415: 'unsupported-media-type',
  422: 'unprocessable',
  429: 'too-many-requests',
  501: 'not-implemented',
  502: 'bad-gateway',
  503: 'unavailable',
};

/** Failures of a class of their own, by their codes. */
const FAILURES: Readonly<Record<string, typeof CdrError>> = {
  restricted: RestrictedError,
  forbidden: ForbiddenError,
};

/** The error that an answer describes. */
export async function errorOf(response: Response): Promise<CdrError> {
  const { status, headers } = response;
  const text = await response.text().catch(() => '');
  const body = jsonOrText(text);
  const members = isRecord(body) ? body : {};
  const code = textOf(members.code) ?? CODES[status] ?? `http-${status}`;
  const Failure = FAILURES[code] ?? CdrError;
  return new Failure(
    textOf(members.message) ?? (typeof body === 'string' && body !== '' ? body : `HTTP ${status}`),
    {
      status,
      code,
      violations: violationsOf(members),
      reasons: listOf(members.reasons).map(String),
      requestId: textOf(members.request_id) ?? headers.get('x-request-id') ?? undefined,
      latestVersion: versionOf(headers.get('etag')),
      retryAfterSeconds: secondsOf(headers.get('retry-after')),
      mergedInto: successorOf(headers.get('link')),
      body,
    },
  );
}

/** What is thrown when an answer ended in its middle: the reason of the signal when that did it. */
export function cutError(response: Response, signal: AbortSignal | undefined, cause: unknown): unknown {
  if (signal?.aborted) return signal.reason;
  return new CdrError(`the answer of ${response.url} was cut`, {
    status: response.status,
    code: 'network',
    cause,
  });
}

/** A success whose body is not what an openEHR server answers. */
export function strangeError(response: Response, what: string, body: string, cause?: unknown): CdrError {
  const message = `${response.url} answered with ${what}: is there a proxy or another server at this address?`;
  return new CdrError(message, { status: response.status, code: 'bad-answer', body, cause });
}

/** The version uid in an entity tag. */
export function versionOf(etag: string | null): string | undefined {
  return etag?.replace(/^(?:W\/)?"(.*)"$/, '$1');
}

/** The id of the EHR in a link such as `<…/ehr/7d44b88c>; rel="successor-version"`. */
function successorOf(link: string | null): string | undefined {
  const id = /\/ehr\/([^/>]+)>; rel="successor-version"/.exec(link ?? '')?.[1];
  return id === undefined ? undefined : decodeURIComponent(id);
}

function secondsOf(header: string | null): number | undefined {
  if (header === null) return undefined;
  const seconds = /^\d+$/.test(header) ? Number(header) : (Date.parse(header) - Date.now()) / 1000;
  return Number.isNaN(seconds) ? undefined : Math.max(0, seconds);
}

function violationsOf(body: Record<string, unknown>): Violation[] {
  const findings = listOf(body.violations);
  return (findings.length > 0 ? findings : listOf(body.validationErrors)).map(violationOf);
}

/** As an object, or as text `<path>: <message>`. */
function violationOf(finding: unknown): Violation {
  if (!isRecord(finding)) {
    const [, path = '', message = ''] = /^(?:(\/\S*): )?([\s\S]*)$/.exec(String(finding)) ?? [];
    return { path, message };
  }
  return { ...finding, path: textOf(finding.path) ?? '', message: textOf(finding.message) ?? '' };
}

function jsonOrText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

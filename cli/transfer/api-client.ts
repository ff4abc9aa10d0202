import { setTimeout as pause } from 'node:timers/promises';
import { isJsonObject, type JsonObject } from '../../openehr/base/json.js';
import { STANDARD_API } from '../../routes/http/request/request-state.js';
import type { RemoteAddress } from './address.js';

/** What is sent beside method and path. */
interface ApiRequest {
  readonly body?: string;
  /** Media type of the body; `application/json` unless given. */
  readonly type?: string;
  readonly accept?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The path is below the address of the server, and not below the standard API. */
  readonly isWhole?: true;
}

/** What came back, whatever the status. */
export interface ApiAnswer {
  readonly status: number;
  /** Without quotes; '' when there is none. */
  readonly etag: string;
  /** The `Warning` headers in one line; '' when there is none. */
  readonly warning: string;
  readonly text: string;
  /** EHR id that the EHR asked for was merged into, null without `Link`. */
  readonly successor: string | null;
  /** Digest of the revision of its template by which the version that is answered was judged, null where it notes none. */
  readonly revision: string | null;
}

/** The standard API of a server, seen from a command. */
export interface ApiClient {
  /** Sends and reads the whole answer; repeats what may be repeated while the server is away or busy. */
  send(method: string, path: string, request?: ApiRequest): Promise<ApiAnswer>;
  /** The answer as a stream of text, which throws AnswerCutShort where it breaks off. @throws AnswerError on another status than 2xx */
  stream(method: string, path: string, request?: ApiRequest): Promise<AsyncIterable<string>>;
}

/** An answer that is no success. */
export class AnswerError extends Error {
  readonly status: number;
  readonly violations: readonly string[];

  constructor(status: number, message: string, violations: readonly string[] = []) {
    super(message);
    this.status = status;
    this.violations = violations;
  }
}

/** An answer that began and was not whole: the server ended it, or something between did. */
export class AnswerCutShort extends AnswerError {
  constructor(reason: string) {
    super(0, `the answer broke off before its end: ${reason}`);
  }
}

const FIRST_PAUSE_MS = 200;
const LONGEST_PAUSE_MS = 5_000;

/** Where the server is and how patient its client. */
export interface ApiAddress extends RemoteAddress {
  /** How long what may be repeated is repeated while the server is away or busy. */
  readonly repeatForMs: number;
}

/** A client of the server at an address. */
export function apiClient({ url, identity, repeatForMs }: ApiAddress): ApiClient {
  const base = url + STANDARD_API;
  const authorization = authorizationOf(identity);
  const call = (method: string, path: string, request: ApiRequest): Promise<Response> =>
    fetch(`${request.isWhole === true ? url : base}${path}`, {
      method,
      headers: {
        ...(authorization !== null && { Authorization: authorization }),
        ...(request.body !== undefined && { 'Content-Type': request.type ?? 'application/json' }),
        ...(request.accept !== undefined && { Accept: request.accept }),
        ...request.headers,
      },
      ...(request.body !== undefined && { body: request.body }),
    });
  return {
    send: (method, path, request = {}) =>
      repeated(isRepeatable(method, request) ? repeatForMs : 0, async () => {
        const { response, text } = await reached(base, async () => {
          const answered = await call(method, path, request);
          // What breaks off in the middle is no answer.
          return { response: answered, text: await answered.text() };
        });
        const etag = (response.headers.get('ETag') ?? '').replace(/^W\//, '').replaceAll('"', '');
        const warning = response.headers.get('Warning') ?? '';
        const retryAfter = Number(response.headers.get('Retry-After') ?? '');
        const successor = successorOf(response.headers.get('Link'));
        const revision = response.headers.get('Everchart-Template-Revision');
        const answer = { status: response.status, etag, warning, text, successor, revision };
        return { answer, retryAfter };
      }),
    async stream(method, path, request = {}) {
      const response = await reached(base, () => call(method, path, request));
      if (!response.ok) throw answerError(response.status, await response.text());
      return textChunks(response);
    },
  };
}

function authorizationOf({ basic, token }: RemoteAddress['identity']): string | null {
  if (basic === undefined) return typeof token === 'string' ? `Bearer ${token}` : null;
  return `Basic ${Buffer.from(`${basic.user}:${basic.password}`).toString('base64')}`;
}

function successorOf(link: string | null): string | null {
  const [, ehrId] = /\/ehr\/([^/>]+)>;\s*rel="successor-version"/.exec(link ?? '') ?? [];
  return ehrId === undefined ? null : decodeURIComponent(ehrId);
}

/** The failure that an answer reports; its message falls back to the status. */
export function answerError(status: number, text: string): AnswerError {
  const body = parsed(text);
  const message = typeof body.message === 'string' ? body.message : `the server answered ${status}`;
  const listed = Array.isArray(body.validationErrors) ? body.validationErrors : [];
  return new AnswerError(status, message, listed.map(String));
}

function parsed(text: string): JsonObject {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : {};
  } catch {
    return {};
  }
}

async function* textChunks(response: Response): AsyncGenerator<string> {
  if (response.body === null) return;
  try {
    yield* response.body.pipeThrough(new TextDecoderStream('utf-8', { ignoreBOM: true }));
  } catch (cause) {
    throw new AnswerCutShort(reasonOf(cause));
  }
}

/** A POST may have been carried out though its answer was lost. */
function isRepeatable(method: string, request: ApiRequest): boolean {
  return method !== 'POST' || request.headers?.['Idempotency-Key'] !== undefined;
}

async function reached<T>(base: string, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (cause) {
    throw new AnswerError(0, `cannot reach ${base}: ${reasonOf(cause)}`);
  }
}

/** Why no answer came, in the words of the system. */
export function reasonOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return cause instanceof Error ? cause.message || cause.name : String(cause);
}

async function repeated(
  repeatForMs: number,
  attempt: () => Promise<{ readonly answer: ApiAnswer; readonly retryAfter: number }>,
): Promise<ApiAnswer> {
  const deadline = performance.now() + repeatForMs;
  for (let wait = FIRST_PAUSE_MS; ; wait = Math.min(wait * 2, LONGEST_PAUSE_MS)) {
    const outcome = await attempt().catch((error: unknown) => {
      if (error instanceof AnswerError) return error;
      throw error;
    });
    const failed = outcome instanceof AnswerError;
    const isBusy = failed || outcome.answer.status === 503 || outcome.answer.status === 429;
    const isOver = performance.now() + wait > deadline;
    if (failed && isOver) throw outcome;
    if (!failed && (!isBusy || isOver)) return outcome.answer;
    await pause(
      !failed && outcome.retryAfter > 0 ? Math.min(outcome.retryAfter * 1000, LONGEST_PAUSE_MS) : wait,
    );
  }
}

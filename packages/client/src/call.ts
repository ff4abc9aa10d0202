import { cutError, errorOf, strangeError, versionOf } from './error.js';
import type { CdrOptions, CommitOptions } from './options.js';
import { Transport } from './transport.js';
import { versionedObjectUidOf } from './uid.js';

/** One request: what a wrapper says of its operation. */
export interface Call {
  /** Query parameters; undefined ones are left out, lists repeat. */
  readonly query?: Readonly<Record<string, QueryValue>> | undefined;
  readonly headers?: Readonly<Record<string, string | undefined>> | undefined;
  /** Text as it is; anything else as JSON. */
  readonly body?: unknown;
  /** Type of the body; `application/json` unless given. */
  readonly type?: string | undefined;
  readonly accept?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

type QueryValue = string | number | boolean | readonly string[] | undefined;

/** What came back, with its body read. */
export interface Answer<T> {
  readonly status: number;
  readonly headers: Headers;
  /** JSON as a value, everything else as text; undefined without body. */
  readonly body: T;
}

/** A version as an answer names it. */
export interface VersionInfo {
  /** The version uid, `<uuid>::<system>::<n>`. */
  readonly uid: string;
  /** The id of the container, its first part: the same for all versions. */
  readonly id: string;
  /** What of the request the server ignored or replaced, in its words. */
  readonly warnings: readonly string[];
}

export const V1 = '/rest/openehr/v1';

/** Sends requests and reads answers: what all resources share. */
export class Caller {
  readonly transport: Transport;
  readonly url: string;

  constructor(options: CdrOptions) {
    this.transport = new Transport(options);
    this.url = options.url.replace(/(?<!\/)\/+$/, '');
  }

  /** The answer, its body not read. @throws CdrError for every status from 400 */
  async send(method: string, path: string, call: Call = {}): Promise<Response> {
    const { query = {}, body, signal } = call;
    const response = await this.transport.fetch(this.#absolute(path) + queryText(query), {
      method,
      headers: headersOf(call),
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      ...(signal && { signal }),
    });
    if (response.status >= 400) throw await errorOf(response);
    return response;
  }

  /** The answer with its body: of the type that the caller knows its operation to have. @throws CdrError as `send` */
  async answer<T>(method: string, path: string, call: Call = {}): Promise<Answer<T>> {
    const { status, headers, ...response } = await this.#read(method, path, call);
    return { status, headers, body: response.body as T };
  }

  async #read(method: string, path: string, call: Call): Promise<Answer<unknown>> {
    const response = await this.send(method, path, call);
    const { status, headers } = response;
    const text = await response.text().catch((cause: unknown) => {
      throw cutError(response, call.signal, cause);
    });
    return { status, headers, body: text === '' ? undefined : bodyOf(response, call, text) };
  }

  /** The body alone. @throws CdrError as `send` */
  async body<T>(method: string, path: string, call: Call = {}): Promise<T> {
    return (await this.answer<T>(method, path, call)).body;
  }

  /** The version that a write made. @throws CdrError as `send` */
  async commit(method: string, path: string, call: Call): Promise<VersionInfo> {
    return versionInfo((await this.answer(method, path, call)).headers);
  }

  /** In a page `fetch` resolves '' itself; `Request` elsewhere wants an origin. */
  #absolute(path: string): string {
    const { location } = globalThis as { location?: { origin: string } };
    return this.url === '' && location ? location.origin + path : this.url + path;
  }
}

const JSON_TYPE = /^application\/(?:\S+\+)?json\b/;

/** @throws CdrError where JSON was asked for and something else came, such as the page of a proxy */
function bodyOf(response: Response, { accept = 'application/json' }: Call, text: string): unknown {
  const type = response.headers.get('content-type') ?? '';
  if (JSON_TYPE.test(type)) {
    try {
      return JSON.parse(text);
    } catch (cause) {
      throw strangeError(response, 'broken JSON', text, cause);
    }
  }
  if (JSON_TYPE.test(accept) && /^text\/html\b/.test(type))
    throw strangeError(response, 'a page of HTML', text);
  return text;
}

/** The version that the headers of an answer name. */
export function versionInfo(headers: Headers): VersionInfo {
  const uid = versionOf(headers.get('etag')) ?? headers.get('location')?.split('/').at(-1) ?? '';
  const warnings = [...(headers.get('warning') ?? '').matchAll(/"((?:[^"\\]|\\.)*)"/g)];
  return {
    uid,
    id: versionedObjectUidOf(uid),
    warnings: warnings.map(([, text = '']) => text.replace(/\\(.)/g, '$1')),
  };
}

/** Headers of a commit: with a key, so that it can be repeated when its answer was lost. */
export function commitHeaders(options: CommitOptions): Record<string, string | undefined> {
  const { audit = {}, lifecycle, idempotencyKey } = options;
  const pairs = Object.entries(audit).map(([key, value]) => `${key}=${quoted(key, value)}`);
  return {
    'openEHR-AUDIT_DETAILS': pairs.length === 0 ? undefined : pairs.join(','),
    'openEHR-VERSION': lifecycle && `lifecycle_state.code_string="${lifecycle}"`,
    'Idempotency-Key': idempotencyKey ?? randomKey(),
  };
}

/**
 * A value in the form that headers take: quoted, each byte of its UTF-8 as a character. `fetch` takes no others above
 * U+00FF, and the server reads the bytes as UTF-8.
 * @throws TypeError for a line break and other control characters
 */
export function quoted(name: string, value: string): string {
  return `"${headerText(name, value.replace(/["\\]/g, '\\$&'))}"`;
}

/** The same without quotes. @throws TypeError as `quoted` */
export function headerText(name: string, value: string): string {
  // eslint-disable-next-line no-control-regex -- what no header can hold
  if (/[\u0000-\u0008\u000a-\u001f\u007f]/.test(value))
    throw new TypeError(`${name} holds a line break or another control character, which no header can`);
  return Array.from(new TextEncoder().encode(value), (byte) => String.fromCharCode(byte)).join('');
}

/** `crypto.randomUUID` is missing in pages that came without TLS. */
function randomKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/**
 * A path of segments, each escaped: ``path`/ehr/${id}` ``.
 * @throws TypeError for one that is empty or means another path (`.`, `..`): it would address something else
 */
export function path(texts: TemplateStringsArray, ...segments: readonly string[]): string {
  const escaped = segments.map((segment) => {
    if (/^\.{0,2}$/.test(segment)) throw new TypeError(`"${segment}" is no id`);
    return encodeURIComponent(segment);
  });
  return String.raw({ raw: texts }, ...escaped);
}

/** ISO 8601 of a Date; text as it is. */
export function timeText(time: string | Date | undefined): string | undefined {
  return time instanceof Date ? time.toISOString() : time;
}

function headersOf({
  headers = {},
  body,
  type = 'application/json',
  accept = 'application/json',
}: Call): Headers {
  const all = new Headers({ accept });
  for (const [name, value] of Object.entries(headers)) if (value !== undefined) all.set(name, value);
  if (body !== undefined) all.set('content-type', type);
  return all;
}

function queryText(query: Readonly<Record<string, QueryValue>>): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    for (const one of Array.isArray(value) ? (value as readonly string[]) : [value]) {
      if (one !== undefined) parameters.append(name, String(one));
    }
  }
  return parameters.size === 0 ? '' : `?${parameters.toString()}`;
}

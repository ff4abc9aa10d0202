import { CdrError, errorOf } from './error.js';
import type { Attempt, CdrOptions, Outcome } from './options.js';

const RETRIES = 4;
const FIRST_WAIT_MS = 200;
const LONGEST_WAIT_MS = 30_000;
/** What asks for a POST that changes nothing: a query, which `fetch` and `init` cannot express. */
const READS_BY_POST = /\/rest\/openehr\/v1\/query\//;
/** Answers 503 when the server is down, which is what was asked. */
const PROBE = /\/management\/health/;

/**
 * `fetch` with the identity, the waiting and the repeating of a client. It resolves with whatever answer came in the
 * end; other packages (openapi-fetch) take it as their `fetch`.
 */
export class Transport {
  readonly #options: CdrOptions;
  readonly #fetch: typeof fetch;

  constructor(options: CdrOptions) {
    this.#options = options;
    this.#fetch = options.fetch ?? ((input, init) => fetch(input, init));
  }

  /** @throws CdrError with code `network` when no answer came; the reason of the signal when that ended the call */
  readonly fetch: typeof fetch = async (input, init) => {
    const request = new Request(input, init);
    for (let attempt = 0; ; attempt += 1) {
      const outcome = await this.#tryKnown(request, attempt + 1);
      const wait =
        attempt < this.#repeatsAfter(outcome, request) ? await waitOf(outcome, attempt) : undefined;
      if (wait === undefined) {
        if (outcome instanceof Response) return outcome;
        throw outcome;
      }
      if (outcome instanceof Response) await outcome.body?.cancel();
      await sleep(wait, request.signal);
    }
  };

  /** 429: nothing was begun, so any request may be sent again. */
  #repeatsAfter(outcome: Response | CdrError, request: Request): number {
    const may = isRepeatable(request) || (outcome instanceof Response && outcome.status === 429);
    return may ? (this.#options.retries ?? RETRIES) : 0;
  }

  /** One try; after a 401 another one with a new token, where there is who gives one. */
  async #tryKnown(request: Request, number: number): Promise<Response | CdrError> {
    const outcome = await this.#told(request, { number, refresh: false });
    const isUnknown = outcome instanceof Response && outcome.status === 401;
    if (!isUnknown || typeof this.#options.token !== 'function') return outcome;
    await outcome.body?.cancel();
    return this.#told(request, { number, refresh: true });
  }

  /** One try that the hooks are told of. */
  async #told(request: Request, { number, refresh }: Try): Promise<Response | CdrError> {
    const { method, url } = request;
    const attempt: Attempt = { method, url, number, headers: this.#withOwn(request.headers) };
    const { before, after } = this.#options.hooks ?? {};
    await ignoringErrors(() => before?.(attempt));
    const begun = performance.now();
    const outcome = await this.#try(request, attempt.headers, refresh);
    await ignoringErrors(() => after?.(attempt, outcomeOf(outcome, performance.now() - begun)));
    return outcome;
  }

  async #try(request: Request, headers: Headers, refresh: boolean): Promise<Response | CdrError> {
    const { timeoutMs } = this.#options;
    const timer = timeoutMs === undefined ? undefined : new AbortController();
    const timeout = timer && setTimeout(() => timer.abort(), timeoutMs);
    const signal = timer ? AbortSignal.any([request.signal, timer.signal]) : request.signal;
    try {
      await this.#identify(headers, refresh);
      return await this.#fetch(new Request(request.clone(), { headers, signal }));
    } catch (cause) {
      request.signal.throwIfAborted();
      if (cause instanceof CdrError) return cause;
      const message = timer?.signal.aborted
        ? `no answer of ${request.url} within ${String(timeoutMs)} ms`
        : `no answer of ${request.url}`;
      return new CdrError(message, { status: 0, code: 'network', cause });
    } finally {
      clearTimeout(timeout);
    }
  }

  #withOwn(given: Headers): Headers {
    const all = new Headers(given);
    for (const [name, value] of Object.entries(this.#options.headers ?? {}))
      if (!all.has(name)) all.set(name, value);
    return all;
  }

  async #identify(headers: Headers, refresh: boolean): Promise<void> {
    const { token, basic } = this.#options;
    if (headers.has('authorization')) return;
    if (basic) headers.set('authorization', `Basic ${base64(`${basic.user}:${basic.password}`)}`);
    const bearer = typeof token === 'function' ? await token({ refresh }) : token;
    if (bearer !== undefined && bearer !== '') headers.set('authorization', `Bearer ${bearer}`);
  }
}

interface Try {
  readonly number: number;
  readonly refresh: boolean;
}

async function ignoringErrors(call: () => void | Promise<void>): Promise<void> {
  try {
    await call();
  } catch {
    // The request matters more than its log.
  }
}

function outcomeOf(outcome: Response | CdrError, durationMs: number): Outcome {
  if (outcome instanceof CdrError)
    return { status: outcome.status, durationMs, requestId: outcome.requestId, error: outcome };
  const requestId = outcome.headers.get('x-request-id') ?? undefined;
  return { status: outcome.status, durationMs, requestId };
}

/** Whether a second time does no harm when nobody knows what became of the first. */
function isRepeatable({ method, headers, url }: Request): boolean {
  if (PROBE.test(url)) return false;
  if (method === 'GET' || method === 'HEAD' || method === 'OPTIONS') return true;
  return headers.has('idempotency-key') || (method === 'POST' && READS_BY_POST.test(url));
}

/** Milliseconds to wait before the next try; undefined: the outcome is final. */
async function waitOf(outcome: Response | CdrError, attempt: number): Promise<number | undefined> {
  const grown = Math.random() * Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (attempt + 1));
  // What gives the token may have refused for good.
  if (!(outcome instanceof Response)) return outcome.status === 401 ? undefined : grown;
  const { status } = outcome;
  if (status === 503 || status === 429) {
    const { retryAfterSeconds = 0 } = await errorOf(outcome.clone());
    return retryAfterSeconds * 1000 > LONGEST_WAIT_MS ? undefined : Math.max(grown, retryAfterSeconds * 1000);
  }
  // The first try is still at work: its answer will be given to the key.
  if (status === 409 && attempt > 0) {
    const { message } = await errorOf(outcome.clone());
    return message.includes('Idempotency-Key') ? grown : undefined;
  }
  return undefined;
}

function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = (): void => {
      clearTimeout(timer);
      reject(signal.reason as Error);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', end);
      resolve();
    }, ms);
    if (signal.aborted) end();
    else signal.addEventListener('abort', end, { once: true });
  });
}

function base64(text: string): string {
  return btoa(String.fromCharCode(...new TextEncoder().encode(text)));
}

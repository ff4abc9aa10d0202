import { CdrError, errorOf } from './error.js';
import type { CdrOptions } from './options.js';

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
      const outcome = await this.#tryKnown(request);
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
  async #tryKnown(request: Request): Promise<Response | CdrError> {
    const outcome = await this.#try(request, false);
    const isUnknown = outcome instanceof Response && outcome.status === 401;
    if (!isUnknown || typeof this.#options.token !== 'function') return outcome;
    await outcome.body?.cancel();
    return this.#try(request, true);
  }

  async #try(request: Request, refresh: boolean): Promise<Response | CdrError> {
    const { timeoutMs } = this.#options;
    const timer = timeoutMs === undefined ? undefined : new AbortController();
    const timeout = timer && setTimeout(() => timer.abort(), timeoutMs);
    const signal = timer ? AbortSignal.any([request.signal, timer.signal]) : request.signal;
    try {
      const headers = await this.#headers(request.headers, refresh);
      return await this.#fetch(new Request(request.clone(), { headers, signal }));
    } catch (cause) {
      request.signal.throwIfAborted();
      const message = timer?.signal.aborted
        ? `no answer of ${request.url} within ${String(timeoutMs)} ms`
        : `no answer of ${request.url}`;
      return new CdrError(message, { status: 0, code: 'network', cause });
    } finally {
      clearTimeout(timeout);
    }
  }

  async #headers(given: Headers, refresh: boolean): Promise<Headers> {
    const { token, basic, headers = {} } = this.#options;
    const all = new Headers(given);
    for (const [name, value] of Object.entries(headers)) if (!all.has(name)) all.set(name, value);
    if (all.has('authorization')) return all;
    if (basic) all.set('authorization', `Basic ${base64(`${basic.user}:${basic.password}`)}`);
    const bearer = typeof token === 'function' ? await token({ refresh }) : token;
    if (bearer !== undefined && bearer !== '') all.set('authorization', `Bearer ${bearer}`);
    return all;
  }
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
  if (!(outcome instanceof Response)) return grown;
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

import { LRUCache } from 'lru-cache';
import { CdrError } from '../../openehr/base/errors.js';
import type { JsonObject, JsonValue } from '../../openehr/base/json.js';
import { isJsonObject } from '../../openehr/base/json.js';
import type { TerminologySettings } from '../../config/settings.js';

/** An operation of a terminology service, named as AQL's TERMINOLOGY does. */
export type TerminologyOperation = 'expand' | 'validate' | 'subsumes' | 'lookup' | 'map';

/** What a service answers: codes of a value set, yes or no, or one text. */
export type TerminologyResult =
  | { readonly kind: 'codes'; readonly codes: readonly string[] }
  | { readonly kind: 'boolean'; readonly value: boolean }
  | { readonly kind: 'text'; readonly value: string | null };

const RESOURCES: Readonly<Record<TerminologyOperation, string>> = {
  expand: 'ValueSet/$expand',
  validate: 'ValueSet/$validate-code',
  subsumes: 'CodeSystem/$subsumes',
  lookup: 'CodeSystem/$lookup',
  map: 'ConceptMap/$translate',
};

const CACHED_ANSWERS = 500;
const CACHED_CHARACTERS = 32 * 1024 * 1024;
const FRESH_MS = 10 * 60_000;
const MAX_ANSWER_BYTES = 16 * 1024 * 1024;

interface Cached {
  readonly until: number;
  readonly result: TerminologyResult;
}

/** A concept of a value set. */
export interface FoundConcept {
  readonly code: string;
  /** Empty: the server says none. */
  readonly display: string;
  readonly system: string;
}

/** A FHIR R4 terminology server with a time-out and a cache of its answers. */
export class TerminologyServer {
  readonly #cache = new LRUCache<string, Cached>({
    max: CACHED_ANSWERS,
    maxSize: CACHED_CHARACTERS,
    sizeCalculation: ({ result }, key) => key.length + lengthOf(result),
  });

  readonly #url: string;
  readonly #timeoutMs: number;

  constructor(url: string, timeoutMs: number) {
    this.#url = url;
    this.#timeoutMs = timeoutMs;
  }

  /**
   * Asks an operation with `parameters` in the form of a query string.
   * `end`: aborted when nobody waits for the answer any more.
   * @throws bad-gateway when the server cannot be reached, is too slow, or answers nothing usable; the reason of `end`
   */
  async ask(
    operation: TerminologyOperation,
    parameters: string,
    end: AbortSignal | null = null,
  ): Promise<TerminologyResult> {
    const key = `${operation}?${parameters}`;
    const known = this.#cache.get(key);
    if (known !== undefined && known.until > Date.now()) return known.result;
    const answer = await this.#fetchJson(
      `${RESOURCES[operation]}?${new URLSearchParams(parameters).toString()}`,
      end,
    );
    const result = RESULTS[operation](answer);
    if (result === null) throw failed();
    this.#cache.set(key, { until: Date.now() + FRESH_MS, result });
    return result;
  }

  /** Some concepts of a value set that fit a text, as the server ranks them. @throws as `ask` */
  async search(
    {
      valueSet,
      filter,
      count,
    }: { readonly valueSet: string; readonly filter: string; readonly count: number },
    end: AbortSignal | null = null,
  ): Promise<readonly FoundConcept[]> {
    const parameters = new URLSearchParams({
      url: valueSet,
      count: String(count),
      ...(filter !== '' && { filter }),
    });
    const { expansion } = await this.#fetchJson(`${RESOURCES.expand}?${parameters.toString()}`, end);
    if (!isJsonObject(expansion)) throw failed();
    return conceptsOf(expansion.contains).slice(0, count);
  }

  async #fetchJson(path: string, end: AbortSignal | null): Promise<JsonObject> {
    const time = AbortSignal.timeout(this.#timeoutMs);
    try {
      const response = await fetch(`${this.#url.replace(/\/$/, '')}/${path}`, {
        headers: { Accept: 'application/fhir+json' },
        signal: end === null ? time : AbortSignal.any([end, time]),
        redirect: 'error',
      });
      const text = await limitedText(response);
      const body: unknown = JSON.parse(text);
      if (!response.ok || !isJsonObject(body)) throw failed();
      return body;
    } catch (cause) {
      end?.throwIfAborted();
      throw cause instanceof CdrError ? cause : failed(cause);
    }
  }
}

function lengthOf(result: TerminologyResult): number {
  if (result.kind === 'codes') return result.codes.reduce((length, code) => length + code.length, 1);
  return result.kind === 'text' ? (result.value?.length ?? 0) + 1 : 1;
}

/** One object for each configuration, so that its cache of answers serves commits and queries alike. */
const servers = new Map<string, TerminologyServer>();

/** The configured server, null when there is none. */
export function terminologyServer({ serverUrl, timeoutMs }: TerminologySettings): TerminologyServer | null {
  if (serverUrl === null) return null;
  const key = `${timeoutMs} ${serverUrl}`;
  const server = servers.get(key) ?? new TerminologyServer(serverUrl, timeoutMs);
  servers.set(key, server);
  return server;
}

async function limitedText(response: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  let length = 0;
  const chunks = (response.body ?? []) as AsyncIterable<Uint8Array>;
  for await (const chunk of chunks) {
    length += chunk.length;
    if (length > MAX_ANSWER_BYTES) throw failed();
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

function failed(cause?: unknown): CdrError {
  return new CdrError('bad-gateway', 'the terminology server gave no usable answer', { cause });
}

const RESULTS: Readonly<Record<TerminologyOperation, (answer: JsonObject) => TerminologyResult | null>> = {
  expand: ({ expansion }) => {
    if (!isJsonObject(expansion)) return null;
    return { kind: 'codes', codes: [...new Set(codesOf(expansion.contains))] };
  },
  validate: (answer) => {
    const value = parameter(answer, 'result')?.valueBoolean;
    return typeof value === 'boolean' ? { kind: 'boolean', value } : null;
  },
  subsumes: (answer) => {
    const value = parameter(answer, 'outcome')?.valueCode;
    if (typeof value !== 'string') return null;
    return { kind: 'boolean', value: value === 'subsumes' || value === 'equivalent' };
  },
  lookup: (answer) => {
    const value = parameter(answer, 'display')?.valueString;
    return { kind: 'text', value: typeof value === 'string' ? value : null };
  },
  map: (answer) => {
    const parts = parameter(answer, 'match')?.part;
    const concept = parameter({ parameter: parts ?? [] }, 'concept')?.valueCoding;
    const code = isJsonObject(concept) ? concept.code : undefined;
    return { kind: 'text', value: typeof code === 'string' ? code : null };
  },
};

function codesOf(contains: JsonValue | undefined): string[] {
  return conceptsOf(contains).map(({ code }) => code);
}

function conceptsOf(contains: JsonValue | undefined): FoundConcept[] {
  const concepts: FoundConcept[] = [];
  const open: JsonValue[] = Array.isArray(contains) ? [...contains] : [];
  // Grows while it is read: taking the first one away each time would move all others.
  for (const each of open) {
    if (!isJsonObject(each)) continue;
    const { code, display, system } = each;
    if (typeof code === 'string' && each.abstract !== true)
      concepts.push({ code, display: textOr(display), system: textOr(system) });
    if (Array.isArray(each.contains)) for (const inner of each.contains) open.push(inner);
  }
  return concepts;
}

function textOr(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : '';
}

function parameter(answer: JsonObject, name: string): JsonObject | undefined {
  const list = Array.isArray(answer.parameter) ? answer.parameter : [];
  return list.filter(isJsonObject).find((each) => each.name === name);
}

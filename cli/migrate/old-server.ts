import { createHash } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { isJsonObject, jsonOf, type JsonObject, type JsonValue } from '../../openehr/base/json.js';
import { answerError, type ApiAnswer, type ApiClient } from '../transfer/api-client.js';

/** Statuses of a server that failed and may not fail again. */
const FAILURES: readonly number[] = [500, 502, 504];
/** How often it is asked again after one, and how long it is left alone before, ms. */
const RETRIES = 4;
const FIRST_PAUSE_MS = 250;
/** What stands for nothing: unknown, or deleted. */
const NOTHING: readonly number[] = [204, 404];

/** Where EHRbase has item tags, from the base of the API. */
const TAGS = '/../../experimental/tags';
/** Where everchart has revisions of templates, from there too. */
const REVISIONS = '/../../admin/template';
/** Rows of one answer to a query. */
const PAGE = 1_000;

/** What a server has answered, all together and in whatever order. */
export interface AnswerDigest {
  readonly count: number;
  /** Of the SHA-256 of each path with its answer, bit by bit the exclusive or, in hexadecimal. */
  readonly sha256: string;
}

/** A server of ITS-REST that is read, and never written to. */
export class OldServer {
  readonly #client: ApiClient;
  readonly #digest = Buffer.alloc(32);
  #count = 0;
  /** Whether it has the operations of EHRbase for item tags; null: nobody has asked yet. */
  #hasTags: boolean | null = null;
  /** Whether it tells of revisions of templates; null: nobody has asked yet. */
  #hasRevisions: boolean | null = null;

  /** `client`: of an address that is the base of its API. */
  constructor(client: ApiClient) {
    this.#client = client;
  }

  /** A resource as text; null: it is not there. @throws AnswerError when the server cannot be asked, or refuses */
  async text(path: string, accept = 'application/json'): Promise<string | null> {
    const answer = await this.#answer(path, accept);
    if (NOTHING.includes(answer.status)) return null;
    if (answer.status !== 200) throw answerError(answer.status, answer.text);
    return answer.text;
  }

  async #answer(path: string, accept: string): Promise<ApiAnswer> {
    let answer = await this.#get(path, accept);
    for (let tries = 0; tries < RETRIES && FAILURES.includes(answer.status); tries += 1) {
      await pause(FIRST_PAUSE_MS * 2 ** tries);
      answer = await this.#get(path, accept);
    }
    this.#note(path, answer);
    return answer;
  }

  /** A resource that is an object; null: it is not there. @throws AnswerError; SyntaxError for what is no JSON */
  async object(path: string): Promise<JsonObject | null> {
    const text = await this.text(path);
    const value = text === null ? null : jsonOf(text);
    return isJsonObject(value) ? value : null;
  }

  /** A VERSION, and the digest of the revision by which it was judged, where the server tells; null: it is not there. @throws as `object` */
  async version(
    path: string,
  ): Promise<{ readonly version: JsonObject; readonly revision: string | null } | null> {
    const { status, text, revision } = await this.#answer(path, 'application/json');
    if (NOTHING.includes(status)) return null;
    if (status !== 200) throw answerError(status, text);
    const version = jsonOf(text);
    return isJsonObject(version) ? { version, revision } : null;
  }

  /** All revisions of a template, newest first; none where the server has no such operation, or does not tell who asks. */
  async revisions(templateId: string): Promise<JsonObject[]> {
    if (this.#hasRevisions === false) return [];
    const path = `${REVISIONS}/${encodeURIComponent(templateId)}/revisions`;
    const { status, text } = await this.#answer(path, 'application/json');
    this.#hasRevisions = status === 200;
    const value = status === 200 ? jsonOf(text) : [];
    return Array.isArray(value) ? value.filter(isJsonObject) : [];
  }

  /** A list of objects; of an object with one list, as some servers answer, that one. @throws as `object` */
  async list(path: string): Promise<JsonObject[]> {
    const text = await this.text(path);
    const value = text === null ? [] : jsonOf(text);
    const list = isJsonObject(value) ? Object.values(value).find((member) => Array.isArray(member)) : value;
    return Array.isArray(list) ? list.filter(isJsonObject) : [];
  }

  /** Item tags below the operations of EHRbase; none where it has no such operations. @throws as `object` */
  async tags(path: string): Promise<JsonObject[]> {
    if (this.#hasTags === false) return [];
    const text = await this.text(`${TAGS}${path}`);
    this.#hasTags ??= text !== null;
    const value = text === null ? [] : jsonOf(text);
    return Array.isArray(value) ? value.filter(isJsonObject) : [];
  }

  /** First cells of all rows, page by page, each once. `q`: ordered, without LIMIT. @throws AnswerError */
  async *firstCells(q: string): AsyncGenerator<string> {
    const known = new Set<string>();
    for (let offset = 0; ; offset += PAGE) {
      const page = `${q} LIMIT ${PAGE} OFFSET ${offset}`;
      const answer = await this.object(`/query/aql?q=${encodeURIComponent(page)}`);
      const rows = Array.isArray(answer?.rows) ? answer.rows : [];
      if (rows.length === 0) return;
      for (const row of rows) {
        const cell: JsonValue = Array.isArray(row) ? (row[0] ?? null) : null;
        if (typeof cell !== 'string' || known.has(cell)) continue;
        known.add(cell);
        yield cell;
      }
    }
  }

  /** The digest of all answers so far. */
  get answers(): AnswerDigest {
    return { count: this.#count, sha256: this.#digest.toString('hex') };
  }

  #note(path: string, { status, text }: ApiAnswer): void {
    const hash = createHash('sha256').update(`${path}\n${status}\n${text}`).digest();
    for (const [index, byte] of hash.entries()) this.#digest[index] = (this.#digest[index] ?? 0) ^ byte;
    this.#count += 1;
  }

  #get(path: string, accept: string): Promise<ApiAnswer> {
    return this.#client.send('GET', path, { accept, isWhole: true });
  }
}

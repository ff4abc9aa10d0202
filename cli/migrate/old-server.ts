import { setTimeout as pause } from 'node:timers/promises';
import { isJsonObject, jsonOf, type JsonObject, type JsonValue } from '../../openehr/base/json.js';
import { answerError, AnswerError, type ApiAnswer, type ApiClient } from '../transfer/api-client.js';
import { addedAnswers, answerDigest, NO_ANSWER, type AnswerDigest } from './answer-digest.js';

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
/** Where queries are asked. */
const QUERY = '/query/aql?q=';
/** Rows of one answer to a query: a server may have a lower limit, and refuse more with one of these statuses. */
const PAGE = 1_000;
const LEAST_PAGE = 10;
const TOO_MANY: readonly number[] = [400, 422];

/** Whether a question depends on when it is asked: what there was at a time, in search of when it came to be. */
const isProbe = (path: string): boolean => path.includes('?version_at_time=');

/** The rows of an answer to a query; what else it says, such as when it was made, is another one each time. */
function rowsIn(text: string): string {
  const value = jsonIn(text);
  return isJsonObject(value) && Array.isArray(value.rows) ? JSON.stringify(value.rows) : text;
}

/** What a text says that may be no JSON; null: it is none. */
function jsonIn(text: string): JsonValue {
  try {
    return jsonOf(text);
  } catch {
    return null;
  }
}

/** A server of ITS-REST that is read, and never written to. */
export class OldServer {
  readonly #client: ApiClient;
  #answers = NO_ANSWER;
  /** Whether it has the operations of EHRbase for item tags; null: nobody has asked yet. */
  #hasTags: boolean | null = null;
  /** Whether it lists all item tags of an EHR, as everchart does; null: nobody has asked yet. */
  #listsTags: boolean | null = null;
  /** Whether it tells of revisions of templates; null: nobody has asked yet. */
  #hasRevisions: boolean | null = null;
  #rows = PAGE;

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
    if (!isProbe(path)) this.#note(path, answer);
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

  /** Whether it has operations for item tags, as far as anybody asked. */
  get hasTags(): boolean {
    return this.#hasTags ?? this.#listsTags === true;
  }

  /** Item tags below the operations of EHRbase; none where it has no such operations. @throws as `object` */
  async tags(path: string): Promise<JsonObject[]> {
    if (this.#hasTags === false) return [];
    const text = await this.text(`${TAGS}${path}`);
    this.#hasTags ??= text !== null;
    const value = text === null ? [] : jsonOf(text);
    return Array.isArray(value) ? value.filter(isJsonObject) : [];
  }

  /** All item tags of an EHR, without their ids; null: it does not list them. */
  async tagList(ehrId: string): Promise<JsonObject[] | null> {
    if (this.#listsTags === false) return null;
    const { status, text } = await this.#answer(`/ehr/${ehrId}/tags`, 'application/json');
    const value = status === 200 ? jsonIn(text) : null;
    this.#listsTags = Array.isArray(value);
    return Array.isArray(value) ? value.filter(isJsonObject) : null;
  }

  /** First cells of all rows, page by page, each once. `q`: ordered, without LIMIT. @throws AnswerError */
  async *firstCells(q: string): AsyncGenerator<string> {
    const known = new Set<string>();
    for (let offset = 0; ;) {
      const rows = await this.#page(q, offset);
      if (rows.length === 0) return;
      // Some give fewer than they are asked for.
      offset += rows.length;
      for (const row of rows) {
        const cell: JsonValue = Array.isArray(row) ? (row[0] ?? null) : null;
        if (typeof cell !== 'string' || known.has(cell)) continue;
        known.add(cell);
        yield cell;
      }
    }
  }

  /** Some rows of a query; as many as the server gives at once. */
  async #page(q: string, offset: number): Promise<readonly JsonValue[]> {
    for (;;) {
      try {
        const answer = await this.object(
          `${QUERY}${encodeURIComponent(`${q} LIMIT ${this.#rows} OFFSET ${offset}`)}`,
        );
        return Array.isArray(answer?.rows) ? answer.rows : [];
      } catch (error) {
        const isTooMany = error instanceof AnswerError && TOO_MANY.includes(error.status);
        if (!isTooMany || this.#rows <= LEAST_PAGE) throw error;
        this.#rows /= 10;
      }
    }
  }

  /** The digest of all answers so far. */
  get answers(): AnswerDigest {
    return this.#answers;
  }

  #note(path: string, { status, text }: ApiAnswer): void {
    const said = path.startsWith(QUERY) ? rowsIn(text) : text;
    this.#answers = addedAnswers(this.#answers, answerDigest(path, status, said));
  }

  #get(path: string, accept: string): Promise<ApiAnswer> {
    return this.#client.send('GET', path, { accept, isWhole: true });
  }
}

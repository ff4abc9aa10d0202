import { AqlText, type AqlQuery, type AqlValue } from './aql.js';
import { path, timeText, V1, type Call, type Caller } from './call.js';
import { CdrError, strangeError } from './error.js';
import type { CallOptions } from './options.js';
import { linesOf } from './lines.js';

/** A row by the names of its columns: the alias, else `#0`, `#1`, …. A missing value is null. */
export type Row = Readonly<Record<string, unknown>>;

/** A column of a result. */
export interface Column {
  readonly name: string;
  /** Of a path as it was written. */
  readonly path?: string;
}

/** What a query gave. */
export interface QueryResult<R = Row> {
  readonly rows: readonly R[];
  readonly columns: readonly Column[];
  /** What the server says about the execution: `_executed_aql`, `resultsize`, … */
  readonly meta: Readonly<Record<string, unknown>>;
}

/** How a query is run. */
export interface QueryOptions extends CallOptions {
  /** Values of `$names` that stand in the text. */
  readonly parameters?: Readonly<Record<string, AqlValue>> | undefined;
  /** Rows at most, where the text has no LIMIT. */
  readonly fetch?: number | undefined;
  readonly offset?: number | undefined;
  /** Of one EHR only. */
  readonly ehrId?: string | undefined;
  /** As of this time. Not of EHRbase. */
  readonly asOf?: string | Date | undefined;
}

/** How a stored query is run. */
export interface StoredQueryOptions extends QueryOptions {
  /** Whole, or its beginning; the highest unless given. */
  readonly version?: string | undefined;
}

interface ResultSet {
  readonly meta?: Readonly<Record<string, unknown>>;
  readonly columns: readonly Column[];
  readonly rows: readonly (readonly unknown[])[];
}

const ADHOC = `${V1}/query/aql`;

/** Runs AQL and gives rows as objects. */
export class Queries {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /** @throws CdrError with the position of what is wrong in its message */
  async run<R = Row>(query: string | AqlQuery, options: QueryOptions = {}): Promise<QueryResult<R>> {
    return this.#result<R>(ADHOC, callOf(query, options));
  }

  /** A stored query: `runStored('clinic::high_blood_pressure', { parameters: { least: 140 } })`. @throws CdrError */
  async runStored<R = Row>(name: string, options: StoredQueryOptions = {}): Promise<QueryResult<R>> {
    return this.#result<R>(storedPath(name, options), callOf(undefined, options));
  }

  /** Row by row over NDJSON: memory stays flat, and leaving the loop ends the query. Not of EHRbase. */
  stream<R = Row>(query: string | AqlQuery, options: QueryOptions = {}): AsyncGenerator<R, void, undefined> {
    return this.#stream<R>(ADHOC, callOf(query, options));
  }

  /** A stored query row by row. */
  streamStored<R = Row>(name: string, options: StoredQueryOptions = {}): AsyncGenerator<R, void, undefined> {
    return this.#stream<R>(storedPath(name, options), callOf(undefined, options));
  }

  /** Page by page, each of `fetch` rows (100 unless given), until one is not full. */
  async *pages<R = Row>(
    query: string | AqlQuery,
    options: QueryOptions = {},
  ): AsyncGenerator<QueryResult<R>, void, undefined> {
    const { fetch = 100, offset: first = 0 } = options;
    for (let offset = first; ; offset += fetch) {
      const page = await this.run<R>(query, { ...options, fetch, offset });
      if (page.rows.length > 0 || offset === first) yield page;
      if (page.rows.length < fetch) return;
    }
  }

  /** How the server runs a query. Not of EHRbase. @throws CdrError */
  async explain(query: string | AqlQuery, options: QueryOptions = {}): Promise<Record<string, unknown>> {
    return this.#caller.body('POST', `${ADHOC}/explain`, callOf(query, options));
  }

  async #result<R>(where: string, call: Call): Promise<QueryResult<R>> {
    const { status, body } = await this.#caller.answer<unknown>('POST', where, call);
    if (!isResultSet(body))
      throw new CdrError(`${where} answered with what is no result of a query`, {
        status,
        code: 'bad-answer',
        body,
      });
    const { meta = {}, columns, rows } = body;
    return { meta, columns, rows: rows.map((cells) => rowOf(columns, cells) as R) };
  }

  async *#stream<R>(where: string, call: Call): AsyncGenerator<R, void, undefined> {
    const accept = 'application/x-ndjson';
    const response = await this.#caller.send('POST', where, { ...call, accept });
    if (!response.headers.get('content-type')?.startsWith(accept))
      throw new CdrError('the server offers no stream of rows: use pages', {
        status: response.status,
        code: 'not-acceptable',
      });
    let columns: readonly Column[] | undefined;
    for await (const line of linesOf(response, call.signal)) {
      if (columns === undefined) columns = columnsOf(response, line);
      else yield rowOf(columns, lineOf(response, line) as unknown[]) as R;
    }
  }
}

function isResultSet(body: unknown): body is ResultSet {
  const { columns, rows } = Object(body) as Partial<ResultSet>;
  return Array.isArray(columns) && Array.isArray(rows);
}

/** Those that the first line of a stream names. @throws CdrError where it names none */
function columnsOf(response: Response, line: string): readonly Column[] {
  const { columns } = Object(lineOf(response, line)) as Partial<ResultSet>;
  if (!Array.isArray(columns)) throw strangeError(response, 'a line without columns', line);
  return columns as readonly Column[];
}

/** @throws CdrError for a line that was cut */
function lineOf(response: Response, line: string): unknown {
  try {
    return JSON.parse(line);
  } catch (cause) {
    throw strangeError(response, 'a broken line', line, cause);
  }
}

function storedPath(name: string, { version }: StoredQueryOptions): string {
  return V1 + (version === undefined ? path`/query/${name}` : path`/query/${name}/${version}`);
}

function callOf(query: string | AqlQuery | undefined, options: QueryOptions): Call {
  const { parameters = {}, fetch, offset, ehrId, asOf, signal } = options;
  const own = typeof query === 'object' ? query.parameters : {};
  const given = Object.entries(parameters).map(([name, value]) => [name, sent(value)] as const);
  const body = {
    ...(query !== undefined && { q: typeof query === 'string' ? query : query.q }),
    query_parameters: { ...Object.fromEntries(given), ...own },
    fetch,
    offset,
    ehr_id: ehrId,
    as_of: timeText(asOf),
  };
  return { body, signal };
}

function sent(value: AqlValue): unknown {
  return new AqlText(Object.assign(['', ''], { raw: [] }), [value]).parameters.p1;
}

function rowOf(columns: readonly Column[], cells: readonly unknown[]): Row {
  // `fromEntries` makes own members of whatever names, also of `__proto__`.
  return Object.fromEntries(columns.map(({ name }, index) => [name, cells[index] ?? null]));
}

/** A query that runs when it is awaited, or row by row when it is looped over. */
export class PendingQuery<R = Row> extends AqlText implements PromiseLike<QueryResult<R>>, AsyncIterable<R> {
  readonly #queries: Queries;

  constructor(queries: Queries, texts: TemplateStringsArray, values: readonly (AqlValue | AqlText)[]) {
    super(texts, values);
    this.#queries = queries;
  }

  then<A = QueryResult<R>, B = never>(
    resolve?: ((result: QueryResult<R>) => A | PromiseLike<A>) | null,
    reject?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    return this.#queries.run<R>(this).then(resolve, reject);
  }

  [Symbol.asyncIterator](): AsyncGenerator<R, void, undefined> {
    return this.#queries.stream<R>(this);
  }
}

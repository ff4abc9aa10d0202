import { Admin } from './admin.js';
import type { AqlQuery, AqlText, AqlValue } from './aql.js';
import { Caller, headerText, type Answer, type Call } from './call.js';
import { StoredQueries, Templates } from './definitions.js';
import { ehrs, type Ehrs } from './ehr.js';
import { CdrError } from './error.js';
import type { CallOptions, CdrOptions, Purpose } from './options.js';
import type { Overview } from './overview.js';
import {
  PendingQuery,
  Queries,
  type QueryOptions,
  type QueryResult,
  type Row,
  type StoredQueryOptions,
} from './query.js';

/** Whether a server can work, and its parts. */
export interface Health {
  readonly status: 'UP' | 'DOWN';
  readonly components?: Readonly<Record<string, unknown>>;
}

function statedPurpose({ purpose }: CdrOptions): Readonly<Record<string, string>> {
  if (purpose === undefined) return {};
  return {
    'purpose-of-use': purpose.code,
    'purpose-of-use-reason': headerText('the reason', purpose.reason),
  };
}

/** A clinical data repository: `new Cdr({ url: 'http://127.0.0.1:8080' })`. */
export class Cdr {
  readonly ehr: Ehrs;
  readonly templates: Templates;
  readonly queries: StoredQueries;
  readonly admin: Admin;
  /** `fetch` with identity, retries and waiting, for other packages: `createClient<paths>({ baseUrl: cdr.url, fetch: cdr.fetch })`. */
  readonly fetch: typeof fetch;
  /** As given, without a slash at its end. */
  readonly url: string;
  readonly #options: CdrOptions;
  readonly #caller: Caller;
  readonly #queries: Queries;

  constructor(options: CdrOptions) {
    this.#options = options;
    this.#caller = new Caller({ ...options, headers: { ...options.headers, ...statedPurpose(options) } });
    this.#queries = new Queries(this.#caller);
    this.url = this.#caller.url;
    this.fetch = this.#caller.transport.fetch;
    this.ehr = ehrs(this.#caller);
    this.templates = new Templates(this.#caller);
    this.queries = new StoredQueries(this.#caller);
    this.admin = new Admin(this.#caller);
  }

  /**
   * AQL with values in it, each a parameter. Awaited it gives all rows:
   * ``const { rows } = await cdr.aql`SELECT … > ${limit}` ``; looped over it streams them:
   * ``for await (const row of cdr.aql`SELECT …`)``.
   */
  aql<R = Row>(texts: TemplateStringsArray, ...values: readonly (AqlValue | AqlText)[]): PendingQuery<R> {
    return new PendingQuery<R>(this.#queries, texts, values);
  }

  /** Runs AQL with options. Never join values into the text: give `parameters`, or use the tag `aql`. @throws CdrError */
  query<R = Row>(query: string | AqlQuery, options?: QueryOptions): Promise<QueryResult<R>> {
    return this.#queries.run<R>(query, options);
  }

  /** Row by row, with flat memory. Not of EHRbase: use `pages` there. */
  stream<R = Row>(query: string | AqlQuery, options?: QueryOptions): AsyncGenerator<R, void, undefined> {
    return this.#queries.stream<R>(query, options);
  }

  /** Page by page, each of `fetch` rows. */
  pages<R = Row>(
    query: string | AqlQuery,
    options?: QueryOptions,
  ): AsyncGenerator<QueryResult<R>, void, undefined> {
    return this.#queries.pages<R>(query, options);
  }

  /**
   * The same server for an emergency, with everything that is asked of it: what the patient withholds is there, and each request is
   * recorded with the reason. Needs the permission `emergency`. Not of EHRbase.
   */
  inEmergency(reason: string, code: Purpose['code'] = 'BTG'): Cdr {
    return new Cdr({ ...this.#options, purpose: { code, reason } });
  }

  /** Runs a stored query. @throws CdrError */
  runStored<R = Row>(name: string, options?: StoredQueryOptions): Promise<QueryResult<R>> {
    return this.#queries.runStored<R>(name, options);
  }

  /** A stored query row by row. */
  streamStored<R = Row>(name: string, options?: StoredQueryOptions): AsyncGenerator<R, void, undefined> {
    return this.#queries.streamStored<R>(name, options);
  }

  /** How the server runs a query. @throws CdrError */
  explain(query: string | AqlQuery, options?: QueryOptions): Promise<Record<string, unknown>> {
    return this.#queries.explain(query, options);
  }

  /** Whether the server can work. @throws CdrError `network`; of a server that is down `DOWN`, no error */
  async health({ signal }: CallOptions = {}): Promise<Health> {
    try {
      return await this.#caller.body<Health>('GET', '/management/health/readiness', { signal });
    } catch (error) {
      if (error instanceof CdrError && error.status === 503) return { status: 'DOWN' };
      throw error;
    }
  }

  /** Versions of the server and what it runs on. @throws CdrError */
  status({ signal }: CallOptions = {}): Promise<Record<string, string>> {
    return this.#caller.body('GET', '/rest/status', { signal });
  }

  /** What goes on in the server: counts, latency, recent commits. Not of EHRbase. @throws CdrError */
  overview({ signal }: CallOptions = {}): Promise<Overview> {
    return this.#caller.body('GET', '/rest/overview', { signal });
  }

  /** Any operation of the API, for those without a method here. `path` below the `url`. @throws CdrError */
  request<T = unknown>(method: string, path: string, call?: Call): Promise<Answer<T>> {
    return this.#caller.answer<T>(method, path, call);
  }
}

import { path, V1, type Caller } from './call.js';
import { mediaTypeOf, type CompositionFormat, type ContentByFormat } from './content.js';
import type { CallOptions } from './options.js';
import { TemplateComparisons } from './template-comparisons.js';
import { TemplateUpgrades } from './template-upgrades.js';

/** A template as lists name it. */
export interface TemplateInfo {
  readonly template_id: string;
  readonly concept: string;
  readonly archetype_id: string;
  readonly created_timestamp: string;
}

/** Which templates are listed. Not of EHRbase, which lists all. */
export interface TemplateFilter extends CallOptions {
  readonly template_id?: string | undefined;
  readonly concept?: string | undefined;
  readonly offset?: number | undefined;
  readonly fetch?: number | undefined;
}

/** A web template, as EHRbase makes it. */
export interface WebTemplate {
  readonly templateId: string;
  readonly version: string;
  readonly defaultLanguage: string;
  readonly languages: readonly string[];
  readonly tree: WebTemplateNode;
}

/** A node of a web template. Names and descriptions by language. */
export interface WebTemplateNode {
  readonly id: string;
  readonly name?: string;
  /** In the template's own language; nodes of the reference model that no archetype names have none. */
  readonly localizedName?: string;
  readonly localizedNames?: Readonly<Record<string, string>>;
  readonly localizedDescriptions?: Readonly<Record<string, string>>;
  readonly rmType: string;
  readonly nodeId?: string;
  readonly min: number;
  /** -1: not limited. */
  readonly max: number;
  /** Absent of the root. */
  readonly aqlPath?: string;
  /** Whether it may be left out: the server fills it from `ctx/` or by a default. */
  readonly inContext?: boolean;
  /** Of a DV_PROPORTION: `ratio`, `unitary`, `percent`, `fraction`, `integer_fraction`. */
  readonly proportionTypes?: readonly string[];
  readonly inputs?: readonly WebTemplateInput[];
  readonly children?: readonly WebTemplateNode[];
}

/** Bounds of a value: `{ min: 0, minOp: '>=' }`. */
export type WebTemplateRange = Readonly<Partial<Record<'min' | 'minOp' | 'max' | 'maxOp', number | string>>>;

/** One part of a value, such as the unit of a DV_QUANTITY. */
export interface WebTemplateInput {
  /** What stands behind `|` in FLAT; absent: nothing. */
  readonly suffix?: string;
  /** TEXT, CODED_TEXT, DECIMAL, INTEGER, BOOLEAN, DATE, TIME, DATETIME */
  readonly type: string;
  readonly terminology?: string;
  /** Whether values that are not in the list are allowed. */
  readonly listOpen?: boolean;
  readonly list?: readonly {
    readonly value: string;
    readonly label?: string;
    readonly localizedLabels?: Readonly<Record<string, string>>;
    readonly localizedDescriptions?: Readonly<Record<string, string>>;
    readonly ordinal?: number;
    readonly validation?: { readonly range?: WebTemplateRange };
  }[];
  readonly validation?: { readonly range?: WebTemplateRange; readonly pattern?: string };
  readonly defaultValue?: unknown;
}

/** Which revision of a template is read. */
export interface RevisionOptions extends CallOptions {
  /** Number or digest; absent: the newest. */
  readonly revision?: string | undefined;
}

/** A revision of a template. */
export interface TemplateRevision {
  readonly revision: string;
  /** SHA-256 of the OPT, in hexadecimal. */
  readonly digest: string;
  readonly uploaded_at: string;
  readonly uploaded_by?: string;
  readonly bytes: number;
  /** What was judged by it. */
  readonly compositions: number;
  readonly versions: number;
}

/** One difference between two templates. */
export interface TemplateChange {
  /** AQL path in the earlier template, of what was added in the later one; '' for the template as a whole. */
  readonly path: string;
  readonly kind: 'added' | 'removed' | 'moved' | 'renamed' | 'widened' | 'narrowed' | 'changed';
  /** The part that changed: `node`, `occurrences`, `units`, … */
  readonly what: string;
  /** What it means for data: `text` and `minor` are proofs that all of them stay valid. */
  readonly verdict: 'text' | 'minor' | 'unproven' | 'breaking';
  readonly from: unknown;
  readonly to: unknown;
  readonly reason: string;
  /** Accepted before and refused now. */
  readonly example?: unknown;
}

/** What differs from one template to another. */
export interface TemplateDifference {
  readonly verdict: 'same' | 'text' | 'minor' | 'breaking';
  readonly changes: readonly TemplateChange[];
  /** Those that read something else than before. */
  readonly stored_queries: readonly {
    readonly name: string;
    readonly version: string;
    readonly paths: readonly string[];
  }[];
}

/** What a template is compared with: an OPT, whatever its id, or revisions of it by number or digest, the newest unless named. */
export type ComparedWith = string | { readonly from?: string; readonly to?: string };

/** Which example of a template is made. */
export interface ExampleOptions<F extends CompositionFormat> extends RevisionOptions {
  /** Canonical JSON unless given. */
  readonly format?: F | undefined;
  readonly detail?: 'required' | 'medium' | 'complete' | undefined;
}

const TEMPLATES = `${V1}/definition/template/adl1.4`;
const QUERIES = `${V1}/definition/query`;

/** Operational templates, ADL 1.4. */
export class Templates {
  readonly #caller: Caller;
  /** Upgrades of their data. */
  readonly upgrades: TemplateUpgrades;
  /** Comparisons of their data. */
  readonly comparisons: TemplateComparisons;

  constructor(caller: Caller) {
    this.#caller = caller;
    this.upgrades = new TemplateUpgrades(caller);
    this.comparisons = new TemplateComparisons(caller);
  }

  /** `opt`: the XML of an OPT. Its template id. @throws CdrError `conflict` when another one has the id */
  async upload(opt: string, { signal }: CallOptions = {}): Promise<string> {
    const headers = { Prefer: 'return=minimal' };
    const call = { body: opt, type: 'application/xml', accept: '*/*', headers, signal };
    const { headers: answered } = await this.#caller.answer('POST', TEMPLATES, call);
    const location = answered.get('location') ?? '';
    return decodeURIComponent(location.slice(location.lastIndexOf('/') + 1));
  }

  /** All versions, by id, whichever edition the server speaks. `template_id` and `concept` may hold `*`. @throws CdrError */
  async list({ signal, ...query }: TemplateFilter = {}): Promise<TemplateInfo[]> {
    const all = { query: { ...query, version: '*' }, signal };
    const found = await this.#caller.body<TemplateInfo[]>('GET', TEMPLATES, all);
    // Servers up to 0.2.0 take the `*` for the end of an id.
    return found.length > 0 ? found : this.#caller.body('GET', TEMPLATES, { query, signal });
  }

  /** The OPT as XML; `revision`: its number or digest, absent: the newest. @throws CdrError `not-found` */
  async get(id: string, { revision, signal }: RevisionOptions = {}): Promise<string> {
    const call = { accept: 'application/xml', query: { revision }, signal };
    return this.#caller.body('GET', TEMPLATES + path`/${id}`, call);
  }

  /** All revisions, newest first, with what was judged by each. Needs the permission `admin`. @throws CdrError `not-found` */
  async revisions(id: string, { signal }: CallOptions = {}): Promise<TemplateRevision[]> {
    return this.#caller.body('GET', path`/rest/admin/template/${id}/revisions`, { signal });
  }

  /** Removes a revision by which nothing was judged. Needs the permission `admin`. @throws CdrError `unprocessable` when it is used */
  async removeRevision(id: string, revision: string, { signal }: CallOptions = {}): Promise<void> {
    await this.#caller.body('DELETE', path`/rest/admin/template/${id}/revisions/${revision}`, { signal });
  }

  /** Of the newest revision unless one is named. @throws CdrError `not-found` */
  async webTemplate(id: string, { revision, signal }: RevisionOptions = {}): Promise<WebTemplate> {
    const call = { accept: 'application/openehr.wt+json', query: { revision }, signal };
    return this.#caller.body('GET', TEMPLATES + path`/${id}`, call);
  }

  /**
   * What differs from the newest revision of a template to an OPT, whatever its id, or between two revisions, and what that means.
   * Not of EHRbase. @throws CdrError `not-found`
   */
  async compare(id: string, after: ComparedWith, { signal }: CallOptions = {}): Promise<TemplateDifference> {
    const type = typeof after === 'string' ? 'application/xml' : undefined;
    const call = { body: after, type, signal };
    return this.#caller.body('POST', path`/rest/admin/template/${id}/compare`, call);
  }

  /**
   * The same; and stored COMPOSITIONs are judged by it in the background, some at random or all: `comparisons.get` tells what is
   * found. Needs the permission `admin`. Not of EHRbase. @throws CdrError `not-found`; `conflict` while another one is not done
   */
  async compareData(
    id: string,
    after: ComparedWith,
    { data, signal }: CallOptions & { readonly data: 'sample' | 'all' },
  ): Promise<TemplateDifference & { readonly data: { readonly job: string } }> {
    const type = typeof after === 'string' ? 'application/xml' : undefined;
    const call = { body: after, type, query: { data }, signal };
    return this.#caller.body('POST', path`/rest/admin/template/${id}/compare`, call);
  }

  /** A COMPOSITION of the template that can be committed. @throws CdrError `not-found` */
  async example<F extends CompositionFormat = 'JSON'>(
    id: string,
    { format, detail, revision, signal }: ExampleOptions<F> = {},
  ): Promise<ContentByFormat[F]> {
    const accept = mediaTypeOf(format ?? 'JSON');
    const query = { type: detail && 'input', detail_level: detail, revision };
    return this.#caller.body('GET', TEMPLATES + path`/${id}/example`, { accept, query, signal });
  }
}

/** A stored query. */
export interface StoredQuery {
  /** `[namespace::]name`. */
  readonly name: string;
  readonly version: string;
  readonly saved: string;
  readonly q: string;
}

/** Stored queries: their texts. `cdr.runStored` runs them. */
export class StoredQueries {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /** Without version the next major one, or 1.0.0 anew where ITS-REST 1.1.0 is spoken. Its version. @throws CdrError `invalid` where the AQL is wrong */
  async store(
    name: string,
    q: string,
    { version, signal }: CallOptions & { version?: string | undefined } = {},
  ): Promise<string> {
    const where = version === undefined ? path`/${name}` : path`/${name}/${version}`;
    const call = { body: q, type: 'text/plain', signal };
    const { headers } = await this.#caller.answer('PUT', QUERIES + where, call);
    return headers.get('location')?.split('/').at(-1) ?? version ?? '';
  }

  /** All, or those whose name fits the pattern. @throws CdrError */
  async list(pattern = '', { signal }: CallOptions = {}): Promise<StoredQuery[]> {
    return this.#caller.body('GET', QUERIES + (pattern === '' ? '' : path`/${pattern}`), { signal });
  }

  /** `version`: whole, or its beginning. @throws CdrError `not-found` */
  async get(name: string, version: string, { signal }: CallOptions = {}): Promise<StoredQuery> {
    return this.#caller.body('GET', QUERIES + path`/${name}/${version}`, { signal });
  }
}

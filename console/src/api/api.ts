import type {
  CompositionFormat,
  Flat,
  Overview,
  QueryOptions,
  StoredQuery,
  TemplateDifference,
  TemplateInfo,
  WebTemplate,
} from '@everchart/client';
import { accessApi, type AccessApi } from './access.js';
import { administrationApi, type AdministrationApi } from './administration.js';
import { connect, type Credentials } from './connection.js';
import { draftApi, type DraftApi } from './drafts.js';
import { ownApi, type OwnApi } from './own.js';
import { readable } from './json.js';
import { recordApi, type RecordApi } from './records.js';
import type { ArchetypeTerms, Explanation, QueryRequest, ResultSet, ServerSettings } from './types.js';

const QUERY = '/rest/openehr/v1/query/aql';
const ARCHETYPES = '/rest/openehr/v1/definition/archetype/adl1.4';

/** Everything that the console asks of the server, and nothing else does. @throws CdrError */
export interface Api extends RecordApi, AdministrationApi, AccessApi, DraftApi, OwnApi {
  settings: () => Promise<ServerSettings>;
  overview: () => Promise<Overview>;
  /** Rows as lists, since two columns may have one name. */
  query: (request: QueryRequest, signal?: AbortSignal) => Promise<ResultSet>;
  /** Rows by the names of their columns. */
  rows: <R>(q: string, options?: QueryOptions) => Promise<readonly R[]>;
  explain: (request: QueryRequest, signal?: AbortSignal) => Promise<Explanation>;
  templates: () => Promise<TemplateInfo[]>;
  /** Of the newest revision unless one is named. */
  webTemplate: (templateId: string, revision?: string) => Promise<WebTemplate>;
  /** A COMPOSITION that could be committed, as text. */
  example: (templateId: string, format: CompositionFormat) => Promise<string>;
  exampleFlat: (templateId: string) => Promise<Flat>;
  /** What differs from a stored template to an OPT, and what that means for data. */
  compareTemplate: (
    templateId: string,
    after: string | { readonly from: string; readonly to: string },
  ) => Promise<TemplateDifference>;
  /** Gives the template id. */
  uploadTemplate: (opt: string) => Promise<string>;
  /** The OPT as it was uploaded. */
  opt: (templateId: string) => Promise<string>;
  /** Ids of the archetypes whose sources are stored. */
  archetypes: () => Promise<readonly string[]>;
  /** What a stored archetype calls its codes. */
  archetype: (archetypeId: string) => Promise<ArchetypeTerms>;
  storedQueries: () => Promise<StoredQuery[]>;
  /** Without a version the next one. Gives the version. */
  storeQuery: (name: string, q: string, version?: string) => Promise<string>;
}

/** The server, asked with these credentials. */
export function createApi(credentials: Credentials): Api {
  const cdr = connect(credentials);
  return {
    settings: async () => (await cdr.request<ServerSettings>('GET', '/console/settings.json')).body,
    overview: () => cdr.overview(),
    query: async (body, signal) => (await cdr.request<ResultSet>('POST', QUERY, { body, signal })).body,
    rows: async <R>(q: string, options?: QueryOptions) => (await cdr.query<R>(q, options)).rows,
    explain: async (body, signal) =>
      (await cdr.request<Explanation>('POST', `${QUERY}/explain`, { body, signal })).body,
    templates: () => cdr.templates.list(),
    webTemplate: (templateId, revision) => cdr.templates.webTemplate(templateId, { revision }),
    example: async (templateId, format) =>
      readable(await cdr.templates.example(templateId, { format, detail: 'medium' })),
    exampleFlat: (templateId) => cdr.templates.example(templateId, { format: 'FLAT', detail: 'medium' }),
    compareTemplate: (templateId, after) => cdr.templates.compare(templateId, after),
    uploadTemplate: (opt) => cdr.templates.upload(opt),
    opt: (templateId) => cdr.templates.get(templateId),
    archetypes: async () =>
      (await cdr.request<readonly { archetype_id: string }[]>('GET', ARCHETYPES)).body.map(
        ({ archetype_id: id }) => id,
      ),
    archetype: async (id) =>
      (await cdr.request<ArchetypeTerms>('GET', `${ARCHETYPES}/${encodeURIComponent(id)}`)).body,
    storedQueries: () => cdr.queries.list(),
    storeQuery: (name, q, version) => cdr.queries.store(name, q, { version }),
    ...recordApi(cdr),
    ...administrationApi(cdr),
    ...accessApi(cdr),
    ...draftApi(cdr),
    ...ownApi(cdr),
  };
}

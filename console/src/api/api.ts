import { json, STANDARD, textOf } from './answer.js';
import { sender, type Credentials, type Send } from './http.js';
import { administrationApi, type AdministrationApi } from './administration.js';
import { recordApi, type RecordApi } from './records.js';
import type {
  Explanation,
  Overview,
  QueryRequest,
  ResultSet,
  ServerSettings,
  StoredQuery,
  TemplateSummary,
  WebTemplate,
} from './types.js';

/** Everything that the console asks of the server, and nothing else does. @throws ApiError */
export interface Api extends RecordApi, AdministrationApi {
  settings: () => Promise<ServerSettings>;
  overview: () => Promise<Overview>;
  query: (request: QueryRequest, signal?: AbortSignal) => Promise<ResultSet>;
  explain: (request: QueryRequest) => Promise<Explanation>;
  templates: () => Promise<TemplateSummary[]>;
  webTemplate: (templateId: string) => Promise<WebTemplate>;
  /** A COMPOSITION that could be committed, as text. */
  example: (templateId: string, format: string) => Promise<string>;
  uploadTemplate: (opt: string) => Promise<void>;
  storedQueries: () => Promise<StoredQuery[]>;
  storeQuery: (name: string, q: string) => Promise<void>;
}

/** The server, asked with these credentials. */
export function createApi(credentials: Credentials): Api {
  const send = sender(credentials);
  return {
    settings: () => json(send, { path: '/console/settings.json' }),
    overview: () => json(send, { path: '/rest/overview' }),
    query: (body, signal) => json(send, { method: 'POST', path: `${STANDARD}/query/aql`, body, signal }),
    explain: (body) => json(send, { method: 'POST', path: `${STANDARD}/query/aql/explain`, body }),
    ...templateApi(send),
    ...storedQueryApi(send),
    ...recordApi(send),
    ...administrationApi(send),
  };
}

function templateApi(send: Send): Pick<Api, 'templates' | 'webTemplate' | 'example' | 'uploadTemplate'> {
  const path = `${STANDARD}/definition/template/adl1.4`;
  return {
    templates: () => json(send, { path }),
    webTemplate: async (templateId) => {
      const headers = { Accept: 'application/openehr.wt+json' };
      return json<WebTemplate>(send, { path: `${path}/${encodeURIComponent(templateId)}`, headers });
    },
    example: async (templateId, format) => {
      const query = { format, detail_level: 'medium' };
      const headers = { Accept: '*/*' };
      return textOf(
        await send({ path: `${path}/${encodeURIComponent(templateId)}/example`, query, headers }),
      );
    },
    uploadTemplate: async (body) => {
      await send({ method: 'POST', path, body });
    },
  };
}

function storedQueryApi(send: Send): Pick<Api, 'storedQueries' | 'storeQuery'> {
  const path = `${STANDARD}/definition/query`;
  return {
    storedQueries: () => json(send, { path }),
    storeQuery: async (name, q) => {
      await send({ method: 'PUT', path: `${path}/${encodeURIComponent(name)}`, body: { q } });
    },
  };
}

import type { JsonObject } from '../../base/json.js';

/** The few calls of the standard API that the demo makes, over HTTP like any client. */
export interface DemoClient {
  uploadTemplate(opt: string): Promise<void>;
  /** Gives the ehr_id. */
  createEhr(): Promise<string>;
  /** Gives the version uid. */
  commitComposition(ehrId: string, composition: JsonObject): Promise<string>;
  query(q: string, parameters: Readonly<Record<string, string | number>>): Promise<QueryAnswer>;
}

/** The parts of a RESULT_SET that the demo prints. */
export interface QueryAnswer {
  readonly columns: readonly { readonly name: string }[];
  readonly rows: readonly (readonly unknown[])[];
}

/** A client of the server at `url`. @throws Error with status and message when an answer is not a success. */
export function demoClient(url: string): DemoClient {
  const base = `${url}/rest/openehr/v1`;
  const send = async (path: string, type: string, body: string): Promise<Response> => {
    const response = await fetch(`${base}${path}`, {
      method: 'POST',
      headers: { 'Content-Type': type },
      body,
    });
    if (!response.ok) throw new Error(`POST ${path} answered ${response.status}: ${await response.text()}`);
    return response;
  };
  const etag = async (response: Response): Promise<string> => {
    await response.arrayBuffer();
    return (response.headers.get('ETag') ?? '').replaceAll('"', '');
  };
  return {
    async uploadTemplate(opt) {
      await etag(await send('/definition/template/adl1.4', 'application/xml', opt));
    },
    async createEhr() {
      return etag(await send('/ehr', 'application/json', ''));
    },
    async commitComposition(ehrId, composition) {
      return etag(await send(`/ehr/${ehrId}/composition`, 'application/json', JSON.stringify(composition)));
    },
    async query(q, parameters) {
      const body = JSON.stringify({ q, query_parameters: parameters });
      return (await (await send('/query/aql', 'application/json', body)).json()) as QueryAnswer;
    },
  };
}

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { Settings } from '../../config/settings.js';

/** What a server of introspection was asked. */
interface AskedFor {
  readonly token: string | null;
  readonly authorization: string | undefined;
  readonly hint: string | null;
}

/** A server of introspection that a test plays. */
export interface IntrospectionServer {
  readonly asked: AskedFor[];
  /** What it says of the tokens that it knows; others are not active. */
  readonly tokens: Map<string, object>;
  /** How it answers instead; null: as it should. */
  answer: ((response: ServerResponse) => void) | null;
  /** Calls back with each request before it is answered. */
  before: () => Promise<void>;
  readonly settings: NonNullable<Settings['introspection']>;
  close(): Promise<void>;
}

/** Starts one on a free port of this machine. */
export async function startIntrospection(): Promise<IntrospectionServer> {
  const listener = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const form = new URLSearchParams(await text(request));
    const token = form.get('token');
    asked.push({ token, authorization: request.headers.authorization, hint: form.get('token_type_hint') });
    await provider.before();
    if (provider.answer !== null) {
      provider.answer(response);
      return;
    }
    response.setHeader('Content-Type', 'application/json');
    response.end(JSON.stringify(provider.tokens.get(token ?? '') ?? { active: false }));
  };
  const asked: AskedFor[] = [];
  const server = createServer((request, response) => void listener(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/introspect`;
  const provider: IntrospectionServer = {
    asked,
    tokens: new Map(),
    answer: null,
    before: () => Promise.resolve(),
    settings: { url, clientId: 'everchart:cdr', clientSecret: 'a secret & more' },
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return provider;
}

import { createHash, randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { bearer } from '../tokens.js';

/** An identity provider that knows one user, and what it was asked. */
export interface IdentityProvider {
  readonly url: string;
  /** Paths of its requests, in order. */
  readonly asked: string[];
  /** Claims of its ID tokens from now on, over the right ones; undefined takes one away. */
  claims: Readonly<Record<string, unknown>>;
  /** `prompt` of each request to sign in; empty: it had none. */
  readonly prompts: string[];
  /** The error that it answers with in place of a code. */
  refusal: string | undefined;
  readonly close: () => Promise<void>;
}

/** The OpenID Connect that a public client needs: discovery, code flow with PKCE, the end of a session. */
export async function startIdentityProvider(roles: readonly string[]): Promise<IdentityProvider> {
  const asked: string[] = [];
  const challenges = new Map<string, { readonly challenge: string; readonly nonce: string }>();
  const prompts: string[] = [];
  const provider: Pick<IdentityProvider, 'claims' | 'refusal'> = { claims: {}, refusal: undefined };
  const server: Server = createServer((request, response) => {
    void answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? '/', url);
    asked.push(pathname);
    response.setHeader('Access-Control-Allow-Origin', '*');
    if (pathname === '/authorize') redirect(searchParams, response);
    else if (pathname === '/end')
      response.writeHead(302, { Location: searchParams.get('post_logout_redirect_uri') ?? '' }).end();
    else {
      const body = pathname === '/token' ? token(new URLSearchParams(await textOf(request))) : discovery();
      response.writeHead(body === null ? 400 : 200, { 'Content-Type': 'application/json' });
      response.end(JSON.stringify(body ?? { error: 'invalid_grant' }));
    }
  }

  function redirect(asks: URLSearchParams, response: ServerResponse): void {
    const code = randomUUID();
    challenges.set(code, {
      challenge: asks.get('code_challenge') ?? '',
      nonce: asks.get('nonce') ?? '',
    });
    prompts.push(asks.get('prompt') ?? '');
    const said = provider.refusal === undefined ? { code } : { error: provider.refusal };
    const back = new URLSearchParams({ ...said, state: asks.get('state') ?? '' });
    const mark = asks.get('response_mode') === 'fragment' ? '#' : '?';
    response.writeHead(302, { Location: `${asks.get('redirect_uri')}${mark}${back.toString()}` }).end();
  }

  /** null: the verifier is not the one of the challenge, or the code was used. */
  function token(given: URLSearchParams): object | null {
    const code = given.get('code') ?? '';
    const verifier = given.get('code_verifier') ?? '';
    const { challenge, nonce = '' } = challenges.get(code) ?? {};
    challenges.delete(code);
    if (challenge !== createHash('sha256').update(verifier).digest('base64url')) return null;
    const access = bearer(roles, 'grace').replace('Bearer ', '');
    const seconds = Math.floor(Date.now() / 1000);
    const usual = { sub: 'grace', preferred_username: 'grace', iat: seconds, exp: seconds + 600 };
    const claims = { ...usual, iss: url, aud: 'console', nonce, ...provider.claims };
    return { access_token: access, id_token: signed(claims), token_type: 'Bearer', expires_in: 600 };
  }

  const discovery = (): object => ({
    issuer: url,
    authorization_endpoint: `${url}/authorize`,
    token_endpoint: `${url}/token`,
    end_session_endpoint: `${url}/end`,
  });
  const close = (): Promise<void> => new Promise((resolve) => server.close(() => resolve()));
  return Object.assign(provider, { url, asked, prompts, close });
}

/** The page cannot check a signature, and need not: the token comes from the provider over TLS. */
function signed(claims: object): string {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  return `${part({ alg: 'RS256', typ: 'JWT' })}.${part(claims)}.AA`;
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request) text += String(chunk);
  return text;
}

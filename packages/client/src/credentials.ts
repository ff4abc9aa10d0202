import { CdrError } from './error.js';

/** A program with an identity of its own, as an identity provider knows it. */
export interface ClientCredentials {
  /** The token endpoint of the provider: `https://id.example.org/realms/clinic/protocol/openid-connect/token`. */
  readonly tokenUrl: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** Scopes, separated by blanks, where the provider wants some. */
  readonly scope?: string;
  /** For which server, where the provider wants to be told. */
  readonly audience?: string;
  /** Instead of the global `fetch`. */
  readonly fetch?: typeof fetch;
}

/** A token is asked anew so long before its end: the request that carries it takes time, and clocks differ. */
const BEFORE_END_MS = 30_000;
/** Of a provider that does not say how long. */
const DEFAULT_SECONDS = 60;

interface Known {
  readonly token: string;
  readonly until: number;
}

/**
 * The `token` of a program by the grant of client credentials (RFC 6749, 4.4):
 * `new Cdr({ url, token: clientCredentials({ tokenUrl, clientId, clientSecret }) })`. A token is kept while it is valid, and
 * requests at the same time ask for one together. Never in a page: whoever opens it reads the secret.
 */
export function clientCredentials(
  credentials: ClientCredentials,
): (options: { refresh: boolean }) => Promise<string> {
  let known: Known | undefined;
  let asking: Promise<Known> | undefined;
  return async ({ refresh }) => {
    if (!refresh && known !== undefined && known.until > Date.now()) return known.token;
    asking ??= requestToken(credentials).finally(() => (asking = undefined));
    known = await asking;
    return known.token;
  };
}

async function requestToken(credentials: ClientCredentials): Promise<Known> {
  const { tokenUrl, clientId, clientSecret, scope, audience } = credentials;
  const asked = Date.now();
  const form = new URLSearchParams({ grant_type: 'client_credentials' });
  if (scope !== undefined) form.set('scope', scope);
  if (audience !== undefined) form.set('audience', audience);
  const response = await (credentials.fetch ?? fetch)(tokenUrl, {
    method: 'POST',
    headers: {
      accept: 'application/json',
      // Both as in a form first: RFC 6749, 2.3.1.
      authorization: `Basic ${btoa(`${inForm(clientId)}:${inForm(clientSecret)}`)}`,
      'content-type': 'application/x-www-form-urlencoded',
    },
    body: form.toString(),
  }).catch((cause: unknown) => {
    throw new CdrError(`no answer of ${tokenUrl}`, { status: 0, code: 'network', cause });
  });
  const { access_token: token, expires_in: seconds = DEFAULT_SECONDS, ...rest } = await answerOf(response);
  if (!response.ok || typeof token !== 'string') throw refusal(tokenUrl, response, rest);
  const life = Number(seconds) * 1000;
  return { token, until: asked + life - Math.min(BEFORE_END_MS, life / 2) };
}

async function answerOf(response: Response): Promise<Record<string, unknown>> {
  const text = await response.text().catch(() => '');
  try {
    return Object(JSON.parse(text)) as Record<string, unknown>;
  } catch {
    return {};
  }
}

/** As an answer of the server would be: 401, or 503 where asking later may help. */
function refusal(tokenUrl: string, { status }: Response, said: Record<string, unknown>): CdrError {
  const reasons = [said['error'], said['error_description']].filter((one) => typeof one === 'string');
  const message = `${tokenUrl} gave no token: ${reasons.join(': ') || `HTTP ${status}`}`;
  const isBusy = status >= 500 || status === 429;
  return new CdrError(message, {
    status: isBusy ? 503 : 401,
    code: isBusy ? 'unavailable' : 'unauthenticated',
    body: said,
  });
}

function inForm(text: string): string {
  return new URLSearchParams([['', text]]).toString().slice(1);
}

/** How the user proved who he is; in memory only, gone with the page. */
export type Credentials =
  | { readonly kind: 'none' }
  | { readonly kind: 'token'; readonly token: string }
  | { readonly kind: 'basic'; readonly user: string; readonly password: string };

/** A refused or failed request, with what the server said of it. */
export class ApiError extends Error {
  constructor(
    /** 0: the server was not reached. */
    readonly status: number,
    message: string,
    readonly findings: readonly string[] = [],
    readonly requestId: string | null = null,
  ) {
    super(message);
  }
}

/** One request, its path below the root of the server. */
export interface Call {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** Text as it is, everything else as JSON. */
  readonly body?: unknown;
  readonly signal?: AbortSignal | undefined;
}

/** Sends one request. @throws ApiError */
export type Send = (call: Call) => Promise<Response>;

/** The root of the server: what stands before `/console` in the address of the page. */
export function serverRoot(): string {
  return location.href.replace(/[#?].*$/, '').replace(/\/console\/?$/, '');
}

/** Sends requests with these credentials. */
export function sender(credentials: Credentials): Send {
  const root = serverRoot();
  return async ({ method = 'GET', path, query = {}, headers = {}, body, signal }) => {
    const url = new URL(`${root}${path}`);
    for (const [name, value] of Object.entries(query))
      if (value !== undefined) url.searchParams.set(name, String(value));
    const isText = typeof body === 'string';
    const init: RequestInit = {
      method,
      cache: 'no-store',
      // Passwords that the browser may know by itself are not sent.
      credentials: 'omit',
      headers: {
        Accept: 'application/json',
        ...(body !== undefined && { 'Content-Type': isText ? 'application/xml' : 'application/json' }),
        ...authorization(credentials),
        ...headers,
      },
      ...(body !== undefined && { body: isText ? body : JSON.stringify(body) }),
      ...(signal !== undefined && { signal }),
    };
    const response = await fetch(url, init).catch((error: unknown) => {
      if (signal?.aborted === true) throw error;
      throw new ApiError(0, 'unreachable');
    });
    if (!response.ok) throw await failureOf(response);
    return response;
  };
}

function authorization(credentials: Credentials): Record<string, string> {
  switch (credentials.kind) {
    case 'none':
      return {};
    case 'token':
      return { Authorization: `Bearer ${credentials.token}` };
    case 'basic':
      return { Authorization: `Basic ${base64(`${credentials.user}:${credentials.password}`)}` };
  }
}

function base64(text: string): string {
  return btoa(String.fromCharCode(...new TextEncoder().encode(text)));
}

async function failureOf(response: Response): Promise<ApiError> {
  const text = await response.text();
  const requestId = response.headers.get('X-Request-Id');
  try {
    const body = JSON.parse(text) as { message?: string; validationErrors?: string[] };
    return new ApiError(response.status, body.message ?? text, body.validationErrors ?? [], requestId);
  } catch {
    return new ApiError(response.status, text, [], requestId);
  }
}

import { typedPassword } from '../../src/identity/password.js';
import type { Cdr } from '../../packages/client/src/main.js';

/** What the options say of a server. */
export interface AddressOptions {
  readonly url?: string;
  readonly token?: string;
  /** A name, or `name:password`. */
  readonly user?: string;
}

/** Where the server is, and who asks. Its text may be shown: it has no password. */
export interface RemoteAddress {
  readonly url: string;
  readonly identity: Pick<ConstructorParameters<typeof Cdr>[0], 'basic' | 'token'>;
}

type Environment = Readonly<Record<string, string | undefined>>;
type Basic = NonNullable<RemoteAddress['identity']['basic']>;

/**
 * The server that options, else `EVERCHART_URL`, else the settings `HOST`, `PORT` and `BASE_PATH` name, and the identity that
 * options, else the URL, else `EVERCHART_TOKEN` or `EVERCHART_USER` and `EVERCHART_PASSWORD` give. Asks for a password that is
 * missing where a person sits there. @throws Error, never with a password
 */
export async function remoteAddress(
  options: AddressOptions,
  env: Environment = process.env,
): Promise<RemoteAddress> {
  if (options.token !== undefined && options.user !== undefined)
    throw new Error('give either --token or --user');
  const { url, basic: ofUrl } = readUrl(options.url ?? given(env, 'EVERCHART_URL') ?? settingsUrl(env));
  if (options.user !== undefined) return { url, identity: { basic: await basicOf(options.user, env) } };
  if (options.token !== undefined) return { url, identity: { token: options.token } };
  if (ofUrl !== null) return { url, identity: { basic: ofUrl } };
  return { url, identity: await identityOf(env) };
}

async function identityOf(env: Environment): Promise<RemoteAddress['identity']> {
  const token = given(env, 'EVERCHART_TOKEN');
  if (token !== undefined) return { token };
  const user = given(env, 'EVERCHART_USER');
  return user === undefined ? {} : { basic: await basicOf(user, env) };
}

/** An empty variable counts as unset, as with every setting. */
function given(env: Environment, name: string): string | undefined {
  const value = env[name];
  return value === '' ? undefined : value;
}

/** A URL without its credentials, and those. @throws Error that does not repeat the text, which may hold a password */
function readUrl(text: string): { readonly url: string; readonly basic: Basic | null } {
  const parsed = URL.canParse(text) ? new URL(text) : null;
  if (parsed === null || !/^https?:$/.test(parsed.protocol))
    throw new Error(
      'the address of the server (--url, EVERCHART_URL) is no http or https address, such as http://127.0.0.1:8080',
    );
  const { username, password, origin, pathname } = parsed;
  const basic = username === '' ? null : { user: decoded(username), password: decoded(password) };
  // Of the standard API or of the server: both name it.
  const path = pathname.replace(/(?<!\/)\/+$/, '').replace(/(\/rest\/openehr\/v1|\/v1)$/, '');
  return { url: origin + path, basic };
}

/** @throws Error that does not repeat the text, which may be a password */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new Error('user and password in the address of the server must be percent-encoded: % is %25');
  }
}

/** Where a server with the settings of this folder listens. */
function settingsUrl(env: Environment): string {
  const host = given(env, 'HOST') ?? '127.0.0.1';
  const isEverywhere = host === '0.0.0.0' || host === '::';
  const name = isEverywhere ? '127.0.0.1' : host.includes(':') ? `[${host}]` : host;
  return `http://${name}:${given(env, 'PORT') ?? '8080'}${given(env, 'BASE_PATH') ?? ''}`;
}

async function basicOf(named: string, env: Environment): Promise<Basic> {
  const cut = named.indexOf(':');
  if (cut >= 0) return { user: named.slice(0, cut), password: named.slice(cut + 1) };
  const password = given(env, 'EVERCHART_PASSWORD');
  if (password !== undefined) return { user: named, password };
  if (!process.stdin.isTTY) throw new Error(`the password of ${named} is missing: set EVERCHART_PASSWORD`);
  return { user: named, password: await typedPassword(`Password of ${named}: `) };
}

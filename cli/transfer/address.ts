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

/** Another server of ITS-REST that a command reads: `--<option>`, `--<option>-user`, `--<option>-token`. */
interface PeerOptions {
  /** Base of its API, such as `https://host/ehrbase/rest/openehr/v1`. */
  readonly url: string;
  readonly user?: string | undefined;
  readonly token?: string | undefined;
}

/**
 * A server beside that of the command. What its options do not say, `EVERCHART_<OPTION>_TOKEN` and `EVERCHART_<OPTION>_PASSWORD`
 * do; its identity is never that of another server. @throws Error, never with a password
 */
export async function peerAddress(
  option: string,
  { url: text, user, token: named }: PeerOptions,
  env: Environment = process.env,
): Promise<RemoteAddress> {
  const variable = `EVERCHART_${option.toUpperCase()}`;
  if (named !== undefined && user !== undefined)
    throw new Error(`give either --${option}-token or --${option}-user`);
  const { url, basic } = parsedUrl(text, `--${option}`);
  if (user !== undefined)
    return { url, identity: { basic: await basicOf(user, env, `${variable}_PASSWORD`) } };
  const token = named ?? given(env, `${variable}_TOKEN`);
  if (token !== undefined) return { url, identity: { token } };
  return { url, identity: basic === null ? {} : { basic } };
}

async function identityOf(env: Environment): Promise<RemoteAddress['identity']> {
  const token = given(env, 'EVERCHART_TOKEN');
  if (token !== undefined) return { token };
  const user = given(env, 'EVERCHART_USER');
  return user === undefined ? {} : { basic: await basicOf(user, env) };
}

/** What a variable of the environment holds that no option shows; null: nothing. */
export function secretIn(variable: string, env: Environment = process.env): string | null {
  return given(env, variable) ?? null;
}

/** An empty variable counts as unset, as with every setting. */
function given(env: Environment, name: string): string | undefined {
  const value = env[name];
  return value === '' ? undefined : value;
}

/** A URL without its credentials, and those. @throws Error that does not repeat the text, which may hold a password */
function readUrl(text: string): ReadUrl {
  const { url, basic } = parsedUrl(text, '--url, EVERCHART_URL');
  // Of the standard API or of the server: both name it.
  return { url: url.replace(/(\/rest\/openehr\/v1|\/v1)$/, ''), basic };
}

interface ReadUrl {
  readonly url: string;
  readonly basic: Basic | null;
}

/** As `readUrl`, whatever its path is. `named`: what gave it. */
function parsedUrl(text: string, named: string): ReadUrl {
  const parsed = URL.canParse(text) ? new URL(text) : null;
  if (parsed === null || !/^https?:$/.test(parsed.protocol))
    throw new Error(
      `the address of the server (${named}) is no http or https address, such as http://127.0.0.1:8080`,
    );
  const { username, password, origin, pathname } = parsed;
  const basic = username === '' ? null : { user: decoded(username), password: decoded(password) };
  return { url: origin + pathname.replace(/(?<!\/)\/+$/, ''), basic };
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

async function basicOf(named: string, env: Environment, variable = 'EVERCHART_PASSWORD'): Promise<Basic> {
  const cut = named.indexOf(':');
  if (cut >= 0) return { user: named.slice(0, cut), password: named.slice(cut + 1) };
  const password = given(env, variable);
  if (password !== undefined) return { user: named, password };
  if (!process.stdin.isTTY) throw new Error(`the password of ${named} is missing: set ${variable}`);
  return { user: named, password: await typedPassword(`Password of ${named}: `) };
}

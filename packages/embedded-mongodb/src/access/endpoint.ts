/** How clients reach the front: a socket that only this user can open, or a port with a password. */
import { randomBytes } from 'node:crypto';
import type { ListenOptions } from 'node:net';
import { join } from 'node:path';
import { readPrivateFile, writePrivateFile } from './private-files.js';
import { REPLICA_SET } from '../protocol/hello.js';
import { socketPath } from './socket-path.js';

/** Where the front listens. */
export type Endpoint =
  | { readonly kind: 'socket'; readonly path: string }
  /** Port 0: any free one. */
  | { readonly kind: 'port'; readonly port: number; readonly password: string };

/** Name of the one user where there is a password. */
export const USER = 'everchart';

const HOST = '127.0.0.1';
/**
 * Any number of connections: commands that wait for a transaction hold theirs, so in a pool with a limit they could
 * keep the one that the transaction's own commit needs.
 */
const URI_OPTIONS = `replicaSet=${REPLICA_SET}&w=majority&maxPoolSize=0`;
const PASSWORD_BYTES = 32;

/** Files beside the data that hold the whole URI, for the tools of this user. */
const URI_FILES = { socket: 'socket.uri', port: 'port.uri' } as const;

/**
 * Where the database of a data folder listens: on a socket when `port` is null. Path and password of an earlier start
 * are taken again. To be called by the process that has the folder's data open.
 */
export function endpointFor(folder: string, port: number | null): Endpoint {
  if (port !== null) return { kind: 'port', port, password: knownPassword(folder) ?? newPassword() };
  return { kind: 'socket', path: socketPath(knownSocket(folder)) };
}

/** Connections that may wait to be accepted: a socket refuses the next one (EAGAIN), 511 were too few for a thousand at once. */
const BACKLOG = 4_096;

/** What `net.Server.listen` takes. */
export function listenOptions(endpoint: Endpoint): ListenOptions {
  const where = endpoint.kind === 'socket' ? { path: endpoint.path } : { host: HOST, port: endpoint.port };
  return { ...where, backlog: BACKLOG };
}

/** What clients connect to: the path of the socket or `host:port`. `port`: the one that is listened on. */
export function addressOf(endpoint: Endpoint, port: number | null): string {
  return endpoint.kind === 'socket' ? endpoint.path : `${HOST}:${port ?? endpoint.port}`;
}

/**
 * The connection string without a password. The only member is named by the URI: what drivers find out by themselves
 * loses the case of a path.
 */
export function uriOf(endpoint: Endpoint, address: string): string {
  if (endpoint.kind === 'port') return `mongodb://${address}/?${URI_OPTIONS}`;
  return `mongodb://${encodeURIComponent(address)}/?directConnection=true&${URI_OPTIONS}`;
}

/** Writes the whole URI into its file beside the data (0600) and returns the file. */
export function rememberEndpoint(folder: string, endpoint: Endpoint, address: string): string {
  const file = join(folder, URI_FILES[endpoint.kind]);
  const uri = uriOf(endpoint, address);
  const login = endpoint.kind === 'port' ? `${USER}:${endpoint.password}@` : '';
  const options = endpoint.kind === 'port' ? '&authSource=admin&authMechanism=SCRAM-SHA-256' : '';
  writePrivateFile(file, `${uri.replace('mongodb://', `mongodb://${login}`)}${options}\n`);
  return file;
}

function knownPassword(folder: string): string | null {
  return /^mongodb:\/\/[^:/]+:([\w-]{43})@/.exec(readPrivateFile(join(folder, URI_FILES.port)))?.[1] ?? null;
}

function knownSocket(folder: string): string | null {
  const host = /^mongodb:\/\/([^/?]+\.sock)\//.exec(readPrivateFile(join(folder, URI_FILES.socket)))?.[1];
  return host === undefined ? null : decodeURIComponent(host);
}

function newPassword(): string {
  return randomBytes(PASSWORD_BYTES).toString('base64url');
}

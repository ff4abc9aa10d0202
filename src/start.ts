import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Logger } from 'pino';
import type { Settings } from '../base/settings.js';
import { connectDatabase, type DatabaseHandle } from '../database/connect.js';
import { createCollections } from '../database/indexes.js';
import { COLLECTION_LAYOUT } from '../models/layout.js';
import { createApp } from './app.js';

/** A server that listens. */
export interface RunningServer {
  /** `http://host:port`, without trailing slash. */
  readonly url: string;
  readonly database: DatabaseHandle;
  /** Stops taking requests, lets running ones end within `SHUTDOWN_TIMEOUT_MS`, then leaves the database. */
  close(): Promise<void>;
}

/**
 * Connects the database, builds collections and indexes, then listens.
 * @throws Error when no database can be had, the system id differs from the stored one, or the port is taken
 */
export async function startServer(settings: Settings, log: Logger): Promise<RunningServer> {
  const database = await connectDatabase(settings.database, (line) => {
    log.info(line);
  });
  try {
    await createCollections(COLLECTION_LAYOUT);
    const server = createServer(handlerOf(settings, log));
    await listen(server, settings);
    const url = addressOf(server, settings);
    log.info(`listening on ${url}`);
    return { url, database, close: () => close(server, database, settings.shutdownTimeoutMs) };
  } catch (error) {
    await database.close();
    throw error;
  }
}

function handlerOf(
  settings: Settings,
  log: Logger,
): (request: IncomingMessage, response: ServerResponse) => void {
  const handle = createApp(settings, log).callback();
  return (request, response) => void handle(request, response);
}

function listen(server: Server, settings: Settings): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(settings.port, settings.host, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

function addressOf(server: Server, settings: Settings): string {
  const { port } = server.address() as AddressInfo;
  const host = settings.host.includes(':') ? `[${settings.host}]` : settings.host;
  return `http://${host}:${port}`;
}

async function close(server: Server, database: DatabaseHandle, timeoutMs: number): Promise<void> {
  const timer = setTimeout(() => {
    server.closeAllConnections();
  }, timeoutMs);
  await new Promise<void>((resolve) => {
    server.close(() => {
      resolve();
    });
    server.closeIdleConnections();
  });
  clearTimeout(timer);
  await database.close();
}

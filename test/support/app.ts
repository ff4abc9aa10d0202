import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll } from '@jest/globals';
import type Koa from 'koa';
import { createApp } from '../../src/app.js';
import { createLogger } from '../../src/logger.js';
import type { Settings } from '../../config/settings.js';
import { documentedAnswers } from './api/documented-answers.js';
import { recorded } from './contract/recorder.js';
import { testSettings } from './settings.js';

/** The application for supertest. The test file connects the database with `useDatabase()`. */
export function testApp(overrides: Partial<Settings> = {}): RequestListener {
  const handle = handlerOf(testSettings(overrides));
  return recorded((request, response) => void handle(request, response), overrides);
}

/** The application on a free port of the loopback interface. Whoever starts it closes it. */
export function testServer(settings: Settings): Promise<Server> {
  const handle = handlerOf(settings);
  return listening((request, response) => void handle(request, response));
}

/** The application that a listener of requests calls, with its log; it must answer what it documents. */
export function handlerOf(
  settings: Settings,
  log = createLogger(settings.logLevel),
): ReturnType<Koa['callback']> {
  const app = createApp(settings, log);
  app.middleware.unshift(documentedAnswers());
  return app.callback();
}

/** Serves on a free port of the loopback interface for all tests of a file; `url` is known when they run. */
export function useServer(app: RequestListener): { readonly url: string } {
  const served = { url: '' };
  let server: Server;
  beforeAll(async () => {
    server = await listening(app);
    served.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return served;
}

async function listening(app: RequestListener): Promise<Server> {
  const server = createServer(app);
  // A client in this process may be too busy to see in time that an idle connection was closed.
  server.keepAliveTimeout = 0;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

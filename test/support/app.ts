import { createServer, type RequestListener, type Server } from 'node:http';
import { createApp } from '../../src/app.js';
import { createLogger } from '../../src/logger.js';
import type { Settings } from '../../config/settings.js';
import { testSettings } from './settings.js';

/** The application for supertest. The test file connects the database with `useDatabase()`. */
export function testApp(overrides: Partial<Settings> = {}): RequestListener {
  const settings = testSettings(overrides);
  const handle = createApp(settings, createLogger(settings.logLevel)).callback();
  return (request, response) => void handle(request, response);
}

/** The application on a free port of the loopback interface. Whoever starts it closes it. */
export async function testServer(settings: Settings): Promise<Server> {
  const handle = createApp(settings, createLogger(settings.logLevel)).callback();
  const server = createServer((request, response) => void handle(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

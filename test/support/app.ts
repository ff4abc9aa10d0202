import type { RequestListener } from 'node:http';
import { createApp } from '../../src/app.js';
import { createLogger } from '../../src/logger.js';
import type { Settings } from '../../base/settings.js';
import { testSettings } from './settings.js';

/** The application for supertest. The test file connects the database with `useDatabase()`. */
export function testApp(overrides: Partial<Settings> = {}): RequestListener {
  const settings = testSettings(overrides);
  const handle = createApp(settings, createLogger(settings.logLevel)).callback();
  return (request, response) => void handle(request, response);
}

import { loadConfig } from '../../src/config.js';
import type { Settings } from '../../base/settings.js';

/** The default configuration of a test, with what the test changes. Logging is off. */
export function testSettings(overrides: Partial<Settings> = {}): Settings {
  return { ...loadConfig({ LOG_LEVEL: 'silent' }), ...overrides };
}

import { loadConfig } from '../../src/settings/config.js';
import type { Settings } from '../../config/settings.js';

/** `MERGE_STEPS_FROM=0` runs tests of merges with all of them in steps. */
const { MERGE_STEPS_FROM } = process.env;

/** What waits so that time tells nothing has tests of its own. */
const AT_ONCE = { ACCESS_REFUSED_MS: '0' };

/** The default configuration of a test, with what the test changes. Logging is off. */
export function testSettings(overrides: Partial<Settings> = {}): Settings {
  const steps = MERGE_STEPS_FROM === undefined ? {} : { MERGE_STEPS_FROM };
  return { ...loadConfig({ LOG_LEVEL: 'silent', ...AT_ONCE, ...steps }), ...overrides };
}

const { itsRest, preferMinimalUpdateStatus } = loadConfig({ ITS_REST: '1.1.0' });

/** What `ITS_REST=1.1.0` sets. */
export const RELEASE_1_1: Partial<Settings> = { itsRest, preferMinimalUpdateStatus };

/** Each edition of ITS-REST with what it sets, for a suite that runs in a file for each: processes memoize what is in a database. */
export const EDITIONS = {
  '1.0.3': ['1.0.3', {}],
  '1.1.0': ['1.1.0', RELEASE_1_1],
} as const satisfies Readonly<Record<string, readonly [string, Partial<Settings>]>>;

/** Secret of development tokens in tests. */
export const TEST_JWT_SECRET = 'a-secret-of-at-least-thirty-two-bytes!';

/** A configuration in which every part of the API exists. */
export function everythingOn(overrides: Partial<Settings> = {}): Settings {
  const settings = loadConfig({
    LOG_LEVEL: 'silent',
    ...AT_ONCE,
    JWT_SECRET: TEST_JWT_SECRET,
    ADMIN_API_ACTIVE: 'true',
    MANAGEMENT_ENDPOINTS: 'all',
    STATUS_ENDPOINT: 'true',
    ACCESS_MODE: 'dry',
    ROLE_PERMISSIONS: 'USER=read,write,define,draft;ADMIN=*,restore;AUDITOR=audit;READER=read',
  });
  return { ...settings, smartScopes: 'on', ...overrides };
}

import { ACCESS_SETTINGS } from './rows/access-settings.js';
import { CONTENT_SETTINGS } from './rows/content-settings.js';
import { OPERATION_SETTINGS } from './rows/operation-settings.js';
import { QUERY_SETTINGS } from './rows/query-settings.js';
import { SERVER_SETTINGS } from './rows/server-settings.js';

/**
 * Settings for which it matters whether they are set at all, although they have a default: they stand empty in
 * `.env.example`, so that a copied file changes nothing.
 */
export const PRESENCE_MATTERS: ReadonlySet<string> = new Set([
  'ACCESS_MODE',
  'LOCAL_DATABASE',
  'ACCEPT_FOREIGN_SYSTEM_ID',
  'RATE_LIMIT_PER_MINUTE',
]);

/** Every setting, in the order of the documentation: `.env.example` and `docs/configuration.md` follow it. */
export const SETTINGS = [
  ...SERVER_SETTINGS,
  ...ACCESS_SETTINGS,
  ...QUERY_SETTINGS,
  ...CONTENT_SETTINGS,
  ...OPERATION_SETTINGS,
];

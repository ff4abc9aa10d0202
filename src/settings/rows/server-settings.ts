import Joi from 'joi';
import { choice, count, text, webAddress } from '../setting-checks.js';
import { setting, type SettingDescription } from './setting.js';

/** Address, names and database of the server. In the order of the documentation. */
export const SERVER_SETTINGS: readonly SettingDescription[] = [
  setting('HOST', text().empty('').default('127.0.0.1'), '127.0.0.1', 'address to listen on'),
  setting('PORT', count().min(0).max(65535).default(8080), '8080', 'port to listen on; 0 = any free one'),
  setting('PUBLIC_BASE_URL', webAddress(), '', 'origin of generated links; empty = from the request'),
  setting(
    'BASE_PATH',
    Joi.string()
      .pattern(/^(\/[A-Za-z0-9._~-]+)+\/?$/)
      .empty('')
      .default(''),
    '',
    'path before all APIs but /management, such as /ehrbase',
  ),
  setting(
    'SYSTEM_ID',
    Joi.string()
      .pattern(/^[A-Za-z0-9][A-Za-z0-9._-]{0,199}$/)
      .empty('')
      .default('local.cdr'),
    'local.cdr',
    'middle part of every version uid; fixed by the first commit',
  ),
  setting('MONGODB_URI', text().default(''), '', 'connection string; empty = a local database'),
  setting(
    'MONGODB_DATABASE',
    Joi.string()
      .pattern(/^[A-Za-z0-9_-]{1,60}$/)
      .empty('')
      .default('cdr'),
    'cdr',
    'database name',
  ),
  setting(
    'LOCAL_DATABASE',
    choice(['auto', 'mongod', 'embedded'], 'auto'),
    '',
    'mongod or embedded; empty or auto = what can be had. Used when MONGODB_URI is empty; beyond a loopback HOST and with NODE_ENV=production one of the two must be named',
  ),
  setting('MONGOD_BINARY', text().default(''), '', 'path of a mongod; empty = searched'),
  setting(
    'EMBEDDED_DATA_DIR',
    Joi.string().empty('').default('./data/mongodb'),
    './data/mongodb',
    'folder of the local database, of this user alone (0700); temporary = gone at exit',
  ),
  setting(
    'EMBEDDED_CACHE_SIZE_GB',
    Joi.number().min(0.25).max(1024).empty(''),
    '',
    'memory for its data; empty = half of what the machine has above 1 GB, between 0.25 and 1',
  ),
];

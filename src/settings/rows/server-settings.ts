import Joi from 'joi';
import { choice, count, orNull, text, webAddress, withoutLastSlashes } from '../setting-checks.js';
import { setting } from './setting.js';

/** Address, names and database of the server. In the order of the documentation. */
export const SERVER_SETTINGS = [
  setting('HOST', 'host', text('127.0.0.1'), 'address to listen on'),
  setting('PORT', 'port', count(0, 65535).default(8080), 'port to listen on; 0 = any free one'),
  setting(
    'PUBLIC_BASE_URL',
    'publicBaseUrl',
    orNull(webAddress().custom(withoutLastSlashes)),
    'origin of generated links; empty = from the request',
  ),
  setting(
    'BASE_PATH',
    'basePath',
    Joi.string()
      .pattern(/^(\/[A-Za-z0-9._~-]+)+\/?$/)
      .default('')
      .custom(withoutLastSlashes),
    'path before all APIs but /management, such as /ehrbase',
  ),
  setting(
    'SYSTEM_ID',
    'systemId',
    Joi.string()
      .pattern(/^[A-Za-z0-9][A-Za-z0-9._-]{0,199}$/)
      .default('local.cdr'),
    'middle part of every version uid; fixed by the first commit',
  ),
  setting('MONGODB_URI', 'database.mongodbUri', text(''), 'connection string; empty = a local database'),
  setting(
    'MONGODB_DATABASE',
    'database.mongodbDatabase',
    Joi.string()
      .pattern(/^[A-Za-z0-9_-]{1,60}$/)
      .default('cdr'),
    'database name',
  ),
  setting(
    'LOCAL_DATABASE',
    'database.localDatabase',
    choice(['auto', 'mongod', 'embedded'], 'auto'),
    'mongod or embedded; empty or auto = what can be had. Used when MONGODB_URI is empty; beyond a loopback HOST and with NODE_ENV=production one of the two must be named',
  ),
  setting('MONGOD_BINARY', 'database.mongodBinary', text(''), 'path of a mongod; empty = searched'),
  setting(
    'EMBEDDED_DATA_DIR',
    'database.embeddedDataDir',
    Joi.string().default('./data/mongodb'),
    'folder of the local database, of this user alone (0700); temporary = gone at exit',
  ),
  setting(
    'EMBEDDED_CACHE_SIZE_GB',
    'database.embeddedCacheSizeGB',
    orNull(Joi.number().min(0.25).max(1024)),
    'memory for its data; empty = half of what the machine has above 1 GB, between 0.25 and 1',
  ),
];

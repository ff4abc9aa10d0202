import type { Settings } from '../config/settings.js';
import type { OperationTable } from '../routes/http/operation/operation-table.js';
import { loadConfig } from './settings/config.js';
import { recordActivity } from './activity.js';
import { createLogger } from './logger.js';
import { createMetrics } from './metrics.js';
import { operationTable } from './operation-table.js';

/** A configuration in which every part of the API exists. */
function everySetting(): Settings {
  return loadConfig({
    LOG_LEVEL: 'silent',
    JWT_SECRET: 'known to everybody: good for the documentation only',
    ADMIN_API_ACTIVE: 'true',
    MANAGEMENT_ENDPOINTS: 'all',
    STATUS_ENDPOINT: 'true',
  });
}

/** All operations that a server can have, for documentation and tests. */
export function everyOperation(settings: Settings = everySetting()): OperationTable {
  const { registry } = createMetrics({ ofProcess: false });
  return operationTable(settings, createLogger('silent'), {
    registry,
    state: { indexesBuilt: true, stopping: false },
    activity: recordActivity(),
  });
}

import type { Logger } from 'pino';
import type { Settings } from '../config/settings.js';
import { DIALECTS, type ItsRest } from '../openehr/base/dialect.js';
import { accessReportOperations } from '../routes/admin/access-report.js';
import { adminGroups } from '../routes/admin/api.js';
import { releasedAdminOperations } from '../routes/admin/released.js';
import { archetypeOperations } from '../routes/definition/archetype.js';
import { storedQueryOperations } from '../routes/definition/stored-query.js';
import { terminologyOperations } from '../routes/definition/terminology.js';
import { templateOperations } from '../routes/definition/template.js';
import { compositionOperations } from '../routes/ehr/composition.js';
import { contributionOperations } from '../routes/ehr/contribution.js';
import { directoryOperations } from '../routes/ehr/directory.js';
import { draftOperations } from '../routes/ehr/draft.js';
import { favouriteOperations } from '../routes/ehr/favourite.js';
import { markOperations } from '../routes/ehr/marks.js';
import { printOperations } from '../routes/ehr/print.js';
import { existingFirst } from '../routes/ehr/existing-first.js';
import { ehrStatusOperations } from '../routes/ehr/ehr-status.js';
import { ehrOperations } from '../routes/ehr/ehr.js';
import type { OperationGroup } from '../routes/http/operation/operation.js';
import { groupsIn } from '../routes/http/dialect.js';
import { dashboardOperations } from '../routes/query/dashboard.js';
import { OperationTable } from '../routes/http/operation-table.js';
import { queryOperations } from '../routes/query/query.js';
import { consoleOperations } from '../routes/system/console.js';
import { demographicOperations } from '../routes/system/demographic.js';
import { managementOperations } from '../routes/system/management.js';
import { openapiOperation, swaggerUiOperations } from '../routes/system/swagger-ui.js';
import { smartOperation } from '../routes/system/smart.js';
import { overviewOperation } from '../routes/system/overview.js';
import { statusOperation, systemOperations } from '../routes/system/system.js';
import { welcomeOperation } from '../routes/system/welcome.js';
import { experimentalTagOperations } from '../routes/tag/experimental-tag.js';
import { itemTagOperations } from '../routes/tag/item-tag.js';
import { managementSource, type ProcessParts } from './management/management.js';
import { loadConfig } from './settings/config.js';
import { recordActivity } from './activity.js';
import { recordDay } from './day.js';
import { providerSource } from './identity/provider.js';
import { userStore } from './identity/user-store.js';
import { createLogger } from './logger.js';
import { createMetrics } from './metrics.js';

/** Everything that the server with these settings answers. What stands in no group here does not exist. */
export function operationTable(settings: Settings, log: Logger, process: ProcessParts): OperationTable {
  const dialect = DIALECTS[settings.itsRest];
  const rows: OperationGroup[] = [
    systemOperations(settings),
    ehrOperations(settings),
    inPathOrder(ehrStatusOperations(settings)),
    inPathOrder(compositionOperations(settings)),
    inPathOrder(directoryOperations(settings)),
    inPathOrder(contributionOperations(settings)),
    templateOperations(settings),
    archetypeOperations(settings),
    terminologyOperations(settings),
    storedQueryOperations(settings),
    queryOperations(settings),
    inPathOrder(itemTagOperations(settings)),
    inPathOrder(experimentalTagOperations()),
    draftOperations(settings),
    favouriteOperations(),
    markOperations(settings),
    dashboardOperations(),
    printOperations(),
    accessReportOperations(settings),
    {
      tag: 'Status',
      description: 'Versions of the server, what happens in it, and this description of its API',
      operations: [
        ...(settings.statusEndpoint ? [statusOperation(settings)] : []),
        overviewOperation(settings, process.activity, process.day),
        openapiOperation(() => groups, settings.itsRest),
        ...swaggerUiOperations(),
        ...consoleOperations(settings),
        welcomeOperation(),
        ...smartOperation(settings, providerSource(settings, log)),
      ],
    },
    managementOperations({
      endpoints: settings.managementEndpoints,
      access: settings.managementAccess,
      healthAccess: isAnybodyKnown(settings) ? settings.managementAccess : 'PUBLIC',
      source: managementSource(settings, log, process),
    }),
    ...(settings.adminApiActive ? adminGroups(settings, userStore(settings), () => table.operations) : []),
    ...(dialect.hasReleasedPaths ? releasedGroups(settings) : []),
  ];
  const groups = groupsIn(rows, dialect);
  const table = new OperationTable(groups, { basePath: settings.basePath, aliasV1: settings.apiAliasV1 });
  return table;
}

/** Whether anybody could say who he is. */
function isAnybodyKnown({ basicUsersFile, jwt, introspection }: Settings): boolean {
  const known = [basicUsersFile, jwt.secret, jwt.publicKey, jwt.jwksUrl, introspection];
  return known.some((each) => each !== null);
}

/** What the released interface has beyond the former one. */
function releasedGroups(settings: Settings): OperationGroup[] {
  return [...(settings.adminApiActive ? [releasedAdminOperations(settings)] : []), demographicOperations()];
}

function inPathOrder(group: OperationGroup): OperationGroup {
  return { ...group, operations: group.operations.map(existingFirst) };
}

/** A configuration in which every part of the API exists, as an edition of ITS-REST has it. */
export function everySetting(edition: ItsRest = '1.0.3'): Settings {
  const settings = loadConfig({
    ITS_REST: edition,
    LOG_LEVEL: 'silent',
    JWT_SECRET: 'known to everybody: good for the documentation only',
    ADMIN_API_ACTIVE: 'true',
    MANAGEMENT_ENDPOINTS: 'all',
    STATUS_ENDPOINT: 'true',
    ACCESS_MODE: 'dry',
  });
  return { ...settings, smartScopes: 'on' };
}

/** All operations that a server can have, for documentation and tests. */
export function everyOperation(settings: Settings = everySetting()): OperationTable {
  const { registry } = createMetrics({ ofProcess: false });
  return operationTable(settings, createLogger('silent'), {
    registry,
    state: { indexesBuilt: true, stopping: false },
    activity: recordActivity(),
    day: recordDay(registry),
  });
}

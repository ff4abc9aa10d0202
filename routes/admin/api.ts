import Router from '@koa/router';
import type { Settings } from '../../base/settings.js';
import { adminAuditOperations } from './audit.js';
import { adminDefinitionOperations } from './definition.js';
import { adminEhrOperations } from './ehr.js';
import { adminMergeOperations } from './merge.js';
import { adminVerifyOperations } from './verify.js';
import { addOperation, adminForm, writeRecord, type AdminGuards, type AdminOperation } from './operation.js';

const STATUS = 'AdminStatusResponseData';

/** The administration API below `/rest/admin`; exists only with `ADMIN_API_ACTIVE`. Contract, sections 13, 14. */
export function adminRoutes(settings: Settings, guards: AdminGuards): Router {
  const router = new Router({ prefix: '/rest/admin' });
  for (const operation of operations(settings)) addOperation(router, guards, operation);
  return router;
}

function operations(settings: Settings): AdminOperation[] {
  return [
    {
      name: 'getStatus',
      method: 'get',
      path: '/status',
      record: STATUS,
      neutral: {},
      handle: (ctx) => {
        const fields = { message: 'Admin API available and permitted' };
        writeRecord(ctx, adminForm(ctx), { record: STATUS, fields });
      },
    },
    ...adminDefinitionOperations(settings),
    ...adminAuditOperations(settings),
    ...adminVerifyOperations(),
    // Before those of one EHR: their literal paths win over `/ehr/:ehr_id`.
    ...adminMergeOperations(settings),
    ...adminEhrOperations(settings),
  ];
}

import type { Settings } from '../../config/settings.js';
import type { Operation, OperationGroup } from '../http/operation/operation.js';
import { approvalOperations } from './approval.js';
import { auditOperations } from './audit.js';
import { categoryOperations } from './category.js';
import { adminDefinitionOperations } from './definition.js';
import { distinctOperations } from './distinct.js';
import { adminEhrOperations } from './ehr.js';
import { adminExtractOperations } from './extract.js';
import { mergeOperations } from './merge.js';
import { mergeCandidateOperations } from './merge-candidates.js';
import { mergeFinalOperations } from './merge-final.js';
import { permissionsOperation } from './permissions.js';
import { policyOperations } from './policy.js';
import { adminForm, adminOperation, writeRecord } from './record.js';
import { restoreOperation } from './restore.js';
import { statisticsOperation } from './statistics.js';
import { userOperations, type UserStore } from './users.js';
import { templateComparisonOperations } from './template-comparison.js';
import { templateRevisionOperations } from './template-revision.js';
import { templateUpgradeOperations } from './template-upgrade.js';
import { verifyOperations } from './verify.js';

const STATUS = 'AdminStatusResponseData';

/** The administration API; exists only with `ADMIN_API_ACTIVE`. `operations`: the whole table. */
export function adminGroups(
  settings: Settings,
  users: UserStore,
  operations: () => readonly Operation[],
): OperationGroup[] {
  return [
    {
      tag: 'Administration',
      description: 'Physical deletion, templates, audit; needs the permission admin, audit or restore',
      operations: [
        statusOperation(),
        permissionsOperation(settings, users.list),
        ...userOperations(settings, users),
        ...adminDefinitionOperations(settings),
        ...templateRevisionOperations(settings),
        ...templateComparisonOperations(settings),
        ...templateUpgradeOperations(settings),
        ...adminEhrOperations(settings),
        ...auditOperations(settings, operations),
        ...verifyOperations(),
        statisticsOperation(),
        ...policyOperations(settings, users.list),
        ...categoryOperations(settings, users.list),
        ...approvalOperations(settings, users.list),
        restoreOperation(settings),
        ...adminExtractOperations(settings),
      ],
    },
    {
      tag: 'EHR merge',
      description: 'Dissolving one EHR into another, and undoing it',
      operations: [
        ...mergeOperations(settings),
        ...mergeFinalOperations(settings),
        ...mergeCandidateOperations(settings),
        ...distinctOperations(),
      ],
    },
  ];
}

function statusOperation() {
  return adminOperation({
    id: 'getStatus',
    discloses: 'nothing',
    method: 'GET',
    path: '/status',
    summary: 'Tell whether the admin API is active and permitted',
    responses: { 200: { description: 'It is', body: { schema: STATUS, types: 'rm' } } },
    failure: { root: STATUS, fields: {} },
    handle: (ctx) => {
      const fields = { message: 'Admin API available and permitted' };
      writeRecord(ctx, adminForm(ctx), { record: STATUS, fields });
    },
  });
}

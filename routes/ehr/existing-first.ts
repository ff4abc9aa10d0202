import type { Context } from 'koa';
import { CdrError } from '../../openehr/base/errors.js';
import type { RootType } from '../../openehr/rm/root-type.js';
import { viewing } from '../../change/access/viewer.js';
import { objectNotFound } from '../../change/commit/refusal.js';
import { readableEhr, writableEhr } from '../../change/commit/ehr-access.js';
import { containerOf } from '../../models/versioned-object.js';
import { pathParameter } from '../http/parameter-values.js';
import type { Operation } from '../http/operation/operation.js';
import { currentOperation } from '../http/request/request-state.js';

/** What else of a request is judged after the EHR and the container that its path names have been found. */
const JUDGED_LATER: readonly string[] = ['invalid', 'unprocessable', 'precondition-failed'];

const CONTAINER_PARAMETERS = ['uid_based_id', 'versioned_object_uid'] as const;

/**
 * The operation, refusing in the order of docs/spec/rest.md#order-of-checks: an EHR or container of its path that does
 * not exist comes before everything that is wrong with headers, parameters and body. Nothing is looked up when nothing
 * is wrong.
 */
export function existingFirst(operation: Operation): Operation {
  const needsEhr = operation.path.includes('/{ehr_id}/');
  if (!needsEhr) return operation;
  return {
    ...operation,
    handle: async (ctx) => {
      try {
        await operation.handle(ctx);
      } catch (error) {
        if (error instanceof CdrError && JUDGED_LATER.includes(error.code)) await requireExisting(ctx);
        throw error;
      }
    },
  };
}

/** @throws not-found, or conflict for a write to an EHR that was merged away */
async function requireExisting(ctx: Context): Promise<void> {
  const named = namedByPath(ctx);
  if (named === null) return;
  const { ehrId, versionedObjectUid, type } = named;
  const { operation } = currentOperation(ctx);
  await (operation.method === 'GET' ? readableEhr(ehrId) : writableEhr(ehrId));
  if (versionedObjectUid === null) return;
  const container = await containerOf(ehrId, type, versionedObjectUid);
  const viewer = viewing.getStore()?.viewer;
  if (container === null || (await viewer?.seesContainer(ehrId, versionedObjectUid)) === false)
    throw objectNotFound(ehrId, type, versionedObjectUid);
}

interface Named {
  readonly ehrId: string;
  readonly type: RootType;
  readonly versionedObjectUid: string | null;
}

/** null when an id is malformed: then nothing can be looked up. */
function namedByPath(ctx: Context): Named | null {
  const { operation, params } = currentOperation(ctx);
  const type = /\/(?:versioned_)?ehr_status\b/.test(operation.path) ? 'EHR_STATUS' : 'COMPOSITION';
  try {
    const ehrId = pathParameter(ctx, 'ehr_id');
    const name = CONTAINER_PARAMETERS.find((candidate) => params[candidate] !== undefined);
    if (params.version_uid !== undefined) pathParameter(ctx, 'version_uid');
    if (name === undefined) return { ehrId, type, versionedObjectUid: null };
    const uid = pathParameter(ctx, name);
    if (typeof uid === 'string') return { ehrId, type, versionedObjectUid: uid };
    const versionedObjectUid = 'id' in uid ? uid.id.versionedObjectUid : uid.versionedObjectUid;
    return { ehrId, type, versionedObjectUid };
  } catch {
    return null;
  }
}

import type { Context } from 'koa';
import type { ReadAhead } from '../../change/access/viewer.js';
import { lastPolicies } from '../../change/policy/live-policies.js';
import type { AccessNumbers, WithNumbers } from '../../models/access-numbers.js';
import { learnOfMerges, movingMerges } from '../../models/access/merge-job.js';
import { ehrWithStatusAndNumbers } from '../../models/cross-collection/ehr-with-status.js';
import { ehrNow } from '../../models/ehr-now.js';
import { versionWithNumbers } from '../../models/version.js';
import {
  formatObjectVersionId,
  inOwnCase,
  parseEhrId,
  parseObjectVersionId,
} from '../../openehr/base/object-version-id.js';
import { currentOperation } from '../../routes/http/request/request-state.js';

/** What was asked for when a request began. */
interface Ahead {
  /** Which policies hold; absent: that is asked for by itself. */
  readonly numbers?: Promise<AccessNumbers>;
  readonly ahead?: ReadAhead;
}

/** Nothing was asked for. */
export const NOTHING_AHEAD: Ahead = {};

/**
 * Asks for what an operation that only reads is going to read, while it is found out what restricts the request, and with it which policies
 * hold: a command of the database costs more than what it reads. What is asked for follows from the policies as they were known last;
 * whatever they are by now, it is judged by those that hold. docs/performance.md#access
 */
export async function readAhead(ctx: Context, systemId: string): Promise<Ahead> {
  const { operation, params } = currentOperation(ctx);
  const { ehr_id: text } = params;
  const ehrId = text === undefined ? null : parseEhrId(text);
  if (ehrId === null) return NOTHING_AHEAD;
  const last = lastPolicies();
  const isEhr = operation.path.endsWith('{ehr_id}');
  // Where policies ask for more of an EHR than its id it is read before what is in it.
  if (last?.set.asksEhr !== false)
    return isEhr ? NOTHING_AHEAD : { ahead: { ehrId, ehr: quiet(ehrNow(ehrId)) } };
  if (!last.isRestricting) return NOTHING_AHEAD;
  if (isEhr) return ehrAhead(ehrId);
  const versionUid = versionUidOf(params.uid_based_id ?? params.version_uid, systemId);
  return versionUid === null ? NOTHING_AHEAD : versionAhead(ehrId, versionUid);
}

function ehrAhead(ehrId: string): Ahead {
  const { numbers, found } = apart(ehrWithStatusAndNumbers(ehrId));
  return { numbers, ahead: { ehrId, withStatus: found } };
}

async function versionAhead(ehrId: string, uid: string): Promise<Ahead> {
  await learnOfMerges();
  const merges = movingMerges();
  const { numbers, found } = apart(versionWithNumbers(ehrId, uid));
  return { numbers, ahead: { ehrId, version: { uid, read: found, merges } } };
}

/** As handlers read it from a path; null: they refuse it, or look for the latest. */
function versionUidOf(text: string | undefined, systemId: string): string | null {
  const id = text === undefined ? null : parseObjectVersionId(text);
  return id === null ? null : formatObjectVersionId(inOwnCase(id, systemId));
}

function apart<T>(read: Promise<WithNumbers<T>>): { numbers: Promise<AccessNumbers>; found: Promise<T> } {
  return {
    numbers: quiet(read.then(({ numbers }) => numbers)),
    found: quiet(read.then(({ found }) => found)),
  };
}

/** Who does not come to it does not mind that it failed. */
function quiet<T>(read: Promise<T>): Promise<T> {
  read.catch(() => undefined);
  return read;
}

import { CdrError } from '../../openehr/base/errors.js';
import { textAt } from '../../openehr/rm/access.js';
import type { RootType } from '../../openehr/rm/root-type.js';
import { versionById } from '../../models/version.js';
import { viewing } from '../access/viewer.js';
import { CHANGE_TYPE, LIFECYCLE, type LifecycleState } from './codes.js';
import type { VersionMetadata } from './request.js';

/** States that only some states lead to. RM: common, "Abandoned and Inactive States". */
const FROM: ReadonlyMap<LifecycleState, readonly string[]> = new Map([
  [LIFECYCLE.abandoned, [LIFECYCLE.incomplete, LIFECYCLE.abandoned]],
  [LIFECYCLE.inactive, [LIFECYCLE.complete, LIFECYCLE.inactive]],
]);

/** The version that another one follows. */
export interface Preceding {
  readonly ehrId: string;
  readonly type: RootType;
  readonly versionUid: string;
  /** Its lifecycle state where it is made by the same commit. */
  readonly state?: string | undefined;
}

/**
 * Whether the change type and lifecycle state of a version fit the one it follows (docs/spec/rest.md#lifecycle-states).
 * Most fit any, and then nothing is read; what does not exist is refused by who commits. @throws unprocessable
 */
export async function requireFollowing(
  { ehrId, type, versionUid, state: known }: Preceding,
  { audit, lifecycleState }: VersionMetadata,
): Promise<void> {
  const from = FROM.get(lifecycleState);
  const isRestoration = audit.changeType === CHANGE_TYPE.restoration;
  if (from === undefined && !isRestoration) return;
  const state = known ?? (await storedState(ehrId, type, versionUid));
  if (state === undefined) return;
  if (isRestoration && state !== LIFECYCLE.deleted)
    throw new CdrError('unprocessable', `a restoration (816) follows a deletion, ${versionUid} is none`);
  if (from !== undefined && state !== LIFECYCLE.deleted && !from.includes(state))
    throw new CdrError(
      'unprocessable',
      `the lifecycle state ${lifecycleState} follows ${from.join(' or ')} only, ${versionUid} is ${state}`,
    );
}

async function storedState(ehrId: string, type: RootType, versionUid: string): Promise<string | undefined> {
  const version = await versionById(ehrId, type, versionUid);
  // What is not there for who asks is refused, or not, as what is not there.
  if (version !== null && (await viewing.getStore()?.viewer?.sees(ehrId, version)) === false)
    return undefined;
  return version === null ? undefined : textAt(version.lifecycle_state, 'defining_code', 'code_string');
}

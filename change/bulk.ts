import { randomUUID } from 'node:crypto';
import type { JsonObject } from '../openehr/base/json.js';
import { noFindings } from '../openehr/rm/lenient.js';
import { CHANGE_TYPE, LIFECYCLE, type LifecycleState } from './commit/codes.js';
import { commitTogether } from './commit/commit.js';
import { newComposition } from './composition/composition.js';
import { readObject } from './content/content.js';
import type { ChangeContext } from './commit/context.js';
import { newEhrStatus } from './ehr-status.js';
import type { CommitRequest, CreateEntry } from './commit/request.js';

/** What one EHR brings to a bulk commit. */
export interface BulkContent {
  readonly ehrId: string;
  /** EHR_STATUS of an EHR that is to be made, null in it: the default one; absent: the EHR exists. */
  readonly newEhr?: { readonly status: JsonObject | null };
  /** Each becomes a CONTRIBUTION of new COMPOSITIONs, canonical JSON with or without uid. */
  readonly contributions: readonly (readonly {
    readonly object: JsonObject;
    readonly lifecycleState: LifecycleState;
  }[])[];
}

/** Who commits in bulk, and how it is validated. */
export interface BulkCommit {
  readonly committer: JsonObject;
  readonly isLenient: boolean;
}

/**
 * Validates and commits what several EHRs bring, all in one transaction; CONTRIBUTIONs and audits are those of single
 * requests. Gives for each EHR whether everything of it was committed; what was not may be sent by itself, which
 * says why. Never throws.
 */
export async function commitInBulk(
  context: ChangeContext,
  how: BulkCommit,
  contents: readonly BulkContent[],
): Promise<readonly boolean[]> {
  const validating = { ...context, templates: new Map() };
  const validated: (readonly CommitRequest[])[] = [];
  for (const content of contents) {
    validated.push(await requestsOf(validating, how, content).catch(() => []));
  }
  const isDone = await commitTogether(context, validated.flat()).catch(() => false);
  return validated.map((requests) => isDone && requests.length > 0);
}

async function requestsOf(
  context: ChangeContext,
  { committer, isLenient }: BulkCommit,
  { ehrId, newEhr, contributions }: BulkContent,
): Promise<CommitRequest[]> {
  const audit = { changeType: CHANGE_TYPE.creation, committer, description: undefined } as const;
  const requestOf = (entries: readonly CreateEntry[]): CommitRequest => ({
    ehrId,
    contributionUid: randomUUID(),
    audit,
    entries,
  });
  const requests: CommitRequest[] = [];
  if (newEhr !== undefined) {
    const findings = noFindings(isLenient);
    const object = newEhrStatus(newEhr.status, { asSent: false, findings });
    const place = {
      kind: 'create',
      type: 'EHR_STATUS',
      versionedObjectUid: randomUUID(),
      isChosenId: false,
    } as const;
    requests.push({
      ...requestOf([{ ...place, object, audit, lifecycleState: LIFECYCLE.complete, findings }]),
      isNewEhr: true,
    });
  }
  for (const contribution of contributions) {
    const entries: CreateEntry[] = [];
    for (const { object, lifecycleState } of contribution) {
      const findings = noFindings(isLenient);
      const read = readObject(object, 'COMPOSITION', findings);
      entries.push(await newComposition(context, { audit, lifecycleState, findings }, read));
    }
    requests.push(requestOf(entries));
  }
  return requests;
}

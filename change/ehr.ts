import { randomUUID } from 'node:crypto';
import { DIALECTS } from '../openehr/base/dialect.js';
import { CdrError } from '../openehr/base/errors.js';
import type { JsonValue } from '../openehr/base/json.js';
import { ehrBySubject, finalEhrId, type EhrDoc, type Subject } from '../models/ehr.js';
import type { VersionDoc } from '../models/version.js';
import type { ChangeContext } from './commit/context.js';
import { commitEntry } from './commit/direct.js';
import { viewing, type Viewer } from './access/viewer.js';
import { mergedAway } from './commit/ehr-access.js';
import { newEhrStatus } from './ehr-status.js';
import type { VersionMetadata } from './commit/request.js';

/** An EHR to be made. */
export interface NewEhr {
  /** null: the server chooses. */
  readonly ehrId: string | null;
  /** EHR_STATUS as parsed; null: all defaults. */
  readonly status: JsonValue;
  readonly metadata: VersionMetadata;
}

/** An EHR just made. */
export interface CreatedEhr {
  readonly ehr: Pick<EhrDoc, '_id' | 'system_id' | 'time_created'>;
  /** First version of its EHR_STATUS. */
  readonly status: VersionDoc;
}

/**
 * Makes an EHR with the first version of its EHR_STATUS. ITS-REST: ehr_create, ehr_create_with_id.
 * @throws invalid EHR_STATUS; conflict when the id or the subject is in use
 */
export async function createEhr(context: ChangeContext, request: NewEhr): Promise<CreatedEhr> {
  const asSent = DIALECTS[context.settings.itsRest].isStatusTakenAsSent;
  const object = newEhrStatus(request.status, { asSent, findings: request.metadata.findings });
  const ehrId = request.ehrId ?? randomUUID();
  const target = { versionedObjectUid: randomUUID(), isChosenId: false, object };
  const status = await commitEntry(
    context,
    { kind: 'create', type: 'EHR_STATUS', ...target, ...request.metadata },
    { ehrId, isNewEhr: true, idempotentResult: () => ({ kind: 'EHR', uids: { ehr_id: ehrId } }) },
  );
  const { systemId } = context.settings;
  return { ehr: { _id: ehrId, system_id: systemId, time_created: status.time_committed }, status };
}

/**
 * The EHR whose latest EHR_STATUS has the subject.
 * @throws not-found when there is none, its EHR_STATUS is not there for who asks, or it was merged away
 */
export async function ehrOfSubject(subject: Subject): Promise<EhrDoc> {
  const ehr = await ehrBySubject(subject);
  const viewer = viewing.getStore()?.viewer;
  if (ehr === null) await viewer?.lookForEhr();
  const isMerged = ehr?.state === 'merged';
  const isSeen =
    ehr !== null &&
    (viewer === undefined || (await tellsSubject(viewer, isMerged ? await finalEhrId(ehr) : ehr._id)));
  if (isSeen && isMerged) throw await mergedAway(ehr);
  if (!isSeen || ehr.state !== 'active') throw new CdrError('not-found', 'no EHR has this subject');
  return ehr;
}

/** Who is told by its subject which EHR it is learns what the EHR_STATUS says. */
async function tellsSubject(viewer: Viewer, ehrId: string): Promise<boolean> {
  return (await viewer.seesEhrId(ehrId)) && (await viewer.seesStatus(ehrId));
}

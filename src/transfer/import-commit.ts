import type { JsonObject } from '../../base/json.js';
import type { Settings } from '../../base/settings.js';
import { changeTypeTerm, lifecycleTerm, type LifecycleState } from '../../change/codes.js';
import { changeContext } from '../../change/context.js';
import { createContribution } from '../../change/contribution.js';
import { LOCAL_USER } from './target.js';

/** A COMPOSITION ready to be committed. */
export interface Item {
  readonly position: number;
  readonly objectId: string;
  /** Canonical JSON with its uid. */
  readonly object: JsonObject;
  /** Characters of the record, about those of the object. */
  readonly length: number;
  readonly lifecycleState: LifecycleState;
}

/** Commits COMPOSITIONs of one EHR as one CONTRIBUTION; false: not done, send it to the server to learn why. */
export type CommitHere = (ehrId: string, batch: readonly Item[]) => Promise<boolean>;

/**
 * Commits in this process what would go to a server in this process, without writing and reading it as JSON and
 * HTTP. Only success is known here: repeating, waiting for the database and telling errors are the client's.
 */
export function committingHere(settings: Settings): CommitHere {
  const context = changeContext(settings);
  const defaults = {
    committer: { _type: 'PARTY_IDENTIFIED', name: LOCAL_USER },
    description: undefined,
    changeType: undefined,
    lifecycleState: undefined,
  };
  return async (ehrId, batch) => {
    try {
      await createContribution(context, { ehrId, defaults }, contributionOf(batch));
      return true;
    } catch {
      return false;
    }
  };
}

/** The CONTRIBUTION that creates COMPOSITIONs, canonical JSON. */
export function contributionOf(batch: readonly Item[]): JsonObject {
  const audit = { _type: 'AUDIT_DETAILS', change_type: changeTypeTerm('249') };
  const versions = batch.map(({ object, lifecycleState }) => ({
    _type: 'ORIGINAL_VERSION',
    commit_audit: audit,
    lifecycle_state: lifecycleTerm(lifecycleState),
    data: object,
  }));
  return { _type: 'CONTRIBUTION', audit, versions };
}

import type { JsonObject } from '../../openehr/base/json.js';
import type { Settings } from '../../config/settings.js';
import { commitInBulk, type BulkContent } from '../../change/commit/bulk.js';
import {
  CHANGE_TYPE,
  changeTypeTerm,
  lifecycleTerm,
  type LifecycleState,
} from '../../change/commit/codes.js';
import { changeContext } from '../../change/commit/context.js';
import { knownEhrIds } from '../../models/ehr.js';
import { LOCAL_COMMITTER } from './target.js';

/** A COMPOSITION ready to be committed. */
export interface Item {
  readonly position: number;
  readonly versionedObjectUid: string;
  /** Canonical JSON with its uid. */
  readonly object: JsonObject;
  /** Characters of the record, about those of the object. */
  readonly length: number;
  readonly lifecycleState: LifecycleState;
}

/**
 * A server in this process, written to without JSON and HTTP, many EHRs in one transaction. Only success is known
 * here: repeating, waiting for the database and reporting errors are the client's alone.
 */
export interface InProcessServer {
  readonly systemId: string;
  /** Those of the ids that no EHR has. */
  missingEhrs(ehrIds: readonly string[]): Promise<ReadonlySet<string>>;
  /** All in one transaction; gives for each EHR whether everything of it was committed. */
  commit(contents: readonly BulkContent[]): Promise<readonly boolean[]>;
}

/** The server of this process, with its settings. `isLenient`: validation is. */
export function serverHere(settings: Settings, isLenient: boolean): InProcessServer {
  const context = changeContext(settings);
  return {
    systemId: settings.systemId,
    async missingEhrs(ehrIds) {
      const known = await knownEhrIds(ehrIds);
      return new Set(ehrIds.filter((ehrId) => !known.has(ehrId)));
    },
    commit: (contents) => commitInBulk(context, { committer: LOCAL_COMMITTER, isLenient }, contents),
  };
}

/** The CONTRIBUTION that creates COMPOSITIONs, canonical JSON. */
export function contributionOf(batch: readonly Item[]): JsonObject {
  const audit = { _type: 'AUDIT_DETAILS', change_type: changeTypeTerm(CHANGE_TYPE.creation) };
  const versions = batch.map(({ object, lifecycleState }) => ({
    _type: 'ORIGINAL_VERSION',
    commit_audit: audit,
    lifecycle_state: lifecycleTerm(lifecycleState),
    data: object,
  }));
  return { _type: 'CONTRIBUTION', audit, versions };
}

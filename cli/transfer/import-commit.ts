import type { JsonObject } from '../../openehr/base/json.js';
import type { Settings } from '../../config/settings.js';
import { commitInBulk, type BulkContent } from '../../change/bulk.js';
import {
  CHANGE_TYPE,
  changeTypeTerm,
  lifecycleTerm,
  type LifecycleState,
} from '../../change/commit/codes.js';
import { changeContext } from '../../change/commit/context.js';
import { withoutAttributes } from '../../openehr/rm/access.js';
import { knownEhrIds } from '../../models/ehr.js';
import type { Signed } from './import-source.js';
import { LOCAL_COMMITTER } from './target.js';

/** Of an audit: the importing server says when and where. */
const OF_THE_SERVER = ['time_committed', 'system_id'];

/** A COMPOSITION ready to be committed. */
export interface Item {
  readonly position: number;
  readonly versionedObjectUid: string;
  /** Canonical JSON with its uid. */
  readonly object: JsonObject;
  /** Characters of the record, about those of the object. */
  readonly length: number;
  readonly lifecycleState: LifecycleState;
  readonly signed: Signed | null;
  /** What `openEHR-TEMPLATE_ID` says of it: its template, and the revision by which it is judged; null: the newest. */
  readonly pin: string | null;
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

/** The CONTRIBUTION that creates COMPOSITIONs, canonical JSON. What signs a later version signs the first one here. */
export function contributionOf(
  batch: readonly Pick<Item, 'object' | 'lifecycleState' | 'signed'>[],
): JsonObject {
  const creation = { change_type: changeTypeTerm(CHANGE_TYPE.creation) };
  const audit = { _type: 'AUDIT_DETAILS', ...creation };
  const versions = batch.map(({ object, lifecycleState, signed }) => ({
    _type: 'ORIGINAL_VERSION',
    commit_audit:
      signed?.commitAudit == null
        ? audit
        : { ...withoutAttributes(signed.commitAudit, OF_THE_SERVER), ...creation },
    lifecycle_state: lifecycleTerm(lifecycleState),
    ...(signed !== null &&
      signed.attestations.length > 0 && {
        attestations: signed.attestations.map((one) => withoutAttributes(one, OF_THE_SERVER)),
      }),
    data: object,
  }));
  return { _type: 'CONTRIBUTION', audit, versions };
}

import type { JsonObject } from '../../openehr/base/json.js';
import type { Page } from '../semantics/page.js';
import type { Permitted } from '../../policy/condition.js';
import type { RootType } from '../../openehr/rm/root-type.js';

/** All that the evaluator reads: plain data, in any order. */
export interface ReferenceData {
  readonly ehrs: readonly ReferenceEhr[];
  readonly versions: readonly ReferenceVersion[];
}

export interface ReferenceEhr {
  readonly ehrId: string;
  readonly systemId: string;
  readonly timeCreated: Date;
  /** Of today's EHR_STATUS. */
  readonly isQueryable: boolean;
  /** Of the subject. */
  readonly namespace?: string;
  /** Merged into another EHR: in no query. */
  readonly isMerged?: boolean;
}

/** One VERSION. */
export interface ReferenceVersion {
  /** OBJECT_VERSION_ID. */
  readonly uid: string;
  readonly ehrId: string;
  readonly type: RootType;
  /** Equals the time of `commitAudit`. */
  readonly timeCommitted: Date;
  /** AUDIT_DETAILS. */
  readonly commitAudit: JsonObject;
  /** DV_CODED_TEXT. */
  readonly lifecycleState: JsonObject;
  readonly contributionUid: string;
  readonly precedingVersionUid: string | null;
  readonly signature?: string;
  /** Of an IMPORTED_VERSION: `contribution`, `commit_audit` and `signature` of its `item`. */
  readonly item?: JsonObject;
  /** Canonical JSON, null for a deletion. */
  readonly data: JsonObject | null;
}

/** What of the request and the server changes the rows. */
export interface ReferenceOptions {
  /** The server's system id. */
  readonly systemId: string;
  /** Latest means latest at this time. */
  readonly asOf?: Date | null;
  readonly subsumption?: boolean;
  /** The present time of CURRENT_… functions, and the server's zone in minutes east of UTC. */
  readonly now: Date;
  readonly zoneOffsetMinutes?: number;
  readonly page?: Pick<Page, 'top' | 'offset' | 'limit'>;
  /** What policies permit; absent: everything. */
  readonly permitted?: Permitted;
}

import type { JsonObject } from '../../openehr/base/json.js';
import type { ContributionDoc, RequestIdentity } from '../../models/contribution.js';
import type { EhrDoc, JudgedState } from '../../models/ehr.js';
import type { IdempotentResult } from '../../models/idempotency.js';
import type { AcceptedFinding } from '../../openehr/rm/lenient.js';
import type { RootType } from '../../openehr/rm/root-type.js';
import type { TemplateInUse } from '../../models/definition/template.js';
import type { OriginalItem, VersionDoc } from '../../models/version.js';
import type { ObjectVersionId } from '../../openehr/base/object-version-id.js';
import type { VersionedObjectDoc } from '../../models/versioned-object.js';
import type { AuditRequest } from './audit.js';
import type { LifecycleState } from './codes.js';
import type { PreparedContent } from '../content/large-composition.js';

/** What of a VERSION that another system made is kept as it was made, beside its data. RM common: IMPORTED_VERSION. */
export interface ImportedItem {
  readonly id: ObjectVersionId;
  /** DV_CODED_TEXT. */
  readonly lifecycleState: JsonObject;
  readonly otherInputVersionUids: readonly string[];
  /** ATTESTATIONs. */
  readonly attestations: readonly JsonObject[];
  readonly act: OriginalItem;
}

/** What every entry of a CONTRIBUTION says of the VERSION apart from its data. */
export interface VersionMetadata {
  readonly audit: AuditRequest;
  readonly lifecycleState: LifecycleState;
  readonly signature?: string | undefined;
  /** ATTESTATIONs without `time_committed` and `system_id`, which the server sets. */
  readonly attestations?: readonly JsonObject[];
  readonly otherInputVersionUids?: readonly string[];
  /** The version uid the client expects; any other is refused with 412. */
  readonly expectedUid?: string | undefined;
  /** Of an IMPORTED_VERSION; absent: the VERSION is made here. */
  readonly imported?: ImportedItem | undefined;
  /** What lenient validation accepts, filled while the object is read and validated; absent: validation is strict. */
  readonly findings?: AcceptedFinding[] | undefined;
  /** Of a COMPOSITION, while templates have revisions: digest of the one by which it was judged. */
  readonly templateDigest?: string | undefined;
}

/** The template a COMPOSITION was validated by, noted as used in the same transaction. */
export interface TemplateOfEntry {
  readonly templateId: string;
  /** Code of `category`. */
  readonly category: string;
  readonly template: Pick<TemplateInUse, 'storedId' | 'revision' | 'createdTimestamp' | 'used' | 'earlierId'>;
}

/** Version 1 of a new container. */
export interface CreateEntry extends VersionMetadata {
  readonly kind: 'create';
  readonly type: RootType;
  /** Fresh, or chosen by the client. */
  readonly versionedObjectUid: string;
  readonly isChosenId: boolean;
  /** Validated canonical JSON; `uid` is set by the plan. */
  readonly object: JsonObject;
  /** Of a large COMPOSITION, whose `object` is its root only. */
  readonly prepared?: PreparedContent;
  readonly composition?: TemplateOfEntry;
}

/** The next version of a container. */
export interface UpdateEntry extends VersionMetadata {
  readonly kind: 'update';
  readonly type: RootType;
  readonly versionedObjectUid: string;
  readonly precedingVersionUid: string;
  readonly object: JsonObject;
  /** As in `CreateEntry`. */
  readonly prepared?: PreparedContent;
  readonly composition?: TemplateOfEntry;
}

/** A logical deletion. */
export interface DeleteEntry extends VersionMetadata {
  readonly kind: 'delete';
  /** Absent in a CONTRIBUTION: the container has it. */
  readonly type?: RootType;
  readonly versionedObjectUid: string;
  readonly precedingVersionUid: string;
  /** How a version that is not the latest is refused. */
  readonly staleCode: 'precondition-failed' | 'conflict';
}

/** ATTESTATIONs appended to a version that exists already. */
export interface AttestEntry extends VersionMetadata {
  readonly kind: 'attest';
  readonly versionedObjectUid: string;
  readonly versionUid: string;
  readonly attestations: readonly JsonObject[];
}

/** One entry of a CONTRIBUTION. */
export type VersionEntry = CreateEntry | UpdateEntry | DeleteEntry | AttestEntry;

/** One CONTRIBUTION to be committed. */
export interface CommitRequest {
  readonly ehrId: string;
  /** true: the EHR itself comes into being with this commit. */
  readonly isNewEhr?: boolean;
  readonly contributionUid: string;
  /** true: the client chose it, it may be used already. */
  readonly isChosenUid?: boolean;
  readonly audit: AuditRequest;
  /** Who sent the request; absent when none did. */
  readonly authenticated?: RequestIdentity;
  readonly entries: readonly VersionEntry[];
  /** What VERSIONs that no client has signed were signed with, by their uids. */
  readonly signatures?: ReadonlyMap<string, string>;
  /** true: `is_modifiable=false` does not hold for it, since it only restores what was there before. */
  readonly isRestoring?: boolean;
  /** true: an error names the entry as `versions[i]`. */
  readonly namesEntries?: boolean;
  /** Containers that policies hide from who asks: a change of one is refused as of what does not exist. */
  readonly unseen?: ReadonlySet<string>;
  /** What of the EHR it was judged by; absent: nobody judged. */
  readonly judged?: JudgedState | undefined;
  /** Further writes of the same transaction, such as item tags. May run more than once. */
  readonly inSameTransaction?: ((commit: Commit) => Promise<void>) | undefined;
  /** What the answer to a repeated `Idempotency-Key` is rendered from; absent: the operation takes none. */
  readonly idempotentResult?: (commit: Commit) => IdempotentResult;
}

/** What the database holds of everything a commit touches. */
export interface CommitState {
  /**
   * `expected`: optimistic, not read yet; the plan takes the EHR to be active, queryable and modifiable, and its first
   * write fails otherwise.
   */
  readonly ehr: EhrDoc | null | 'expected';
  /** By object id; also of object ids that a client chose for a new container. */
  readonly containers: ReadonlyMap<string, VersionedObjectDoc>;
  /** Where the merges that began with this EHR ended; null when it was not merged away. */
  readonly finalEhrId: string | null;
  /** Container of the live directory, null when there is none. */
  readonly directoryId: string | null;
  /** EHR that holds the subject which the commit wants, with the EHR it was finally merged into. */
  readonly subjectHolder: { readonly ehrId: string; readonly finalEhrId: string } | null;
  /** Whether the chosen contribution uid exists. */
  readonly isContributionUsed: boolean;
  /** VERSIONs of the EHR that are to be attested and are there; absent: not read. */
  readonly attested?: ReadonlySet<string>;
  /** true: the derived document of a version may be missing, so its update need not match. */
  readonly mayLackIndex: boolean;
}

/** What was committed. */
export interface Commit {
  readonly contribution: ContributionDoc;
  /** One per entry, in order; for an attestation the attested version's uid only. */
  readonly versions: readonly CommittedVersion[];
}

/** One entry's outcome. */
export interface CommittedVersion {
  readonly versionUid: string;
  readonly type: RootType;
  readonly timeCommitted: Date;
  /** null for an attestation. */
  readonly doc: VersionDoc | null;
}

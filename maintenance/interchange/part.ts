import type { Work } from '../../openehr/base/work.js';
import type { LeafIndex } from '../../aql/index/document.js';
import type { AuditSubject } from '../../models/audit.js';
import type { ContributionDoc } from '../../models/contribution.js';
import type { CompileStored } from '../../models/definition/template.js';
import type { EhrDoc } from '../../models/ehr.js';
import type { ItemTagDoc } from '../../models/item-tag.js';
import type { UndoneMerge } from '../../models/cross-collection/interchange.js';
import type { VersionDoc } from '../../models/version.js';
import type { VersionedObjectDoc } from '../../models/versioned-object.js';
import type { Write } from '../../models/access/write.js';
import type { InterchangeLine, RestoredEhr } from './line.js';
import type { TagSet } from './line-tags.js';
import type { RestoredVersion } from './version-in.js';

/** An EHR that was merged away, with its containers. */
export type Tombstone = Extract<InterchangeLine, { kind: 'tombstone' }>;

/** Lines of one EHR that are restored in one transaction. */
export interface EhrPart {
  readonly ehrId: string;
  /** null: an earlier part had its line. */
  readonly ehr: RestoredEhr | null;
  readonly tombstones: readonly Tombstone[];
  readonly contributions: readonly ContributionDoc[];
  readonly versions: readonly RestoredVersion[];
  readonly tags: readonly ItemTagDoc[];
  /** Absent: none. */
  readonly tagSets?: readonly TagSet[];
  /** Merges of EHRs into it, or of it, that were taken back; absent: none. */
  readonly undoneMerges?: readonly UndoneMerge[];
}

/** What the database holds of everything that a part touches, each by its id. */
export interface RestoreState {
  readonly ehrs: ReadonlyMap<string, EhrDoc>;
  readonly contributions: ReadonlyMap<string, ContributionDoc>;
  readonly versions: ReadonlyMap<string, VersionDoc>;
  readonly containers: ReadonlyMap<string, VersionedObjectDoc>;
  /** With all that are on the targets of sets of tags. */
  readonly tags: ReadonlyMap<string, ItemTagDoc>;
  /** EHR that has the subject which the EHR gets. */
  readonly subjectHolder: string | null;
}

/** How things are restored. */
export interface RestoreHow {
  /** Id of the import. */
  readonly batch: string;
  readonly leafIndex: LeafIndex;
  /** true: an EHR whose subject another EHR has is restored without having it; else it is refused. */
  readonly dropsSubjects?: boolean;
  /** false: it is for somebody who may not change policies of access. */
  readonly changesPolicies?: boolean;
  /** Of this server: with `enforce` nothing goes into an EHR that is restricted here. */
  readonly accessMode?: string;
  /** What a request may use for it; absent: nothing is counted. */
  readonly work?: Work;
  /** What the audit record of the request says of it, where it is written in the same transaction. */
  readonly audited?: AuditSubject;
  /** Compiles a template; absent: in the main thread. */
  readonly compile?: CompileStored;
}

/** A part worked out against a state: what to write, provided that the state still holds. */
export interface RestorePlan {
  /** In order; nothing when all is there. */
  readonly writes: readonly Write[];
  /** `_id`s of `aql_shapes` that must exist before. */
  readonly shapes: readonly string[];
  /** Members of the part that are there already. */
  readonly there: ReadonlySet<object>;
}

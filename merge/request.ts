import type { ChangeContext } from '../change/commit/context.js';
import type { CompositionMerge, FolderMerge, MergeApproval, MergeMotive } from '../models/merge/record.js';

/** One of the two EHRs of a merge. */
export type Side = 'source' | 'target';

/** Whose content of a pair of persistent compositions goes on, or that both stay. */
export type PairChoice = Side | 'both';

/** Attributes of the EHR_STATUS for which the request can choose. */
export const STATUS_FIELDS = ['subject', 'is_queryable', 'is_modifiable', 'other_details'] as const;

/** What a request decides itself. docs/spec/merge.md#resolutions */
export interface MergeResolutions {
  /** By template id, or by object id of either composition of the pair. */
  readonly compositions: ReadonlyMap<string, PairChoice>;
  readonly ehrStatus: ReadonlyMap<(typeof STATUS_FIELDS)[number], Side>;
}

/** A merge as asked for. docs/spec/merge.md#request */
export interface MergeRequest {
  /** UUIDs in lower case, different. */
  readonly sourceEhr: string;
  readonly targetEhr: string;
  /** true: everything needed to undo the merge is archived. */
  readonly reversible: boolean;
  readonly folderMerge: FolderMerge;
  readonly compositionMerge: CompositionMerge;
  readonly resolutions: MergeResolutions;
  /** true: nothing is written. */
  readonly dryRun: boolean;
  /** Name of the administrator. */
  readonly committer: string;
  readonly motive: MergeMotive;
  /** Of a merge that waited for another administrator. */
  readonly approval?: AgreedMerge;
}

/** A merge that was asked for, and is carried out by another administrator. */
interface AgreedMerge extends MergeApproval {
  readonly mergeId: string;
  /** Of the plan that is agreed on. */
  readonly digest: string;
}

/** What becomes of that which was written since the merge and stands against taking it back. */
export type ConflictChoice = 'keep_in_target' | 'take_back';

/** One choice for all obstacles, or one for each by an object id or CONTRIBUTION uid of it; null: none is made. */
export type OnConflict = ConflictChoice | ReadonlyMap<string, ConflictChoice> | null;

/** An unmerge as asked for. docs/spec/merge.md#unmerge */
export interface UnmergeRequest extends Pick<
  MergeRequest,
  'sourceEhr' | 'targetEhr' | 'dryRun' | 'committer' | 'motive'
> {
  /** What becomes of that which stands against it. */
  readonly onConflict: OnConflict;
}

/** What a merge needs beside its request. */
export interface MergeContext {
  readonly change: ChangeContext;
  /** How often a merge is tried anew when others were faster (`MERGE_RETRIES`). */
  readonly retries: number;
  /** A source with more versions is merged in steps (`MERGE_STEPS_FROM`). */
  readonly stepsFrom: number;
}

/** Ids of a merge, made before its transaction, which may run more than once; each attempt takes a time of its own. */
export interface FreshIds {
  readonly mergeId: string;
  readonly contributionUid: string;
  /** uid of a copied FOLDER. */
  readonly folderUid: string;
}

/** What a dry run's summary begins with. */
export const DRY_RUN = 'DRY RUN: ';

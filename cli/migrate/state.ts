import type { ImportState } from '../transfer/import-progress.js';
import type { AnswerDigest } from './answer-digest.js';

/** What a pass of a migration is: one that was stopped goes on only as the same. */
export interface MigrationPass {
  /** Base of the API of the old server. */
  readonly from: string;
  /** Time since which EHRs were changed; null: all EHRs. */
  readonly since: string | null;
  readonly lenient: boolean;
  readonly subject: 'keep' | 'drop';
  /** Where it writes. */
  readonly target: string;
}

/** How far a migration came, and what it met. */
export interface MigrationState extends ImportState {
  /** What it is; absent: as an earlier release began it. */
  pass?: MigrationPass;
  /** How often it was started. */
  runs?: number;
  /** Head of the seals here when it began. */
  sealBefore?: string | null;
  /** What the old server has answered up to here. */
  answers?: AnswerDigest;
  /** The last EHR id that is done. */
  after?: string;
  /** EHRs that were read, and directories that were committed anew. */
  ehrs?: number;
  directories?: number;
  /** Versions of directories whose committers the old server does not tell. */
  withoutCommitter?: number;
  /** What the old server named and did not show: how much, and the first of it. */
  missing?: number;
  firstMissing?: string[];
  /** EHRs of which the old server does not list the CONTRIBUTIONs. */
  unlisted?: number;
}

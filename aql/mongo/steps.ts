import type { Expression, Stage } from './expression.js';

/** Collections that a pipeline reads (docs/spec/storage.md#collections). */
export type SourceCollection = 'aql' | 'ehrs' | 'versions' | 'versioned_objects' | 'contributions';

/** A stage before it is known which fields later stages still need. Fields are dotted names without `$`. */
export type Step =
  MatchStep | SetStep | UnwindStep | LookupStep | SortStep | CutStep | GroupStep | MergeStep | CountStep;

/** Keeps documents; `match` is a native match document. */
export interface MatchStep {
  readonly kind: 'match';
  readonly match: Stage;
}

/** Gives one top-level field a value. */
export interface SetStep {
  readonly kind: 'set';
  readonly field: string;
  readonly value: Expression;
}

/** One document per member of an array field. */
export interface UnwindStep {
  readonly kind: 'unwind';
  readonly field: string;
  /** Keeps a document whose array is empty or missing. */
  readonly preserve: boolean;
  /** Field that gets the position of the member. */
  readonly index: string;
}

/** Orders documents; the first key counts most. */
export interface SortStep {
  readonly kind: 'sort';
  readonly keys: SortKeys;
}

/** Sort keys, the first counts most. */
export type SortKeys = readonly (readonly [field: string, direction: 1 | -1])[];

/** One document per value of `id`, with accumulators. */
interface GroupStep {
  readonly kind: 'group';
  readonly id: Expression;
  readonly accumulators: Readonly<Record<string, Expression>>;
}

/** The array fields `parts` one after another in one field; they hold documents of one collection. */
export interface MergeStep {
  readonly kind: 'merge';
  readonly field: string;
  readonly parts: readonly string[];
}

/** Gives one top-level field of every document the number of all documents. */
interface CountStep {
  readonly kind: 'count';
  readonly field: string;
}

/** Leaves out the first documents, or all but the first. */
export interface CutStep {
  readonly kind: 'skip' | 'limit';
  readonly count: number;
}

/** An array of other documents; `localField` null joins with every document. */
export interface LookupStep {
  readonly kind: 'lookup';
  readonly as: string;
  readonly from: SourceCollection;
  readonly localField: string | null;
  readonly foreignField: string;
  /** Values of this document that the inner steps read as `$$name`. */
  readonly variables: Readonly<Record<string, Expression>>;
  readonly steps: readonly Step[];
  /** Keep the first document only: enough to know whether there is any. */
  readonly firstOnly: boolean;
}

/** Top-level fields of the collections (docs/spec/storage.md#collections). */
export const COLLECTION_FIELDS: Readonly<Record<SourceCollection, readonly string[]>> = {
  aql: [
    '_id',
    'ehr',
    'vo',
    'v',
    'type',
    'latest',
    'to',
    'q',
    'tc',
    'contrib',
    'ct',
    'ls',
    'tpl',
    'start',
    'keys',
    'refs',
    'segs',
    'lv',
    'sv',
  ],
  ehrs: [
    '_id',
    'system_id',
    'time_created',
    'state',
    'is_queryable',
    'ehr_status_id',
    'directory_id',
    'subject',
  ],
  versions: [
    '_id',
    'ehr_id',
    'object_id',
    'type',
    'version',
    'time_committed',
    'contribution_uid',
    'preceding_version_uid',
    'signature',
    'commit_audit',
    'lifecycle_state',
    'other_input_version_uids',
    'attestations',
    'data',
  ],
  versioned_objects: ['_id', 'ehr_id', 'type', 'time_created', 'latest_version_uid', 'deleted'],
  contributions: ['_id', 'ehr_id', 'time_committed', 'audit', 'versions'],
};

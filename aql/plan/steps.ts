import { ROOT_TYPES, type RootType } from '../../openehr/rm/root-type.js';
import { FIELD } from '../index/document.js';
import type { Expression } from './expression.js';
import type { Stage } from '../index/stage.js';
import type { IndexCondition } from '../index/condition.js';

/** Collections that a pipeline reads (docs/spec/storage.md#collections). */
export type SourceCollection =
  'aql' | 'ehrs' | 'versions' | 'versioned_objects' | 'contributions' | 'item_tags' | 'ehr_marks';

/** One step over documents. Fields are dotted names without `$`. */
export type Step =
  | DocumentsStep
  | MatchStep
  | FilterStep
  | SetStep
  | ProjectStep
  | UnwindStep
  | LookupStep
  | SortStep
  | CutStep
  | GroupStep
  | MergeStep
  | CountStep;

/** Finds the `aql` documents of an operand of FROM. */
export interface DocumentsStep {
  readonly kind: 'documents';
  /** Alias of the EHR whose first document it is; null for documents joined to it, of which WHERE says nothing. */
  readonly ehr: number | null;
  /** Whose they are: one EHR's, any queryable one's, or of the EHR that they are joined by, of which nothing is asked. */
  readonly owner: { readonly ehrId: string } | 'queryable' | 'joined';
  /** Kinds of versioned object that FROM can mean. */
  readonly rootTypes: readonly RootType[];
  /** Keys that FROM demands of all of them. */
  readonly keys: readonly string[];
  /** What else it demands: native matches that must all hold; `exact` are those of a VERSION predicate. */
  readonly conditions: readonly Stage[];
  readonly exact: readonly Stage[];
  /** What `useLeafIndex` adds. */
  readonly index: readonly IndexCondition[];
  readonly versions: 'latest' | 'all';
  /** Request parameter `as_of`. */
  readonly asOf: Date | null;
  /** Found by one EHR or joined by it: the history index serves. */
  readonly isOfOneEhr: boolean;
}

/** All that FROM demands of documents, as native matches. */
export function demandsOf({
  owner,
  rootTypes,
  keys,
  conditions,
}: Pick<DocumentsStep, 'owner' | 'rootTypes' | 'keys' | 'conditions'>): readonly Stage[] {
  return [...ownerMatch(owner), ...typeMatch(rootTypes), ...keyMatch(keys), ...conditions];
}

function ownerMatch(owner: DocumentsStep['owner']): Stage[] {
  if (owner === 'joined') return [];
  return owner === 'queryable' ? [{ [FIELD.isQueryable]: true }] : [{ [FIELD.ehrId]: { $eq: owner.ehrId } }];
}

function typeMatch(types: readonly RootType[]): Stage[] {
  const [only] = types;
  if (types.length === 1 && only !== undefined) return [{ [FIELD.rootType]: only }];
  return types.length === ROOT_TYPES.length ? [] : [{ [FIELD.rootType]: { $in: [...types] } }];
}

function keyMatch(keys: readonly string[]): Stage[] {
  const [only] = keys;
  if (only === undefined) return [];
  return [{ [FIELD.keys]: keys.length === 1 ? { $eq: only } : { $all: keys } }];
}

/** Whether documents are latest versions of now. */
export function isLatestOnly({ versions, asOf }: Pick<DocumentsStep, 'versions' | 'asOf'>): boolean {
  return versions === 'latest' && asOf === null;
}

/**
 * Whether one match finds the documents. The partial indexes need `latest: true` or `latest: false` literally; for
 * both there is one branch each, and nothing may stand beside them (docs/spec/storage.md#indexes-of-aql).
 */
export function isOneBranch(step: Pick<DocumentsStep, 'versions' | 'asOf' | 'isOfOneEhr'>): boolean {
  return isLatestOnly(step) || (step.asOf === null && step.isOfOneEhr);
}

/** Keeps documents; `match` is a native match document. */
export interface MatchStep {
  readonly kind: 'match';
  readonly match: Stage;
}

/** Keeps documents for which a condition holds. */
export interface FilterStep {
  readonly kind: 'filter';
  readonly condition: Expression;
}

/** Gives one top-level field a value. */
interface SetStep {
  readonly kind: 'set';
  readonly field: string;
  readonly value: Expression;
}

/** What `pruneFields` makes of sets: several values at once, and which fields are kept beside them. */
export interface ProjectStep {
  readonly kind: 'project';
  readonly values: Readonly<Record<string, Expression>>;
  /** Fields that go on beside the values; null = all. */
  readonly kept: readonly string[] | null;
}

/** One document per member of an array field. */
export interface UnwindStep {
  readonly kind: 'unwind';
  readonly field: string;
  /** Keeps a document whose array is empty or missing. */
  readonly preserve: boolean;
  /** Field that gets the position of the member; null when nothing reads it. */
  readonly index: string | null;
}

/** Orders documents; the first key counts most. */
export interface SortStep {
  readonly kind: 'sort';
  readonly keys: SortKeys;
}

/** Sort keys, the first counts most. */
export type SortKeys = readonly (readonly [field: string, direction: 1 | -1])[];

/** One document per value of `id`, with accumulators. */
export interface GroupStep {
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
  /** What is joined are directories alone, which a merge leaves with the source. */
  readonly ofFolders: boolean;
  /** Keep the first document only: enough to know whether there is any. */
  readonly firstOnly: boolean;
  /** Fields of the joined documents that are read; null = all. */
  readonly kept: readonly string[] | null;
}

/** A join of other documents. */
export function lookup(
  join: Pick<LookupStep, 'as' | 'from' | 'localField' | 'foreignField'>,
  steps: readonly Step[],
  more: Partial<Pick<LookupStep, 'variables' | 'firstOnly' | 'ofFolders'>> = {},
): LookupStep {
  return {
    kind: 'lookup',
    variables: {},
    ofFolders: areFolders(steps),
    firstOnly: false,
    kept: null,
    ...join,
    ...more,
    steps,
  };
}

function areFolders([first]: readonly Step[]): boolean {
  return first?.kind === 'documents' && first.rootTypes.length === 1 && first.rootTypes[0] === 'FOLDER';
}

/** Top-level fields of the collections (docs/spec/storage.md#collections). */
export const COLLECTION_FIELDS: Readonly<Record<SourceCollection, readonly string[]>> = {
  aql: Object.values(FIELD),
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
    'item',
    'data',
  ],
  versioned_objects: ['_id', 'ehr_id', 'type', 'time_created', 'latest_version_uid', 'deleted'],
  contributions: ['_id', 'ehr_id', 'time_committed', 'audit', 'versions'],
  item_tags: ['_id', 'owner_id', 'target', 'target_type', 'target_version', 'target_path', 'key', 'value'],
  ehr_marks: [
    ...['_id', 'ehr_id', 'kind', 'ground', 'placed', 'lifted', 'open', 'object_uid', 'template_id'],
    ...['category', 'origin', 'organisation', 'from', 'to'],
  ],
};

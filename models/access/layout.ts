import { COUNTED, FIELD, LEAF_FIELD } from '../../aql/index/document.js';
import { ACCESS_TAG, AFTER_ACCESS_TAG } from '../../policy/attributes.js';

/** Names of all collections. Fields, indexes and who writes what: docs/spec/storage.md#collections */
export const COLLECTIONS = {
  ehrs: 'ehrs',
  versionedObjects: 'versioned_objects',
  versions: 'versions',
  contributions: 'contributions',
  aql: 'aql',
  aqlShapes: 'aql_shapes',
  templates: 'templates',
  templateRevisions: 'template_revisions',
  templateUpgrades: 'template_upgrades',
  templateUpgradeLeft: 'template_upgrade_left',
  templateComparisons: 'template_comparisons',
  templateComparisonExamples: 'template_comparison_examples',
  archetypes: 'archetypes',
  storedQueries: 'stored_queries',
  queryOwners: 'query_owners',
  policies: 'policies',
  policyVersions: 'policy_versions',
  categoryVersions: 'category_versions',
  ehrMarks: 'ehr_marks',
  itemTags: 'item_tags',
  drafts: 'drafts',
  favourites: 'favourites',
  dashboards: 'dashboards',
  mergeRecords: 'merge_records',
  mergeArchive: 'merge_archive',
  mergeHistory: 'merge_history',
  mergeRequests: 'merge_requests',
  waitingRequests: 'waiting_requests',
  mergeJobs: 'merge_jobs',
  distinctPersons: 'distinct_persons',
  audit: 'audit',
  removals: 'removals',
  sealBlocks: 'seal_blocks',
  idempotencyKeys: 'idempotency_keys',
  settings: 'settings',
} as const;

/** Name of a collection. */
export type CollectionName = (typeof COLLECTIONS)[keyof typeof COLLECTIONS];

/** Collections whose records are sealed. */
export const SEALED = [
  COLLECTIONS.contributions,
  COLLECTIONS.versions,
  COLLECTIONS.audit,
  COLLECTIONS.removals,
  COLLECTIONS.ehrs,
] as const;

/** A collection whose records are sealed. */
export type SealedCollection = (typeof SEALED)[number];

/** One record of a block. */
export interface SealLeaf {
  readonly collection: SealedCollection;
  readonly id: string;
  /** Of a VERSION: how many of its ATTESTATIONs `hash` covers; absent: none. */
  readonly attestations?: number;
  /** Of a CONTRIBUTION or VERSION: the EHR that has it. Absent in blocks of releases up to 0.2.0. */
  readonly ehr?: string;
  /** SHA-256 of the record, from models/cross-collection/seal-hash.ts. */
  readonly hash: Buffer;
}

/** One index as data: key pattern in order (1 ascending, -1 descending) and the options of `createIndex`. */
interface IndexLayout {
  readonly key: Readonly<Record<string, 1 | -1>>;
  readonly options?: {
    readonly unique?: boolean;
    readonly partialFilterExpression?: Readonly<Record<string, unknown>>;
    readonly expireAfterSeconds?: number;
  };
}

/** One collection with the indexes that must exist before the first request. */
export interface CollectionLayout {
  readonly name: CollectionName;
  readonly indexes: readonly IndexLayout[];
}

/** Records that no seal block holds yet: what the sealer looks for. */
const UNSEALED: IndexLayout = {
  key: { unsealed: 1 },
  options: { partialFilterExpression: { unsealed: true } },
};
const LATEST = { partialFilterExpression: { [FIELD.isLatest]: true } } as const;
const leaf = (field: string): string => `${FIELD.leaves}.${field}`;
const whereFieldExists = (field: string): IndexLayout['options'] => ({
  partialFilterExpression: { [field]: { $exists: true } },
});

/** Indexes of older releases that nothing uses any more. */
export const FORMER_INDEXES: readonly { readonly collection: CollectionName; readonly name: string }[] = [
  { collection: COLLECTIONS.audit, name: 'target_1_time_1' },
];

/** openEHR terminology, group "composition category": persistent. */
export const PERSISTENT = '431';

/** Every collection and index of the product: `database/indexes.ts` builds them at start. */
export const COLLECTION_LAYOUT: readonly CollectionLayout[] = [
  {
    name: COLLECTIONS.ehrs,
    indexes: [
      {
        key: { 'subject.namespace': 1, 'subject.id': 1 },
        options: { unique: true, ...whereFieldExists('subject.id') },
      },
      { key: { merged_into: 1 }, options: { ...whereFieldExists('merged_into') } },
      { key: { 'identities.key': 1 }, options: { ...whereFieldExists('identities.key') } },
    ],
  },
  {
    name: COLLECTIONS.versionedObjects,
    indexes: [
      { key: { ehr_id: 1, type: 1, time_created: 1 } },
      { key: { ehr_id: 1 }, options: { unique: true, partialFilterExpression: { type: 'EHR_STATUS' } } },
      {
        key: { ehr_id: 1, type: 1 },
        options: { unique: true, partialFilterExpression: { type: 'FOLDER', deleted: false } },
      },
      // What a merge may join: few among any number of others.
      { key: { ehr_id: 1, category: 1 }, options: { partialFilterExpression: { category: PERSISTENT } } },
    ],
  },
  {
    name: COLLECTIONS.versions,
    indexes: [
      { key: { ehr_id: 1, object_id: 1, time_committed: -1 } },
      { key: { template_id: 1 }, options: { ...whereFieldExists('template_id') } },
    ],
  },
  { name: COLLECTIONS.contributions, indexes: [{ key: { ehr_id: 1, time_committed: 1 } }, UNSEALED] },
  {
    name: COLLECTIONS.aql,
    indexes: [
      { key: { [FIELD.keys]: 1, [FIELD.ehrId]: 1 }, options: LATEST },
      { key: { [FIELD.keys]: 1, [FIELD.startTime]: -1 }, options: LATEST },
      { key: { [FIELD.ehrId]: 1, [FIELD.startTime]: -1 }, options: LATEST },
      // Counts objects without a document (`latest` is in it for servers that would look it up all the same).
      {
        key: { [FIELD.rootType]: 1, [FIELD.isQueryable]: 1, [FIELD.isLatest]: 1, [FIELD.schemaVersion]: 1 },
        options: { partialFilterExpression: { [FIELD.isLatest]: true, ...COUNTED } },
      },
      // Descending: a probe of `aql/mongo` takes the highest values first.
      { key: { [leaf(LEAF_FIELD.key)]: 1, [leaf(LEAF_FIELD.value)]: -1 }, options: LATEST },
      {
        key: { [FIELD.references]: 1 },
        options: { partialFilterExpression: { [FIELD.isLatest]: true, [FIELD.rootType]: 'FOLDER' } },
      },
      {
        key: { [FIELD.keys]: 1, [FIELD.timeCommitted]: 1 },
        options: { partialFilterExpression: { [FIELD.isLatest]: false } },
      },
      { key: { [FIELD.ehrId]: 1, [FIELD.versionedObjectUid]: 1, [FIELD.version]: -1 } },
    ],
  },
  { name: COLLECTIONS.aqlShapes, indexes: [] },
  { name: COLLECTIONS.templates, indexes: [] },
  { name: COLLECTIONS.templateRevisions, indexes: [{ key: { template_id: 1, created_timestamp: 1 } }] },
  { name: COLLECTIONS.templateUpgrades, indexes: [{ key: { template_id: 1, started_at: -1 } }] },
  {
    name: COLLECTIONS.templateUpgradeLeft,
    indexes: [{ key: { upgrade: 1, ehr_id: 1 } }, { key: { ehr_id: 1 } }, { key: { object_id: 1 } }],
  },
  { name: COLLECTIONS.templateComparisons, indexes: [{ key: { template_id: 1, started_at: -1 } }] },
  {
    name: COLLECTIONS.templateComparisonExamples,
    indexes: [{ key: { comparison: 1 } }, { key: { ehr_id: 1 } }, { key: { object_id: 1 } }],
  },
  { name: COLLECTIONS.archetypes, indexes: [] },
  { name: COLLECTIONS.queryOwners, indexes: [] },
  { name: COLLECTIONS.policies, indexes: [] },
  {
    name: COLLECTIONS.policyVersions,
    indexes: [{ key: { policy_id: 1, version: 1 }, options: { unique: true } }],
  },
  {
    name: COLLECTIONS.categoryVersions,
    indexes: [{ key: { version: 1 }, options: { unique: true } }],
  },
  {
    name: COLLECTIONS.ehrMarks,
    indexes: [{ key: { ehr_id: 1 } }, { key: { kind: 1 }, options: { ...whereFieldExists('open') } }],
  },
  { name: COLLECTIONS.storedQueries, indexes: [{ key: { name: 1, major: -1, minor: -1, patch: -1 } }] },
  {
    name: COLLECTIONS.itemTags,
    indexes: [
      {
        key: { owner_id: 1, target: 1, target_version: 1, key: 1, target_path: 1 },
        options: { unique: true },
      },
      // What policies of access ask: the tags of an EHR, and the EHRs with a tag. Other tags do not pay for it.
      {
        key: { key: 1, owner_id: 1, value: 1 },
        options: { partialFilterExpression: { key: { $gte: ACCESS_TAG, $lt: AFTER_ACCESS_TAG } } },
      },
    ],
  },
  {
    name: COLLECTIONS.drafts,
    indexes: [
      { key: { owner: 1, saved_at: -1 } },
      { key: { ehr_id: 1 } },
      { key: { object_id: 1 }, options: { ...whereFieldExists('object_id') } },
      { key: { expires_at: 1 }, options: { expireAfterSeconds: 0 } },
    ],
  },
  {
    name: COLLECTIONS.favourites,
    indexes: [{ key: { owner: 1, since: -1 } }, { key: { ehr_id: 1 } }],
  },
  { name: COLLECTIONS.dashboards, indexes: [{ key: { owner: 1, name: 1 } }] },
  {
    name: COLLECTIONS.mergeRecords,
    indexes: [
      { key: { source_ehr: 1 }, options: { unique: true } },
      { key: { target_ehr: 1, merge_date: 1 } },
    ],
  },
  { name: COLLECTIONS.mergeArchive, indexes: [{ key: { merge_id: 1, kind: 1 } }] },
  {
    name: COLLECTIONS.mergeHistory,
    indexes: [{ key: { source_ehr: 1, merge_date: 1 } }, { key: { target_ehr: 1, merge_date: 1 } }],
  },
  { name: COLLECTIONS.mergeJobs, indexes: [] },
  {
    name: COLLECTIONS.distinctPersons,
    indexes: [{ key: { ehr_id: 1 } }, { key: { other_ehr: 1 } }, { key: { said_at: -1 } }],
  },
  {
    name: COLLECTIONS.mergeRequests,
    indexes: [{ key: { source_ehr: 1 }, options: { unique: true } }, { key: { target_ehr: 1 } }],
  },
  {
    name: COLLECTIONS.waitingRequests,
    indexes: [
      { key: { subject: 1 }, options: { unique: true } },
      { key: { ehr_id: 1 } },
      { key: { other_ehr: 1 }, options: { ...whereFieldExists('other_ehr') } },
      { key: { object_id: 1 }, options: { ...whereFieldExists('object_id') } },
    ],
  },
  {
    name: COLLECTIONS.audit,
    indexes: [
      { key: { time: 1 } },
      { key: { ehr_id: 1, time: 1 } },
      // Few records have these, so that writes do not pay for them.
      { key: { ehr_ids: 1, time: 1 }, options: { ...whereFieldExists('ehr_ids') } },
      { key: { target: 1, time: 1 }, options: { ...whereFieldExists('target') } },
      { key: { status: 1, time: 1 }, options: { partialFilterExpression: { status: { $gte: 400 } } } },
      { key: { user: 1, time: 1 } },
      UNSEALED,
      { key: { sub: 1, time: 1 }, options: { ...whereFieldExists('sub') } },
      { key: { operation: 1, time: 1 } },
      { key: { hidden: 1, time: 1 }, options: { ...whereFieldExists('hidden') } },
    ],
  },
  { name: COLLECTIONS.removals, indexes: [{ key: { ids: 1 } }, UNSEALED] },
  // `_id` is the number of the block: two sealers cannot both write the next one.
  { name: COLLECTIONS.sealBlocks, indexes: [] },
  {
    name: COLLECTIONS.idempotencyKeys,
    indexes: [{ key: { expires_at: 1 }, options: { expireAfterSeconds: 0 } }],
  },
  { name: COLLECTIONS.settings, indexes: [] },
];

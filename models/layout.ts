import type { JsonObject } from '../openehr/base/json.js';

/** Names of all collections. Fields, indexes and who writes what: docs/spec/storage.md#collections */
export const COLLECTIONS = {
  ehrs: 'ehrs',
  versionedObjects: 'versioned_objects',
  versions: 'versions',
  contributions: 'contributions',
  aql: 'aql',
  aqlShapes: 'aql_shapes',
  templates: 'templates',
  storedQueries: 'stored_queries',
  itemTags: 'item_tags',
  mergeRecords: 'merge_records',
  mergeArchive: 'merge_archive',
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
] as const;

/** A collection whose records are sealed. */
export type SealedCollection = (typeof SEALED)[number];

/** One record of a block. */
export interface SealLeaf {
  readonly collection: SealedCollection;
  readonly id: string;
  /** Of a VERSION: how many of its ATTESTATIONs `hash` covers; absent: none. */
  readonly attestations?: number;
  /** SHA-256 of the record, from models/seal-hash.ts. */
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
const LATEST = { partialFilterExpression: { latest: true } } as const;
const exists = (field: string): IndexLayout['options'] => ({
  partialFilterExpression: { [field]: { $exists: true } },
});

/** Every collection and index of the product: `database/indexes.ts` builds them at start. */
export const COLLECTION_LAYOUT: readonly CollectionLayout[] = [
  {
    name: COLLECTIONS.ehrs,
    indexes: [
      {
        key: { 'subject.namespace': 1, 'subject.id': 1 },
        options: { unique: true, ...exists('subject.id') },
      },
      { key: { merged_into: 1 }, options: { ...exists('merged_into') } },
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
    ],
  },
  {
    name: COLLECTIONS.versions,
    indexes: [
      { key: { ehr_id: 1, object_id: 1, time_committed: -1 } },
      { key: { template_id: 1 }, options: { ...exists('template_id') } },
    ],
  },
  { name: COLLECTIONS.contributions, indexes: [{ key: { ehr_id: 1, time_committed: 1 } }, UNSEALED] },
  {
    name: COLLECTIONS.aql,
    indexes: [
      { key: { keys: 1, ehr: 1 }, options: LATEST },
      { key: { keys: 1, start: -1 }, options: LATEST },
      { key: { ehr: 1, start: -1 }, options: LATEST },
      // Descending: a probe of `aql/mongo` takes the highest values first.
      { key: { 'lv.k': 1, 'lv.v': -1 }, options: LATEST },
      { key: { refs: 1 }, options: { partialFilterExpression: { latest: true, type: 'FOLDER' } } },
      { key: { keys: 1, tc: 1 }, options: { partialFilterExpression: { latest: false } } },
      { key: { ehr: 1, vo: 1, v: -1 } },
    ],
  },
  { name: COLLECTIONS.aqlShapes, indexes: [] },
  { name: COLLECTIONS.templates, indexes: [] },
  { name: COLLECTIONS.storedQueries, indexes: [{ key: { name: 1, major: -1, minor: -1, patch: -1 } }] },
  {
    name: COLLECTIONS.itemTags,
    indexes: [
      {
        key: { owner_id: 1, target: 1, target_version: 1, key: 1, target_path: 1 },
        options: { unique: true },
      },
    ],
  },
  {
    name: COLLECTIONS.mergeRecords,
    indexes: [
      { key: { source_ehr: 1 }, options: { unique: true } },
      { key: { target_ehr: 1, merge_date: 1 } },
    ],
  },
  { name: COLLECTIONS.mergeArchive, indexes: [{ key: { merge_id: 1, kind: 1 } }] },
  {
    name: COLLECTIONS.audit,
    indexes: [
      { key: { time: 1 } },
      { key: { ehr_id: 1, time: 1 } },
      // Few records have these, so that writes do not pay for them.
      { key: { ehr_ids: 1, time: 1 }, options: { ...exists('ehr_ids') } },
      { key: { target: 1, time: 1 }, options: { ...exists('target') } },
      { key: { status: 1, time: 1 }, options: { partialFilterExpression: { status: { $gte: 400 } } } },
      { key: { user: 1, time: 1 } },
      UNSEALED,
      { key: { sub: 1, time: 1 }, options: { ...exists('sub') } },
      { key: { operation: 1, time: 1 } },
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

/** Version of the derivation of `aql` documents (`sv`): raise it when `aql/index/derive.ts` gives other documents. */
export const AQL_SCHEMA_VERSION = 2;

/** `start` of a COMPOSITION without start time: such ones stand after all others, in descending order before them. */
export const NO_START = new Date(8_640_000_000_000_000);

/** Kind of a versioned root. */
export type RootType = 'COMPOSITION' | 'EHR_STATUS' | 'FOLDER';

/** Which leaves are indexed: all, only numeric domains (`m p t d h`), or none (`AQL_LEAF_INDEX`). */
export type LeafIndex = 'all' | 'numeric' | 'none';

/** Domain of a typed leaf: what `v` holds: docs/spec/storage.md#leaves */
export type LeafSuffix = 'm' | 'p' | 't' | 'd' | 'h' | 's' | 'c' | 'i' | 'b';

/** Texts longer than this many UTF-8 bytes have no typed leaf. */
export const MAX_LEAF_TEXT_BYTES = 200;

/** `p` of the root segment. */
export const NO_PARENT = -1;

/**
 * A node with an archetype id (or a FOLDER, or the root), cut out of its VERSION. Where it was, its parent
 * segment keeps the stub `{seg, archetype_node_id}`.
 */
export interface AqlSegment {
  /** Number in depth-first order, root 0. */
  readonly s: number;
  /** Number of the last segment below; = `s` without any. */
  readonly e: number;
  /** Number of the parent segment, -1 for the root. */
  readonly p: number;
  /** Attribute of the RM node that held it (last step), null for the root. */
  readonly a: string | null;
  /** RM type. */
  readonly t: string;
  /** archetype_node_id. */
  readonly k: string;
  /** name/value. */
  readonly nm: string;
  /** Subtree with stubs; every DV_ORDERED has `_m` where it has a magnitude. */
  readonly o: JsonObject;
}

/** One typed leaf: `k` from `leafKey`, `v` by suffix. */
export interface AqlLeaf {
  readonly k: string;
  readonly v: number | string | boolean;
}

/** One document of the collection `aql`: the derived form of one VERSION with data. */
export interface AqlDocument {
  /** OBJECT_VERSION_ID. */
  readonly _id: string;
  readonly ehr: string;
  readonly vo: string;
  readonly v: number;
  readonly type: RootType;
  readonly latest: boolean;
  /** Commit time of the next version; absent while latest. */
  readonly to?: Date;
  /** The EHR's is_queryable. */
  readonly q: boolean;
  /** time_committed. */
  readonly tc: Date;
  readonly contrib: string;
  /** Code of commit_audit/change_type. */
  readonly ct: string;
  /** Code of lifecycle_state. */
  readonly ls: string;
  readonly tpl?: string;
  /** Of a COMPOSITION: context/start_time, for sorting and filters, else `NO_START`. */
  readonly start?: Date;
  readonly keys: readonly string[];
  /** FOLDER: object ids referenced in `items`, at any depth. */
  readonly refs?: readonly string[];
  readonly segs: readonly AqlSegment[];
  readonly lv: readonly AqlLeaf[];
  /** AQL_SCHEMA_VERSION of the derivation. */
  readonly sv: number;
}

/**
 * Key of a typed leaf. `path`: steps `/attr[at-code]` from the segment root to an ELEMENT, an EVENT's `/time`,
 * or the root's `/context/start_time`, `/context/end_time`.
 */
export function leafKey(archetypeId: string, path: string, suffix: LeafSuffix): string {
  return `${archetypeId}|${path}|${suffix}`;
}

/** Stands for the RM type in the shape of a place where a nested segment was cut off. */
export const STUB_SHAPE = '*';

/** `_id` of a shape: `path` is the dotted attribute path inside the segment of that archetype. */
export function shapeKey(archetypeId: string, rmType: string, path: string): string {
  return `${archetypeId}|${rmType}|${path}`;
}

/** Entry of `keys` that finds a template id. */
export function templateKey(templateId: string): string {
  return `template:${templateId}`;
}

import type { JsonObject } from '../../openehr/base/json.js';
import type { RootType } from '../../openehr/rm/root-type.js';

/** Version of the derivation of query index documents: raise it when `derive.ts` gives other documents. */
export const AQL_SCHEMA_VERSION = 2;

/** Start time of a COMPOSITION without one: such ones stand after all others, in descending order before them. */
export const NO_START = new Date(8_640_000_000_000_000);

/** Which leaves are indexed: all, only numeric domains (`m p t d h`), or none (`AQL_LEAF_INDEX`). */
export type LeafIndex = 'all' | 'numeric' | 'none';

/** Domain of a typed leaf, which decides what its value is: docs/spec/storage.md#leaves */
export type LeafSuffix = 'm' | 'p' | 't' | 'd' | 'h' | 's' | 'c' | 'i' | 'b';

/**
 * Stored names of the fields of a query index document. They are short as every document repeats them; writer,
 * index definitions and translator name a field only through this table.
 */
export const FIELD = {
  versionUid: '_id',
  ehrId: 'ehr',
  versionedObjectUid: 'vo',
  version: 'v',
  rootType: 'type',
  isLatest: 'latest',
  replacedAt: 'to',
  isQueryable: 'q',
  timeCommitted: 'tc',
  contributionUid: 'contrib',
  changeType: 'ct',
  lifecycleState: 'ls',
  committer: 'by',
  templateId: 'tpl',
  startTime: 'start',
  keys: 'keys',
  references: 'refs',
  segments: 'segs',
  leaves: 'lv',
  schemaVersion: 'sv',
} as const;

/** What a match must say for the index of counts: it holds only such documents, so no other query takes it. */
export const COUNTED = { [FIELD.schemaVersion]: { $gte: 1 } } as const;

/** Stored name of a field of a query index document. */
export type IndexField = (typeof FIELD)[keyof typeof FIELD];

/** Stored names of the fields of a typed leaf. */
export const LEAF_FIELD = { key: 'k', value: 'v' } as const;

/** Stored names of the fields of a segment. */
export const SEGMENT_FIELD = {
  number: 's',
  last: 'e',
  parent: 'p',
  attribute: 'a',
  type: 't',
  nodeId: 'k',
  name: 'nm',
  object: 'o',
} as const;

/** Parent of the root segment. */
export const NO_PARENT = -1;

/**
 * A node with an archetype id (or a FOLDER, or the root), cut out of its VERSION. Where it was, its parent
 * segment keeps the stub `{seg, archetype_node_id}`.
 */
export interface AqlSegment {
  /** Number in depth-first order, root 0. */
  readonly [SEGMENT_FIELD.number]: number;
  /** Number of the last segment below; its own without any. */
  readonly [SEGMENT_FIELD.last]: number;
  /** Number of the parent segment, `NO_PARENT` for the root. */
  readonly [SEGMENT_FIELD.parent]: number;
  /** Attribute of the RM node that held it (last step), null for the root. */
  readonly [SEGMENT_FIELD.attribute]: string | null;
  /** RM type. */
  readonly [SEGMENT_FIELD.type]: string;
  /** archetype_node_id. */
  readonly [SEGMENT_FIELD.nodeId]: string;
  /** name/value. */
  readonly [SEGMENT_FIELD.name]: string;
  /** Subtree with stubs; every DV_ORDERED has `_m` where it has a magnitude. */
  readonly [SEGMENT_FIELD.object]: JsonObject;
}

/** One typed leaf: its key from `leafKey`, its value by suffix. */
export interface AqlLeaf {
  readonly [LEAF_FIELD.key]: string;
  readonly [LEAF_FIELD.value]: number | string | boolean;
}

/** One document of the query index (collection `aql`): the derived form of one VERSION with data. */
export interface AqlDocument {
  /** OBJECT_VERSION_ID. */
  readonly [FIELD.versionUid]: string;
  readonly [FIELD.ehrId]: string;
  readonly [FIELD.versionedObjectUid]: string;
  readonly [FIELD.version]: number;
  readonly [FIELD.rootType]: RootType;
  readonly [FIELD.isLatest]: boolean;
  /** Commit time of the next version; absent while latest. */
  readonly [FIELD.replacedAt]?: Date;
  /** The EHR's is_queryable. */
  readonly [FIELD.isQueryable]: boolean;
  readonly [FIELD.timeCommitted]: Date;
  readonly [FIELD.contributionUid]: string;
  /** Code of commit_audit/change_type. */
  readonly [FIELD.changeType]: string;
  /** Code of lifecycle_state. */
  readonly [FIELD.lifecycleState]: string;
  /** Who committed it, as policies see him; absent where nothing names him, and in what older releases wrote. */
  readonly [FIELD.committer]?: string;
  readonly [FIELD.templateId]?: string;
  /** Of a COMPOSITION: context/start_time, for sorting and filters, else `NO_START`. */
  readonly [FIELD.startTime]?: Date;
  /** Archetype ids and RM classes of its nodes, and `templateKey`. */
  readonly [FIELD.keys]: readonly string[];
  /** FOLDER: uids of the versioned objects referenced in `items`, at any depth. */
  readonly [FIELD.references]?: readonly string[];
  readonly [FIELD.segments]: readonly AqlSegment[];
  readonly [FIELD.leaves]: readonly AqlLeaf[];
  /** AQL_SCHEMA_VERSION of the derivation. */
  readonly [FIELD.schemaVersion]: number;
}

import { randomBytes } from 'node:crypto';
import { trusted } from 'mongoose';
import { hasContributions } from './contribution.js';
import { COLLECTIONS } from './access/layout.js';
import { AQL_SCHEMA_VERSION, type LeafIndex } from '../aql/index/document.js';
import {
  collection,
  listOf,
  mark,
  number,
  oneOf,
  opaque,
  optional,
  text,
  type DocumentOf,
} from './access/collection.js';
import { compressTexts } from './version-text.js';
import { documents } from './access/documents.js';

/** How often a server of an older layout looks whether an upgrade has begun, ms. */
export const LAYOUT_TRUST_MS = 2_000;

/** How long a process caches which leaves the derived documents hold, ms. */
export const LEAF_TRUST_MS = 1_000;

/** Version of the collections' layout (docs/spec/storage.md#other-collections). */
export const STORAGE_LAYOUT = 2;
/** The layout before texts of VERSIONs were compressed. */
const TEXT_LAYOUT = 1;

const STORAGE_SETTINGS = {
  _id: oneOf<'storage'>(),
  /** Middle of every version uid. */
  system_id: text,
  layout: number,
  /** Other systems, of which VERSIONs were restored here, sorted; absent: none. */
  systems: optional(listOf(text)),
  /** AQL_SCHEMA_VERSION that the `aql` documents have. */
  sv: number,
  /** Leaves that the `aql` documents hold. */
  leaf_index: oneOf<LeafIndex>(),
  /** true: every EHR has its identities; absent: an upgrade has to derive them. */
  identities: optional(mark),
  /** true: every derived document names its committer; absent: `everchart reindex --access` has to add them. */
  committers: optional(mark),
  /** How far that came: the last VERSION that is done. */
  access: optional(opaque<{ readonly after: string }>()),
  /** How far a reindex came that was begun and has not ended. */
  reindex: optional(opaque<ReindexPosition>()),
  /** How far an upgrade came: the last VERSION that is done. */
  upgrade: optional(opaque<{ readonly after: string }>()),
  /** Templates that have aliases, and how often these have changed; absent: none ever had any. */
  aliases: optional(opaque<AliasedTemplates>()),
};

/** Which templates have aliases, as they are stored. */
interface AliasedTemplates {
  /** Another one after each change. */
  readonly revision: number;
  readonly templates: readonly string[];
}

/** The one document about how this database was written. */
export type StorageSettings = DocumentOf<typeof STORAGE_SETTINGS>;

/** Collection `settings`. */
const StorageSettingsModel = collection(COLLECTIONS.settings, STORAGE_SETTINGS, 'storage');

/**
 * Reads the storage settings, writing them while nothing is committed yet: the first commit fixes them. Several
 * processes may start at once. What is written from now on is of the layout that the database has.
 * @throws Error when the database was written with another system id or by a newer layout: the server must not start
 */
export async function claimStorage(systemId: string, leafIndex: LeafIndex): Promise<StorageSettings> {
  const first = {
    system_id: systemId,
    layout: STORAGE_LAYOUT,
    sv: AQL_SCHEMA_VERSION,
    leaf_index: leafIndex,
  };
  const isWritten = await hasContributions();
  await StorageSettingsModel.updateOne(
    { _id: 'storage' },
    isWritten
      ? { $setOnInsert: { ...first, layout: TEXT_LAYOUT } }
      : { $set: { ...first, identities: true, committers: true } },
    { upsert: true, setDefaultsOnInsert: false },
  ).exec();
  // What this process is going to write has other leaves: nobody may rely on those of the data any more.
  await StorageSettingsModel.updateOne(
    { _id: 'storage', leaf_index: trusted({ $ne: leafIndex }) },
    { $set: { leaf_index: 'none' } },
  ).exec();
  const stored = await StorageSettingsModel.findOne({ _id: 'storage' }).exec();
  if (stored === null) throw new Error('the storage settings cannot be read back');
  if (stored.system_id !== systemId) {
    throw new Error(
      `SYSTEM_ID is ${systemId}, but this database was written with ${stored.system_id}: version uids would not match`,
    );
  }
  if (stored.layout > STORAGE_LAYOUT) {
    throw new Error(
      `this database has layout ${stored.layout}, this release knows ${STORAGE_LAYOUT}: update it`,
    );
  }
  compressTexts(stored.layout === STORAGE_LAYOUT);
  return stored;
}

/** Follows an upgrade that another process has begun; true once the database has the present layout. */
export async function followLayout(): Promise<boolean> {
  const isPresent = (await storageSettings())?.layout === STORAGE_LAYOUT;
  compressTexts(isPresent);
  return isPresent;
}

/** Raises the layout: older releases do not start any more. False: it was raised before. */
export async function raiseLayout(): Promise<boolean> {
  const { modifiedCount } = await StorageSettingsModel.updateOne(
    { _id: 'storage', layout: trusted({ $lt: STORAGE_LAYOUT }) },
    { $set: { layout: STORAGE_LAYOUT } },
  ).exec();
  compressTexts(true);
  return modifiedCount > 0;
}

/** Declares that every EHR has its identities. */
export async function identitiesDerived(): Promise<void> {
  await StorageSettingsModel.updateOne({ _id: 'storage' }, { $set: { identities: true } }).exec();
}

/** Notes that all derived documents up to this VERSION name their committers; null: all do. */
export async function saveAccessPosition(after: string | null): Promise<void> {
  const change =
    after === null
      ? { $set: { committers: true as const }, $unset: { access: 1 as const } }
      : { $set: { access: { after } } };
  await StorageSettingsModel.updateOne({ _id: 'storage' }, change).exec();
}

/** Notes that the upgrade has done all VERSIONs up to this id; null: that it has ended. */
export async function saveUpgradePosition(after: string | null): Promise<void> {
  await (
    after === null
      ? StorageSettingsModel.updateOne({ _id: 'storage' }, { $unset: { upgrade: 1 } })
      : StorageSettingsModel.updateOne({ _id: 'storage' }, { $set: { upgrade: { after } } })
  ).exec();
}

/** The storage settings as they are now, null before `claimStorage`. */
export function storageSettings(): Promise<StorageSettings | null> {
  return StorageSettingsModel.findOne({ _id: 'storage' }).exec();
}

/**
 * Notes other systems of which VERSIONs are going to be restored: before they are written, for one too many does no harm. Who notes
 * some at the same time keeps his.
 */
export async function noteSystems(systemIds: readonly string[]): Promise<void> {
  for (;;) {
    const stored = await storageSettings();
    const known = stored?.systems ?? [];
    const missing = systemIds.filter(
      (systemId) => systemId !== stored?.system_id && !known.includes(systemId),
    );
    if (stored === null || missing.length === 0) return;
    const asRead: object = { _id: 'storage', systems: stored.systems === undefined ? null : [...known] };
    const systems = [...known, ...missing].sort();
    await documents(COLLECTIONS.settings).updateOne(asRead, { $set: { systems } });
  }
}

/** Notes that the aliases of a template have changed. Joins the caller's transaction. */
export async function noteAliases(storedId: string, hasSome: boolean): Promise<void> {
  const { revision = 0, templates = [] } = (await storageSettings())?.aliases ?? {};
  const others = templates.filter((id) => id !== storedId);
  const aliases = { revision: revision + 1, templates: hasSome ? [...others, storedId] : others };
  await StorageSettingsModel.updateOne({ _id: 'storage' }, { $set: { aliases } }).exec();
}

/** How far a rebuild of the derived documents came, kept in the settings so that it can go on later. */
interface ReindexPosition {
  /** What the documents are to become. */
  readonly sv: number;
  readonly leafIndex: LeafIndex;
  /** The last EHR that is done; empty: none. */
  readonly afterEhr: string;
}

/** Where an earlier rebuild to the same goal stopped, null when there was none. */
export async function reindexPosition(leafIndex: LeafIndex): Promise<ReindexPosition | null> {
  const position = (await storageSettings())?.reindex;
  return position?.sv === AQL_SCHEMA_VERSION && position.leafIndex === leafIndex ? position : null;
}

/** Notes that all EHRs up to this one are done. */
export async function saveReindexPosition(position: ReindexPosition): Promise<void> {
  await StorageSettingsModel.updateOne({ _id: 'storage' }, { $set: { reindex: position } }).exec();
}

/** Declares all derived documents to be of this version and to hold these leaves. */
export async function finishReindex(leafIndex: LeafIndex): Promise<void> {
  await StorageSettingsModel.updateOne(
    { _id: 'storage' },
    {
      $set: { sv: AQL_SCHEMA_VERSION, leaf_index: leafIndex, committers: true },
      $unset: { reindex: 1, access: 1 },
    },
  ).exec();
}

interface AuditSettings {
  readonly _id: string;
  readonly key: string;
}

const ID = 'audit';
const KEY_BYTES = 32;

let known: string | null = null;

/** The secret of this database by which parameters of queries are hashed; made when it is first needed. */
export async function auditKey(): Promise<string> {
  known ??= await storedKey();
  return known;
}

async function storedKey(): Promise<string> {
  const settings = documents<AuditSettings>(COLLECTIONS.settings);
  const fresh = { key: randomBytes(KEY_BYTES).toString('hex') };
  // Other processes may make one as well: the first stays.
  await settings.updateOne({ _id: ID }, { $setOnInsert: fresh }, { upsert: true });
  const stored = await settings.findOne({ _id: ID });
  if (stored === null) throw new Error('the key of the audit cannot be read back');
  return stored.key;
}

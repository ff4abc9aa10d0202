import { setTimeout } from 'node:timers/promises';
import { AQL_SCHEMA_VERSION, type LeafIndex } from '../aql/index/document.js';
import { dropIndexes, missingIndexes, type NamedIndex } from '../database/indexes.js';
import { withLease } from '../models/access/lease.js';
import { COLLECTION_LAYOUT, FORMER_INDEXES } from '../models/access/layout.js';
import {
  LAYOUT_TRUST_MS,
  raiseLayout,
  saveUpgradePosition,
  STORAGE_LAYOUT,
  storageSettings,
} from '../models/settings.js';
import { versionCount } from '../models/version.js';
import { compressNext, oldTexts } from '../models/version-text.js';
import { deriveAccessAttributes } from './access-attributes.js';
import { sealBaseline, type Baseline } from './baseline.js';
import { deriveAllIdentities } from './identities.js';
import { reindexStorage } from './reindex.js';
import { resealAttested, type Resealing } from './reseal.js';

/** What an upgrade has to do. */
export interface UpgradePlan {
  /** Of the database, and of this release. */
  readonly layout: number;
  readonly presentLayout: number;
  readonly indexesToMake: readonly NamedIndex[];
  readonly indexesToDrop: readonly NamedIndex[];
  /** VERSIONs whose text is to be compressed, and the characters of these texts. */
  readonly versions: number;
  readonly characters: number;
  /** Whether what AQL reads has to be derived anew. */
  readonly isAqlStale: boolean;
  /** Whether what names the patients of EHRs has to be derived. */
  readonly lacksIdentities: boolean;
  /** Whether what policies of access ask has to be added to what AQL reads. */
  readonly lacksCommitters: boolean;
}

/** How far an upgrade is. */
export interface UpgradeProgress {
  readonly step: 'texts' | 'identities' | 'aql' | 'access' | 'seals';
  /** VERSIONs, EHRs, documents, or sealed records that are done, and about how many there are. */
  readonly done: number;
  readonly of: number;
}

/** What an upgrade has done. */
export interface UpgradeOutcome {
  readonly droppedIndexes: readonly NamedIndex[];
  readonly compressed: number;
  /** Derived documents that were rebuilt. */
  readonly derived: number;
  /** EHRs whose identities were derived. */
  readonly identified: number;
  /** Derived documents that now name who committed the VERSION. */
  readonly named: number;
  /** VERSIONs whose ATTESTATIONs no block held. */
  readonly attested: Resealing;
  readonly baseline: Baseline;
}

/** Looks at the whole database and writes nothing. Null: it was never used. */
export async function upgradePlan(leafIndex: LeafIndex): Promise<UpgradePlan | null> {
  const stored = await storageSettings();
  if (stored === null) return null;
  return {
    layout: stored.layout,
    presentLayout: STORAGE_LAYOUT,
    indexesToMake: await missingIndexes(COLLECTION_LAYOUT),
    indexesToDrop: await dropIndexes(FORMER_INDEXES, true),
    ...(await oldTexts()),
    isAqlStale: await isAqlStale(leafIndex),
    lacksIdentities: stored.identities !== true,
    lacksCommitters: stored.committers !== true,
  };
}

/**
 * Brings the data of older releases into the present layout, beside running servers of this release. Older ones cannot read
 * what is written from then on and do not start any more. May be stopped at any time: the next run goes on.
 * `createCollections` and `claimStorage` come before it. See docs/spec/storage.md#upgrade.
 * @throws conflict while another upgrade of this database runs
 */
export function upgradeStorage(
  leafIndex: LeafIndex,
  onProgress: (progress: UpgradeProgress) => void = () => undefined,
  noticedWithinMs = 2 * LAYOUT_TRUST_MS,
): Promise<UpgradeOutcome> {
  return withLease('upgrade', 'an upgrade is running already', async () => {
    // Servers that have not noticed yet write texts as they are, which may lie before the position then.
    if (await raiseLayout()) await setTimeout(noticedWithinMs);
    const compressed = await compressAll(onProgress);
    const droppedIndexes = await dropIndexes(FORMER_INDEXES, false);
    const identified = await identifyAll(onProgress);
    const derived = (await isAqlStale(leafIndex)) ? await deriveAnew(leafIndex, onProgress) : 0;
    const named = await nameAll(onProgress);
    const attested = await resealAttested();
    const baseline = await sealBaseline((done, of) => {
      onProgress({ step: 'seals', done, of });
    });
    return { droppedIndexes, compressed, derived, identified, named, attested, baseline };
  });
}

async function compressAll(onProgress: (progress: UpgradeProgress) => void): Promise<number> {
  const of = await versionCount();
  let after = (await storageSettings())?.upgrade?.after ?? '';
  let compressed = 0;
  for (;;) {
    const step = await compressNext(after);
    compressed += step.compressed;
    if (step.last === null) break;
    after = step.last;
    await saveUpgradePosition(after);
    onProgress({ step: 'texts', done: compressed, of });
  }
  await saveUpgradePosition(null);
  return compressed;
}

async function identifyAll(onProgress: (progress: UpgradeProgress) => void): Promise<number> {
  if ((await storageSettings())?.identities === true) return 0;
  return deriveAllIdentities((done, of) => {
    onProgress({ step: 'identities', done, of });
  });
}

async function nameAll(onProgress: (progress: UpgradeProgress) => void): Promise<number> {
  if ((await storageSettings())?.committers === true) return 0;
  const { named } = await deriveAccessAttributes(({ done, of }) => {
    onProgress({ step: 'access', done, of });
  });
  return named;
}

async function isAqlStale(leafIndex: LeafIndex): Promise<boolean> {
  const stored = await storageSettings();
  return stored?.sv !== AQL_SCHEMA_VERSION || stored.leaf_index !== leafIndex || stored.reindex !== undefined;
}

async function deriveAnew(
  leafIndex: LeafIndex,
  onProgress: (progress: UpgradeProgress) => void,
): Promise<number> {
  const { documents } = await reindexStorage(leafIndex, ({ ehrs, ofEhrs }) => {
    onProgress({ step: 'aql', done: ehrs, of: ofEhrs });
  });
  return documents;
}

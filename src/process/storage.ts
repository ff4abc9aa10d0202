import type { Logger } from 'pino';
import type { Settings } from '../../config/settings.js';
import { connectDatabase } from '../../database/connect.js';
import { createCollections } from '../../database/indexes.js';
import { AQL_SCHEMA_VERSION } from '../../aql/index/document.js';
import { sealBaseline } from '../../maintenance/baseline.js';
import { commitClock } from '../../change/commit/commit-clock.js';
import { openKeyRing } from '../../change/commit/key-ring.js';
import { hasContributions } from '../../models/contribution.js';
import { COLLECTION_LAYOUT } from '../../models/access/layout.js';
import { claimStorage, followLayout, LAYOUT_TRUST_MS, STORAGE_LAYOUT } from '../../models/settings.js';
import { configFromEnvironment, warnOfMisspeltSettings } from '../settings/config.js';
import { commandLogger } from '../logger.js';

/** What is to be done about data of an older release. */
export interface StorageState {
  /** Whether queries are as fast as they can be; else they are right but slow until a reindex has run. */
  readonly isAqlCurrent: boolean;
  /** Whether the data has the present layout; else everything works, and `everchart upgrade` makes it smaller. */
  readonly isLayoutCurrent: boolean;
}

/**
 * Makes sure of collections, indexes and the settings that the stored data was written with.
 * @throws Error when the database was written with another system id or by a newer release
 */
export async function prepareStorage(settings: Settings): Promise<StorageState> {
  await createCollections(COLLECTION_LAYOUT);
  const stored = await claimStorage(settings.systemId, settings.aql.leafIndex);
  // A new database begins with all that is sealed; `everchart upgrade` does the same for an older one.
  if (!(await hasContributions())) await sealBaseline();
  return {
    isAqlCurrent: stored.sv === AQL_SCHEMA_VERSION && stored.leaf_index === settings.aql.leafIndex,
    isLayoutCurrent: stored.layout === STORAGE_LAYOUT,
  };
}

/** Logs what an operator has to do about data of an older release. Whoever calls it ends what it begins. */
export function logStorageState(log: Logger, { isAqlCurrent, isLayoutCurrent }: StorageState): () => void {
  if (!isAqlCurrent)
    log.warn('what AQL reads is stale: queries are right but slow until `everchart reindex` has run');
  if (isLayoutCurrent) return () => undefined;
  log.warn(
    'the data has the layout of an older release: everything works, and once every server runs this release `everchart upgrade` makes it smaller',
  );
  return awaitUpgrade(log);
}

/** Looks now and then whether an upgrade has begun: texts are compressed from then on. */
function awaitUpgrade(log: Logger): () => void {
  const timer = setInterval(() => {
    followLayout().then(
      (isCurrent) => {
        if (!isCurrent) return;
        clearInterval(timer);
        log.info('an upgrade has begun: what is written from now on has the present layout');
      },
      // The next time the database may be there again.
      () => undefined,
    );
  }, LAYOUT_TRUST_MS);
  timer.unref();
  return () => {
    clearInterval(timer);
  };
}

/** Runs `work` on the configured database, without a server. The database is named on stderr. */
export function withStorage<T>(work: (settings: Settings) => Promise<T>): Promise<T> {
  return withDatabase(async (settings) => {
    await openKeyRing(settings);
    await prepareStorage(settings);
    await commitClock.join();
    try {
      return await work(settings);
    } finally {
      await commitClock.leave();
    }
  });
}

/**
 * As `withStorage`, on the database as it is: nothing of it is made or changed before. `overrides`: settings that are not those of the
 * environment.
 */
export async function withDatabase<T>(
  work: (settings: Settings) => Promise<T>,
  overrides: Parameters<typeof configFromEnvironment>[0] = {},
): Promise<T> {
  const settings = configFromEnvironment(overrides);
  warnOfMisspeltSettings(commandLogger());
  const database = await connectDatabase(settings.database, (line) => void process.stderr.write(`${line}\n`));
  try {
    return await work(settings);
  } finally {
    await database.close();
  }
}

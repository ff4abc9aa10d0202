import type { Settings } from '../../config/settings.js';
import { connectDatabase } from '../../database/connect.js';
import { createCollections } from '../../database/indexes.js';
import { AQL_SCHEMA_VERSION } from '../../aql/index/document.js';
import { COLLECTION_LAYOUT } from '../../models/layout.js';
import { claimStorage } from '../../models/settings.js';
import { configFromEnvironment, warnOfMisspeltSettings } from '../settings/config.js';
import { commandLogger } from '../logger.js';

/**
 * Makes sure of collections, indexes and the settings that the stored data was written with. False: what AQL
 * reads is stale, queries are right but slow until a reindex has run.
 * @throws Error when the database was written with another system id or by a newer release
 */
export async function prepareStorage(settings: Settings): Promise<boolean> {
  await createCollections(COLLECTION_LAYOUT);
  const stored = await claimStorage(settings.systemId, settings.aql.leafIndex);
  return stored.sv === AQL_SCHEMA_VERSION && stored.leaf_index === settings.aql.leafIndex;
}

/** Runs `work` on the configured database, without a server. The database is named on stderr. */
export async function withStorage<T>(work: (settings: Settings) => Promise<T>): Promise<T> {
  const settings = configFromEnvironment();
  warnOfMisspeltSettings(commandLogger());
  const database = await connectDatabase(settings.database, (line) => void process.stderr.write(`${line}\n`));
  try {
    await prepareStorage(settings);
    return await work(settings);
  } finally {
    await database.close();
  }
}

/** Which local database is used when no `MONGODB_URI` is given. */
import type { DatabaseSettings } from '../base/settings.js';
import { whyUnavailable } from './embedded/native.js';
import { EmbeddedStartError, startEmbedded } from './embedded/spawn.js';

/** A database server that runs for this process. */
export interface LocalDatabase {
  readonly uri: string;
  /** What it is, for the log. */
  readonly description: string;
  /** Ends it in order. */
  stop(): Promise<void>;
}

/** Why one way to a database was passed over. */
export class PassedOver extends Error {}

/** Folder name that stands for one that goes at exit. */
const TEMPORARY = 'temporary';

/** Starts the embedded engine. @throws PassedOver when this machine cannot run it; Error when the data cannot be opened */
export async function startEmbeddedSource(
  settings: DatabaseSettings,
  log: (line: string) => void,
): Promise<LocalDatabase> {
  const reason = whyUnavailable();
  if (reason !== null) throw new PassedOver(reason);
  const dir = settings.embeddedDataDir === TEMPORARY ? null : settings.embeddedDataDir;
  try {
    const started = await startEmbedded({ dir, log: (line) => log(`database: ${line}`) });
    const place = dir === null ? 'temporary directory' : started.dir;
    return {
      uri: started.uri,
      description: `embedded MongoDB ${started.version} (development and tests only), data in ${place}`,
      stop: () => started.stop(),
    };
  } catch (error) {
    if (error instanceof EmbeddedStartError && error.isUnavailable) throw new PassedOver(error.message);
    throw error;
  }
}

/** Starts the first local database that can be had. @throws Error that names every way and why it was passed over */
export async function startLocalDatabase(
  settings: DatabaseSettings,
  log: (line: string) => void,
): Promise<LocalDatabase> {
  const local = await startEmbeddedSource(settings, log);
  log(`database: ${local.description}`);
  return local;
}

import { CdrError } from '../openehr/base/errors.js';
import type { DatabaseSettings } from '../config/settings.js';
import { MIN_MONGODB_VERSION } from './check-server.js';
import { startDownloadSource, startMongodSource } from './mongod-source.js';
import { SourceUnavailable, type LocalDatabase, type LogLine, dataFolder } from './local-source.js';
import { whyUnavailable } from '../packages/embedded-mongodb/src/engine/native.js';
import { EmbeddedStartError, startEmbedded } from '../packages/embedded-mongodb/src/spawn.js';
import { superviseEmbedded } from '../packages/embedded-mongodb/src/supervise.js';

/** Which local database is used when no `MONGODB_URI` is given. */

interface Source {
  readonly name: string;
  /** Values of `LOCAL_DATABASE` that allow it. */
  readonly allowedBy: readonly DatabaseSettings['localDatabase'][];
  readonly start: (settings: DatabaseSettings, log: LogLine) => Promise<LocalDatabase>;
}

const SOURCES: readonly Source[] = [
  { name: 'a mongod that is given or found', allowedBy: ['auto', 'mongod'], start: startMongodSource },
  { name: 'the embedded engine', allowedBy: ['auto', 'embedded'], start: startEmbeddedSource },
  { name: 'a downloaded mongod', allowedBy: ['auto', 'mongod'], start: startDownloadSource },
];

/**
 * Starts the first local database that can be had; one line of the log says which.
 * @throws CdrError `unavailable` that names every way and why it was passed over; Error when the one that was
 * chosen does not start
 */
export async function startLocalDatabase(settings: DatabaseSettings, log: LogLine): Promise<LocalDatabase> {
  const reasons = ['MONGODB_URI: it is empty'];
  for (const source of SOURCES) {
    if (!source.allowedBy.includes(settings.localDatabase)) {
      reasons.push(`${source.name}: LOCAL_DATABASE is ${settings.localDatabase}`);
      continue;
    }
    try {
      return await source.start(settings, log);
    } catch (error) {
      if (!(error instanceof SourceUnavailable)) throw error;
      reasons.push(`${source.name}: ${error.message}`);
    }
  }
  throw new CdrError('unavailable', noneFound(reasons));
}

function noneFound(reasons: readonly string[]): string {
  return [
    'No database can be had. Tried:',
    ...reasons.map((reason, index) => `  ${index + 1}. ${reason}`),
    `Set MONGODB_URI to a MongoDB replica set, or MONGOD_BINARY to a mongod ${MIN_MONGODB_VERSION} or later`,
  ].join('\n');
}

/** The embedded engine as a local database. */

/** Starts the embedded engine. @throws SourceUnavailable when this machine cannot run it; Error when the data cannot be opened */
async function startEmbeddedSource(settings: DatabaseSettings, log: LogLine): Promise<LocalDatabase> {
  const reason = whyUnavailable();
  if (reason !== null) throw new SourceUnavailable(reason);
  const { embeddedCacheSizeGB: cacheSizeGB } = settings;
  const dir = dataFolder(settings.embeddedDataDir);
  // what a temporary database held is gone with its process, so there is nothing to go on with
  const start = dir === null ? startEmbedded : superviseEmbedded;
  try {
    const started = await start({
      dir,
      ...(cacheSizeGB !== null && { cacheSizeGB }),
      log: (line) => {
        log(`database: ${line}`);
      },
    });
    const place = dir === null ? 'temporary directory' : started.dir;
    const description = `embedded MongoDB ${started.version} (development and tests only), data in ${place}`;
    log(`database: ${description}`);
    return { uri: started.uri, description, stop: () => started.stop() };
  } catch (error) {
    if (error instanceof EmbeddedStartError && error.isUnavailable)
      throw new SourceUnavailable(error.message);
    throw error;
  }
}

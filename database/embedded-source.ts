/** The embedded engine as a local database. */
import type { DatabaseSettings } from '../config/settings.js';
import { whyUnavailable } from '../packages/embedded-mongodb/src/engine/native.js';
import { EmbeddedStartError, startEmbedded } from '../packages/embedded-mongodb/src/spawn.js';
import { superviseEmbedded } from '../packages/embedded-mongodb/src/supervise.js';
import { dataFolder, SourceUnavailable, type LocalDatabase, type LogLine } from './local-source.js';

/** Starts the embedded engine. @throws SourceUnavailable when this machine cannot run it; Error when the data cannot be opened */
export async function startEmbeddedSource(settings: DatabaseSettings, log: LogLine): Promise<LocalDatabase> {
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

/** Which local database is used when no `MONGODB_URI` is given. */
import { CdrError } from '../openehr/base/errors.js';
import type { DatabaseSettings } from '../config/settings.js';
import { startDownloadSource } from './download-source.js';
import { startEmbeddedSource } from './embedded-source.js';
import { SourceUnavailable, type LocalDatabase, type LogLine } from './local-source.js';
import { startMongodSource } from './mongod-source.js';

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
    'Set MONGODB_URI to a MongoDB replica set, or MONGOD_BINARY to a mongod 7 or later',
  ].join('\n');
}

/** One way to a local database. */

/** A database server that runs for this process. */
export interface LocalDatabase {
  readonly uri: string;
  /** What it is, for the log. */
  readonly description: string;
  /** Ends it in order. */
  stop(): Promise<void>;
}

/** This source cannot be used here (the message says why), so the next one is tried. Other errors end the search. */
export class SourceUnavailable extends Error {}

/** Writes one line of the log. */
export type LogLine = (line: string) => void;

/** The folder of a setting such as `EMBEDDED_DATA_DIR`; null for one that goes at exit. */
export function dataFolder(setting: string): string | null {
  return setting === 'temporary' ? null : setting;
}

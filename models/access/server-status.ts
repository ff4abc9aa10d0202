import mongoose from 'mongoose';
import { checkServer } from '../../database/check-server.js';
import { CdrError } from '../../openehr/base/errors.js';

/** Longest time a health question waits for the database. */
const PING_TIMEOUT_MS = 2_000;

/** Version of the connected MongoDB, such as `8.2.6`; `unknown` while it cannot be asked. */
export async function mongodbVersion(): Promise<string> {
  try {
    const info = await mongoose.connection.db?.admin().command({ buildInfo: 1, maxTimeMS: PING_TIMEOUT_MS });
    return typeof info?.version === 'string' ? info.version : 'unknown';
  } catch {
    return 'unknown';
  }
}

/** What the database takes of its disk, bytes. */
export interface DatabaseSize {
  readonly bytes: number;
  /** The whole disk; null: the database does not say. */
  readonly disk: { readonly used: number; readonly bytes: number } | null;
}

/** How much there is, and how much room; null while the database cannot be asked. Never throws. */
export async function databaseSize(): Promise<DatabaseSize | null> {
  try {
    const stats = await mongoose.connection.db?.command({ dbStats: 1, maxTimeMS: PING_TIMEOUT_MS });
    if (stats === undefined) return null;
    const { storageSize, indexSize, fsUsedSize, fsTotalSize } = stats;
    const [used, whole] = [numberOf(fsUsedSize), numberOf(fsTotalSize)];
    return {
      bytes: (numberOf(storageSize) ?? 0) + (numberOf(indexSize) ?? 0),
      disk: used === null || whole === null ? null : { used, bytes: whole },
    };
  } catch {
    return null;
  }
}

function numberOf(value: unknown): number | null {
  return typeof value === 'number' ? value : null;
}

/** Whether the database answers now. Never throws. */
export async function databaseAnswers(): Promise<boolean> {
  const { db } = mongoose.connection;
  if (db === undefined) return false;
  try {
    await withinTime(PING_TIMEOUT_MS, db.admin().command({ ping: 1, maxTimeMS: PING_TIMEOUT_MS }));
    return true;
  } catch {
    return false;
  }
}

/** Why the database cannot be used now; null: it answers, and is one that the product can run on. Never throws. */
export async function whyDatabaseUnfit(): Promise<string | null> {
  try {
    await withinTime(PING_TIMEOUT_MS, checkServer());
    return null;
  } catch (error) {
    return error instanceof CdrError ? error.message : 'the database does not answer';
  }
}

async function withinTime<T>(timeoutMs: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new Error('the database did not answer in time'));
    }, timeoutMs);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

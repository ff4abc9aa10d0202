import { userInfo } from 'node:os';
import type { ReadRecord } from '../../maintenance/read-record.js';

/** What of the database a command writes into a file. */
type Read = 'export' | 'backup';

/** Begins the record of what this command reads, in the name of the user of the shell. */
export async function beginReadRecord(operation: Read, what: object = {}): Promise<ReadRecord> {
  // Only here: it comes with the database.
  const { ReadRecord } = await import('../../maintenance/read-record.js');
  return ReadRecord.begin(operation, { user: shellUser(), options: { ...what } });
}

function shellUser(): string {
  try {
    return userInfo().username;
  } catch {
    // A container may run as a number that has no name.
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}

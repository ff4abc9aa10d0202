import { closeSync, fchmodSync, fstatSync, openSync } from 'node:fs';

/**
 * Opens a file that only this user may read, also one that was there and open to others: what is exported are records
 * of patients. Pipes and devices are taken as they are. Answers the descriptor.
 * @throws the system's error, also when the file belongs to somebody else
 */
export function openPrivate(file: string, flags: 'w' | 'a'): number {
  const descriptor = openSync(file, flags, 0o600);
  try {
    const state = fstatSync(descriptor);
    if (state.isFile() && (state.mode & 0o077) !== 0) fchmodSync(descriptor, 0o600);
    return descriptor;
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
}

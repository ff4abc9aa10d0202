import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

/** A file system of its own. */
export interface SmallDisk {
  readonly folder: string;
  /** Nothing can be written any more; resolves once what still had a file open is gone. */
  makeReadOnly(): Promise<void>;
  remove(): void;
}

const PATIENCE_MS = 60_000;

/** A file system of so many MB in memory; null where this user may not mount one. */
export function smallDisk(megabytes: number): SmallDisk | null {
  const folder = mkdtempSync(join(tmpdir(), 'everchart-disk-'));
  const mount = (...args: string[]): unknown => execFileSync('mount', [...args, folder], { stdio: 'pipe' });
  try {
    mount('-t', 'tmpfs', '-o', `size=${megabytes}m,mode=0700`, 'none');
  } catch {
    rmSync(folder, { recursive: true });
    return null;
  }
  return {
    folder,
    async makeReadOnly() {
      // The kernel may close the files of a process a moment after it told of its end (those of an io_uring).
      const deadline = Date.now() + PATIENCE_MS;
      for (;;)
        try {
          mount('-o', 'remount,ro');
          return;
        } catch (error) {
          if (Date.now() > deadline) throw error;
          await pause(100);
        }
    },
    remove() {
      // Whoever is ending still may have a file open.
      execFileSync('umount', ['-l', folder]);
      rmSync(folder, { recursive: true });
    },
  };
}

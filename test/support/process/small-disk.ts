import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A file system of its own. */
export interface SmallDisk {
  readonly folder: string;
  /** Nothing can be written any more. */
  makeReadOnly(): void;
  remove(): void;
}

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
    makeReadOnly: () => mount('-o', 'remount,ro'),
    remove() {
      // Whoever is ending still may have a file open.
      execFileSync('umount', ['-l', folder]);
      rmSync(folder, { recursive: true });
    },
  };
}

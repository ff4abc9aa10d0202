import { totalmem } from 'node:os';

const GIB = 1024 ** 3;
/** The engine's own, and the least that MongoDB allows. */
const LEAST_GB = 0.25;
/** Beside the database run the server, and on a developer's machine much else. */
const MOST_GB = 1;

/** GiB of memory that the engine keeps data in: as MongoDB, half of what the machine has above one, but 1 at most. */
export function defaultCacheSizeGB(memoryBytes = memoryOfThisProcess()): number {
  return Math.min(MOST_GB, Math.max(LEAST_GB, (memoryBytes / GIB - 1) / 2));
}

/** What the container may use, where it is limited. */
function memoryOfThisProcess(): number {
  const limit = process.constrainedMemory();
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem();
}

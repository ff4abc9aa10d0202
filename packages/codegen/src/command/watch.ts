import { statSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/** Looking costs less than a millisecond, and works where the system tells nothing: network folders, containers. */
const LOOK_EVERY_MS = 250;

/** What is watched: the files as they are now, folders looked through again. */
export type Watched = () => readonly string[];

/** Does the work once; where it is watched, again whenever a file changes, comes or goes, until the process ends. */
export async function onceOrWatching(work: () => Promise<void>, watched: Watched | null): Promise<void> {
  if (watched === null) return work();
  await workOnChanges(watched, () =>
    work().catch((error: unknown) => {
      process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    }),
  );
}

/** Does the work now, and again whenever a file changes, comes or goes, until it is told to stop. */
export async function workOnChanges(
  watched: Watched,
  work: () => Promise<void>,
  stop?: AbortSignal,
): Promise<void> {
  const isStopped = (): boolean => stop?.aborted === true;
  while (!isStopped()) {
    const seen = stateOf(watched);
    await work();
    while (!isStopped() && stateOf(watched) === seen) await sleep(LOOK_EVERY_MS);
  }
}

/** A file or folder that is not there now is a state too: editors replace files. */
function stateOf(watched: Watched): string {
  try {
    const files = watched().map((file) => {
      const { mtimeMs, size } = statSync(file);
      return [file, mtimeMs, size];
    });
    return JSON.stringify(files);
  } catch {
    return 'something is away';
  }
}

import { derivedCount, nameCommitters } from '../models/aql-document.js';
import { saveAccessPosition, storageSettings } from '../models/settings.js';

/** Documents that are read and written together. */
const AT_ONCE = 500;

/** How far it is. */
interface AccessProgress {
  /** Derived documents that were looked at, and how many there are. */
  readonly done: number;
  readonly of: number;
  /** Those that were given what they lacked. */
  readonly named: number;
}

/**
 * Gives the derived documents that older releases wrote what policies of access ask of them: who committed the VERSION. Beside running servers
 * of this release, which write it with every commit; until all have it queries join the VERSIONs, which is slow. May be stopped at any
 * time: the next run goes on after the last documents that are done, and one after the end looks at all again. docs/access.md#older-data
 */
export async function deriveAccessAttributes(
  onProgress: (progress: AccessProgress) => void = () => undefined,
  atOnce = AT_ONCE,
): Promise<AccessProgress> {
  const stored = await storageSettings();
  const of = await derivedCount();
  let after = stored?.access?.after ?? '';
  let [done, named] = [0, 0];
  for (;;) {
    const step = await nameCommitters(after, atOnce);
    if (step.last === null) break;
    after = step.last;
    done += step.looked;
    named += step.named;
    await saveAccessPosition(after);
    onProgress({ done, of, named });
  }
  await saveAccessPosition(null);
  return { done, of, named };
}

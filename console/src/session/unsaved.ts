/** Who may hold what would be lost. */
interface Holder {
  readonly holds: () => boolean;
  /** Keeps it elsewhere; whether that is done. */
  readonly keep: () => Promise<boolean>;
}

const HOLDERS = new Set<Holder>();

/** Names who may hold what would be lost; gives what takes him off again. */
export function holdsUnsaved(holder: Holder): () => void {
  HOLDERS.add(holder);
  return () => HOLDERS.delete(holder);
}

/** Whether anything that is open would be lost, after it was tried to keep it. */
export async function isAnythingLost(): Promise<boolean> {
  const kept = await Promise.all([...HOLDERS].map(async ({ holds, keep }) => !holds() || (await keep())));
  return kept.includes(false);
}

const HOLDERS = new Set<() => boolean>();

/** Names who may hold what would be lost; gives what takes him off again. */
export function holdsUnsaved(holds: () => boolean): () => void {
  HOLDERS.add(holds);
  return () => HOLDERS.delete(holds);
}

/** Whether anything that is open would be lost. */
export function isAnythingUnsaved(): boolean {
  return [...HOLDERS].some((holds) => holds());
}

/** Ids named by one command. */
const STEP = 1_000;

/** The list in parts that one command can name. */
export function inSteps<T>(list: readonly T[], size = STEP): T[][] {
  const parts: T[][] = [];
  for (let start = 0; start < list.length; start += size) parts.push(list.slice(start, start + size));
  return parts;
}

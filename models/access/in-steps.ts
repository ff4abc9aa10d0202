/** Ids named by one command. */
const STEP = 1_000;

/** Content of one command, in characters: some megabytes, far below what a message may have. */
const TEXT_STEP = 4 * 1024 * 1024;

/** The list in parts of at most `size`, each with little more content than one command should carry. */
export function inTextSteps<T>(list: readonly T[], lengthOf: (one: T) => number, size: number): T[][] {
  const parts: T[][] = [];
  let length = Infinity;
  for (const one of list) {
    length += lengthOf(one);
    const last = parts.at(-1);
    if (last !== undefined && length <= TEXT_STEP && last.length < size) last.push(one);
    else {
      parts.push([one]);
      length = lengthOf(one);
    }
  }
  return parts;
}

/** The list in parts that one command can name. */
export function inSteps<T>(list: readonly T[], size = STEP): T[][] {
  const parts: T[][] = [];
  for (let start = 0; start < list.length; start += size) parts.push(list.slice(start, start + size));
  return parts;
}

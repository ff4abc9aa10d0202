/** Ids named by one command. */
const STEP = 1_000;

/** Content of one command, in characters: some megabytes, far below what a message may have. */
const TEXT_STEP = 4 * 1024 * 1024;

/** The list in parts of at most `size`, each with little more content than `most`: what one command should carry. */
export function inTextSteps<T>(
  list: readonly T[],
  lengthOf: (one: T) => number,
  size: number,
  most = TEXT_STEP,
): T[][] {
  const parts: T[][] = [];
  let length = Infinity;
  for (const one of list) {
    length += lengthOf(one);
    const last = parts.at(-1);
    if (last !== undefined && length <= most && last.length < size) last.push(one);
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

/** What `source` gives, with the next one asked for while the one before is worked on. @throws what `source` throws */
export async function* ahead<T>(source: AsyncGenerator<T>): AsyncGenerator<T> {
  let next = askedFor(source);
  try {
    for (;;) {
      const one = await next;
      if (one.done === true) return;
      next = askedFor(source);
      yield one.value;
    }
  } finally {
    await source.return(undefined);
  }
}

function askedFor<T>(source: AsyncGenerator<T>): Promise<IteratorResult<T>> {
  const next = source.next();
  // A failure is thrown when its turn comes; until then, or when nobody asks any more, it is no unhandled one.
  next.catch(() => undefined);
  return next;
}

import { SingleBar } from 'cli-progress';

/** Runs work whose length nobody knows beside a count on the terminal, none without one. `work`: says each time that one is done. */
export async function withCount<T>(what: string, work: (onEach: () => void) => Promise<T>): Promise<T> {
  const bar = process.stderr.isTTY ? new SingleBar({ format: `{value} ${what}` }) : null;
  bar?.start(0, 0);
  try {
    return await work(() => bar?.increment());
  } finally {
    bar?.stop();
  }
}

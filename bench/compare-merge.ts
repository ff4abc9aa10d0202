import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { textTable } from '../cli/output.js';
import { withCheckout } from './compare.js';
import { quantile } from './measure.js';

/** What one line of `bench/merge.ts` says, in seconds. */
interface Merged {
  readonly seconds: number;
  /** Longest that somebody waited who has to do with neither EHR. */
  readonly wait: number;
}

/** By what was done (`merge in steps`). */
type Lines = ReadonlyMap<string, Merged>;

/** One of the two checkouts, with what its runs said. */
interface Side {
  readonly name: string;
  readonly folder: string;
  readonly lines: Lines[];
}

const LINE = /^((?:merge|unmerge) in .+): ([\d.]+) s, longest commit (\d+) ms .* and read (\d+) ms/;

/**
 * Runs `bench/merge.ts` of another checkout and of this one in turns, each with a fresh embedded database, and prints for each
 * way the medians, the ratio of the time, this checkout over the other, and the longest wait of who is not concerned.
 * @param count compositions of the EHR that is merged
 */
export async function compareMerges(
  reference: string,
  { count, runs }: { readonly count: number; readonly runs: number },
  print: (line: string) => void,
): Promise<void> {
  await withCheckout(reference, async (folder) => {
    const theirs: Side = { name: reference, folder, lines: [] };
    const ours: Side = { name: 'this checkout', folder: process.cwd(), lines: [] };
    for (let run = 0; run < runs; run += 1) {
      for (const side of run % 2 === 0 ? [theirs, ours] : [ours, theirs]) {
        const lines = await merged(side.folder, count);
        side.lines.push(lines);
        print(`${side.name}: ${textOf(lines)}`);
      }
    }
    const rows = [...(ours.lines[0]?.keys() ?? [])].map((way) => rowOf(way, theirs.lines, ours.lines));
    const heads = ['work', `${reference}, s`, 'this checkout, s', 'ratio', 'waits, s', 'waits here, s'];
    print(textTable(heads, rows));
  });
}

async function merged(folder: string, count: number): Promise<Lines> {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--import', 'tsx', 'bench/merge.ts', String(count)],
    { cwd: folder, env: { ...process.env, EMBEDDED_DATA_DIR: 'temporary' } },
  );
  const found = stdout.split('\n').flatMap((line) => {
    const [, way, seconds, commit, read] = LINE.exec(line) ?? [];
    const wait = Math.max(Number(commit), Number(read)) / 1000;
    return way === undefined ? [] : [[way, { seconds: Number(seconds), wait }] as const];
  });
  if (found.length === 0) throw new Error(`bench/merge.ts of ${folder} says nothing of merges`);
  return new Map(found);
}

const textOf = (lines: Lines): string =>
  [...lines].map(([way, { seconds, wait }]) => `${way} ${seconds} s (waits ${wait} s)`).join(', ');

function rowOf(way: string, theirs: readonly Lines[], ours: readonly Lines[]): string[] {
  const median = (side: readonly Lines[], of: keyof Merged): number =>
    quantile(
      side.map((lines) => lines.get(way)?.[of] ?? NaN),
      0.5,
    );
  const [before, now] = [median(theirs, 'seconds'), median(ours, 'seconds')];
  const waits = [median(theirs, 'wait'), median(ours, 'wait')];
  return [way, before, now, now / before, ...waits].map((one) =>
    typeof one === 'string' ? one : one.toFixed(2),
  );
}

import { CdrError } from '../../openehr/base/errors.js';
import { groupBy } from '../../openehr/base/maps.js';
import { inTextSteps } from '../../models/access/in-steps.js';
import type { InterchangeLine } from './line.js';

/** A line as it was read, with where it stands. */
export interface PlacedLine {
  readonly position: number;
  /** Characters of its text. */
  readonly length: number;
  readonly line: InterchangeLine;
}

/** What became of a line. */
export type LineOutcome =
  | { readonly position: number; readonly result: 'imported' | 'unchanged' }
  | { readonly position: number; readonly result: 'failed'; readonly error: CdrError };

/** Lines of one EHR that are written in one transaction. */
interface LinesOfEhr<T extends PlacedLine = PlacedLine> {
  readonly ehrId: string;
  readonly lines: readonly T[];
}

/** What writes lines: this process, or a server that is asked to. */
export interface RestoreTarget<T extends PlacedLine = PlacedLine> {
  /** Transactions that it writes well side by side; absent: as many as whoever asks wants. */
  readonly atOnce?: number;
  /** Tells the audit of which EHRs something is restored, before any of it is written. Absent: whoever writes it does. */
  readonly names?: (ehrIds: readonly string[]) => Promise<void>;
  /** Writes lines that belong to no EHR, in their order; gives what became of each, in no order. @throws when nobody can write */
  definitions(lines: readonly T[]): Promise<LineOutcome[]>;
  /** Writes the next part of each of several EHRs, nothing of one of which a line is refused. The same of lines, and of failures. */
  parts(parts: readonly LinesOfEhr<T>[]): Promise<LineOutcome[]>;
}

/** How lines are handed on. */
export interface ImportHow {
  /** Transactions under way at once. */
  readonly parallel: number;
  /** Lines of one EHR that are written in one transaction; absent: 1,000. */
  readonly linesAtOnce?: number;
}

/** Lines of one EHR that are written in one transaction. */
const LINES_AT_ONCE = 1_000;
/** Small EHRs that share one, and characters of theirs: little, so that some are written while the next is prepared. */
const EHRS_AT_ONCE = 100;
const TEXT_AT_ONCE = 1024 * 1024;

/** Restores lines of an interchange file, some at a time; lines of one EHR in their order. */
export class InterchangeImport<T extends PlacedLine = PlacedLine> {
  readonly #target: RestoreTarget<T>;
  readonly #how: ImportHow;
  /** EHRs of which a line was refused: nothing that follows of theirs is restored. */
  readonly #refused: Set<string>;

  /** `refused`: EHRs that an earlier run refused; gets those of this one. */
  constructor(target: RestoreTarget<T>, how: ImportHow, refused: Set<string>) {
    this.#target = target;
    this.#how = how;
    this.#refused = refused;
  }

  /** Refuses what follows of an EHR of which a line cannot be read. */
  refuse(ehrId: string): void {
    this.#refused.add(ehrId);
  }

  /** Restores lines; gives what became of each, in no order. @throws what the target throws */
  async restore(lines: readonly T[]): Promise<LineOutcome[]> {
    const outcomes: LineOutcome[] = [];
    const byEhr = groupBy(lines, ({ line }) => ehrIdOf(line));
    const definitions = byEhr.get(null) ?? [];
    if (definitions.length > 0) outcomes.push(...(await this.#target.definitions(definitions)));
    byEhr.delete(null);
    await this.#target.names?.([...byEhr.keys()].filter((ehrId) => ehrId !== null));
    const small: Job<T>[] = [];
    const jobs: Job<T>[][] = [];
    for (const [ehrId, own] of byEhr) {
      const parts = inParts(own, this.#how.linesAtOnce ?? LINES_AT_ONCE);
      const job = { ehrId: ehrId ?? '', parts };
      if (parts.length > 1) jobs.push([job]);
      else small.push(job);
    }
    jobs.push(...inTextSteps(small, lengthOf, EHRS_AT_ONCE, TEXT_AT_ONCE));
    const atOnce = Math.min(this.#how.parallel, this.#target.atOnce ?? Infinity);
    await inLanes(jobs, atOnce, async (job) => {
      outcomes.push(...(await this.#job(job)));
    });
    return outcomes;
  }

  /** EHRs whose parts are written together, part by part. */
  async #job(jobs: readonly Job<T>[]): Promise<LineOutcome[]> {
    const outcomes: LineOutcome[] = [];
    const most = Math.max(...jobs.map(({ parts }) => parts.length));
    for (let index = 0; index < most; index += 1) {
      const open: LinesOfEhr<T>[] = [];
      for (const { ehrId, parts } of jobs) {
        const lines = parts[index] ?? [];
        if (!this.#refused.has(ehrId)) open.push({ ehrId, lines });
        else outcomes.push(...lines.map((one) => failed(one, refusedBefore(ehrId))));
      }
      if (open.length > 0) outcomes.push(...this.#noted(open, await this.#target.parts(open)));
    }
    return outcomes;
  }

  /** Remembers the EHRs of which a line was refused; a document is refused by itself. */
  #noted(parts: readonly LinesOfEhr<T>[], outcomes: readonly LineOutcome[]): readonly LineOutcome[] {
    const failures = new Set(outcomes.flatMap((one) => (one.result === 'failed' ? one.position : [])));
    for (const { ehrId, lines } of parts)
      if (lines.some(({ position, line }) => line.kind !== 'document' && failures.has(position)))
        this.#refused.add(ehrId);
    return outcomes;
  }
}

/** An EHR with its lines, cut into what one transaction writes. */
interface Job<T extends PlacedLine> {
  readonly ehrId: string;
  readonly parts: readonly (readonly T[])[];
}

/** Lines of an EHR as transactions write them; the first has every EHR_STATUS, for an older one may have the subject of another EHR. */
function inParts<T extends PlacedLine>(lines: readonly T[], size: number): T[][] {
  const makes = lines[0]?.line.kind === 'ehr';
  const status = makes ? lines.findLastIndex(({ line }) => isStatus(line)) : -1;
  const first = lines.slice(0, status + 1);
  const [next = [], ...rest] = inTextSteps(lines.slice(status + 1), ({ length }) => length, size);
  if (first.length === 0) return [next, ...rest];
  return first.length + next.length <= size ? [[...first, ...next], ...rest] : [first, next, ...rest];
}

function isStatus(line: InterchangeLine): boolean {
  return line.kind === 'version' && line.version.doc.type === 'EHR_STATUS';
}

function lengthOf<T extends PlacedLine>({ parts }: Job<T>): number {
  return parts.reduce((sum, lines) => sum + lines.reduce((length, one) => length + one.length, 0), 0);
}

/** What became of a line that was refused. */
export function failed({ position }: Pick<PlacedLine, 'position'>, error: CdrError): LineOutcome {
  return { position, result: 'failed', error };
}

function refusedBefore(ehrId: string): CdrError {
  return new CdrError('conflict', `a line of EHR ${ehrId} was refused: see its error`);
}

/** The EHR that a line belongs to; null: to none. */
export function ehrIdOf(line: InterchangeLine): string | null {
  switch (line.kind) {
    case 'ehr':
      return line.ehr._id;
    case 'contribution':
      return line.contribution.ehr_id;
    case 'version':
      return line.version.doc.ehr_id;
    case 'item_tag':
      return line.tag.owner_id;
    case 'item_tags':
      return line.set.ehrId;
    case 'tombstone':
    case 'document':
      return line.ehrId;
    default:
      return null;
  }
}

/** Works on a list, so many at once. */
async function inLanes<T>(list: readonly T[], lanes: number, work: (one: T) => Promise<void>): Promise<void> {
  const left = [...list];
  const lane = async (): Promise<void> => {
    for (let next = left.shift(); next !== undefined; next = left.shift()) await work(next);
  };
  await Promise.all(Array.from({ length: Math.min(lanes, list.length) }, lane));
}

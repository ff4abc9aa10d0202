import { randomUUID } from 'node:crypto';
import { CdrError } from '../../openehr/base/errors.js';
import { groupBy } from '../../openehr/base/maps.js';
import type { LeafIndex } from '../../aql/index/document.js';
import { AuditDraft, inAuditedTransaction, withAuditDraft } from '../../change/commit/audit-draft.js';
import { inTextSteps } from '../../models/access/in-steps.js';
import { RESTORE } from '../../models/cross-collection/audited-removals.js';
import type { InterchangeLine } from './line.js';
import { restoreDefinition, type DefinitionLine } from './restore-definition.js';
import { EhrRestore } from './restore.js';
import type { EhrPart } from './part.js';

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

/** Who imports, and how. */
export interface ImportHow {
  /** Id of the import, the same when it goes on. */
  readonly batch: string;
  readonly leafIndex: LeafIndex;
  /** Transactions under way at once. */
  readonly parallel: number;
  /** Lines of one EHR that are written in one transaction; absent: 1,000. */
  readonly linesAtOnce?: number;
}

/** Lines of one EHR that are written in one transaction. */
const LINES_AT_ONCE = 1_000;
/** Small EHRs that share one. */
const EHRS_AT_ONCE = 100;

/** Notes in the audit that an import restores something: before it does, for the notes of the seals name it. */
export async function beginRestore(batch: string, user = 'everchart'): Promise<void> {
  const sender = { user, operation: RESTORE, request_id: randomUUID() };
  await withAuditDraft(new AuditDraft(() => sender, 200), () =>
    inAuditedTransaction(
      () => Promise.resolve(),
      () => ({ target: batch }),
    ),
  );
}

/** Restores lines of an interchange file, some at a time; lines of one EHR in their order. */
export class InterchangeImport {
  readonly #how: ImportHow;
  readonly #ehrs: EhrRestore;
  /** EHRs of which a line was refused: nothing that follows of theirs is restored. */
  readonly #refused: Set<string>;

  /** `refused`: EHRs that an earlier run refused; gets those of this one. */
  constructor(how: ImportHow, refused: Set<string>) {
    this.#how = how;
    this.#ehrs = new EhrRestore(how);
    this.#refused = refused;
  }

  /** Refuses what follows of an EHR of which a line cannot be read. */
  refuse(ehrId: string): void {
    this.#refused.add(ehrId);
  }

  /** Restores lines; gives what became of each, in no order. @throws the errors of the database */
  async restore(lines: readonly PlacedLine[]): Promise<LineOutcome[]> {
    const outcomes: LineOutcome[] = [];
    const byEhr = groupBy(lines, ({ line }) => ehrIdOf(line));
    for (const placed of byEhr.get(null) ?? []) outcomes.push(await this.#definition(placed));
    byEhr.delete(null);
    const small: Job[] = [];
    const jobs: Job[][] = [];
    for (const [ehrId, own] of byEhr) {
      const parts = inParts(own, this.#how.linesAtOnce ?? LINES_AT_ONCE);
      const job = { ehrId: ehrId ?? '', parts };
      if (parts.length > 1) jobs.push([job]);
      else small.push(job);
    }
    jobs.push(...inTextSteps(small, lengthOf, EHRS_AT_ONCE));
    await inLanes(jobs, this.#how.parallel, async (job) => {
      outcomes.push(...(await this.#job(job)));
    });
    return outcomes;
  }

  /** EHRs whose parts are written together, part by part. */
  async #job(jobs: readonly Job[]): Promise<LineOutcome[]> {
    const outcomes: LineOutcome[] = [];
    const most = Math.max(...jobs.map(({ parts }) => parts.length));
    for (let index = 0; index < most; index += 1) {
      const lines = jobs.flatMap(({ ehrId, parts }) => ({ ehrId, lines: parts[index] ?? [] }));
      const open = lines.filter(({ ehrId }) => !this.#refused.has(ehrId));
      for (const { ehrId, lines: own } of lines)
        if (this.#refused.has(ehrId)) outcomes.push(...own.map((one) => failed(one, refusedBefore(ehrId))));
      const done = await this.#ehrs.restore(open.map((one) => partOf(one.ehrId, one.lines)));
      for (const [place, { ehrId, lines: own }] of open.entries()) {
        const outcome = done[place];
        if (outcome instanceof CdrError) {
          this.#refused.add(ehrId);
          outcomes.push(...own.map((one) => failed(one, outcome)));
        } else outcomes.push(...(await this.#written(own, outcome ?? new Set())));
      }
    }
    return outcomes;
  }

  /** What became of the lines of a part that is written; documents go behind it. */
  async #written(lines: readonly PlacedLine[], there: ReadonlySet<object>): Promise<LineOutcome[]> {
    const outcomes: LineOutcome[] = [];
    for (const placed of lines) {
      const { line, position } = placed;
      if (line.kind === 'document') outcomes.push(await this.#definition(placed));
      else outcomes.push({ position, result: there.has(memberOf(line)) ? 'unchanged' : 'imported' });
    }
    return outcomes;
  }

  async #definition(placed: PlacedLine): Promise<LineOutcome> {
    const { line, position } = placed;
    if (!isDefinition(line)) return { position, result: 'unchanged' };
    try {
      return { position, result: await restoreDefinition(this.#how.batch, line) };
    } catch (error) {
      if (error instanceof CdrError && ['invalid', 'conflict', 'unprocessable'].includes(error.code))
        return failed(placed, error);
      throw error;
    }
  }
}

/** An EHR with its lines, cut into what one transaction writes. */
interface Job {
  readonly ehrId: string;
  readonly parts: readonly (readonly PlacedLine[])[];
}

/** Lines of an EHR as transactions write them; the first has every EHR_STATUS, for an older one may have the subject of another EHR. */
function inParts(lines: readonly PlacedLine[], size: number): PlacedLine[][] {
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

function lengthOf({ parts }: Job): number {
  return parts.reduce((sum, lines) => sum + lines.reduce((length, one) => length + one.length, 0), 0);
}

function failed({ position }: PlacedLine, error: CdrError): LineOutcome {
  return { position, result: 'failed', error };
}

function refusedBefore(ehrId: string): CdrError {
  return new CdrError('conflict', `a line of EHR ${ehrId} was refused: see its error`);
}

function isDefinition(line: InterchangeLine): line is DefinitionLine {
  return line.kind === 'template' || line.kind === 'stored_query' || line.kind === 'document';
}

/** The EHR that a line belongs to; null: to none. */
function ehrIdOf(line: InterchangeLine): string | null {
  switch (line.kind) {
    case 'ehr':
      return line.ehr._id;
    case 'contribution':
      return line.contribution.ehr_id;
    case 'version':
      return line.version.doc.ehr_id;
    case 'item_tag':
      return line.tag.owner_id;
    case 'tombstone':
    case 'document':
      return line.ehrId;
    default:
      return null;
  }
}

/** What of a line a part holds. */
function memberOf(line: InterchangeLine): object {
  switch (line.kind) {
    case 'ehr':
      return line.ehr;
    case 'contribution':
      return line.contribution;
    case 'version':
      return line.version;
    case 'item_tag':
      return line.tag;
    default:
      return line;
  }
}

function partOf(ehrId: string, lines: readonly PlacedLine[]): EhrPart {
  const read = lines.map(({ line }) => line);
  return {
    ehrId,
    ehr: read.flatMap((line) => (line.kind === 'ehr' ? line.ehr : []))[0] ?? null,
    tombstones: read.flatMap((line) => (line.kind === 'tombstone' ? line : [])),
    contributions: read.flatMap((line) => (line.kind === 'contribution' ? line.contribution : [])),
    versions: read.flatMap((line) => (line.kind === 'version' ? line.version : [])),
    tags: read.flatMap((line) => (line.kind === 'item_tag' ? line.tag : [])),
  };
}

/** Works on a list, so many at once. */
async function inLanes<T>(list: readonly T[], lanes: number, work: (one: T) => Promise<void>): Promise<void> {
  const left = [...list];
  const lane = async (): Promise<void> => {
    for (let next = left.shift(); next !== undefined; next = left.shift()) await work(next);
  };
  await Promise.all(Array.from({ length: Math.min(lanes, list.length) }, lane));
}

import { createHash } from 'node:crypto';
import { CdrError } from '../../openehr/base/errors.js';
import { parseEhrId } from '../../openehr/base/object-version-id.js';
import {
  InterchangeImport,
  type LineOutcome,
  type RestoreTarget,
} from '../../maintenance/interchange/import.js';
import { readLine, type InterchangeLine } from '../../maintenance/interchange/line.js';
import { ahead } from '../../models/access/in-steps.js';
import { errorAnswer } from '../../routes/http/failure/error-status.js';
import { noteCause } from './import-causes.js';
import type { FailedRecord, ImportState } from './import-progress.js';
import { TooManyErrors } from './import-run.js';
import type { ImportSource, SourceRecord } from './import-source.js';
import type { TextLine } from './restore-remote.js';

/** How a restore is carried out. */
interface RestorePlan {
  readonly source: ImportSource;
  readonly state: ImportState;
  /** What writes. */
  readonly target: RestoreTarget<TextLine>;
  /** Transactions, or requests, under way at once. */
  readonly parallel: number;
  /** Called after each part; `done`: bytes read since the beginning. */
  readonly save: (state: ImportState, failed: readonly FailedRecord[], done: number) => void;
  /** Ends the restore after the part in which this many lines have failed. */
  readonly maxErrors: number;
  /** Ends it after the part in which a line contradicts what is there. */
  readonly stopsAtConflict: boolean;
}

/** The status of a line that contradicts what is there. */
const CONFLICT = 409;

/**
 * Lines, and characters of text, after which a part ends where no EHR is without an EHR_STATUS of its own that may follow, and in any case: what is held
 * in memory is little more, however large EHRs are. docs/spec/interchange.md#memory
 */
const PART = { lines: 2_000, length: 8 * 1024 * 1024 };
const LARGEST = { lines: 20_000, length: 64 * 1024 * 1024 };
/** Characters of a line that may be the last one of a file. */
const END_LENGTH = 1_000;

/** Reads a file whole and compares it with its last line. @throws Error when it was cut or changed */
export async function checkWhole(source: ImportSource): Promise<void> {
  const hash = createHash('sha256');
  let lines = 0;
  let last: string | null = null;
  for await (const { text } of source.records()) {
    if (last !== null) hash.update(`${last}\n`);
    last = text ?? '';
    lines += 1;
  }
  const end = last === null || last.length > END_LENGTH ? null : lineOf(last);
  if (end === null || end instanceof CdrError || end.kind !== 'end')
    throw new Error('the file has no last line: it was cut, or its export did not end');
  if (end.lines !== lines - 1 || end.sha256 !== hash.digest('hex'))
    throw new Error('the file is not what was exported: its lines do not have the checksum of the last one');
}

/**
 * Restores an interchange file part by part, of which the next is read meanwhile, and saves how far it came. @throws TooManyErrors; the errors of what writes; invalid
 * for a version of the form that this release does not know
 */
export async function runRestore(plan: RestorePlan): Promise<void> {
  const refused = new Set(plan.state.refusedEhrs);
  const run = new InterchangeImport(plan.target, { parallel: plan.parallel }, refused);
  for await (const { records, done } of ahead(partsOf(plan.source, plan.state.position))) {
    const failed = await restoreRead(plan.state, run, records);
    plan.state.refusedEhrs = [...refused];
    plan.save(plan.state, failed, done);
    const isStopped = plan.stopsAtConflict && failed.some(({ status }) => status === CONFLICT);
    if (isStopped || plan.state.failed >= plan.maxErrors) throw new TooManyErrors();
  }
}

/** The lines behind a position, in parts; `done`: bytes read since the beginning. @throws invalid for a version that this release does not know */
async function* partsOf(
  source: ImportSource,
  behind: number,
): AsyncGenerator<{ readonly records: readonly ReadRecord[]; readonly done: number }> {
  let part = new Part();
  let done = 0;
  for await (const { position, size, text } of source.records()) {
    if (position === 1) readLine(text ?? '');
    const isWanted = position > behind;
    const read = { position, text: text ?? '', line: isWanted ? lineOf(text ?? '') : null };
    if (part.endsBefore(read.line)) {
      yield { records: part.records, done };
      part = new Part();
    }
    done += size;
    if (isWanted) part.add(read);
  }
  if (part.records.length > 0) yield { records: part.records, done };
}

/** A line with where it stands, or why it cannot be read; null: nobody asked. */
interface ReadRecord {
  readonly position: number;
  readonly text: string;
  readonly line: InterchangeLine | CdrError | null;
}

/** @throws what is no fault of the line */
function lineOf(text: string): InterchangeLine | CdrError {
  try {
    return readLine(text);
  } catch (error) {
    if (error instanceof CdrError) return error;
    throw error;
  }
}

/** Lines that are restored together. */
class Part {
  readonly records: ReadRecord[] = [];
  #length = 0;
  /** EHRs that begin in it, and of which nothing came yet that is behind every EHR_STATUS. */
  readonly #begun = new Set<string>();

  /** Whether it is to be restored before this line is added. */
  endsBefore(line: ReadRecord['line']): boolean {
    if (!isFull(PART, this.records.length, this.#length)) return false;
    const isBegin = line !== null && !(line instanceof CdrError) && line.kind === 'ehr';
    return isBegin || this.#begun.size === 0 || isFull(LARGEST, this.records.length, this.#length);
  }

  add(record: ReadRecord): void {
    const { line, text } = record;
    this.records.push(record);
    this.#length += text.length;
    if (line === null || line instanceof CdrError) return;
    if (line.kind === 'ehr') this.#begun.add(line.ehr._id);
    if (line.kind === 'version' && line.version.doc.type !== 'EHR_STATUS')
      this.#begun.delete(line.version.doc.ehr_id);
  }
}

function isFull(limit: typeof PART, lines: number, length: number): boolean {
  return lines >= limit.lines || length >= limit.length;
}

/** Restores lines; gives those that were refused. `place`: how who reads of a line finds it. @throws what the target throws */
export async function restorePart(
  state: ImportState,
  run: InterchangeImport<TextLine>,
  part: readonly SourceRecord[],
  place: (position: number, text: string) => LinePlace = placeOf,
): Promise<FailedRecord[]> {
  const read = part.map(({ position, text }) => ({ position, text: text ?? '', line: lineOf(text ?? '') }));
  return restoreRead(state, run, read, place);
}

async function restoreRead(
  state: ImportState,
  run: InterchangeImport<TextLine>,
  part: readonly ReadRecord[],
  place: (position: number, text: string) => LinePlace = placeOf,
): Promise<FailedRecord[]> {
  const places = new Map(part.map(({ position, text }) => [position, place(position, text)]));
  const { lines, unreadable } = sorted(run, part);
  const outcomes = [...unreadable, ...(await run.restore(lines))].sort((a, b) => a.position - b.position);
  const failed: FailedRecord[] = [];
  for (const outcome of outcomes) {
    state[outcome.result] += 1;
    if (outcome.result !== 'failed') continue;
    const record = failedRecord(outcome.error, places.get(outcome.position) ?? {});
    noteCause(state.causes, record);
    failed.push(record);
  }
  state.position = part.at(-1)?.position ?? state.position;
  return failed;
}

/** The lines that can be read; of an EHR with one that cannot nothing is restored from there on. */
function sorted(
  run: InterchangeImport<TextLine>,
  part: readonly ReadRecord[],
): { readonly lines: TextLine[]; readonly unreadable: LineOutcome[] } {
  const lines: TextLine[] = [];
  const unreadable: LineOutcome[] = [];
  for (const { position, text, line } of part) {
    if (line === null || (!(line instanceof CdrError) && (line.kind === 'header' || line.kind === 'end')))
      continue;
    if (!(line instanceof CdrError)) {
      lines.push({ position, length: text.length, line, text });
      continue;
    }
    unreadable.push({ position, result: 'failed', error: line });
    const { ehr_id: ehrId } = placeOf(position, text);
    if (ehrId !== undefined) run.refuse(ehrId);
  }
  return { lines, unreadable };
}

/** What names a line for who reads that it was refused. */
type LinePlace = Pick<FailedRecord, 'line' | 'ehr_id' | 'uid'>;

/** Whose line it is, and of which VERSION, as far as its beginning tells. */
export function placeOf(position: number, text: string): LinePlace {
  const [, plain, inObject] = /"ehr_id":(?:"([^"]{1,256})"|\{[^{}]*"value":"([^"]{1,256})")/.exec(text) ?? [];
  const ehrId = parseEhrId(plain ?? inObject ?? '');
  const [, uid] = /"uid":\{"_type":"OBJECT_VERSION_ID","value":"([^"]{1,300})"/.exec(text) ?? [];
  return { line: position, ...(ehrId !== null && { ehr_id: ehrId }), ...(uid !== undefined && { uid }) };
}

function failedRecord(error: CdrError, place: LinePlace): FailedRecord {
  return { ...place, status: errorAnswer(error).status, message: error.message };
}

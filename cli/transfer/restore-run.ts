import { createHash } from 'node:crypto';
import { CdrError } from '../../openehr/base/errors.js';
import { parseEhrId } from '../../openehr/base/object-version-id.js';
import {
  InterchangeImport,
  type LineOutcome,
  type RestoreTarget,
} from '../../maintenance/interchange/import.js';
import { readLine } from '../../maintenance/interchange/line.js';
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

/** Lines, and characters of text, after which a part ends with the next EHR, and in any case. */
const PART = { lines: 2_000, length: 8 * 1024 * 1024 };
const LARGEST = { lines: 20_000, length: 64 * 1024 * 1024 };

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
  const end = last?.startsWith('{"kind":"end"') === true ? readLine(last) : null;
  if (end?.kind !== 'end')
    throw new Error('the file has no last line: it was cut, or its export did not end');
  if (end.lines !== lines - 1 || end.sha256 !== hash.digest('hex'))
    throw new Error('the file is not what was exported: its lines do not have the checksum of the last one');
}

/**
 * Restores an interchange file part by part, and saves how far it came. @throws TooManyErrors; the errors of what writes; invalid
 * for a version of the form that this release does not know
 */
export async function runRestore(plan: RestorePlan): Promise<void> {
  const refused = new Set(plan.state.refusedEhrs);
  const run = new InterchangeImport(plan.target, { parallel: plan.parallel }, refused);
  let part: SourceRecord[] = [];
  let length = 0;
  let done = 0;
  const finish = async (): Promise<void> => {
    const failed = await restorePart(plan.state, run, part);
    plan.state.refusedEhrs = [...refused];
    part = [];
    length = 0;
    plan.save(plan.state, failed, done);
    const isStopped = plan.stopsAtConflict && failed.some(({ status }) => status === CONFLICT);
    if (isStopped || plan.state.failed >= plan.maxErrors) throw new TooManyErrors();
  };
  for await (const record of plan.source.records()) {
    if (record.position === 1) readLine(record.text ?? '');
    const isEhr = record.text?.startsWith('{"kind":"ehr"') === true;
    if (isFull(PART, part.length, length) && (isEhr || isFull(LARGEST, part.length, length))) await finish();
    done += record.size;
    if (record.position <= plan.state.position) continue;
    part.push(record);
    length += record.text?.length ?? 0;
  }
  if (part.length > 0) await finish();
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
  const places = new Map(part.map(({ position, text }) => [position, place(position, text ?? '')]));
  const { lines, unreadable } = readPart(run, part);
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
function readPart(
  run: InterchangeImport<TextLine>,
  part: readonly SourceRecord[],
): { readonly lines: TextLine[]; readonly unreadable: LineOutcome[] } {
  const lines: TextLine[] = [];
  const unreadable: LineOutcome[] = [];
  for (const { position, text } of part) {
    try {
      const own = text ?? '';
      const line = readLine(own);
      if (line.kind !== 'header' && line.kind !== 'end')
        lines.push({ position, length: own.length, line, text: own });
    } catch (error) {
      if (!(error instanceof CdrError)) throw error;
      unreadable.push({ position, result: 'failed', error });
      const { ehr_id: ehrId } = placeOf(position, text ?? '');
      if (ehrId !== undefined) run.refuse(ehrId);
    }
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

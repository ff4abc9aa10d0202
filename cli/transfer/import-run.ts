import { violationText } from '../../openehr/base/violation.js';
import { CdrError } from '../../openehr/base/errors.js';
import type { JsonObject } from '../../openehr/base/json.js';
import { textAt } from '../../openehr/rm/access.js';
import { errorAnswer } from '../../routes/http/failure/error-status.js';
import { AnswerError } from './api-client.js';
import { noteCause } from './import-causes.js';
import { failure, type Outcome } from './import-progress.js';
import type { FailedRecord, ImportState } from './import-progress.js';
import { beginningOf, readRecord, type ImportRecord, type RecordDefaults } from './import-source.js';
import type { ImportSource, SourceRecord } from './import-source.js';

/** How an import is carried out. */
export interface ImportPlan {
  readonly source: ImportSource;
  readonly defaults: RecordDefaults;
  readonly state: ImportState;
  /** Carries out one part; records of one EHR are in their order. */
  readonly carryOut: (records: readonly ImportRecord[]) => Promise<readonly Outcome[]>;
  /** Called after each part; `done`: bytes, or files of a folder, read since the beginning. */
  readonly save: (state: ImportState, failed: readonly FailedRecord[], done: number) => void;
  /** Ends the import after the part in which this many records have failed. */
  readonly maxErrors: number;
}

/** More records failed than the user wants to see: what was done is saved. */
export class TooManyErrors extends Error {}

/** Records, and characters of text, that are read before they are carried out together. */
const PART_RECORDS = 2_000;
const PART_LENGTH = 32 * 1024 * 1024;

/**
 * Reads the source part by part, carries out each part wholly, then saves how far it came; the next part is read
 * meanwhile. Parts are cut in the same way every time, so that a repeated part makes the same requests.
 */
export async function runImport(plan: ImportPlan): Promise<void> {
  let part: SourceRecord[] = [];
  let length = 0;
  let done = 0;
  let running = Promise.resolve();
  const finish = async (): Promise<void> => {
    const read = readPart(plan, part, done);
    part = [];
    length = 0;
    await running;
    running = runPart(plan, read);
    // A failure is thrown where it is awaited; until then nobody would look at it.
    running.catch(() => undefined);
  };
  for await (const record of plan.source.records()) {
    done += record.size;
    if (record.position <= plan.state.position) continue;
    part.push(record);
    length += record.text?.length ?? 0;
    if (part.length >= PART_RECORDS || length >= PART_LENGTH) await finish();
  }
  if (part.length > 0) await finish();
  await running;
}

/** Records of the source that are carried out together. */
interface Part {
  readonly records: readonly ImportRecord[];
  /** Of those that cannot be read. */
  readonly refusals: readonly Outcome[];
  /** EHRs whose EHR_STATUS is among these. */
  readonly lostStatuses: readonly string[];
  /** Where each record stands, by position. */
  readonly places: ReadonlyMap<number, RecordPlace>;
  readonly lastPosition: number;
  /** Bytes or files read since the beginning. */
  readonly done: number;
}

/** What names a record for who looks for it in the source. */
type RecordPlace = Pick<FailedRecord, 'line' | 'file' | 'ehr_id' | 'uid'>;

function readPart({ defaults, state }: ImportPlan, part: readonly SourceRecord[], done: number): Part {
  const refusals: Outcome[] = [];
  const lostStatuses: string[] = [];
  const records: ImportRecord[] = [];
  const places = new Map<number, RecordPlace>(
    part.map(({ position, file }) => [position, file === null ? { line: position } : { file }]),
  );
  for (const source of part) {
    const { position } = source;
    try {
      records.push(readRecord(source, defaults));
    } catch (error) {
      refusals.push(refusal(position, error));
      const { ehrId, isStatus } = beginningOf(source);
      if (ehrId !== null) places.set(position, { ...places.get(position), ehr_id: ehrId });
      if (ehrId !== null && isStatus) lostStatuses.push(ehrId);
    }
  }
  for (const { position, ehrId, content } of records)
    places.set(position, { ...places.get(position), ehr_id: ehrId, ...uidOf(content.object) });
  const lastPosition = part.at(-1)?.position ?? state.position;
  return { records, refusals, lostStatuses, places, lastPosition, done };
}

function uidOf(object: JsonObject): Pick<FailedRecord, 'uid'> {
  const uid = textAt(object, 'uid', 'value');
  return uid === undefined ? {} : { uid };
}

async function runPart(plan: ImportPlan, part: Part): Promise<void> {
  const { records, refusals, places, ...end } = part;
  const { state } = plan;
  state.lostStatuses.push(...part.lostStatuses);
  const outcomes = [...refusals, ...(await plan.carryOut(records))];
  const failed: FailedRecord[] = [];
  for (const outcome of outcomes.sort((a, b) => a.position - b.position)) {
    state[outcome.result] += 1;
    if (outcome.result !== 'failed') continue;
    const record = failedRecord(outcome, places.get(outcome.position) ?? {});
    noteCause(state.causes, record);
    failed.push(record);
  }
  state.position = end.lastPosition;
  plan.save(state, failed, end.done);
  if (state.failed >= plan.maxErrors) throw new TooManyErrors();
}

/** The failure of a record that was refused here, with the status the server would have answered. */
export function refusal(position: number, error: unknown): Outcome {
  if (!(error instanceof CdrError)) throw error;
  const { status } = errorAnswer(error);
  return failure(
    position,
    new AnswerError(status, error.message, error.details.violations?.map(violationText)),
  );
}

function failedRecord(outcome: Extract<Outcome, { result: 'failed' }>, place: RecordPlace): FailedRecord {
  const { status, message, violations } = outcome;
  return { ...place, status, message, ...(violations.length > 0 && { validationErrors: violations }) };
}

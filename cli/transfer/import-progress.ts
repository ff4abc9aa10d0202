import { randomUUID } from 'node:crypto';
import {
  closeSync,
  existsSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { openPrivate } from '../output.js';
import type { JsonObject } from '../../openehr/base/json.js';
import type { AnswerError, ApiClient } from './api-client.js';

/** A record that was not imported. */
export interface FailedRecord {
  /** Line of the source, when it has lines. */
  readonly line?: number;
  /** File below the imported folder, when it is one. */
  readonly file?: string;
  /** Of the record, where it says them. */
  readonly ehr_id?: string;
  readonly uid?: string;
  /** HTTP status, or the one the server would have answered. */
  readonly status: number;
  readonly message: string;
  readonly validationErrors?: readonly string[];
}

/** One reason for many failures. */
export interface FailureCause {
  readonly status: number;
  readonly text: string;
  count: number;
  /** Where it was met first: a line, or a file. */
  readonly first: string;
}

/** How far an import has come; kept in a file so that another run goes on there. */
export interface ImportState {
  /** Names this import in Idempotency-Keys and new object ids, also after a crash. */
  readonly importId: string;
  /** What `now` is in FLAT, the same in every run. */
  readonly startedAt: string;
  /** Everything up to this record is done. */
  position: number;
  imported: number;
  unchanged: number;
  failed: number;
  /** EHRs that could not be created: nothing of theirs is imported. */
  refusedEhrs: string[];
  /** EHRs whose EHR_STATUS could not be read: they are not made without it. */
  lostStatuses: string[];
  /** EHRs that were made, and whose records the server refused all. */
  emptyEhrs: string[];
  /** Why records failed, without what differs from record to record. */
  causes: FailureCause[];
  /** Length of the error file then; what is behind it is of an unfinished part. */
  errorBytes: number;
}

/** What an earlier release did not write. */
type Later = 'lostStatuses' | 'emptyEhrs' | 'causes';
/** As it stands in the file. */
type SavedState = Omit<ImportState, Later> & Partial<Pick<ImportState, Later>>;

/** The two files of an import, of this user alone (0600): progress and errors. */
export class ImportFiles {
  readonly #progressFile: string;
  readonly #errorFile: string;

  constructor(progressFile: string, errorFile: string) {
    this.#progressFile = progressFile;
    this.#errorFile = errorFile;
  }

  /** The state of an earlier run that did not end, else a new one. */
  open(): { readonly state: ImportState; readonly isResumed: boolean } {
    if (existsSync(this.#progressFile)) {
      const saved = JSON.parse(readFileSync(this.#progressFile, 'utf8')) as SavedState;
      const state: ImportState = { lostStatuses: [], emptyEhrs: [], causes: [], ...saved };
      if (existsSync(this.#errorFile)) truncateSync(this.#errorFile, state.errorBytes);
      return { state, isResumed: true };
    }
    rmSync(this.#errorFile, { force: true });
    const counts = { position: 0, imported: 0, unchanged: 0, failed: 0, errorBytes: 0 };
    const state = {
      importId: randomUUID(),
      startedAt: new Date().toISOString(),
      ...counts,
      refusedEhrs: [],
      lostStatuses: [],
      emptyEhrs: [],
      causes: [],
    };
    this.#write(state);
    return { state, isResumed: false };
  }

  /** Notes failed records, then that everything up to `state.position` is done. */
  save(state: ImportState, failed: readonly FailedRecord[]): void {
    if (failed.length > 0) {
      const text = failed.map((record) => `${JSON.stringify(record)}\n`).join('');
      writePrivate(this.#errorFile, 'a', text);
      state.errorBytes += Buffer.byteLength(text);
    }
    this.#write(state);
  }

  /** The import has ended: there is nothing to go on with. */
  finish(): void {
    rmSync(this.#progressFile, { force: true });
  }

  /** In one step, so that a crash leaves the old state or the new one. */
  #write(state: ImportState): void {
    const temporary = `${this.#progressFile}.new`;
    writePrivate(temporary, 'w', JSON.stringify(state));
    renameSync(temporary, this.#progressFile);
  }
}

function writePrivate(file: string, flags: 'w' | 'a', text: string): void {
  const descriptor = openPrivate(file, flags);
  try {
    writeFileSync(descriptor, text);
  } finally {
    closeSync(descriptor);
  }
}

/** What became of one record. */
export type Outcome =
  | { readonly position: number; readonly result: 'imported' | 'unchanged' }
  | {
      readonly position: number;
      readonly result: 'failed';
      readonly status: number;
      readonly message: string;
      readonly violations: readonly string[];
    };

/** What all records of an import share. */
export interface ImportContext {
  readonly client: ApiClient;
  readonly importId: string;
  readonly keepsIds: boolean;
  /** COMPOSITIONs of one CONTRIBUTION. */
  readonly batchSize: number;
  /** EHRs that are known to exist. */
  readonly knownEhrs: Set<string>;
  /** EHRs that could not be created. */
  readonly refusedEhrs: Set<string>;
  /** Whether the source has an EHR_STATUS of the EHR that could not be read. */
  isStatusLost(ehrId: string): boolean;
  /** System id of the server; known once an EHR was seen. */
  systemId(): string;
  setSystemId(systemId: string): void;
  /** Why the server will refuse content of these templates; null: it knows them all. */
  missingTemplate(templateIds: readonly string[]): Promise<AnswerError | null>;
  /** Notes that an EHR was made and is empty. */
  noteEmpty(ehrId: string): void;
  /** Canonical JSON of FLAT. @throws CdrError `invalid`, `unprocessable` for an unknown template */
  fromFlat(flat: JsonObject, templateId: string): Promise<JsonObject>;
}

/** The outcome of a record that was refused. */
export function failure(position: number, error: AnswerError): Extract<Outcome, { result: 'failed' }> {
  const { status, message, violations } = error;
  return { position, result: 'failed', status, message, violations };
}

import type { JsonObject } from '../../openehr/base/json.js';
import type { AnswerError, ApiClient } from './api-client.js';

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
  /** System id of the server; known once an EHR was seen. */
  systemId(): string;
  setSystemId(systemId: string): void;
  /** Canonical JSON of FLAT. @throws CdrError `invalid`, `unprocessable` for an unknown template */
  fromFlat(flat: JsonObject, templateId: string): Promise<JsonObject>;
}

/** The outcome of a record that was refused. */
export function failure(position: number, error: AnswerError): Extract<Outcome, { result: 'failed' }> {
  const { status, message, violations } = error;
  return { position, result: 'failed', status, message, violations };
}

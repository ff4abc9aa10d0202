import type { QueryParameters } from '../aql/semantics/parameters.js';

/** What a request asks of a query, wherever it stood in it. */
export interface QueryRequest {
  readonly parameters: QueryParameters;
  readonly ehrId: string | null;
  readonly fetch: number | null;
  readonly offset: number | null;
  readonly asOf: Date | null;
  /** Whether the rows must tell which EHRs they are of. */
  readonly notesEhrs: boolean;
}

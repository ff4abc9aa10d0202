import type { CallOptions } from './options.js';

/** Which part of a report is read. */
export interface AccessReportFilter extends CallOptions {
  readonly from?: string | Date | undefined;
  readonly to?: string | Date | undefined;
  /** Of the words; that of the browser unless given. */
  readonly language?: 'en' | 'de' | undefined;
  /** `next` of the page before. */
  readonly after?: string | undefined;
  readonly fetch?: number | undefined;
}

/** One request that answered or changed something of an EHR. */
export interface ReportedAccess {
  readonly time: string;
  readonly user: string;
  /** In plain words. */
  readonly what: string;
  /** What for, in plain words. */
  readonly why?: string;
  readonly organisation?: string;
  readonly client_id?: string;
  readonly address?: string;
  /** Who acted for the user. */
  readonly actor?: string;
  readonly templates?: readonly string[];
  readonly categories?: readonly string[];
  readonly reason?: string;
  readonly operation: string;
  readonly status: number;
  /** It was of an EHR that this one was merged into by mistake, while it was. */
  readonly while_merged?: true;
  readonly request_id: string;
  readonly [more: string]: unknown;
}

/** A page of the report about an EHR, newest first. */
export interface AccessReport {
  readonly ehr_id: string;
  /** The EHR, and those that were merged into it. */
  readonly ehr_ids: readonly string[];
  /** Whether reads are recorded now. */
  readonly reads_recorded: boolean;
  readonly kept_years?: number;
  readonly entries: readonly ReportedAccess[];
  /** The `after` of the next page; absent: this was the last. */
  readonly next?: string;
}

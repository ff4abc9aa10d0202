/** Durations of the last hour in ms; null: none yet. */
export interface OverviewTimes {
  readonly count: number;
  readonly median: number | null;
  readonly p95: number | null;
}

/** A CONTRIBUTION as the overview lists it. */
export interface NewContribution {
  readonly uid: string;
  readonly ehr_id: string;
  readonly time_committed: string;
  readonly committer: string;
  readonly change_type: string;
  readonly versions: readonly { readonly uid: string; readonly type: string }[];
}

/** Something that goes on in the background; `done` of `of` EHRs, where that is known. */
export interface BackgroundJob {
  readonly kind:
    | ('verify' | 'reindex' | 'upgrade' | 'template_upgrade' | 'template_comparison')
    | ('merge' | 'unmerge' | 'erase');
  readonly started?: string;
  /** Of a merge in steps. */
  readonly phase?: 'planning' | 'moving';
  readonly done?: number;
  readonly of?: number;
}

/** Ten minutes of the last day of the process that answers. */
export interface DayPart {
  /** When they began. */
  readonly time: string;
  readonly requests: number;
  /** Answered with 500 or more. */
  readonly errors: number;
  /** Answered with 401. */
  readonly refused_sign_ins: number;
  /** Milliseconds; null: nothing was asked. */
  readonly median: number | null;
  readonly p95: number | null;
}

/** The server at a glance: counts, activity by minute, newest contributions, warnings. */
export interface Overview {
  readonly status: 'UP' | 'DOWN';
  readonly version: string;
  readonly system_id: string;
  readonly started: string;
  readonly database: {
    readonly version: string;
    /** What it takes of its disk; absent: it could not be asked. */
    readonly bytes?: number;
    /** The whole disk, bytes; null: the database does not say. */
    readonly disk?: { readonly used: number; readonly bytes: number } | null;
  };
  readonly user: {
    readonly name: string;
    readonly permissions: readonly string[];
    /** The record of a patient's own token. */
    readonly ehr_id?: string;
  } | null;
  readonly counts: {
    /** These three are absent for who sees only what policies of access permit. */
    readonly ehrs?: number;
    readonly compositions?: number;
    readonly compositions_exact?: boolean;
    readonly templates: number;
    readonly stored_queries: number;
  };
  readonly activity: {
    readonly minutes: readonly {
      readonly time: string;
      readonly commits: number;
      readonly queries: number;
    }[];
    readonly commit_ms: OverviewTimes;
    readonly query_ms: OverviewTimes;
    /** Oldest first; absent: the server does not keep it. */
    readonly day?: readonly DayPart[];
    /** Queries that wait for a place now. */
    readonly waiting_queries?: number;
  };
  /** The check of all that is stored which ended last; null: none did. */
  readonly verified?: { readonly time: string; readonly violations: number } | null;
  readonly slowest_queries: readonly {
    readonly time: string;
    readonly aql: string;
    readonly ms: number;
    /** Absent: policies of access hold for who asks. */
    readonly rows?: number;
  }[];
  /** What of requests was ignored since the process began, commonest first; absent: the server does not count it. */
  readonly ignored?: readonly { readonly kind: string; readonly name: string; readonly count: number }[];
  readonly contributions: readonly NewContribution[];
  readonly jobs: readonly BackgroundJob[];
  readonly warnings: readonly {
    readonly code: 'stale-index' | 'no-audit' | 'open-access';
    readonly message: string;
  }[];
}

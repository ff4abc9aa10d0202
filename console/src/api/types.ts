/** JSON of any shape: what the record holds is not known beforehand. */
export type Json = null | boolean | number | string | Json[] | { [name: string]: Json | undefined };

/** A JSON object. */
export type JsonObject = { [name: string]: Json | undefined };

/** `/console/settings.json` */
export interface ServerSettings {
  readonly version: string;
  readonly auth: 'none' | 'jwt' | 'basic' | 'jwt,basic';
  readonly has_passwords: boolean;
  readonly administration: boolean;
}

/** Durations in ms; null: none yet. */
export interface Times {
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

/** `GET /rest/overview` */
export interface Overview {
  readonly status: 'UP' | 'DOWN';
  readonly version: string;
  readonly system_id: string;
  readonly started: string;
  readonly database: { readonly version: string };
  readonly user: { readonly name: string; readonly permissions: readonly string[] } | null;
  readonly counts: {
    readonly ehrs: number;
    readonly compositions: number;
    readonly compositions_exact: boolean;
    readonly templates: number;
    readonly stored_queries: number;
  };
  readonly activity: {
    readonly minutes: readonly {
      readonly time: string;
      readonly commits: number;
      readonly queries: number;
    }[];
    readonly commit_ms: Times;
    readonly query_ms: Times;
  };
  readonly slowest_queries: readonly {
    readonly time: string;
    readonly aql: string;
    readonly ms: number;
    readonly rows: number;
  }[];
  readonly contributions: readonly NewContribution[];
  readonly warnings: readonly {
    readonly code: 'stale-index' | 'no-audit' | 'open-access';
    readonly message: string;
  }[];
}

/** A RESULT_SET, as far as it is shown. */
export interface ResultSet {
  readonly columns: readonly { readonly name: string; readonly path?: string }[];
  readonly rows: readonly (readonly Json[])[];
}

/** One query to run. */
export interface QueryRequest {
  readonly q: string;
  readonly query_parameters?: Readonly<Record<string, Json>>;
  readonly ehr_id?: string;
  readonly fetch?: number;
  readonly offset?: number;
  readonly as_of?: string;
}

/** What explain tells, as far as it is shown. */
export type Explanation = JsonObject;

/** A template in the list. */
export interface TemplateSummary {
  readonly template_id: string;
  readonly concept?: string;
  readonly archetype_id?: string;
  readonly created_timestamp?: string;
}

/** A node of a web template. */
export interface WebNode {
  readonly id: string;
  readonly name?: string;
  readonly localizedName?: string;
  readonly localizedNames?: Readonly<Record<string, string>>;
  readonly localizedDescriptions?: Readonly<Record<string, string>>;
  readonly rmType: string;
  readonly nodeId?: string;
  readonly min: number;
  readonly max: number;
  readonly aqlPath: string;
  readonly inContext?: boolean;
  readonly children?: readonly WebNode[];
  readonly inputs?: readonly WebInput[];
}

/** An input of a node of a web template. */
export interface WebInput {
  readonly suffix?: string;
  readonly type: string;
  readonly terminology?: string;
  readonly listOpen?: boolean;
  readonly list?: readonly {
    readonly value: string;
    readonly label?: string;
    readonly localizedLabels?: Readonly<Record<string, string>>;
    readonly localizedDescriptions?: Readonly<Record<string, string>>;
    readonly validation?: { readonly range?: Readonly<Record<string, number | string>> };
  }[];
  readonly validation?: {
    readonly range?: Readonly<Record<string, number | string>>;
    readonly pattern?: string;
  };
  readonly defaultValue?: Json;
}

/** A template for reading. */
export interface WebTemplate {
  readonly templateId: string;
  readonly defaultLanguage: string;
  readonly languages: readonly string[];
  readonly tree: WebNode;
}

/** A stored query in the list. */
export interface StoredQuery {
  readonly name: string;
  readonly version: string;
  readonly saved?: string;
  readonly q: string;
}

/** One AUDIT record. */
export type AuditRecord = JsonObject;

/** Which form of a COMPOSITION is asked for. */
export type CompositionFormat = 'JSON' | 'XML' | 'FLAT' | 'STRUCTURED';

/** A version of a COMPOSITION in the revision history, newest first. */
export interface Revision {
  readonly uid: string;
  readonly time: string;
  readonly changeType: string;
  readonly committer: string;
  readonly description: string;
}

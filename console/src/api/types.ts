import type { Column } from '@everchart/client';

/** JSON of any shape: what the record holds is not known beforehand. */
export type Json = null | boolean | number | string | Json[] | { [name: string]: Json | undefined };

/** A JSON object. */
export type JsonObject = { [name: string]: Json | undefined };

/** `/console/settings.json` */
export interface ServerSettings {
  readonly auth: 'none' | 'jwt' | 'basic' | 'jwt,basic';
  readonly has_passwords: boolean;
  /** Where to sign in with an identity provider; null: nowhere. */
  readonly oidc: { readonly issuer: string; readonly client_id: string } | null;
  readonly administration: boolean;
  /** What becomes of policies of access and marks. docs/access.md */
  readonly access_mode: 'off' | 'dry' | 'observe' | 'enforce';
  /** Whether a change of a policy waits for a second person. */
  readonly policies_take_two: boolean;
  /** ISO 3166-1 code of the country; null: the server does not say. */
  readonly territory: string | null;
  /** How long whoever has signed in may be away before the page is locked; null: as long as he likes. */
  readonly idle_minutes: number | null;
  /** Where the name, birth date and the like of a patient stand; empty: wherever in his EHR_STATUS. */
  readonly banner_paths: readonly string[];
  /** What a document may have, as canonical JSON. */
  readonly largest_document_bytes: number;
}

/** A RESULT_SET, as far as it is shown. */
export interface ResultSet {
  /** The query that is answered. */
  readonly q?: string;
  readonly columns: readonly Column[];
  readonly rows: readonly (readonly Json[])[];
  /** `_withheld`: an emergency would show more. `_least_patients`: of how many patients each count is, or is missing. */
  readonly meta?: {
    readonly warnings?: readonly QueryWarning[];
    readonly _withheld?: true;
    readonly _least_patients?: number;
  };
}

/** What the server doubts of a query that it carried out, such as a code that no template has. */
export interface QueryWarning {
  readonly code: string;
  readonly line: number;
  readonly column: number;
  readonly message: string;
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

/** What explain answers, as far as it is shown. */
export type Explanation = JsonObject;

/** The words of a stored archetype, by language. */
export interface ArchetypeTerms {
  /** Code of the concept, whose word names the archetype. */
  readonly concept: string;
  readonly terms: Readonly<
    Record<string, readonly { readonly code: string; readonly text: string; readonly description?: string }[]>
  >;
}

/** What can be done to an object; `query`: it is found by AQL, `export`: it leaves with others. */
export type Action = 'read' | 'create' | 'update' | 'delete' | 'query' | 'export';

/** Who asks, as policies see it. docs/access.md#who-asks */
export interface Subject {
  /** Id of the user; with `iss` it is unique. */
  readonly sub: string;
  readonly iss?: string;
  /** The application that asks for him. */
  readonly client?: string;
  /** Upper-cased. */
  readonly roles: readonly string[];
  readonly organisation?: string;
  readonly purpose?: string;
  /** The EHR of the user himself, who is a patient. */
  readonly ehr?: string;
  /** The one that his application was opened for: what scopes `patient/…` are about. Policies do not see it. */
  readonly openedFor?: string;
  readonly scopes: readonly string[];
}

import { json } from './answer.js';
import type { Send } from './http.js';
import type { AuditRecord } from './types.js';

/** What was done, or would be, by a merge. */
export interface MergeDetails {
  readonly source_ehr: string;
  readonly target_ehr: string;
  /** Absent of a dry run. */
  readonly merge_date?: string;
  readonly outcome: { readonly level: string; readonly summary: string };
}

/** What is asked of a merge. */
export interface MergeRequest {
  readonly source_ehr: string;
  readonly target_ehr: string;
  readonly reversible: boolean;
  readonly folder_merge: 'BASIC' | 'COPY';
  readonly composition_merge: 'BASIC' | 'PERSISTENT';
  readonly dry_run: boolean;
}

/** Which records of the audit are wanted; empty: all. */
export interface AuditFilter {
  readonly user?: string;
  readonly operation?: string;
  readonly ehr_id?: string;
  readonly status?: number;
  readonly from?: string;
  readonly to?: string;
  readonly offset?: number;
  readonly fetch?: number;
}

/** What needs the permission `admin` or `audit`. */
export interface AdministrationApi {
  /** @throws ApiError 401 or 403 for whoever is no administrator */
  adminStatus: () => Promise<unknown>;
  merge: (request: MergeRequest) => Promise<MergeDetails>;
  unmerge: (request: Pick<MergeRequest, 'source_ehr' | 'target_ehr' | 'dry_run'>) => Promise<MergeDetails>;
  merges: () => Promise<MergeDetails[]>;
  audit: (filter: AuditFilter) => Promise<AuditRecord[]>;
  auditCsv: (filter: AuditFilter) => Promise<string>;
  access: (ehrId: string) => Promise<AuditRecord[]>;
}

/** The part of the API that administrates. */
export function administrationApi(send: Send): AdministrationApi {
  const admin = '/rest/admin';
  return {
    adminStatus: () => json(send, { path: `${admin}/status` }),
    merge: (body) => json(send, { method: 'POST', path: `${admin}/ehr/merge`, body }),
    unmerge: (body) => json(send, { method: 'POST', path: `${admin}/ehr/unmerge`, body }),
    merges: () => json(send, { path: `${admin}/ehr/merge_status` }),
    audit: (filter) => json(send, { path: `${admin}/audit`, query: { ...filter } }),
    auditCsv: async (filter) => {
      const headers = { Accept: 'text/csv' };
      return (await send({ path: `${admin}/audit`, query: { ...filter }, headers })).text();
    },
    access: (ehrId) => json(send, { path: `${admin}/ehr/${encodeURIComponent(ehrId)}/access` }),
  };
}

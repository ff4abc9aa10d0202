import type { AuditFilter, AuditRecord, Cdr, MergeDetails, MergeRequest } from '@everchart/client';

/** What needs the permission `admin` or `audit`. */
export interface AdministrationApi {
  /** @throws CdrError 401 or 403 for whoever is no administrator */
  adminStatus: () => Promise<unknown>;
  planMerge: (request: MergeRequest) => Promise<MergeDetails>;
  merge: (request: MergeRequest) => Promise<MergeDetails>;
  unmerge: (request: Pair & { readonly dry_run: boolean }) => Promise<MergeDetails>;
  merges: () => Promise<MergeDetails[]>;
  /** Physically, with all that it holds. */
  eraseEhr: (ehrId: string) => Promise<void>;
  /** Checks everything that is stored; changes nothing. */
  verify: () => Promise<Readonly<Record<string, unknown>>>;
  audit: (filter: AuditFilter) => Promise<AuditRecord[]>;
  auditCsv: (filter: AuditFilter) => Promise<string>;
  access: (ehrId: string) => Promise<AuditRecord[]>;
}

interface Pair {
  readonly source_ehr: string;
  readonly target_ehr: string;
}

/** The part of the API that administrates. */
export function administrationApi(cdr: Cdr): AdministrationApi {
  const { admin } = cdr;
  return {
    adminStatus: () => cdr.request('GET', '/rest/admin/status'),
    planMerge: (wanted) => admin.merges.preview(wanted),
    merge: (wanted) => admin.merges.merge(wanted),
    unmerge: (wanted) => admin.merges.undo(wanted),
    merges: () => admin.merges.list(),
    eraseEhr: (ehrId) => admin.deleteEhr(ehrId),
    verify: () => admin.verify(),
    audit: (filter) => admin.audit(filter),
    auditCsv: async ({ user, operation, ehrId, fetch }) => {
      const query = { user, operation, ehr_id: ehrId, fetch };
      return (await cdr.request<string>('GET', '/rest/admin/audit', { query, accept: 'text/csv' })).body;
    },
    access: (ehrId) => admin.access(ehrId),
  };
}

import type {
  AuditFilter,
  AuditRecord,
  Cdr,
  MergeDetails,
  MergeRequest,
  UnmergeRequest,
} from '@everchart/client';

/** What needs the permission `admin` or `audit`. */
export interface AdministrationApi {
  /** @throws CdrError 401 or 403 for whoever is no administrator */
  adminStatus: () => Promise<unknown>;
  planMerge: (request: MergeRequest) => Promise<MergeDetails>;
  merge: (request: MergeRequest) => Promise<MergeDetails>;
  unmerge: (request: UnmergeRequest) => Promise<MergeDetails>;
  /** Those that stand, oldest first; `pending`: those that wait for another administrator. */
  merges: (filter?: { readonly pending?: boolean }) => Promise<MergeDetails[]>;
  confirmMerge: (mergeId: string, body: Confirmation) => Promise<MergeDetails>;
  withdrawMerge: (mergeId: string, reason: string) => Promise<MergeDetails>;
  /** It can never be taken back from then on. */
  finaliseMerge: (mergeId: string, reason: string) => Promise<MergeDetails>;
  /** Physically, with all that it holds. */
  eraseEhr: (ehrId: string) => Promise<void>;
  /** Checks everything that is stored; changes nothing. */
  verify: () => Promise<Readonly<Record<string, unknown>>>;
  audit: (filter: AuditFilter) => Promise<AuditRecord[]>;
  auditCsv: (filter: AuditFilter) => Promise<string>;
  access: (ehrId: string) => Promise<AuditRecord[]>;
}

/** `digest`: of the plan that was looked at. */
interface Confirmation {
  readonly digest?: string;
  readonly dry_run?: boolean;
}

/** The most that the server lists at once. */
const MERGES_AT_ONCE = 1_000;

/** The part of the API that administrates. */
export function administrationApi(cdr: Cdr): AdministrationApi {
  const { admin } = cdr;
  return {
    adminStatus: () => cdr.request('GET', '/rest/admin/status'),
    planMerge: (wanted) => admin.merges.preview(wanted),
    merge: (wanted) => admin.merges.merge(wanted),
    unmerge: (wanted) => admin.merges.undo(wanted),
    merges: async (filter = {}) => {
      const all: MergeDetails[] = [];
      for (let page = 0; all.length === page * MERGES_AT_ONCE; page += 1) {
        const query = { ...filter, offset: all.length, fetch: MERGES_AT_ONCE };
        const path = '/rest/admin/ehr/merge_status';
        all.push(...(await cdr.request<MergeDetails[]>('GET', path, { query })).body);
      }
      return all;
    },
    confirmMerge: (mergeId, body) => admin.merges.confirm(mergeId, body),
    withdrawMerge: (mergeId, reason) => admin.merges.withdraw(mergeId, reason === '' ? undefined : reason),
    finaliseMerge: async (mergeId, reason) => {
      const path = `/rest/admin/ehr/merge/${encodeURIComponent(mergeId)}/finalise`;
      return (await cdr.request<MergeDetails>('POST', path, { body: { reason } })).body;
    },
    eraseEhr: (ehrId) => admin.deleteEhr(ehrId),
    verify: () => admin.verify(),
    audit: (filter) => admin.audit(filter),
    auditCsv: async ({ user, operation, ehrId, status, from, to, fetch }) => {
      const [first, last] = [from, to].map((time) => (time instanceof Date ? time.toISOString() : time));
      const query = { user, operation, status, from: first, to: last, ehr_id: ehrId, fetch };
      return (await cdr.request<string>('GET', '/rest/admin/audit', { query, accept: 'text/csv' })).body;
    },
    access: (ehrId) => admin.access(ehrId),
  };
}

import {
  CdrError,
  type Approval,
  type AuditFilter,
  type AuditRecord,
  type Cdr,
  type EhrPage,
  type MergeDetails,
  type MergeRequest,
  type UnmergeRequest,
} from '@everchart/client';

import { definitionsApi, type DefinitionsApi } from './definitions.js';

/** What needs the permission `admin` or `audit`. */
export interface AdministrationApi extends DefinitionsApi {
  /** @throws CdrError 401 or 403 for whoever is no administrator */
  adminStatus: () => Promise<unknown>;
  /** Who asks, what roles may do, which users the server itself knows. */
  permissions: () => Promise<PermissionsReport>;
  /** Makes a user with a password, or changes one: without `password` he keeps his. */
  saveUser: (name: string, change: UserChange) => Promise<void>;
  removeUser: (name: string) => Promise<void>;
  /** All EHRs by their ids, those that queries leave out too. */
  allEhrs: (page: { readonly after?: string; readonly fetch: number }) => Promise<EhrPage>;
  planMerge: (request: MergeRequest) => Promise<MergeDetails>;
  merge: (request: MergeRequest) => Promise<MergeDetails>;
  unmerge: (request: UnmergeRequest) => Promise<MergeDetails>;
  /** Those that stand, oldest first; `pending`: those that wait for another administrator; `undone`: those that were taken back. */
  merges: (filter?: { readonly pending?: true; readonly undone?: true }) => Promise<MergeDetails[]>;
  /** Those that ended in an EHR, through others too, and that can still be taken back. */
  mergesInto: (ehrId: string) => Promise<MergeDetails[]>;
  confirmMerge: (mergeId: string, body: Confirmation) => Promise<MergeDetails>;
  withdrawMerge: (mergeId: string, reason: string) => Promise<MergeDetails>;
  /** It can never be taken back from then on. */
  finaliseMerge: (mergeId: string, reason: string) => Promise<MergeDetails>;
  /** Two persons that look alike: no candidates any more. */
  sayDistinct: (pair: readonly [string, string], reason: string) => Promise<void>;
  takeBackDistinct: (pair: readonly [string, string]) => Promise<void>;
  /** Newest first. */
  distinct: () => Promise<readonly DistinctPair[]>;
  /** EHRs that may be of one person: of one EHR, or a page of all after an EHR id. */
  mergeCandidates: (search: CandidateSearch) => Promise<CandidatePage>;
  /** Physically, with all that it holds. Gives what waits. */
  eraseEhr: (ehrId: string, erasure: Erasure) => Promise<Approval | undefined>;
  /** What waits for a second person, merges too, oldest first. */
  approvals: () => Promise<Approval[]>;
  confirmApproval: (id: string, body: Confirmation) => Promise<Approval>;
  withdrawApproval: (id: string, reason: string) => Promise<Approval>;
  /** Checks everything that is stored; changes nothing. */
  verify: () => Promise<Readonly<Record<string, unknown>>>;
  audit: (filter: AuditFilter) => Promise<AuditRecord[]>;
  auditCsv: (filter: AuditFilter) => Promise<string>;
  /** A document that was written for another patient; `isPlan`: what it would do. Gives what waits, or what it did or would do. */
  moveComposition: (move: Move) => Promise<MoveDetails | Approval>;
}

/** `digest`: of the plan that was looked at. */
interface Confirmation {
  readonly digest?: string;
  readonly dry_run?: boolean;
}

/** A user that the server itself knows. */
export interface KnownUser {
  readonly name: string;
  readonly roles: readonly string[];
}

/** What a user is to be. */
interface UserChange {
  readonly roles: readonly string[];
  readonly password?: string;
}

/** Who may do what. */
export interface PermissionsReport {
  readonly user: (KnownUser & { readonly permissions: readonly string[] }) | null;
  readonly roles: readonly { readonly role: string; readonly permissions: readonly string[] }[];
  /** null: the identity provider knows them, not the server. */
  readonly users: readonly KnownUser[] | null;
}

/** Which document goes to which record, and why. */
interface Move {
  readonly ehrId: string;
  readonly containerUid: string;
  readonly targetEhr: string;
  readonly reason: string;
  readonly isPlan: boolean;
}

/** Why a record is erased; `cascade`: with what would take back the merges that ended in it. */
interface Erasure {
  readonly cascade: boolean;
  readonly reason?: string;
  readonly requested_by?: string;
}

/** What moving a document did, or would do. */
export interface MoveDetails {
  readonly versions: number;
  readonly contributions: number;
  readonly contributions_kept?: readonly string[];
  readonly item_tags?: number;
  readonly folder_items: readonly { readonly folder: string; readonly item: string }[];
}

/** Two EHRs of two persons that look alike. */
export interface DistinctPair {
  readonly ehr_id: string;
  readonly other_ehr_id: string;
  readonly reason: string;
  readonly said_by: string;
  readonly said_at: string;
}

function distinctPath([left, right]: readonly [string, string]): string {
  return `/rest/admin/ehr/${encodeURIComponent(left)}/distinct/${encodeURIComponent(right)}`;
}

/** Whose candidates: of one EHR, else of all, behind an EHR id. */
interface CandidateSearch {
  readonly ehrId?: string | undefined;
  readonly after?: string | undefined;
}

/** Why two EHRs may be of one person. docs/spec/merge.md#candidates */
export interface CandidateReason {
  readonly code: 'subject_id' | 'identifier' | 'path';
  readonly value: string;
  readonly shared_by: number;
  readonly namespaces?: readonly string[];
  readonly issuer?: string;
  readonly type?: string;
  readonly path?: string;
}

/** Two EHRs that may be of one person. */
export interface MergeCandidate {
  readonly ehr_id: string;
  readonly other_ehr_id: string;
  /** 0 to 1. */
  readonly score: number;
  readonly reasons: readonly CandidateReason[];
  readonly against?: readonly { readonly namespace: string }[];
  /** Merges that wait with one of both. */
  readonly pending?: readonly object[];
}

/** What one search found. */
interface CandidatePage {
  readonly candidates: readonly MergeCandidate[];
  readonly examined_ehrs: number;
  /** Values of too many EHRs to be evidence. */
  readonly no_evidence: readonly { readonly value: string }[];
  /** Where to go on; missing: that was all. */
  readonly next?: string;
  /** What is missing until `everchart upgrade` or `reindex` has run. */
  readonly incomplete?: readonly string[];
}

/** Pairs that a page lists. */
const CANDIDATES_AT_ONCE = 20;

/** The most that the server lists at once. */
const MERGES_AT_ONCE = 1_000;
const APPROVALS_AT_ONCE = 1_000;

/** The part of the API that administrates. */
export function administrationApi(cdr: Cdr): AdministrationApi {
  const { admin } = cdr;
  return {
    adminStatus: () => cdr.request('GET', '/rest/admin/status'),
    permissions: async () => (await cdr.request<PermissionsReport>('GET', '/rest/admin/permissions')).body,
    saveUser: async (name, body) => {
      await cdr.request('PUT', `/rest/admin/user/${encodeURIComponent(name)}`, { body });
    },
    removeUser: async (name) => {
      await cdr.request('DELETE', `/rest/admin/user/${encodeURIComponent(name)}`);
    },
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
    mergesInto: async (ehrId) => {
      try {
        const found = await admin.merges.list({ target: ehrId, cascaded: true });
        return found.filter(({ reversible_now: canBeUndone }) => canBeUndone === true);
      } catch (error) {
        // The server's word for none.
        if (error instanceof CdrError && error.status === 404) return [];
        throw error;
      }
    },
    confirmMerge: (mergeId, body) => admin.merges.confirm(mergeId, body),
    withdrawMerge: (mergeId, reason) => admin.merges.withdraw(mergeId, reason === '' ? undefined : reason),
    finaliseMerge: async (mergeId, reason) => {
      const path = `/rest/admin/ehr/merge/${encodeURIComponent(mergeId)}/finalise`;
      return (await cdr.request<MergeDetails>('POST', path, { body: { reason } })).body;
    },
    mergeCandidates: async ({ ehrId, after }) => {
      const query = ehrId === undefined ? { after, fetch: CANDIDATES_AT_ONCE } : { ehr_id: ehrId };
      const path = '/rest/admin/ehr/merge_candidates';
      return (await cdr.request<CandidatePage>('GET', path, { query })).body;
    },
    sayDistinct: async (pair, reason) => {
      await cdr.request('PUT', distinctPath(pair), { body: { reason } });
    },
    takeBackDistinct: async (pair) => {
      await cdr.request('DELETE', distinctPath(pair));
    },
    distinct: async () =>
      (await cdr.request<{ distinct: readonly DistinctPair[] }>('GET', '/rest/admin/ehr/distinct')).body
        .distinct,
    allEhrs: (page) => admin.ehrs(page),
    eraseEhr: (ehrId, { requested_by: requestedBy, ...erasure }) =>
      admin.deleteEhr(ehrId, { ...erasure, requestedBy }),
    approvals: () => admin.approvals.list({ fetch: APPROVALS_AT_ONCE }),
    confirmApproval: (id, body) => admin.approvals.confirm(id, body),
    withdrawApproval: (id, reason) => admin.approvals.withdraw(id, reason === '' ? undefined : reason),
    verify: () => admin.verify(),
    audit: (filter) => admin.audit(filter),
    auditCsv: async ({ user, operation, ehrId, status, from, to, fetch }) => {
      const [first, last] = [from, to].map((time) => (time instanceof Date ? time.toISOString() : time));
      const query = { user, operation, status, from: first, to: last, ehr_id: ehrId, fetch };
      return (await cdr.request<string>('GET', '/rest/admin/audit', { query, accept: 'text/csv' })).body;
    },
    moveComposition: async ({ ehrId, containerUid, targetEhr, reason, isPlan }) => {
      const path = `/rest/admin/ehr/${encodeURIComponent(ehrId)}/composition/${encodeURIComponent(containerUid)}/move`;
      const body = { target_ehr: targetEhr, ...(reason !== '' && { reason }), dry_run: isPlan };
      return (await cdr.request<MoveDetails | Approval>('POST', path, { body })).body;
    },
    ...definitionsApi(cdr),
  };
}

import type { EHR_STATUS } from '../../rm/src/generated/types.js';
import type { AccessReport, AccessReportFilter } from './access-report.js';
import { Approvals, type Approval } from './approvals.js';
import { commitHeaders, path, timeText, type Caller } from './call.js';
import type { ListedEhr } from './ehr.js';
import type { CallOptions } from './options.js';

/** Which records of the audit are read. */
export interface AuditFilter extends CallOptions {
  readonly from?: string | Date | undefined;
  readonly to?: string | Date | undefined;
  readonly user?: string | undefined;
  /** An operation's id. */
  readonly operation?: string | undefined;
  readonly status?: number | undefined;
  readonly ehrId?: string | undefined;
  /** Which come first; the newest unless given. */
  readonly order?: 'newest' | 'oldest' | undefined;
  /** `id` of the last record of the page before, or `next` of a page of events. */
  readonly after?: string | undefined;
  readonly offset?: number | undefined;
  readonly fetch?: number | undefined;
}

/** One record of the audit. */
export interface AuditRecord {
  readonly time: string;
  readonly user: string;
  readonly operation: string;
  readonly status: number;
  readonly request_id: string;
  /** Absent: an older server. */
  readonly id?: string;
  readonly [member: string]: unknown;
}

/** A page of the audit as FHIR AuditEvents. */
export interface AuditEventPage {
  readonly events: readonly Readonly<Record<string, unknown>>[];
  /** The `after` of the next page; absent: this was the last. */
  readonly next?: string;
}

/** What survives where both EHRs say something. */
export interface MergeResolutions {
  /** By template id, or by object id of either composition of a pair. */
  readonly compositions?: Readonly<Record<string, 'source' | 'target' | 'both'>> | undefined;
  readonly ehr_status?:
    | Readonly<
        Partial<Record<'subject' | 'is_queryable' | 'is_modifiable' | 'other_details', 'source' | 'target'>>
      >
    | undefined;
}

/** How two EHRs are merged. */
export interface MergeRequest {
  readonly source_ehr: string;
  readonly target_ehr: string;
  /** Whether it can be undone. */
  readonly reversible: boolean;
  readonly folder_merge?: 'BASIC' | 'COPY' | undefined;
  readonly composition_merge?: 'BASIC' | 'PERSISTENT' | undefined;
  readonly resolutions?: MergeResolutions | undefined;
  readonly [more: string]: unknown;
}

/** How a merge is taken back. */
export interface UnmergeRequest {
  readonly source_ehr: string;
  readonly target_ehr: string;
  readonly dry_run?: boolean | undefined;
  /** What becomes of the `obstacles` that a 409 names: one choice for all, or one for each by its id. */
  readonly on_conflict?: ConflictChoice | Readonly<Record<string, ConflictChoice>> | undefined;
  readonly reason?: string | undefined;
  readonly requested_by?: string | undefined;
}

/** What becomes of something that was changed after a merge. */
export type ConflictChoice = 'keep_in_target' | 'take_back';

/** A merge that was done, or with `dry_run` what it would do. */
export interface MergeDetails {
  readonly source_ehr: string;
  readonly target_ehr: string;
  readonly merge_date?: string;
  readonly merge_id?: string;
  /** It waits for another administrator, who confirms it. */
  readonly state?: 'pending';
  /** What it does, of a preview and of the answer to a merge. */
  readonly plan?: { readonly digest: string; readonly [more: string]: unknown };
  readonly outcome: { readonly level: string; readonly summary: string };
  readonly [more: string]: unknown;
}

/** Two EHRs that may be of one person. */
export interface MergeCandidate {
  readonly ehr_id: string;
  readonly other_ehr_id: string;
  /** From 0 to 1. */
  readonly score: number;
  readonly reasons: readonly {
    readonly code: 'subject_id' | 'identifier' | 'path';
    readonly value: string;
    /** How many EHRs have the value. */
    readonly shared_by: number;
    readonly [more: string]: unknown;
  }[];
  readonly [more: string]: unknown;
}

/** Why something is erased, and who asked for it: the audit keeps both. */
export interface ErasureOptions extends CallOptions {
  readonly reason?: string | undefined;
  readonly requestedBy?: string | undefined;
}

/** One page of all EHRs, by their ids. */
export interface EhrPage {
  readonly ehrs: readonly ListedEhr[];
  /** The `after` of the next page; absent: this was the last. */
  readonly next?: string;
}

/** One page of candidates. */
export interface MergeCandidates {
  readonly candidates: readonly MergeCandidate[];
  /** Values that too many EHRs share. */
  readonly no_evidence: readonly { readonly code: string; readonly value: string; readonly path?: string }[];
  readonly examined_ehrs: number;
  /** The `after` of the next page; absent: this was the last. A page may be empty and not be the last. */
  readonly next?: string;
  /** What is missing, and why. */
  readonly incomplete?: readonly string[];
}

const ADMIN = '/rest/admin';

interface Bundle {
  readonly link: readonly { readonly relation: string; readonly url: string }[];
  readonly entry: readonly { readonly resource: Readonly<Record<string, unknown>> }[];
}

function auditQuery({ from, to, user, operation, status, ehrId, order, after, offset, fetch }: AuditFilter) {
  const which = { from: timeText(from), to: timeText(to), user, operation, status, ehr_id: ehrId };
  return { ...which, order, after, offset, fetch };
}

/**
 * Administration. Deletions are physical and cannot be undone. Needs the permission `admin`, the audit `audit`. Where the server
 * asks for two persons (`FOUR_EYES`) a deletion gives what waits for the other one.
 */
export class Admin {
  readonly merges: Merges;
  readonly approvals: Approvals;
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
    this.merges = new Merges(caller);
    this.approvals = new Approvals(caller);
  }

  /** All EHRs, those that queries leave out too. @throws CdrError */
  async ehrs({ signal, ...page }: CallOptions & { after?: string; fetch?: number } = {}): Promise<EhrPage> {
    return this.#caller.body('GET', `${ADMIN}/ehr`, { query: page, signal });
  }

  /** Erases an EHR with all it holds; `cascade`: with those that were merged into it. @throws CdrError `conflict` */
  async deleteEhr(
    ehrId: string,
    { cascade, ...options }: ErasureOptions & { cascade?: boolean | undefined } = {},
  ): Promise<Approval | undefined> {
    return this.#erase(path`/ehr/${ehrId}`, options, cascade);
  }

  /** Gives an EHR a new EHR_STATUS. @throws CdrError */
  async updateEhr(ehrId: string, status: EHR_STATUS, { signal }: CallOptions = {}): Promise<void> {
    await this.#caller.answer('PUT', ADMIN + path`/ehr/${ehrId}`, { body: status, signal });
  }

  /** Erases all versions of a COMPOSITION. @throws CdrError */
  async deleteComposition(
    ehrId: string,
    id: string,
    options: ErasureOptions = {},
  ): Promise<Approval | undefined> {
    return this.#erase(path`/ehr/${ehrId}/composition/${id}`, options);
  }

  /** Erases all versions of a directory. @throws CdrError */
  async deleteDirectory(
    ehrId: string,
    id: string,
    options: ErasureOptions = {},
  ): Promise<Approval | undefined> {
    return this.#erase(path`/ehr/${ehrId}/directory/${id}`, options);
  }

  /** Replaces a template that nothing uses. @throws CdrError `unprocessable` when it is used */
  async updateTemplate(id: string, opt: string, { signal }: CallOptions = {}): Promise<void> {
    const call = { body: opt, type: 'application/xml', accept: '*/*', signal };
    await this.#caller.answer('PUT', ADMIN + path`/template/${id}`, call);
  }

  /** @throws CdrError `unprocessable` when it is used */
  async deleteTemplate(id: string, options: CallOptions = {}): Promise<void> {
    await this.#delete(path`/template/${id}`, options);
  }

  /** Those that nothing uses. Their number. @throws CdrError */
  async deleteAllTemplates({ signal }: CallOptions = {}): Promise<number> {
    const where = `${ADMIN}/template/all`;
    return (await this.#caller.body<{ deleted: number }>('DELETE', where, { signal })).deleted;
  }

  /** @throws CdrError */
  async deleteStoredQuery(name: string, version: string, options: CallOptions = {}): Promise<void> {
    await this.#delete(path`/query/${name}/${version}`, options);
  }

  /** Newest first unless `order` says otherwise. @throws CdrError */
  async audit(filter: AuditFilter = {}): Promise<AuditRecord[]> {
    const { signal } = filter;
    return this.#caller.body('GET', `${ADMIN}/audit`, { query: auditQuery(filter), signal });
  }

  /** The same as FHIR R4 AuditEvents, one for each EHR that a record names. @throws CdrError */
  async auditEvents(filter: AuditFilter = {}): Promise<AuditEventPage> {
    const { signal } = filter;
    const query = { ...auditQuery(filter), format: 'fhir' };
    const call = { query, signal, accept: 'application/fhir+json' };
    const { link, entry } = await this.#caller.body<Bundle>('GET', `${ADMIN}/audit`, call);
    const next = link.find(({ relation }) => relation === 'next')?.url;
    const after = next === undefined ? null : new URL(next).searchParams.get('after');
    return { events: entry.map(({ resource }) => resource), ...(after !== null && { next: after }) };
  }

  /**
   * The patient's report: who saw and changed what of an EHR, in plain words. For whoever has the permission `audit` or `admin`, and
   * for the patient with his own token. @throws CdrError `forbidden` for everybody else
   */
  async accessReport(ehrId: string, filter: AccessReportFilter = {}): Promise<AccessReport> {
    const { from, to, signal, ...rest } = filter;
    const query = { ...rest, from: timeText(from), to: timeText(to) };
    return this.#caller.body('GET', path`/rest/ehrs/${ehrId}/access`, { query, signal });
  }

  /** Who saw or changed an EHR. @throws CdrError */
  async access(ehrId: string, filter: Omit<AuditFilter, 'ehrId'> = {}): Promise<AuditRecord[]> {
    const { from, to, signal, ...rest } = filter;
    const query = { ...rest, from: timeText(from), to: timeText(to) };
    return this.#caller.body('GET', ADMIN + path`/ehr/${ehrId}/access`, { query, signal });
  }

  /** Checks everything that is stored. @throws CdrError `conflict` while one is running */
  async verify({ since, signal }: CallOptions & { since?: string } = {}): Promise<Record<string, unknown>> {
    return this.#caller.body('POST', `${ADMIN}/verify`, { query: { since }, signal });
  }

  /** The head of the seals. @throws CdrError */
  async seal({ signal }: CallOptions = {}): Promise<Record<string, unknown>> {
    return this.#caller.body('GET', `${ADMIN}/seal`, { signal });
  }

  async #erase(
    where: string,
    { reason, requestedBy, signal }: ErasureOptions,
    cascade?: boolean,
  ): Promise<Approval | undefined> {
    const query = { cascade, reason, requested_by: requestedBy };
    const { status, body } = await this.#caller.answer<Approval>('DELETE', ADMIN + where, { query, signal });
    return status === 202 ? body : undefined;
  }

  async #delete(where: string, { signal }: CallOptions): Promise<void> {
    await this.#caller.answer('DELETE', ADMIN + where, { signal });
  }
}

/** Merges of EHRs. Not of EHRbase. */
export class Merges {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /** EHRs that may be of one person: those of one EHR, or a page of all. @throws CdrError */
  async candidates(
    filter: CallOptions &
      (
        { ehrId: string; after?: never; fetch?: never } | { ehrId?: never; after?: string; fetch?: number }
      ) = {},
  ): Promise<MergeCandidates> {
    const { ehrId, signal, ...page } = filter;
    const query = { ...page, ehr_id: ehrId };
    return this.#caller.body('GET', `${ADMIN}/ehr/merge_candidates`, { query, signal });
  }

  /** What a merge would do. @throws CdrError */
  async preview(request: MergeRequest, options: CallOptions = {}): Promise<MergeDetails> {
    return this.#post('/ehr/merge', { ...request, dry_run: true }, options);
  }

  /** Dissolves the source in the target. @throws CdrError `conflict` */
  async merge(request: MergeRequest, options: CallOptions = {}): Promise<MergeDetails> {
    return this.#post('/ehr/merge', request, options);
  }

  /**
   * Carries out a merge that another administrator asked for; `digest`: of the plan that is agreed on, else that of the
   * request. @throws CdrError `conflict` when the plan is another one now, `forbidden` for who asked for it
   */
  async confirm(
    mergeId: string,
    body: { readonly digest?: string; readonly dry_run?: boolean } = {},
    options: CallOptions = {},
  ): Promise<MergeDetails> {
    return this.#post(path`/ehr/merge/${mergeId}/confirm`, body, options);
  }

  /** Ends a merge that waits for approval. @throws CdrError `not-found` when none waits */
  async withdraw(mergeId: string, reason?: string, options: CallOptions = {}): Promise<MergeDetails> {
    const body = reason === undefined ? {} : { reason };
    return this.#post(path`/ehr/merge/${mergeId}/withdraw`, body, options);
  }

  /** Undoes a reversible merge. @throws CdrError with `reasons`, the `obstacles` in its `body` */
  async undo(request: UnmergeRequest, options: CallOptions = {}): Promise<MergeDetails> {
    return this.#post('/ehr/unmerge', request, options);
  }

  /** Oldest first. @throws CdrError `not-found` when a filter is given and nothing fits */
  async list(
    filter: CallOptions & {
      source?: string;
      target?: string;
      cascaded?: boolean;
      undone?: boolean;
      pending?: boolean;
    } = {},
  ): Promise<MergeDetails[]> {
    const { signal, ...query } = filter;
    return this.#caller.body('GET', `${ADMIN}/ehr/merge_status`, { query, signal });
  }

  /** The direct merge of two EHRs. @throws CdrError `not-found` */
  async details(source: string, target: string, { signal }: CallOptions = {}): Promise<MergeDetails> {
    const query = { source, target };
    return this.#caller.body('GET', `${ADMIN}/ehr/merge_details`, { query, signal });
  }

  /** Where the data of an EHR are now. @throws CdrError `not-found` when it was not merged */
  async target(ehrId: string, { signal }: CallOptions = {}): Promise<string> {
    return this.#caller.body('GET', ADMIN + path`/ehr/merge_target/${ehrId}`, { signal });
  }

  #post(where: string, body: object, { signal }: CallOptions): Promise<MergeDetails> {
    return this.#caller.body('POST', ADMIN + where, { body, headers: commitHeaders({}), signal });
  }
}

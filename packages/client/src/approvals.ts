import { path, type Caller } from './call.js';
import type { CallOptions } from './options.js';

const ADMIN = '/rest/admin';

/** What waits for a second person, or waited. */
export interface Approval {
  readonly approval_id: string;
  readonly kind: 'merge' | 'move' | 'erase' | 'finalise' | 'policy';
  /** The operation's id. */
  readonly operation: string;
  readonly state: 'pending' | 'done' | 'withdrawn';
  readonly summary: string;
  readonly ehr_ids: readonly string[];
  /** Of a policy of access that is to be changed. */
  readonly policy_id?: string;
  readonly reason?: string;
  /** On whose behalf. */
  readonly requested_by?: string;
  readonly requested: { readonly date: string; readonly administrator: string };
  /** When it lapses. */
  readonly expires?: string;
  readonly plan: { readonly digest: string; readonly [more: string]: unknown };
  /** What the operation answered, once it was confirmed. */
  readonly result?: Readonly<Record<string, unknown>>;
  readonly [more: string]: unknown;
}

/** What waits for a second person. Not of EHRbase. */
export class Approvals {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /** All that waits, merges too, oldest first; `ehrId`: that changes this EHR. @throws CdrError */
  async list({
    ehrId,
    signal,
    ...page
  }: CallOptions & { ehrId?: string; offset?: number; fetch?: number } = {}): Promise<Approval[]> {
    return this.#caller.body('GET', `${ADMIN}/approval`, { query: { ...page, ehr_id: ehrId }, signal });
  }

  /**
   * Carries out what another person asked for; `digest`: of the plan that is agreed on, else that of the request.
   * @throws CdrError `conflict` when the plan is another one now, `forbidden` for the person who asked for it
   */
  async confirm(
    id: string,
    body: { readonly digest?: string; readonly dry_run?: boolean } = {},
    { signal }: CallOptions = {},
  ): Promise<Approval> {
    return this.#caller.body('POST', ADMIN + path`/approval/${id}/confirm`, { body, signal });
  }

  /** Ends what waits. @throws CdrError `not-found` when nothing does */
  async withdraw(id: string, reason?: string, { signal }: CallOptions = {}): Promise<Approval> {
    const body = reason === undefined ? {} : { reason };
    return this.#caller.body('POST', ADMIN + path`/approval/${id}/withdraw`, { body, signal });
  }
}

import { path, type Caller } from './call.js';
import type { CallOptions } from './options.js';

/** How data of one revision of a template become those of the newest. */
export interface UpgradeRequest {
  /** As `everchart template test` tries them. */
  readonly rules: readonly object[];
  /** Number or digest of the revision whose data are meant; absent: the one before the newest. */
  readonly from?: string | undefined;
  /** Also what is valid as it is gets a new VERSION. */
  readonly rewrite?: boolean | undefined;
}

/** What an upgrade would do. Counts are of COMPOSITIONs. */
export interface UpgradePlan {
  readonly hash: string;
  /** Numbers of the revisions. */
  readonly from: string;
  readonly to: string;
  readonly valid: number;
  readonly mappable: number;
  readonly invalid: number;
  readonly unproven: number;
  readonly others: number;
  readonly causes: readonly {
    readonly path: string;
    readonly message: string;
    readonly count: number;
    readonly examples: readonly string[];
  }[];
  readonly examples: readonly { readonly uid: string; readonly before: object; readonly after: object }[];
}

/** An upgrade as it is now. */
export interface TemplateUpgrade {
  readonly job: string;
  readonly template_id: string;
  readonly state: 'running' | 'paused' | 'done' | 'undoing' | 'undone';
  /** Why it stopped by itself. */
  readonly reason?: string;
  readonly from: { readonly revision: string; readonly digest: string };
  readonly to: { readonly revision: string; readonly digest: string };
  readonly started_at: string;
  readonly started_by: string;
  readonly finished_at?: string;
  readonly upgraded: number;
  readonly undone: number;
  readonly left: number;
  /** The first of what was left as it is. */
  readonly left_ones: readonly { readonly ehr_id: string; readonly uid: string; readonly reason: string }[];
}

/** Upgrades of the data of templates. All need the permission `admin`. Not of EHRbase. */
export class TemplateUpgrades {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /** What rules would do; changes nothing. @throws CdrError `invalid` for rules that are none */
  async plan(id: string, request: UpgradeRequest, { signal }: CallOptions = {}): Promise<UpgradePlan> {
    const call = { body: request, query: { dry_run: true }, signal };
    return this.#caller.body('POST', path`/rest/admin/template/${id}/upgrade`, call);
  }

  /** Begins what was planned; gives the id of the job. @throws CdrError `conflict` when the data moved on since */
  async begin(
    id: string,
    request: UpgradeRequest & { readonly hash: string },
    { signal }: CallOptions = {},
  ): Promise<string> {
    const where = path`/rest/admin/template/${id}/upgrade`;
    const { job } = await this.#caller.body<{ job: string }>('POST', where, { body: request, signal });
    return job;
  }

  /** Those of a template, newest first. @throws CdrError `not-found` */
  async list(id: string, { signal }: CallOptions = {}): Promise<TemplateUpgrade[]> {
    return this.#caller.body('GET', path`/rest/admin/template/${id}/upgrade`, { signal });
  }

  /** How far one is. @throws CdrError `not-found` */
  async get(id: string, job: string, { signal }: CallOptions = {}): Promise<TemplateUpgrade> {
    return this.#caller.body('GET', path`/rest/admin/template/${id}/upgrade/${job}`, { signal });
  }

  /** Pauses one, lets it go on, or takes it back. @throws CdrError `conflict` for what its state does not allow */
  async steer(
    id: string,
    job: string,
    word: 'pause' | 'resume' | 'undo',
    { signal }: CallOptions = {},
  ): Promise<TemplateUpgrade> {
    return this.#caller.body('POST', path`/rest/admin/template/${id}/upgrade/${job}/${word}`, { signal });
  }
}

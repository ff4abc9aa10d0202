import { path, type Caller } from './call.js';
import type { CallOptions } from './options.js';

/** A comparison of stored COMPOSITIONs with a revision, or a template that is not stored, as it is now. */
export interface TemplateComparison {
  readonly job: string;
  readonly template_id: string;
  /** Some at random, or all. */
  readonly data: 'sample' | 'all';
  readonly state: 'running' | 'stopped' | 'done' | 'cancelled';
  /** Why it stopped by itself. */
  readonly reason?: string;
  /** Whose data are judged; absent: those of all revisions. */
  readonly from?: { readonly revision: string; readonly digest: string };
  /** What they are judged by; without `revision` a template that is not stored. */
  readonly to: { readonly revision?: string; readonly digest: string };
  readonly started_at: string;
  readonly started_by: string;
  readonly finished_at?: string;
  /** COMPOSITIONs. */
  readonly valid: number;
  readonly invalid: number;
  /** Of the valid ones: a terminology server has to be asked. */
  readonly unproven: number;
  /** Those of other revisions than `from`. */
  readonly others: number;
  /** Most frequent first; `examples`: ten version uids. */
  readonly causes: readonly {
    readonly path: string;
    readonly message: string;
    readonly count: number;
    readonly examples: readonly string[];
  }[];
}

/** Comparisons of stored data, which `cdr.templates.compareData` begins. All need the permission `admin`. Not of EHRbase. */
export class TemplateComparisons {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /** Those of a template, newest first, without their causes. @throws CdrError `not-found` */
  async list(id: string, { signal }: CallOptions = {}): Promise<TemplateComparison[]> {
    return this.#caller.body('GET', path`/rest/admin/template/${id}/compare`, { signal });
  }

  /** How far one is. @throws CdrError `not-found` */
  async get(id: string, job: string, { signal }: CallOptions = {}): Promise<TemplateComparison> {
    return this.#caller.body('GET', path`/rest/admin/template/${id}/compare/${job}`, { signal });
  }

  /** Ends one, or lets it go on that stopped or whose server was killed. @throws CdrError `conflict` when it is done */
  async steer(
    id: string,
    job: string,
    word: 'cancel' | 'resume',
    { signal }: CallOptions = {},
  ): Promise<TemplateComparison> {
    return this.#caller.body('POST', path`/rest/admin/template/${id}/compare/${job}/${word}`, { signal });
  }
}

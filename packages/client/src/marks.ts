import { path, type Caller } from './call.js';
import type { CallOptions } from './options.js';

/** What an EHR, or something in it, is marked with. */
export interface Mark {
  readonly kind: 'restriction_of_processing' | 'patient_restriction' | 'research_objection';
  readonly ground: string;
  /** Container of a COMPOSITION; alone. */
  readonly object_uid?: string;
  readonly template_id?: string;
  readonly category?: string;
  readonly origin?: string;
  readonly organisation?: string;
  /** Dates or dates and times, both included. */
  readonly from?: string;
  readonly to?: string;
}

/** A mark as the server has it; it may be sent back as it is. */
export interface SetMark extends Mark {
  readonly time: string;
  readonly by: string;
  /** Only in a history: it holds no more. */
  readonly lifted?: { readonly time: string; readonly by: string };
}

/** What restricts an EHR. */
export class EhrMarks {
  readonly #caller: Caller;
  readonly #path: string;

  constructor(caller: Caller, ehrId: string) {
    this.#caller = caller;
    this.#path = path`/rest/ehrs/${ehrId}/marks`;
  }

  /** The oldest first; `history`: also those that were lifted. @throws CdrError `forbidden`, `not-found` */
  async list({ history, signal }: CallOptions & { history?: boolean } = {}): Promise<SetMark[]> {
    const query = { history: history === true ? 'true' : undefined };
    return (await this.#caller.body<Marks>('GET', this.#path, { query, signal })).marks;
  }

  /** Makes these the marks: those that are missing are lifted. @throws CdrError `invalid`, `forbidden`, `not-found` */
  async set(marks: readonly Mark[], { signal }: CallOptions = {}): Promise<SetMark[]> {
    return (await this.#caller.body<Marks>('PUT', this.#path, { body: { marks }, signal })).marks;
  }
}

interface Marks {
  readonly marks: SetMark[];
}

import { path, type Caller } from './call.js';
import type { Mark, SetMark } from './mark.js';
import type { CallOptions } from './options.js';

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

  /** Categories that a mark may be about: openEHR's own, and those of the server. @throws CdrError `forbidden`, `not-found` */
  async categories({ signal }: CallOptions = {}): Promise<string[]> {
    return (await this.#caller.body<Marks>('GET', this.#path, { signal })).categories ?? [];
  }

  /** Makes these the marks: those that are missing are lifted. @throws CdrError `invalid`, `forbidden`, `not-found` */
  async set(marks: readonly Mark[], { signal }: CallOptions = {}): Promise<SetMark[]> {
    return (await this.#caller.body<Marks>('PUT', this.#path, { body: { marks }, signal })).marks;
  }
}

interface Marks {
  /** Absent: an older server. */
  readonly categories?: string[];
  readonly marks: SetMark[];
}

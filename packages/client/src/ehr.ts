import type { CONTRIBUTION, EHR, EHR_STATUS, PARTY_REF } from '../../rm/src/generated/types.js';
import { commitHeaders, path, timeText, V1, versionInfo, type Caller, type VersionInfo } from './call.js';
import { Compositions } from './compositions.js';
import { Directory } from './directory.js';
import { CdrError } from './error.js';
import { historyOf, type HistoryEntry } from './history.js';
import type { CallOptions, CommitOptions } from './options.js';
import { EhrMarks } from './marks.js';
import { EhrTags } from './tags.js';

/** A patient by an id of another system. */
export interface Subject {
  readonly id: string;
  readonly namespace: string;
}

/** How an EHR is created. */
export interface NewEhr extends CommitOptions {
  readonly subject?: Subject | undefined;
  /** The whole EHR_STATUS, instead of `subject`. */
  readonly status?: EHR_STATUS | undefined;
  /** A UUID; the server makes one unless given. */
  readonly id?: string | undefined;
}

/** An EHR as lists have it; without what its EHR_STATUS says where policies of access hide that. */
export interface ListedEhr {
  readonly ehr_id: string;
  readonly time_created: string;
  readonly subject?: Subject;
  readonly is_queryable?: boolean;
  readonly is_modifiable?: boolean;
}

/** EHRs that an identifier names; `truncated`: there are more. */
export interface EhrList {
  readonly ehrs: readonly ListedEhr[];
  readonly truncated?: boolean;
}

/** All EHRs: `cdr.ehr.create(…)`; one of them: `cdr.ehr(id)`. */
export interface Ehrs {
  (id: string): Ehr;
  /** @throws CdrError `conflict` when the subject or the id has an EHR */
  create(options?: NewEhr): Promise<Ehr>;
  /** The EHR of a subject, or undefined. @throws CdrError */
  find(subject: Subject, options?: CallOptions): Promise<Ehr | undefined>;
  /** By an EHR id, a subject id in any namespace, or an identifier of the EHR_STATUS. Not of EHRbase. @throws CdrError */
  search(identifier: string, options?: CallOptions): Promise<EhrList>;
}

/** All EHRs of a server. */
export function ehrs(caller: Caller): Ehrs {
  return Object.assign((id: string) => new Ehr(caller, id), {
    async create(options: NewEhr = {}): Promise<Ehr> {
      const { id, subject, status = subject && statusOf(subject), signal } = options;
      const headers = { ...commitHeaders(options), Prefer: 'return=minimal' };
      const [method, where] = id === undefined ? ['POST', '/ehr'] : ['PUT', path`/ehr/${id}`];
      const made = await caller.answer(method, V1 + where, { headers, signal, body: status });
      return new Ehr(caller, versionInfo(made.headers).uid);
    },
    async find({ id, namespace }: Subject, { signal }: CallOptions = {}): Promise<Ehr | undefined> {
      const query = { subject_id: id, subject_namespace: namespace };
      try {
        const { ehr_id } = await caller.body<EHR>('GET', `${V1}/ehr`, { query, signal });
        return new Ehr(caller, ehr_id.value);
      } catch (error) {
        if (error instanceof CdrError && error.status === 404) return undefined;
        throw error;
      }
    },
    search: (identifier: string, { signal }: CallOptions = {}): Promise<EhrList> =>
      caller.body('GET', '/rest/ehrs', { query: { identifier }, signal }),
  });
}

/** One EHR. Nothing is asked until a method is called. */
export class Ehr {
  readonly id: string;
  readonly compositions: Compositions;
  readonly directory: Directory;
  readonly status: EhrStatus;
  readonly contributions: Contributions;
  readonly tags: EhrTags;
  /** What restricts it. Not of EHRbase. */
  readonly marks: EhrMarks;
  readonly #caller: Caller;

  constructor(caller: Caller, id: string) {
    const root = V1 + path`/ehr/${id}`;
    this.id = id;
    this.#caller = caller;
    this.compositions = new Compositions(caller, root, id);
    this.directory = new Directory(caller, root);
    this.status = new EhrStatus(caller, root);
    this.contributions = new Contributions(caller, root);
    this.tags = new EhrTags(caller, root);
    this.marks = new EhrMarks(caller, id);
  }

  /** @throws CdrError `not-found` */
  async get({ signal }: CallOptions = {}): Promise<EHR> {
    return this.#caller.body('GET', V1 + path`/ehr/${this.id}`, { signal });
  }
}

/** The EHR_STATUS of an EHR. */
export class EhrStatus {
  readonly #caller: Caller;
  readonly #root: string;

  constructor(caller: Caller, root: string) {
    this.#caller = caller;
    this.#root = root;
  }

  /** Now, as it was, or the version that is named. @throws CdrError */
  async get({
    at,
    version,
    signal,
  }: CallOptions & {
    at?: string | Date | undefined;
    version?: string | undefined;
  } = {}): Promise<EHR_STATUS> {
    const query = { version_at_time: timeText(at) };
    const where = `${this.#root}/ehr_status${version === undefined ? '' : path`/${version}`}`;
    return this.#caller.body('GET', where, { query, signal });
  }

  /** Changes what is there now. @throws CdrError `precondition-failed` when somebody else was faster */
  async update(
    change: (status: EHR_STATUS) => EHR_STATUS,
    options: CommitOptions = {},
  ): Promise<VersionInfo> {
    const { signal } = options;
    const where = `${this.#root}/ehr_status`;
    const { body, headers } = await this.#caller.answer<EHR_STATUS>('GET', where, { signal });
    const sent = {
      ...commitHeaders({ ...options, idempotencyKey: undefined }),
      'If-Match': `"${versionInfo(headers).uid}"`,
    };
    return this.#caller.commit('PUT', where, { headers: sent, body: change(body), signal });
  }

  /** Its versions, oldest first. @throws CdrError */
  async history({ signal }: CallOptions = {}): Promise<HistoryEntry[]> {
    const where = `${this.#root}/versioned_ehr_status/revision_history`;
    return historyOf(await this.#caller.body('GET', where, { signal }));
  }
}

/** The CONTRIBUTIONs of an EHR. */
export class Contributions {
  readonly #caller: Caller;
  readonly #root: string;

  constructor(caller: Caller, root: string) {
    this.#caller = caller;
    this.#root = root;
  }

  /** Commits several versions, all or none: `body` as in the REST contract. Its id. @throws CdrError naming the version */
  async commit(body: object, options: CommitOptions = {}): Promise<string> {
    const headers = commitHeaders(options);
    const { signal } = options;
    return (await this.#caller.commit('POST', `${this.#root}/contribution`, { headers, body, signal })).uid;
  }

  /** @throws CdrError `not-found` */
  async get(id: string, { signal }: CallOptions = {}): Promise<CONTRIBUTION> {
    return this.#caller.body('GET', this.#root + path`/contribution/${id}`, { signal });
  }
}

function statusOf({ id, namespace }: Subject): EHR_STATUS {
  const external_ref: PARTY_REF = {
    _type: 'PARTY_REF',
    id: { _type: 'GENERIC_ID', value: id, scheme: namespace },
    namespace,
    type: 'PERSON',
  };
  return {
    _type: 'EHR_STATUS',
    archetype_node_id: 'openEHR-EHR-EHR_STATUS.generic.v1',
    archetype_details: {
      _type: 'ARCHETYPED',
      archetype_id: { _type: 'ARCHETYPE_ID', value: 'openEHR-EHR-EHR_STATUS.generic.v1' },
      rm_version: '1.0.4',
    },
    name: { _type: 'DV_TEXT', value: 'EHR Status' },
    subject: { _type: 'PARTY_SELF', external_ref },
    is_queryable: true,
    is_modifiable: true,
  };
}

import type { COMPOSITION, VERSION } from '../../rm/src/generated/types.js';
import {
  commitHeaders,
  headerText,
  path,
  timeText,
  V1,
  versionInfo,
  type Call,
  type Caller,
  type VersionInfo,
} from './call.js';
import {
  formatOf,
  mediaTypeOf,
  type CompositionContent,
  type CompositionFormat,
  type ContentByFormat,
} from './content.js';
import { differences, type Difference } from './diff.js';
import { CdrError } from './error.js';
import { historyOf, type HistoryEntry } from './history.js';
import { isVersionUid, versionedObjectUidOf } from './uid.js';
import type { CallOptions, CommitOptions } from './options.js';
import { tagHeader, type Tag } from './tags.js';

/** How a COMPOSITION is committed. */
export interface CommitCompositionOptions extends CommitOptions {
  /** The template id: FLAT and STRUCTURED content needs it. */
  readonly template?: string | undefined;
  /**
   * Number or digest of the revision of `template` that judges the content, instead of the newest: what a form of an earlier
   * revision names. Not of EHRbase.
   */
  readonly revision?: string | undefined;
  /** What form the content is in, where it cannot be seen. */
  readonly format?: CompositionFormat | undefined;
  /** Of an update in FLAT or STRUCTURED: what these forms cannot say, and what they say as before, stays as it was. */
  readonly keepsUnshown?: boolean | undefined;
  /** Replaces the item tags of the container. */
  readonly tags?: readonly Tag[] | undefined;
}

/** How a COMPOSITION is read. */
export interface ReadCompositionOptions<F extends CompositionFormat> extends CallOptions {
  /** Canonical JSON unless given. */
  readonly format?: F | undefined;
  /** As it was then. */
  readonly at?: string | Date | undefined;
}

/** A version with its content. */
export interface StoredComposition<T = COMPOSITION> extends VersionInfo {
  readonly content: T;
}

/** Tries of a change that is given as a function, when others are faster. */
const CHANGE_TRIES = 5;
const SUMMARY_COLUMNS = `c/uid/value AS uid, c/archetype_details/template_id/value AS template,
  c/name/value AS name, c/context/start_time/value AS start_time, c/composer/name AS composer`;

/** What a list of COMPOSITIONs has of each. */
export interface CompositionSummary {
  readonly uid: string;
  readonly template: string | null;
  readonly name: string;
  readonly start_time: string | null;
  readonly composer: string | null;
}

/** The COMPOSITIONs of one EHR. An id may be that of a container or of one of its versions where both make sense. */
export class Compositions {
  readonly #caller: Caller;
  readonly #root: string;
  readonly #ehrId: string;

  constructor(caller: Caller, root: string, ehrId: string) {
    this.#caller = caller;
    this.#root = root;
    this.#ehrId = ehrId;
  }

  /**
   * Commits a new COMPOSITION in any form: `commit(flat, { template: 'Blood pressure' })`.
   * @throws CdrError `invalid`, `unprocessable` with all `violations`
   */
  async commit(content: CompositionContent, options: CommitCompositionOptions = {}): Promise<VersionInfo> {
    const call = commitCall(content, options);
    return this.#caller.commit('POST', `${this.#root}/composition`, call);
  }

  /** The latest version, that of an earlier time, or the one that is named; undefined when it is deleted. @throws CdrError */
  async get<F extends CompositionFormat = 'JSON'>(
    id: string,
    options: ReadCompositionOptions<F> = {},
  ): Promise<StoredComposition<ContentByFormat[F]> | undefined> {
    const { at, signal, format = 'JSON' } = options;
    const call: Call = { query: { version_at_time: timeText(at) }, signal, accept: mediaTypeOf(format) };
    const where = this.#root + path`/composition/${id}`;
    const { status, headers, body } = await this.#caller.answer<ContentByFormat[F]>('GET', where, call);
    return status === 204 ? undefined : { ...versionInfo(headers), content: body };
  }

  /**
   * Makes a new version. `version`: the version uid that the change is made to, which must still be the latest; with a
   * function also the id of the container, then the change is made to whatever is the latest, again when another one
   * came between.
   * @throws CdrError `precondition-failed` with `latestVersion`, and what `commit` throws
   */
  async update(
    version: string | VersionInfo,
    change: CompositionContent | ((content: COMPOSITION) => CompositionContent),
    options: CommitCompositionOptions = {},
  ): Promise<VersionInfo> {
    const uid = typeof version === 'string' ? version : version.uid;
    if (typeof change !== 'function') return this.#put(uid, change, options);
    // What is sent depends on what is found, and a key counts for one body.
    const unkeyed = { ...options, idempotencyKey: undefined };
    for (let attempt = 1; ; attempt += 1) {
      const stored = await this.get(uid, { signal: options.signal });
      if (stored === undefined)
        throw new CdrError(`COMPOSITION ${uid} is deleted`, { status: 404, code: 'not-found' });
      try {
        return await this.#put(stored.uid, change(structuredClone(stored.content)), unkeyed);
      } catch (error) {
        const isOutrun = error instanceof CdrError && error.status === 412 && !isVersionUid(uid);
        if (!isOutrun || attempt === CHANGE_TRIES) throw error;
      }
    }
  }

  /** Marks as deleted; all versions stay. `version`: the latest version uid. @throws CdrError `conflict` */
  async delete(version: string, options: CommitOptions = {}): Promise<void> {
    const { audit, idempotencyKey } = options;
    const headers = commitHeaders({ audit, idempotencyKey });
    await this.#caller.answer('DELETE', this.#root + path`/composition/${version}`, {
      headers,
      signal: options.signal,
    });
  }

  /** The versions, oldest first. @throws CdrError */
  async history(id: string, { signal }: CallOptions = {}): Promise<HistoryEntry[]> {
    return historyOf(await this.#caller.body('GET', `${this.#versioned(id)}/revision_history`, { signal }));
  }

  /** As it was at a time. @throws CdrError `not-found` before its first version */
  async at(
    id: string,
    time: string | Date,
    options: CallOptions = {},
  ): Promise<StoredComposition | undefined> {
    return this.get(versionedObjectUidOf(id), { ...options, at: time });
  }

  /** A version with its audit; what was imported is an IMPORTED_VERSION. @throws CdrError */
  async version(uid: string, { signal }: CallOptions = {}): Promise<VERSION> {
    return this.#caller.body('GET', this.#versioned(uid) + path`/version/${uid}`, { signal });
  }

  /** What differs between two versions; without the second, between one and the latest. @throws CdrError */
  async diff(
    from: string,
    to: string = versionedObjectUidOf(from),
    options: CallOptions = {},
  ): Promise<Difference[]> {
    const [before, after] = await Promise.all([this.get(from, options), this.get(to, options)]);
    return differences(before?.content, after?.content).filter(({ path: at }) => !at.startsWith('/uid'));
  }

  /** What there is, newest first. @throws CdrError */
  async list({
    fetch = 100,
    offset = 0,
    signal,
  }: CallOptions & { fetch?: number; offset?: number } = {}): Promise<CompositionSummary[]> {
    const q = `SELECT ${SUMMARY_COLUMNS} FROM EHR e[ehr_id/value=$ehr_id] CONTAINS COMPOSITION c
      ORDER BY c/context/start_time/value DESC`;
    const body = { q, query_parameters: { ehr_id: this.#ehrId }, fetch, offset };
    type Cells = [string, string | null, string, string | null, string | null];
    const { rows } = await this.#caller.body<{ rows: Cells[] }>('POST', `${V1}/query/aql`, { body, signal });
    return rows.map(([uid, template, name, start_time, composer]) => ({
      uid,
      template,
      name,
      start_time,
      composer,
    }));
  }

  /** The item tags of a container, or with a version uid of that version. @throws CdrError */
  async tags(id: string, { signal }: CallOptions = {}): Promise<Tag[]> {
    return this.#caller.body('GET', this.#root + path`/composition/${id}/tags`, { signal });
  }

  /** Replaces the item tags. @throws CdrError */
  async setTags(id: string, tags: readonly Tag[], { signal }: CallOptions = {}): Promise<void> {
    const where = this.#root + path`/composition/${id}/tags`;
    await this.#caller.answer('PUT', where, { body: tags, signal });
  }

  #put(uid: string, content: CompositionContent, options: CommitCompositionOptions): Promise<VersionInfo> {
    const { headers, ...call } = commitCall(content, options);
    const kept = options.keepsUnshown === true && { Prefer: 'unshown=keep' };
    const sent = { ...headers, ...kept, 'If-Match': `"${uid}"` };
    return this.#caller.commit('PUT', this.#root + path`/composition/${versionedObjectUidOf(uid)}`, {
      ...call,
      headers: sent,
    });
  }

  #versioned(id: string): string {
    return this.#root + path`/versioned_composition/${versionedObjectUidOf(id)}`;
  }
}

function commitCall(content: CompositionContent, options: CommitCompositionOptions): Call {
  const { template, revision, format = formatOf(content), tags, signal } = options;
  const headers = {
    ...commitHeaders(options),
    ...(revision !== undefined && { 'openEHR-TEMPLATE_ID': pinned(template, revision) }),
    ...(tags && { 'openehr-item-tag': tagHeader(tags) }),
  };
  const query = format === 'FLAT' || format === 'STRUCTURED' ? { templateId: template } : {};
  return { headers, query, body: content, type: mediaTypeOf(format), signal };
}

/** @throws TypeError without a template: a revision is one of a template */
function pinned(template: string | undefined, revision: string): string {
  if (template === undefined) throw new TypeError('revision needs template');
  return headerText('template', `${template};revision=${revision}`);
}

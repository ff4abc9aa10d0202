import type { FOLDER } from '../../rm/src/generated/types.js';
import { commitHeaders, path, timeText, versionInfo, type Caller, type VersionInfo } from './call.js';
import type { CallOptions, CommitOptions } from './options.js';

/** Which directory is read. */
export interface ReadDirectoryOptions extends CallOptions {
  /** A version uid, instead of `at`. */
  readonly version?: string | undefined;
  /** As it was then. */
  readonly at?: string | Date | undefined;
  /** Names of folders below the root, joined by `/`. */
  readonly path?: string | undefined;
}

/** The directory of an EHR: one tree of FOLDERs. */
export class Directory {
  readonly #caller: Caller;
  readonly #where: string;

  constructor(caller: Caller, root: string) {
    this.#caller = caller;
    this.#where = `${root}/directory`;
  }

  /** undefined when it is deleted. @throws CdrError `not-found` when there is none */
  async get(options: ReadDirectoryOptions = {}): Promise<(VersionInfo & { content: FOLDER }) | undefined> {
    const { at, version, path: below, signal } = options;
    const query = { version_at_time: timeText(at), path: below };
    const where = this.#where + (version === undefined ? '' : path`/${version}`);
    const { status, headers, body } = await this.#caller.answer<FOLDER>('GET', where, { query, signal });
    return status === 204 ? undefined : { ...versionInfo(headers), content: body };
  }

  /** @throws CdrError `conflict` when there is one */
  async create(root: FOLDER, options: CommitOptions = {}): Promise<VersionInfo> {
    const headers = commitHeaders(options);
    return this.#caller.commit('POST', this.#where, { headers, body: root, signal: options.signal });
  }

  /** `version`: the version uid that the change is made to. @throws CdrError `precondition-failed` */
  async update(version: string, root: FOLDER, options: CommitOptions = {}): Promise<VersionInfo> {
    const headers = { ...commitHeaders(options), 'If-Match': `"${version}"` };
    return this.#caller.commit('PUT', this.#where, { headers, body: root, signal: options.signal });
  }

  /** @throws CdrError `precondition-failed` */
  async delete(version: string, { audit, idempotencyKey, signal }: CommitOptions = {}): Promise<void> {
    const headers = { ...commitHeaders({ audit, idempotencyKey }), 'If-Match': `"${version}"` };
    await this.#caller.answer('DELETE', this.#where, { headers, signal });
  }
}

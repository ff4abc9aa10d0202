import type { HIER_OBJECT_ID, OBJECT_REF, OBJECT_VERSION_ID } from '../../rm/src/generated/types.js';
import { path, quoted, type Caller } from './call.js';
import type { CallOptions } from './options.js';

/** An item tag. */
export interface Tag {
  readonly key: string;
  readonly value?: string | undefined;
  /** The node it is about. */
  readonly target_path?: string | undefined;
}

/** A tag with what it belongs to. */
export interface PlacedTag extends Tag {
  /** The version, or its container. */
  readonly target: OBJECT_VERSION_ID | HIER_OBJECT_ID;
  /** The EHR. */
  readonly owner_id: OBJECT_REF;
}

/** The item tags of everything in an EHR. */
export class EhrTags {
  readonly #caller: Caller;
  readonly #root: string;

  constructor(caller: Caller, root: string) {
    this.#caller = caller;
    this.#root = root;
  }

  /** @throws CdrError */
  async list({ key, value, signal }: CallOptions & { key?: string; value?: string } = {}): Promise<
    PlacedTag[]
  > {
    const query = { tag_key: key, tag_value: value };
    return this.#caller.body('GET', `${this.#root}/tags`, { query, signal });
  }

  /** @throws CdrError `not-found` */
  async deleteOfComposition(id: string, key: string, { signal }: CallOptions = {}): Promise<void> {
    await this.#caller.answer('DELETE', this.#root + path`/composition/${id}/tags/${key}`, { signal });
  }
}

/** Tags in the form of their header. */
export function tagHeader(tags: readonly Tag[]): string {
  return tags
    .map((tag) =>
      (['key', 'value', 'target_path'] as const)
        .flatMap((name) => (tag[name] === undefined ? [] : `${name}=${quoted(name, tag[name])}`))
        .join(','),
    )
    .join(';');
}

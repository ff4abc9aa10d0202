import { isDeepStrictEqual } from 'node:util';
import { CdrError } from '../../openehr/base/errors.js';
import { itemTagInsert, taggedMarks, withoutBatch, type ItemTagDoc } from '../../models/item-tag.js';
import type { VersionedObjectDoc } from '../../models/versioned-object.js';
import type { Write } from '../../models/access/write.js';
import type { Chains } from './chain.js';
import type { RestoreState } from './part.js';

/** What tags are restored beside. */
interface Beside {
  readonly chains: Chains;
  readonly state: Pick<RestoreState, 'containers' | 'tags'>;
  /** Id of the import. */
  readonly batch: string;
  /** Gets the tags that are there already. */
  readonly there: Set<object>;
}

/** The writes that restore tags, and mark what they are on. @throws invalid, conflict */
export function tagWrites(
  tags: readonly ItemTagDoc[],
  { chains, state, batch, there }: Beside,
): { readonly writes: readonly Write[] } {
  const heads = new Map(chains.changed.map(({ head }) => [head._id, head]));
  const writes: Write[] = [];
  const tagged = new Map<string, VersionedObjectDoc>();
  for (const tag of tags) {
    const known = state.tags.get(tag._id);
    if (known !== undefined) {
      if (!isDeepStrictEqual(withoutBatch(known), tag))
        throw refused('conflict', tag, 'here it is another one');
      there.add(tag);
      continue;
    }
    const container = heads.get(tag.target) ?? state.containers.get(tag.target);
    if (container?.ehr_id !== tag.owner_id || container.type !== tag.target_type)
      throw refused('invalid', tag, 'what it is on is neither here nor before it in the file');
    if ((tag.target_version ?? 0) > container.latest_version)
      throw refused('invalid', tag, 'the version it is on is neither here nor before it in the file');
    writes.push(itemTagInsert({ ...tag, batch }));
    if (container.has_item_tags !== true) tagged.set(container._id, container);
  }
  return { writes: [...writes, ...[...tagged.values()].flatMap(taggedMarks)] };
}

function refused(code: 'invalid' | 'conflict', { _id, key }: ItemTagDoc, why: string): CdrError {
  return new CdrError(code, `item tag ${key} (${_id}) cannot be restored: ${why}`);
}

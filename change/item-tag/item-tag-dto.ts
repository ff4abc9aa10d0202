import type { JsonObject } from '../../openehr/base/json.js';
import type { ItemTagDoc } from '../../models/item-tag.js';

/** A tag with its ids as plain texts, as clients of EHRbase and the data of an unmerge have it. */
export function itemTagDto(tag: ItemTagDoc): JsonObject {
  return {
    id: tag._id,
    owner_id: tag.owner_id,
    target: tag.target,
    target_type: tag.target_type,
    ...(tag.target_path !== null && { target_path: tag.target_path }),
    key: tag.key,
    ...(tag.value !== null && { value: tag.value }),
  };
}

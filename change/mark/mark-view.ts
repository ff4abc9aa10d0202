import type { EhrMarkDoc } from '../../models/ehr-mark.js';
import { formatUtc } from '../../openehr/base/iso8601.js';
import type { JsonObject } from '../../openehr/base/json.js';

/** A mark as it is answered: as it was sent, with when and by whom it was set. */
export function markView(doc: EhrMarkDoc): JsonObject {
  const { kind, ground, object_uid, template_id, category, origin, organisation, from, to, placed } = doc;
  return {
    kind,
    ground,
    ...(object_uid !== undefined && { object_uid }),
    ...(template_id !== undefined && { template_id }),
    ...(category !== undefined && { category }),
    ...(origin !== undefined && { origin }),
    ...(organisation !== undefined && { organisation }),
    ...(from !== undefined && { from: formatUtc(from) }),
    ...(to !== undefined && { to: formatUtc(to) }),
    time: formatUtc(placed.time),
    by: placed.by,
  };
}

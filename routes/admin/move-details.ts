import type { JsonObject } from '../../openehr/base/json.js';
import type { MoveRequest, MoveResult } from '../../merge/move-composition.js';

/** MoveDetailsDto. docs/spec/merge.md#moving-one-composition */
export function moveDetails(
  request: MoveRequest,
  result: MoveResult,
  reason: string | undefined,
): JsonObject {
  return {
    source_ehr: request.sourceEhr,
    target_ehr: request.targetEhr,
    composition: request.versionedObjectUid,
    versions: result.versions,
    contributions: result.contributions,
    contributions_kept: [...result.kept],
    contributions_made: [...result.made],
    item_tags: result.tags,
    folder_items: result.folderItems.map((item) => ({ ...item })),
    ...(request.dryRun && { dry_run: true }),
    ...(reason !== undefined && { reason }),
  };
}

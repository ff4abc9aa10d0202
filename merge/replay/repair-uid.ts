import { createHash } from 'node:crypto';

/**
 * uid of the CONTRIBUTION of a repair: made of the version that it follows, so that what a repair wrote is known for ever
 * without a record of its own. docs/decisions/0042-undo-is-replay.md
 */
export function repairUid(precedingVersionUid: string): string {
  const hash = createHash('sha256').update(`everchart merge repair ${precedingVersionUid}`).digest('hex');
  return [
    hash.slice(0, 8),
    hash.slice(8, 12),
    `8${hash.slice(13, 16)}`,
    `8${hash.slice(17, 20)}`,
    hash.slice(20, 32),
  ].join('-');
}

/** Whether a repair made this version. */
export function isRepairOf({
  contribution_uid: uid,
  preceding_version_uid: preceding,
}: {
  readonly contribution_uid: string;
  readonly preceding_version_uid?: string;
}): boolean {
  return preceding !== undefined && uid === repairUid(preceding);
}

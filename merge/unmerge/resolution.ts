import type { Obstacle, ObstacleCode } from './obstacles.js';
import type { ConflictChoice, OnConflict } from '../request.js';

/** Obstacles as the choices leave them. */
export interface Resolution {
  /** Those that no choice is made for, or for which there is none. */
  readonly open: readonly Obstacle[];
  /** Object ids that stay in the target as they are. */
  readonly kept: ReadonlySet<string>;
  /** Object ids of which what was written since goes back to the source. */
  readonly taken: ReadonlySet<string>;
}

const BOTH: readonly ConflictChoice[] = ['keep_in_target', 'take_back'];

/** What can be chosen for each kind of obstacle; the others cannot be chosen away. */
const CHOICES: Readonly<Partial<Record<ObstacleCode, readonly ConflictChoice[]>>> = {
  joined_changed: BOTH,
  joined_tagged: BOTH,
  directory_changed: BOTH,
  contribution_mixed: BOTH,
  source_not_modifiable: ['keep_in_target'],
};

/** Applies choices to obstacles. Pure. docs/spec/merge.md#obstacles */
export function resolve(obstacles: readonly Obstacle[], onConflict: OnConflict): Resolution {
  const open: Obstacle[] = [];
  const kept = new Set<string>();
  const taken = new Set<string>();
  for (const obstacle of obstacles) {
    const choice = choiceFor(obstacle, onConflict);
    if (choice === null) open.push(obstacle);
    else for (const id of obstacle.object_ids) (choice === 'take_back' ? taken : kept).add(id);
  }
  return { open: open.filter((obstacle) => !isKept(obstacle, kept)), kept, taken };
}

function choiceFor(
  { code, object_ids: ids, contribution_uid: uid }: Obstacle,
  onConflict: OnConflict,
): ConflictChoice | null {
  if (onConflict === null) return null;
  const named = [...(uid === undefined ? [] : [uid]), ...ids];
  const choice =
    typeof onConflict === 'string'
      ? onConflict
      : named.map((id) => onConflict.get(id)).find((one) => one !== undefined);
  return choice !== undefined && CHOICES[code]?.includes(choice) === true ? choice : null;
}

/** What stays for another reason need not be chosen for again. */
function isKept({ code, object_ids: ids }: Obstacle, kept: ReadonlySet<string>): boolean {
  return CHOICES[code]?.includes('keep_in_target') === true && ids.every((id) => kept.has(id));
}

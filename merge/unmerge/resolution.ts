import { CdrError } from '../../openehr/base/errors.js';
import type { Obstacle } from './obstacles.js';
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

/**
 * A choice by an id has to be one for an obstacle; a word for all of them always is. Pure.
 * @throws invalid naming those that are not
 */
export function requireObstacles(obstacles: readonly Obstacle[], onConflict: OnConflict): void {
  if (onConflict === null || typeof onConflict === 'string') return;
  const known = new Set(obstacles.flatMap(namesOf));
  const unknown = [...onConflict.keys()].filter((id) => !known.has(id));
  if (unknown.length === 0) return;
  const expected = known.size === 0 ? 'there is no obstacle' : `obstacles are of ${[...known].join(', ')}`;
  throw new CdrError('invalid', `on_conflict names what is no obstacle: ${unknown.join(', ')}; ${expected}`);
}

function namesOf({ object_ids: ids, contribution_uid: uid }: Obstacle): string[] {
  return [...(uid === undefined ? [] : [uid]), ...ids];
}

function choiceFor(obstacle: Obstacle, onConflict: OnConflict): ConflictChoice | null {
  if (onConflict === null) return null;
  const named = namesOf(obstacle);
  const choice =
    typeof onConflict === 'string'
      ? onConflict
      : named.map((id) => onConflict.get(id)).find((one) => one !== undefined);
  return choice !== undefined && obstacle.choices.includes(choice) ? choice : null;
}

/** What stays for another reason need not be chosen for again. */
function isKept({ choices, object_ids: ids }: Obstacle, kept: ReadonlySet<string>): boolean {
  return choices.includes('keep_in_target') && ids.every((id) => kept.has(id));
}

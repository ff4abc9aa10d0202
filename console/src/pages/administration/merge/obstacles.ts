import { CdrError, type ConflictChoice } from '@everchart/client';
import { asText, at, items, textAt } from '../../../api/json.js';

/** What stands against taking a merge back. docs/spec/merge.md#obstacles */
export interface Obstacle {
  /** What a choice for it names: the CONTRIBUTION, else the objects. */
  readonly keys: readonly string[];
  readonly message: string;
  /** What may be chosen; nothing: the merge cannot be taken back. */
  readonly choices: readonly ConflictChoice[];
}

/** Words by the keys of obstacles. */
export type ConflictChoices = Readonly<Record<string, ConflictChoice>>;

const CHOICES: Readonly<Record<string, readonly ConflictChoice[]>> = {
  joined_changed: ['keep_in_target', 'take_back'],
  joined_tagged: ['keep_in_target', 'take_back'],
  directory_changed: ['keep_in_target', 'take_back'],
  contribution_mixed: ['keep_in_target', 'take_back'],
  source_not_modifiable: ['keep_in_target'],
};

/** The obstacles that a refused unmerge names; of any other failure none. */
export function obstaclesOf(error: unknown): Obstacle[] {
  if (!(error instanceof CdrError)) return [];
  return items(at(error.body, 'obstacles')).map((obstacle) => {
    const contribution = textAt(obstacle, 'contribution_uid');
    return {
      keys: contribution === '' ? items(at(obstacle, 'object_ids')).map(asText) : [contribution],
      message: textAt(obstacle, 'message'),
      choices: CHOICES[textAt(obstacle, 'code')] ?? [],
    };
  });
}

/** Obstacles seen earlier, which choices have answered since, and those that are new. */
export function allObstacles(before: readonly Obstacle[], now: readonly Obstacle[]): readonly Obstacle[] {
  const known = new Set(before.map(({ message }) => message));
  const added = now.filter(({ message }) => !known.has(message));
  return added.length === 0 ? before : [...before, ...added];
}

/** The choices with one for an obstacle. */
export function withChoice(
  choices: ConflictChoices,
  { keys }: Obstacle,
  choice: ConflictChoice,
): ConflictChoices {
  return { ...choices, ...Object.fromEntries(keys.map((key) => [key, choice])) };
}

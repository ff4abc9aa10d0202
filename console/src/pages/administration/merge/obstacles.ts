import { CdrError, type ConflictChoice } from '@everchart/client';
import { asText, at, items, textAt } from '../../../api/json.js';
import type { MessageKey } from '../../../messages/en.js';

/** What stands against taking a merge back. docs/spec/merge.md#obstacles */
export interface Obstacle {
  /** What a choice for it names: the CONTRIBUTION, else the objects. */
  readonly keys: readonly string[];
  /** As the server says it, with ids. */
  readonly message: string;
  /** What it is, in the language of the reader; null: only the server's words are known. */
  readonly title: MessageKey | null;
  /** What may be chosen; nothing: the merge cannot be taken back. */
  readonly choices: readonly ConflictChoice[];
}

/** Words by the keys of obstacles. */
export type ConflictChoices = Readonly<Record<string, ConflictChoice>>;

const CHOICES: readonly ConflictChoice[] = ['keep_in_target', 'take_back'];

const TITLES: Readonly<Record<string, MessageKey>> = {
  not_reversible: 'merge.obstacle.not_reversible',
  target_merged: 'merge.obstacle.target_merged',
  target_not_modifiable: 'merge.obstacle.target_not_modifiable',
  subject_in_use: 'merge.obstacle.subject_in_use',
  joined_changed: 'merge.obstacle.joined_changed',
  joined_tagged: 'merge.obstacle.joined_tagged',
  directory_changed: 'merge.obstacle.directory_changed',
  merged_since: 'merge.obstacle.merged_since',
  contribution_mixed: 'merge.obstacle.contribution_mixed',
  source_not_modifiable: 'merge.obstacle.source_not_modifiable',
};

/** The obstacles that a refused unmerge names; of any other failure none. */
export function obstaclesOf(error: unknown): Obstacle[] {
  if (!(error instanceof CdrError)) return [];
  return items(at(error.body, 'obstacles')).map((obstacle) => {
    const contribution = textAt(obstacle, 'contribution_uid');
    return {
      keys: contribution === '' ? items(at(obstacle, 'object_ids')).map(asText) : [contribution],
      message: textAt(obstacle, 'message'),
      title: TITLES[textAt(obstacle, 'code')] ?? null,
      choices: CHOICES.filter((choice) => items(at(obstacle, 'choices')).includes(choice)),
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

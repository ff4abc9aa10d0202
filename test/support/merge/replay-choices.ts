import type { Random } from '../random.js';
import type { Json } from '../resources.js';

type Word = 'keep_in_target' | 'take_back';

/** An obstacle as an answer tells it. */
export interface Told {
  readonly code: string;
  readonly object_ids: readonly string[];
  readonly contribution_uid?: string;
  readonly choices: readonly Word[];
}

/** What an unmerge is told about what is in its way. */
export interface Chosen {
  readonly onConflict: Json | Word;
  readonly words: ReadonlyMap<string, Word>;
}

/** Obstacles that share objects: one word is right for all of them. */
interface Group {
  readonly obstacles: readonly Told[];
  readonly ids: ReadonlySet<string>;
}

/**
 * One word for each group of obstacles that share objects, at random among those that each of them offers; null: one of them cannot be
 * chosen away, or `isWanted` does not want the only word there is.
 */
export function choicesFor(
  obstacles: readonly Told[],
  random: Random,
  likely: (group: readonly Told[], word: Word) => number,
): Chosen | null {
  const words = new Map<string, Word>();
  const onConflict: Json = {};
  for (const { obstacles: group, ids } of groupsOf(obstacles)) {
    const both: readonly Word[] = ['keep_in_target', 'take_back'];
    const offered = both.filter((word) => group.every(({ choices }) => choices.includes(word)));
    const isKept = offered.includes('keep_in_target') && random.chance(likely(group, 'keep_in_target'));
    const word = isKept ? 'keep_in_target' : offered.find((one) => one === 'take_back');
    if (word === undefined) return null;
    for (const id of ids) words.set(id, word);
    // What a CONTRIBUTION made may be named by its uid.
    const [{ contribution_uid: uid }] = group as [Told];
    const isNamed = uid !== undefined && group.length === 1 && random.chance(0.3);
    for (const name of isNamed ? [uid] : ids) onConflict[name] = word;
  }
  const all = new Set(words.values());
  const [one] = all;
  return { onConflict: all.size === 1 && random.chance(0.3) ? one! : onConflict, words };
}

function groupsOf(obstacles: readonly Told[]): Group[] {
  let groups: Group[] = [];
  for (const obstacle of obstacles) {
    const shares = ({ ids }: Group): boolean => obstacle.object_ids.some((id) => ids.has(id));
    const joined = groups.filter(shares);
    groups = [
      ...groups.filter((group) => !shares(group)),
      {
        obstacles: [...joined.flatMap((group) => group.obstacles), obstacle],
        ids: new Set([...joined.flatMap(({ ids }) => [...ids]), ...obstacle.object_ids]),
      },
    ];
  }
  return groups;
}

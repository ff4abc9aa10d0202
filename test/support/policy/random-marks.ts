import { attributeOf, type AccessObject } from '../../../policy/object.js';
import { namedCategory, type Category, type CategoryMap } from '../../../policy/categories.js';
import { MARK_KINDS, type MarkScope, type PlacedMark } from '../../../policy/marks.js';
import { rootOfUid } from '../../../openehr/base/object-version-id.js';
import type { Random } from '../random.js';

/** Marks on EHRs that some of these VERSIONs are in, about what some of them are. `categories`: of what is in them. */
export function randomMarks(
  random: Random,
  versions: readonly AccessObject[],
  categories: CategoryMap,
): PlacedMark[] {
  return random.list(1, 4, () => {
    const version = random.pick(versions);
    return {
      kind: random.pick(MARK_KINDS),
      ehrIds: random.list(1, 2, () => String(attributeOf(random.pick(versions), 'ehr_id'))),
      scope: random.chance(0.3) ? {} : randomScope(random, version, { versions, categories }),
    };
  });
}

interface Drawing {
  readonly versions: readonly AccessObject[];
  readonly categories: CategoryMap;
}

function randomScope(random: Random, version: AccessObject, { versions, categories }: Drawing): MarkScope {
  const textOf = (name: string): string => String(attributeOf(version, name) ?? 'none');
  const timeOf = (name: string): number => Number(attributeOf(version, name) ?? Date.parse('2024-01-01'));
  const category = (): Category =>
    namedCategory(random.pick([textOf('category'), ...categories.keys()]), categories);
  const from = timeOf(random.pick(['start_time', 'time_committed']));
  return random.pick<() => MarkScope>([
    () => ({ objects: random.list(1, 2, () => rootOfUid(random.pick(versions).uid)) }),
    () => ({ template_id: textOf('template_id') }),
    () => ({ category: category() }),
    () => ({ category: category() }),
    () => ({ origin: textOf('origin') }),
    () => ({ from }),
    () => ({ to: from }),
    () => ({ from, to: from + random.below(3) * 86_400_000, category: category() }),
  ])();
}

import { expect } from '@jest/globals';
import { categoryMap, withCategoriesNamed, type CategoryMap } from '../../../policy/categories.js';
import { holds, ofType, type Condition } from '../../../policy/condition.js';
import { attributeOf, type AccessObject } from '../../../policy/object.js';
import type { Random } from '../random.js';
import { withCategories } from './with-categories.js';

const NAMES = ['psychiatry', 'genetics', 'seldom'];

/** A map of categories by the templates and the archetypes of roots that some of these VERSIONs have. */
export function drawnCategories(random: Random, versions: readonly AccessObject[]): CategoryMap {
  const templates = versions.flatMap((each) => textsOf(each, 'template_id'));
  const roots = versions.flatMap((each) =>
    textsOf(each, 'archetypes').filter((id) => /^openEHR-[A-Z]+-COMPOSITION\./.test(id)),
  );
  const some = (ids: readonly string[]): string[] =>
    ids.length === 0 ? [] : [...new Set(random.list(0, 2, () => random.pick(ids)))];
  return categoryMap(NAMES.map((name) => ({ name, templates: some(templates), archetypes: some(roots) })));
}

function textsOf(object: AccessObject, name: string): string[] {
  return [attributeOf(object, name) ?? []].flat().map(String);
}

/** What is of some categories, or of none, over what is stored; of each object it says what the map says. */
export function categorized(random: Random, versions: readonly AccessObject[]): Condition {
  const map = drawnCategories(random, versions);
  const attribute = 'categories';
  const asked: Condition = random.chance(0.2)
    ? { kind: 'empty', attribute }
    : { kind: 'contains', attribute, among: random.list(1, 2, () => random.pick([...NAMES, 'event'])) };
  const named = ofType(withCategoriesNamed(asked, map, false), 'Version');
  for (const each of versions)
    expect({ asked, each, is: holds(named, each) }).toEqual({
      ...{ asked, each },
      is: holds(asked, withCategories(each, map)),
    });
  return named;
}

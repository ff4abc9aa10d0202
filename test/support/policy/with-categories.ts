import type { CategoryMap } from '../../../policy/categories.js';
import { attributeOf, type AccessObject } from '../../../policy/object.js';

/** An object with the categories that the map gives it, as Cedar's authoriser is told them: a second account, over sets. */
export function withCategories(object: AccessObject, map: CategoryMap): AccessObject {
  if (object.type === 'Ehr') return object;
  const told = [attributeOf(object, 'template_id'), attributeOf(object, 'archetypes')].flat();
  const [template, ...archetypes] = told;
  const found = new Set<string>();
  for (const category of map.values()) {
    if (category.templates.some((id) => id === template)) found.add(category.name);
    if (category.archetypes.some((id) => archetypes.includes(id))) found.add(category.name);
  }
  const own = attributeOf(object, 'category');
  if (typeof own === 'string') found.add(own);
  return { ...object, attributes: { ...object.attributes, categories: [...found] } };
}

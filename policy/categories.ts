import { CATEGORIES, categoryOf } from './attributes.js';
import { all, any, FALSE, not, type Condition, type Leaf } from './condition.js';
import type { JsonObject } from '../openehr/base/json.js';

/** A category of the map: which content is of it. docs/access.md#categories */
export interface Category {
  readonly name: string;
  /** Ids of templates. */
  readonly templates: readonly string[];
  /** Ids of archetypes of roots of COMPOSITIONs. */
  readonly archetypes: readonly string[];
}

/** What is of which category beside openEHR's own, by name. */
export type CategoryMap = ReadonlyMap<string, Category>;

/** Of a server where none was stored. */
export const NO_CATEGORIES: CategoryMap = new Map();

/** openEHR's own, by the words that policies see. */
export const OWN_CATEGORIES: readonly string[] = Object.values(CATEGORIES).sort();

/** The attribute of policies with the categories of both. */
export const CATEGORIES_ATTRIBUTE = 'categories';

/** Categories by name. */
export function categoryMap(categories: readonly Category[]): CategoryMap {
  return new Map(categories.map((category) => [category.name, category]));
}

/** Whether there is a category, openEHR's own or of the map. */
export function isCategory(name: string, map: CategoryMap): boolean {
  return map.has(name) || OWN_CATEGORIES.includes(name);
}

/** All names that there are, openEHR's own first. */
export function categoryNames(map: CategoryMap): string[] {
  return [...OWN_CATEGORIES, ...[...map.keys()].sort()];
}

/** Why a name is refused, and what would be right. */
export function noCategory(name: string, map: CategoryMap): string {
  return `there is no category ${JSON.stringify(name)}; there are ${categoryNames(map).join(', ')}`;
}

/** What a name stands for; of one that is not in the map the category of openEHR that is called so. */
export function namedCategory(name: string, map: CategoryMap): Category {
  return map.get(name) ?? { name, templates: [], archetypes: [] };
}

/** The VERSIONs that are of a category: by template, by the archetype of the root, or by what openEHR says of them. */
export function categoryCondition({ name, templates, archetypes }: Category): Condition {
  return any([
    ...(templates.length === 0 ? [] : [equals('template_id', templates)]),
    ...(archetypes.length === 0 ? [] : [contains('archetypes', archetypes)]),
    equals('category', [name]),
  ]);
}

function equals(attribute: string, among: readonly string[]): Condition {
  return { kind: 'equals', attribute, among };
}

function contains(attribute: string, among: readonly string[]): Condition {
  return { kind: 'contains', attribute, among };
}

/**
 * A condition over what is stored in place of one that asks for categories, which are not: they follow from the map, so that a change of it
 * holds for all that is there. `fits`: what is taken of a name that is not in it, which a stored policy has only while something is restored:
 * of what permits that nothing is, of what forbids that everything is.
 */
export function withCategoriesNamed(condition: Condition, map: CategoryMap, fits: boolean): Condition {
  switch (condition.kind) {
    case 'constant':
      return condition;
    case 'all':
      return all(condition.of.map((each) => withCategoriesNamed(each, map, fits)));
    case 'any':
      return any(condition.of.map((each) => withCategoriesNamed(each, map, fits)));
    case 'not':
      return not(withCategoriesNamed(condition.of, map, !fits));
    default:
      return isOfCategories(condition) ? leafNamed(condition, map, fits) : condition;
  }
}

type OfAttribute = Extract<Leaf, { readonly attribute: string }>;

const IS_VERSION: Condition = { kind: 'is', type: 'Version' };

function isOfCategories(leaf: Leaf): leaf is OfAttribute {
  return 'attribute' in leaf && leaf.attribute === CATEGORIES_ATTRIBUTE;
}

function leafNamed(leaf: OfAttribute, map: CategoryMap, fits: boolean): Condition {
  if (leaf.kind === 'has') return IS_VERSION;
  if (leaf.kind === 'empty') return all([IS_VERSION, not(ofAnyCategory(map))]);
  if (leaf.kind !== 'contains') return FALSE;
  return any(
    leaf.among.map((name) => {
      if (isCategory(name, map)) return categoryCondition(namedCategory(name, map));
      return fits ? IS_VERSION : FALSE;
    }),
  );
}

function ofAnyCategory(map: CategoryMap): Condition {
  const hasOwn: Condition = { kind: 'has', attribute: 'category' };
  return any([...[...map.values()].map((category) => categoryCondition(category)), hasOwn]);
}

/** What is known of content whose categories are told. */
interface CategorizedContent {
  readonly templateId: string | undefined;
  readonly content: JsonObject;
}

/** The categories of a COMPOSITION, sorted: of the map by its template and the archetype of its root, and openEHR's own. */
export function categoriesOf({ templateId, content }: CategorizedContent, map: CategoryMap): string[] {
  const own = categoryOf(content);
  const { archetype_node_id: root } = content;
  const mapped = [...map.values()].filter(
    ({ templates, archetypes }) =>
      (templateId !== undefined && templates.includes(templateId)) ||
      (typeof root === 'string' && archetypes.includes(root)),
  );
  return [...new Set([...mapped.map(({ name }) => name), ...(own === undefined ? [] : [own])])].sort();
}
